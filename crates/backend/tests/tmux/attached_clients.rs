//! A user at a real terminal: tmux attached in a pty of its own.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command as Process, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use paned_backend::tmux::operations::TmuxCreateResult;
use paned_backend::tmux::query::AttachedClient;
use paned_backend::tmux::{Notice, TmuxEvent};
use paned_model::Size;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::test_tmux::{TIMEOUT, TestTmuxServer, pause, wait_for};

/// An attached tmux client that types and reads the screen.
struct TmuxTtyClient {
    pty: std::fs::File,
    tmux: Child,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl TmuxTtyClient {
    fn attach(test: &TestTmuxServer, made: &TmuxCreateResult, size: Size) -> Self {
        let pty = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&pty).unwrap();
        unlockpt(&pty).unwrap();
        let path = ptsname(&pty, Vec::new()).unwrap().into_string().unwrap();
        let (pty, size) = (std::fs::File::from(pty), winsize(size));
        tcsetwinsize(&pty, size).unwrap();
        let tty = || std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let stdio = |file: std::fs::File| Stdio::from(OwnedFd::from(file));
        // In a session of its own, so that the pty is its terminal.
        let mut process = Process::new("setsid");
        process.arg("-c").args(["tmux", "-u", "-S"]).arg(test.socket());
        // tmux takes a key within a millisecond of the attach, and the next ones, for a paste.
        process.args(["set-option", "-g", "assume-paste-time", "0", ";"]);
        process.args(["attach-session", "-t", &made.session.to_string()]);
        process.env("TERM", "xterm-256color").env_remove("TMUX");
        let tmux =
            process.stdin(stdio(tty())).stdout(stdio(tty())).stderr(stdio(tty())).spawn().unwrap();
        let mut eyes = pty.try_clone().unwrap();
        // The pty must be read, or tmux waits for the terminal.
        let seen = Arc::new(Mutex::new(Vec::new()));
        let memory = seen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(got @ 1..) = eyes.read(&mut bytes) {
                memory.lock().unwrap().extend_from_slice(&bytes[..got]);
            }
        });
        Self { pty, tmux, seen }
    }

    fn type_keys(&mut self, keys: &[u8]) {
        self.pty.write_all(keys).unwrap();
    }

    /// Types, and polls until a response shows.
    fn type_until(&mut self, keys: &[u8], answer: &str) {
        self.seen.lock().unwrap().clear();
        self.type_keys(keys);
        wait_for(answer, || String::from_utf8_lossy(&self.seen.lock().unwrap()).contains(answer));
    }

    fn resize(&self, size: Size) {
        tcsetwinsize(&self.pty, winsize(size)).unwrap();
    }
}

impl Drop for TmuxTtyClient {
    fn drop(&mut self) {
        let _ = self.tmux.kill();
        let _ = self.tmux.wait();
    }
}

fn winsize(size: Size) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Queries after each change until the panes are as expected; between two queries there is always
/// an event.
async fn until_panes(test: &mut TestTmuxServer, what: &str, done: impl Fn(&[(u32, Size)]) -> bool) {
    loop {
        let panes = test.client.panes(None).await.unwrap();
        let panes: Vec<(u32, Size)> = panes.iter().map(|pane| (pane.id.0, pane.size)).collect();
        if done(&panes) {
            return;
        }
        test.wait_for_event(&format!("{what}; there are {panes:?}"), |fact| {
            (*fact == TmuxEvent::Changed).then_some(())
        })
        .await;
    }
}

async fn one_person(test: &TestTmuxServer) -> AttachedClient {
    let end = Instant::now() + TIMEOUT;
    loop {
        let mut people = test.client.attached_clients().await.unwrap();
        if let Some(person) = people.pop() {
            assert_eq!(people, [], "only one");
            return person;
        }
        assert!(Instant::now() < end, "nobody came");
        pause().await;
    }
}

#[tokio::test]
async fn a_person_is_seen_doing_what_people_do() {
    let mut test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let before = test.client.attached_clients().await.unwrap();
    assert_eq!(before, [], "we are no person");
    let mut typist = TmuxTtyClient::attach(&test, &made, Size { cols: 120, rows: 40 });
    let came = |fact: &TmuxEvent| match fact {
        TmuxEvent::Notice(Notice::ClientSessionChanged(client, session, _)) => {
            Some((client.clone(), *session))
        }
        _ => None,
    };
    let (client, session) = test.wait_for_event("attached", came).await;
    assert_eq!(session, made.session);
    let person = one_person(&test).await;
    assert_eq!((&person.client, person.session, person.control), (&client, made.session, false));
    assert_eq!(test.client.sessions().await.unwrap()[0].attached_clients, 1);
    // The window is as large as the user's terminal, less the status line: our client has no size.
    until_panes(&mut test, "the person's size", |panes| panes[0].1 == Size { cols: 120, rows: 39 })
        .await;

    typist.type_keys(b"\x02%");
    until_panes(&mut test, "split by hand", |panes| panes.len() == 2).await;
    typist.resize(Size { cols: 90, rows: 25 });
    until_panes(&mut test, "resized by hand", |panes| panes[0].1.rows == 24).await;
    typist.type_until(b"\x02x", "(y/n)");
    typist.type_keys(b"y");
    until_panes(&mut test, "a pane killed by hand", |panes| panes.len() == 1).await;

    typist.type_keys(b"\x02d");
    let left = |fact: &TmuxEvent| match fact {
        TmuxEvent::Notice(Notice::ClientDetached(client)) => Some(client.clone()),
        _ => None,
    };
    assert_eq!(test.wait_for_event("detached", left).await, client);
    assert_eq!(test.client.attached_clients().await.unwrap(), []);
}

#[tokio::test]
async fn a_person_who_ends_everything_is_told_as_that() {
    let mut test = TestTmuxServer::open().await;
    let made = test.session("work", &["cat"]).await;
    let mut typist = TmuxTtyClient::attach(&test, &made, Size { cols: 80, rows: 24 });
    one_person(&test).await;
    typist.type_until(b"\x02:", ":");
    typist.type_keys(b"kill-server\r");
    test.wait_for_event("lost", |fact| matches!(fact, TmuxEvent::ClientLost(_)).then_some(()))
        .await;
    test.wait_for_event("gone", |fact| matches!(fact, TmuxEvent::ServerGone(_)).then_some(()))
        .await;
}
