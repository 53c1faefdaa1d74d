//! Our own and foreign servers, and a tmux that is missing or too old.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command as Process;

use paned_backend::adopted::AdoptedPanes;
use paned_backend::tmux::{Error, Notice, TmuxEvent, TmuxEvents, TmuxServerAddr, connect};
use tempfile::TempDir;

use crate::test_tmux::{TIMEOUT, TestTmuxServer, is_alive, wait_for};

#[tokio::test]
async fn a_server_of_our_own_survives_us() {
    let mut test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let server = test.client.server().unwrap();
    let place = TmuxServerAddr::own(&test.folder().join("stage"));
    let (client, facts) = connect(place).await.unwrap();
    (test.client, test.events) = (client, facts);
    let again = test.connected().await;
    assert_eq!(again.pid, server.pid);
    wait_for("the end of the first client", || !is_alive(crate::test_tmux::client_pid(&server)));
    assert!(is_alive(server.pid));
    let panes = test.client.panes(None).await.unwrap();
    assert_eq!(panes[0].id, made.pane);
    assert_eq!(test.client.attached_clients().await.unwrap(), []);
}

#[tokio::test]
async fn a_server_of_our_own_is_private() {
    let test = TestTmuxServer::open().await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&test.folder().join("stage")), 0o700);
    assert_eq!(mode(&test.folder().join("stage/tmux.conf")), 0o600);
    assert_eq!(mode(&test.socket()) & 0o077, 0);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_holds_nothing_of_ours() {
    use std::os::fd::AsRawFd as _;
    // Open here while the server is started.
    let (file, pipe) = (tempfile::tempfile().unwrap(), std::io::pipe().unwrap());
    let test = TestTmuxServer::open().await;
    let server = test.client.server().unwrap();
    let fds = fs::read_dir(format!("/proc/{}/fd", server.pid)).unwrap();
    let links: Vec<_> = fds.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok()).collect();
    assert!(!links.is_empty());
    for fd in [file.as_raw_fd(), pipe.0.as_raw_fd(), pipe.1.as_raw_fd()] {
        let link = fs::read_link(format!("/proc/self/fd/{fd}")).unwrap();
        assert!(!links.contains(&link), "{} in {links:?}", link.display());
    }
}

/// A server as a user has it: started by their own tmux, with their own settings.
struct ForeignTmuxServer(TempDir);

impl ForeignTmuxServer {
    fn open() -> Self {
        let foreign = Self(TempDir::with_prefix("paned-person-").unwrap());
        foreign.start();
        foreign
    }

    fn start(&self) {
        self.tmux(&["new-session", "-d", "-s", "mine", "-x", "90", "-y", "25", "cat"]);
    }

    fn tmux(&self, args: &[&str]) -> String {
        let socket = self.0.path().join("s");
        let output = Process::new("tmux")
            .arg("-S")
            .arg(socket)
            .args(["-f", "/dev/null"])
            .args(args)
            .output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    }

    fn place(&self) -> TmuxServerAddr {
        TmuxServerAddr::foreign(&self.0.path().join("s"), None)
    }
}

impl Drop for ForeignTmuxServer {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// tmux 3.3a crashes when a client leaves while another one attaches.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_come_and_go_at_once_end_no_server() {
    let foreign = ForeignTmuxServer::open();
    let pid = foreign.tmux(&["display-message", "-p", "#{pid}"]);
    for round in 0..100 {
        let clients = (0..3).map(|_| tokio::spawn(connect(foreign.place())));
        let clients: Vec<_> = clients.collect();
        for client in clients {
            let client = client.await.unwrap();
            assert!(client.is_ok(), "round {round}: {client:?}");
        }
        assert_eq!(foreign.tmux(&["display-message", "-p", "#{pid}"]), pid, "round {round}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_ask_at_once_share_one_client() {
    let foreign = ForeignTmuxServer::open();
    let socket = foreign.0.path().join("s");
    let hook = "set-option -gaF @attached '#{client_name} '";
    foreign.tmux(&["set-hook", "-g", "client-attached", hook]);
    let panes = AdoptedPanes::new(foreign.0.path(), "/bin/true".into());
    let callers = (0..5).map(|_| {
        let (panes, socket) = (panes.clone(), socket.clone());
        tokio::spawn(async move { panes.server(&socket).await.unwrap() })
    });
    let callers: Vec<_> = callers.collect();
    let mut clients = Vec::new();
    for caller in callers {
        clients.push(caller.await.unwrap().client().server().unwrap().client);
    }
    clients.dedup();
    let attached = foreign.tmux(&["show-options", "-gv", "@attached"]);
    assert_eq!(attached.split_whitespace().collect::<Vec<_>>(), clients);
}

#[tokio::test]
async fn a_foreign_server_is_looked_at_without_a_trace() {
    let foreign = ForeignTmuxServer::open();
    let before = foreign.tmux(&["show-hooks", "-g"]) + &foreign.tmux(&["show-hooks", "-gw"]);
    let environment = foreign.tmux(&["show-environment", "-t", "=mine"]);
    let (client, _facts) = connect(foreign.place()).await.unwrap();
    let people = client.attached_clients().await.unwrap();
    assert_eq!(people, [], "we are {:?}", client.server());
    let listed = foreign.tmux(&["list-clients", "-F", "#{client_name}"]);
    assert_eq!(listed.trim(), client.server().unwrap().client);
    let sessions = client.sessions().await.unwrap();
    assert_eq!(sessions.len(), 1);
    assert_eq!((sessions[0].name.as_str(), sessions[0].attached_clients), ("mine", 0));
    assert_eq!((sessions[0].size.cols, sessions[0].size.rows), (90, 25), "our client has no size");
    let after = foreign.tmux(&["show-hooks", "-g"]) + &foreign.tmux(&["show-hooks", "-gw"]);
    assert_eq!(after, before);
    assert_eq!(foreign.tmux(&["show-environment", "-t", "=mine"]), environment);
}

/// Waits for an event and ignores the others.
async fn wait_for_event(facts: &mut TmuxEvents, what: &str, is_it: impl Fn(&TmuxEvent) -> bool) {
    let wait = async { while !is_it(&facts.recv().await.unwrap()) {} };
    tokio::time::timeout(TIMEOUT, wait).await.unwrap_or_else(|_| panic!("never {what}"));
}

#[tokio::test]
async fn a_foreign_server_may_go_and_come_again() {
    let foreign = ForeignTmuxServer::open();
    let (client, mut facts) = connect(foreign.place()).await.unwrap();
    foreign.tmux(&["split-window", "-t", "=mine:", "cat"]);
    wait_for_event(&mut facts, "a split by hand", |fact| {
        matches!(fact, TmuxEvent::Notice(Notice::LayoutChanged { .. }))
    })
    .await;
    foreign.tmux(&["kill-server"]);
    wait_for_event(&mut facts, "gone", |fact| {
        matches!(fact, TmuxEvent::ServerGone(Error::NoServer(_)))
    })
    .await;
    let refused = client.sessions().await;
    assert!(matches!(refused, Err(Error::NoServer(_))), "{refused:?}");
    foreign.start();
    wait_for_event(&mut facts, "connected again", |fact| matches!(fact, TmuxEvent::Connected(_)))
        .await;
    assert_eq!(client.sessions().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_foreign_server_that_is_not_there_is_not_started() {
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("s");
    let error = connect(TmuxServerAddr::foreign(&socket, None)).await.unwrap_err();
    assert!(matches!(error, Error::NoServer(_)), "{error:?}");
    assert!(!socket.exists());
}

/// A program that can only print its version.
fn fake_tmux(folder: &TempDir, version: &str) -> TmuxServerAddr {
    let program = folder.path().join("tmux");
    fs::write(&program, format!("#!/bin/sh\necho '{version}'\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    TmuxServerAddr::own(&folder.path().join("stage")).with_program(program)
}

#[tokio::test]
async fn a_tmux_that_cannot_be_used_is_named() {
    let folder = TempDir::new().unwrap();
    let error = connect(fake_tmux(&folder, "tmux 3.1c")).await.unwrap_err();
    assert_eq!(error.to_string(), "tmux 3.1c is too old: install 3.2 or newer");
    let missing = TmuxServerAddr::own(folder.path()).with_program("/nowhere/tmux");
    let error = connect(missing).await.unwrap_err();
    assert_eq!(error, Error::TmuxNotFound("/nowhere/tmux".to_owned()));
}
