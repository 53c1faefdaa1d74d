//! tmux servers that are not ours: their clients obey them.
//!
//! A tmux server can tell its client to run a program (`MSG_SHELL`). So our client must never
//! connect to another user's server, whatever path names it and however often the file at that path
//! changes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use paned_e2e::{OTHER_UID, Server, Tmux, as_user, become_user, can_switch_users, wait_for};
use paned_model::{Code, Size};
use serde_json::{Value, json};
use tempfile::TempDir;

/// `MSG_SHELL` of tmux: the client runs this program.
const RUN: u32 = 209;
/// The protocol of tmux 3.x, which is in every message.
const PROTOCOL: u32 = 8;

/// A listener of another user's that tells each tmux client to run a program.
struct HostileTmuxListener {
    folder: TempDir,
    clients: Arc<AtomicUsize>,
}

impl HostileTmuxListener {
    fn set() -> Self {
        let folder = TempDir::with_prefix("paned-e2e-trap-").unwrap();
        // As in `/tmp`, but with an owner who may replace everything in it.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        std::os::unix::fs::chown(folder.path(), Some(OTHER_UID), Some(OTHER_UID)).unwrap();
        let trap = Self { folder, clients: Arc::default() };
        let payload = trap.path("payload");
        let script = format!("#!/bin/sh\ntouch {}\n", trap.path("ran").display());
        fs::write(&payload, script).unwrap();
        fs::set_permissions(&payload, fs::Permissions::from_mode(0o755)).unwrap();
        let socket = trap.path("s");
        let clients = trap.clients.clone();
        as_user(OTHER_UID, || {
            let listener = UnixListener::bind(&socket).unwrap();
            fs::set_permissions(&socket, fs::Permissions::from_mode(0o777)).unwrap();
            // It ends with the test's process.
            std::thread::spawn(move || serve(&listener, &payload, &clients));
        });
        trap
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Asserts that no client came, and that nothing was run.
    #[track_caller]
    fn assert_unused(&self) {
        assert_eq!(self.clients.load(Ordering::SeqCst), 0, "a client of ours came");
        assert!(!self.path("ran").exists(), "another user's program was run");
    }
}

fn serve(listener: &UnixListener, payload: &Path, clients: &AtomicUsize) {
    let mut program = payload.to_str().unwrap().as_bytes().to_vec();
    program.push(0);
    for client in listener.incoming() {
        let mut client = client.unwrap();
        clients.fetch_add(1, Ordering::SeqCst);
        // A client that only looks who listens says nothing.
        if !matches!(client.read(&mut [0; 65536]), Ok(1..)) {
            continue;
        }
        let length = u16::try_from(16 + program.len()).unwrap();
        let mut message = RUN.to_le_bytes().to_vec();
        message.extend(length.to_le_bytes());
        message.extend(0_u16.to_le_bytes());
        message.extend(PROTOCOL.to_le_bytes());
        message.extend(std::process::id().to_le_bytes());
        message.extend(&program);
        let _ = client.write_all(&message);
    }
}

/// Every action that takes a tmux server.
fn calls(socket: &str) -> Vec<(&'static str, Value)> {
    let beside = |mut more: Value| {
        more["beside"] = json!("%0");
        more["tmux"] = json!(socket);
        more
    };
    vec![
        ("layout:get", beside(json!({}))),
        ("layout:plan", beside(json!({ "panes": ["a"] }))),
        ("pane:new", beside(json!({ "argv": ["true"], "visible": "always" }))),
        ("pane:adopt", json!({ "tmux": socket, "pane": "%0" })),
        ("tmux:list", json!({ "tmux": socket })),
    ]
}

/// Asks everything of this socket; answers what was said of it.
fn ask_all(server: &Server, socket: &Path) -> Vec<String> {
    let said = calls(socket.to_str().unwrap()).into_iter().map(|(action, params)| {
        let answer = server.try_act(action, params);
        format!("{action}: {answer:?}")
    });
    said.collect()
}

#[test]
fn a_server_of_another_users_gets_no_client() {
    if !can_switch_users() {
        return;
    }
    let server = Server::start();
    let trap = HostileTmuxListener::set();
    let said = ask_all(&server, &trap.path("s"));
    trap.assert_unused();
    let refused = "belongs to another user";
    // `pane:new` starts the program and says that it is not shown.
    assert!(!said.iter().any(|said| said.contains("Invalid")), "{said:#?}");
    let get = server.try_act("layout:get", calls(trap.path("s").to_str().unwrap())[0].1.clone());
    let refusal = get.unwrap_err();
    assert_eq!(refusal.code, Code::Unavailable, "{refusal}");
    assert!(refusal.sentence.contains(refused), "{refusal}");
}

/// Switches a path between a socket of the attacker's and a link to one of the victim's, until it
/// is told to stop.
fn flip(at: PathBuf, own: PathBuf, victims: PathBuf) -> (Arc<AtomicBool>, JoinHandle<usize>) {
    let stop = Arc::new(AtomicBool::new(false));
    let until = stop.clone();
    let work = move || {
        become_user(OTHER_UID);
        let mut flips = 0;
        let next = at.with_extension("next");
        while !until.load(Ordering::SeqCst) {
            let _ = fs::remove_file(&next);
            let made =
                if flips % 2 == 0 { fs::hard_link(&own, &next) } else { symlink(&victims, &next) };
            made.and_then(|()| fs::rename(&next, &at)).unwrap();
            flips += 1;
        }
        flips
    };
    (stop, std::thread::spawn(work))
}

#[test]
fn a_path_that_changes_between_check_and_use_leads_nowhere() {
    if !can_switch_users() {
        return;
    }
    let server = Server::start();
    let trap = HostileTmuxListener::set();
    let flipping = trap.path("flipping");
    let (stop, flips) = flip(flipping.clone(), trap.path("s"), server.socket());
    wait_for("the first flip", || flipping.symlink_metadata().ok());
    for _ in 0..60 {
        ask_all(&server, &flipping);
    }
    stop.store(true, Ordering::SeqCst);
    assert!(0 < flips.join().unwrap());
    trap.assert_unused();
}

#[test]
fn a_socket_of_ours_at_which_another_user_listens_gets_no_client() {
    if !can_switch_users() {
        return;
    }
    let server = Server::start();
    let folder = TempDir::with_prefix("paned-e2e-trap-").unwrap();
    let socket = folder.path().join("s");
    // The file is ours; the listener is the stranger's, since that is who began to listen.
    use rustix::net::{
        AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket as new_socket,
    };
    let fd = new_socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&fd, &SocketAddrUnix::new(&socket).unwrap()).unwrap();
    as_user(OTHER_UID, || listen(&fd, 8).unwrap());
    let get = server.try_act("layout:get", calls(socket.to_str().unwrap())[0].1.clone());
    let sentence = get.unwrap_err().sentence;
    assert!(sentence.contains(&format!("another user (uid {OTHER_UID}) listens")), "{sentence}");
}

#[test]
fn a_folder_that_all_can_write_into_is_refused_unless_it_is_sticky() {
    let server = Server::start();
    let tmux = Tmux::start_foreign(Size { cols: 200, rows: 50 });
    let folder = tmux.socket().parent().unwrap();
    let get = || server.try_act("layout:get", calls(tmux.path())[0].1.clone());
    get().unwrap();
    for (mode, is_trusted) in [(0o777, false), (0o1777, true), (0o755, true)] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        // A connection that was made goes on, so the next call must make one.
        wait_for("the end of the last client", || tmux.control_client().is_none().then_some(()));
        let said = get();
        assert_eq!(said.is_ok(), is_trusted, "{mode:o}: {said:?}");
    }
}

#[test]
fn the_client_of_a_server_that_is_not_used_goes() {
    let server = Server::start();
    let tmux = Tmux::start_foreign(Size { cols: 200, rows: 50 });
    let folder = tmux.socket().parent().unwrap();
    for n in 0..40 {
        let name = folder.join(format!("name-{n}"));
        symlink(tmux.socket(), &name).unwrap();
        let get = server.try_act("layout:get", calls(name.to_str().unwrap())[0].1.clone());
        // Many names of one server are many servers to us, and there is a limit.
        assert!(get.is_ok() || get.as_ref().unwrap_err().code == Code::Limit, "{get:?}");
    }
    wait_for("no client of ours at a server that shows nothing", || {
        tmux.control_client().is_none().then_some(())
    });
    server.act("layout:get", calls(tmux.path())[0].1.clone());
}
