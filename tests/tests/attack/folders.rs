//! Socket folders and peers: another user who prepares the ground, and a server that is not ours.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use paned_e2e::{
    OTHER_UID, Server, WAIT_TIMEOUT, as_user, binary, can_switch_users, decode_output, gone, kill9,
    wait_for,
};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, accept, bind, listen, socket};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A state folder whose path is so long that no socket fits into it, and a short home.
struct LongStatePath {
    dir: TempDir,
}

impl LongStatePath {
    fn new() -> Self {
        Self { dir: TempDir::with_prefix("paned-e2e-").unwrap() }
    }

    fn home(&self) -> &Path {
        self.dir.path()
    }

    fn state(&self) -> PathBuf {
        self.home().join("deep/".repeat(20)).join("state")
    }

    fn paned(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).env("HOME", self.home()).env("PANED_STATE_DIR", self.state());
        for name in ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE", "XDG_RUNTIME_DIR"] {
            command.env_remove(name);
        }
        command
    }

    /// Tries to start a server; answers what was said.
    fn start(&self, env: &[(&str, &Path)]) -> Result<Value, String> {
        let mut command = self.paned(&["server", "start", "--port", "0", "--json"]);
        let (out, err, code) = decode_output(&command.envs(env.iter().copied()).output().unwrap());
        if code == 0 { Ok(serde_json::from_str(&out).unwrap()) } else { Err(format!("{out}{err}")) }
    }
}

impl Drop for LongStatePath {
    fn drop(&mut self) {
        let _ = self.paned(&["close", "a"]).output();
        let _ = self.paned(&["session", "stop", "main"]).output();
        for folder in fs::read_dir(self.home().join(".paned")).into_iter().flatten().flatten() {
            let mut tmux = Command::new("tmux");
            let _ = tmux
                .arg("-S")
                .arg(folder.path().join("tmux/tmux.sock"))
                .arg("kill-server")
                .output();
        }
        let served = fs::read(self.state().join("server.json")).unwrap_or_default();
        let served: Value = serde_json::from_slice(&served).unwrap_or_default();
        if let Some(pid) = served["pid"].as_u64() {
            let pid = u32::try_from(pid).unwrap();
            kill9(pid);
            assert!(gone(pid, WAIT_TIMEOUT) || std::thread::panicking());
        }
    }
}

#[test]
fn sockets_of_a_long_path_are_in_a_private_folder_at_home() {
    let deep = LongStatePath::new();
    let ready = deep.start(&[]).unwrap();
    let socket = PathBuf::from(ready["socket"].as_str().unwrap());
    assert!(socket.starts_with(deep.home().join(".paned")), "{}", socket.display());
    for folder in [socket.parent().unwrap(), &deep.home().join(".paned")] {
        assert_eq!(fs::symlink_metadata(folder).unwrap().mode() & 0o777, 0o700);
    }
    // A keeper's socket and the one of tmux are there, too.
    let (_, err, code) =
        decode_output(&deep.paned(&["new", "--id", "a", "--", "cat"]).output().unwrap());
    assert_eq!(code, 0, "{err}");
    let (_, err, code) =
        decode_output(&deep.paned(&["session", "start", "main"]).output().unwrap());
    assert_eq!(code, 0, "{err}");
    let names = fs::read_dir(socket.parent().unwrap()).unwrap();
    assert!(3 <= names.count(), "server, keeper, tmux");
    // Another environment does not lead the command line elsewhere.
    let mut other = deep.paned(&["get", "a"]);
    let (_, err, code) =
        decode_output(&other.env("PANED_RUNTIME_DIR", "/nowhere").output().unwrap());
    assert_eq!(code, 0, "{err}");
    let uid = rustix::process::getuid().as_raw();
    let hash = socket.parent().unwrap().file_name().unwrap();
    assert!(!Path::new(&format!("/tmp/paned-{uid}")).join(hash).exists());
}

#[test]
fn what_no_socket_fits_into_is_refused_with_the_cure() {
    let deep = LongStatePath::new();
    let long = deep.home().join("long/".repeat(20));
    let refused = deep.start(&[("HOME", &long)]).unwrap_err();
    assert!(refused.contains("PANED_RUNTIME_DIR"), "{refused}");
}

#[test]
fn a_folder_that_another_user_prepared_is_refused() {
    if !can_switch_users() {
        return;
    }
    let deep = LongStatePath::new();
    let strangers = TempDir::with_prefix("paned-e2e-trap-").unwrap();
    fs::set_permissions(strangers.path(), fs::Permissions::from_mode(0o777)).unwrap();
    chown(strangers.path(), Some(OTHER_UID), Some(OTHER_UID)).unwrap();
    let refused = deep.start(&[("PANED_RUNTIME_DIR", strangers.path())]).unwrap_err();
    assert!(refused.contains("belongs to another user"), "{refused}");
    // A link of the stranger's to a folder of ours, which could lead elsewhere a moment later.
    let private = deep.home().join("private");
    fs::create_dir(&private).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    let sticky = TempDir::with_prefix("paned-e2e-trap-").unwrap();
    fs::set_permissions(sticky.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let link = sticky.path().join("link");
    as_user(OTHER_UID, || symlink(&private, &link).unwrap());
    let refused = deep.start(&[("PANED_RUNTIME_DIR", &link)]).unwrap_err();
    assert!(refused.contains("belongs to another user"), "{refused}");
    // Anybody can write there, and there is no sticky bit.
    let open = deep.home().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = deep.start(&[("PANED_RUNTIME_DIR", &open)]).unwrap_err();
    assert!(refused.contains("other users can write to"), "{refused}");
    fs::create_dir(open.join("state")).unwrap();
    fs::set_permissions(open.join("state"), fs::Permissions::from_mode(0o700)).unwrap();
    let refused = deep.start(&[("PANED_STATE_DIR", &open.join("state"))]).unwrap_err();
    assert!(refused.contains("other users can write to"), "{refused}");
}

#[test]
fn the_command_line_says_nothing_to_another_users_server() {
    if !can_switch_users() {
        return;
    }
    let folder = TempDir::with_prefix("paned-e2e-trap-").unwrap();
    let path = folder.path().join("paned.sock");
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    as_user(OTHER_UID, || listen(&listener, 8).unwrap());
    let heard = std::thread::spawn(move || {
        let mut heard = Vec::new();
        let mut stream = std::os::unix::net::UnixStream::from(accept(&listener).unwrap());
        stream.read_to_end(&mut heard).unwrap();
        heard
    });
    let mut command = Command::new(binary());
    command.args(["ls", "--socket"]).arg(&path).env("HOME", folder.path());
    let (_, err, code) = decode_output(&command.env_remove("PANED_TOKEN").output().unwrap());
    assert_ne!(code, 0);
    assert!(err.contains(&format!("another user (uid {OTHER_UID}) listens")), "{err}");
    assert_eq!(heard.join().unwrap(), b"");
}

/// The check of a doctor's report with this name, and its exit code.
fn checked(command: &mut Command, name: &str) -> (Value, i32) {
    let (out, err, code) = decode_output(&command.output().unwrap());
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    (check.cloned().unwrap_or_default(), code)
}

#[test]
fn the_doctor_of_another_user_does_not_take_what_it_cannot_see_for_well() {
    if !can_switch_users() || !as_user(OTHER_UID, || fs::File::open(binary()).is_ok()) {
        return;
    }
    let server = Server::start();
    let doctor = |folder: &Path| {
        let port = server.authority().rsplit(':').next().unwrap().to_owned();
        let mut command = server.command(&["doctor", "--json", "--state-dir"]);
        command.arg(folder).env("PANED_PORT", port);
        command
    };
    as_user(OTHER_UID, || {
        let (check, code) = checked(&mut doctor(&server.state()), "state folder");
        assert!(code == 1 && check["ok"] == false, "{check}");
        assert!(check["detail"].to_string().contains("another user"), "{check}");
        assert_eq!(checked(&mut doctor(&server.state()), "server").0, Value::Null);
        // Of a folder of their own only the port is wrong, which the first server uses.
        let own = TempDir::with_prefix("paned-e2e-own-").unwrap();
        fs::set_permissions(own.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let (check, _) = checked(&mut doctor(own.path()), "state folder");
        assert_eq!(check["ok"], true, "{check}");
        let (check, _) = checked(&mut doctor(own.path()), "port");
        assert!(check["detail"].to_string().contains("a process of another user"), "{check}");
    });
    let (check, _) = checked(&mut doctor(&server.state()), "port");
    assert!(check["detail"].to_string().contains("used by the server"), "{check}");
}

/// A listener that has the server's port, and passes everything on to it if it is told to.
struct Impostor {
    authority: String,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Impostor {
    fn new(real: Option<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let heard: Arc<Mutex<Vec<u8>>> = Arc::default();
        let all = heard.clone();
        let own = authority.clone();
        // It ends with the test's process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                serve(client.unwrap(), real.as_deref(), &own, &all);
            }
        });
        Self { authority, heard }
    }
}

/// Answers one request: as the real server does, or with the best that can be made up.
fn serve(mut client: TcpStream, real: Option<&str>, own: &str, all: &Mutex<Vec<u8>>) {
    client.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    loop {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match client.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                _ => return,
            }
        }
        all.lock().unwrap().extend(&head);
        let answer = match real {
            None => b"HTTP/1.1 200 OK\r\nx-paned-proof: AAAA\r\ncontent-length: 0\r\n\r\n".to_vec(),
            Some(real) => {
                // The server may take a half-closed connection for one whose client is gone, so it
                // is asked to close.
                let head = String::from_utf8(head).unwrap().replace(own, real);
                let head = head.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
                let mut server = TcpStream::connect(real).unwrap();
                server.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
                server.write_all(head.as_bytes()).unwrap();
                let mut answer = Vec::new();
                server.read_to_end(&mut answer).unwrap();
                answer
            }
        };
        if client.write_all(&answer).is_err() {
            return;
        }
    }
}

#[test]
fn a_token_is_shown_to_its_own_server_only() {
    let server = Server::start();
    let token = server.token();
    let secret = token.rsplit('_').next().unwrap();
    let list = |authority: &str, token: &str| {
        let url = format!("http://{authority}");
        decode_output(&server.command(&["ls", "--url", &url, "--token", token]).output().unwrap())
    };
    let (_, err, code) = list(&server.authority(), &token);
    assert_eq!(code, 0, "{err}");
    for real in [None, Some(server.authority())] {
        let impostor = Impostor::new(real);
        let (_, err, code) = list(&impostor.authority, &token);
        assert_ne!(code, 0);
        assert!(err.contains("the token was not sent"), "{err}");
        let heard = String::from_utf8(impostor.heard.lock().unwrap().clone()).unwrap();
        assert!(heard.contains("x-paned-challenge"), "{heard}");
        assert!(!heard.contains(secret), "the token was shown to an impostor");
    }
    let wrong = format!("{}x", &token[..token.len() - 1]);
    let (_, err, code) = list(&server.authority(), &wrong);
    assert_ne!(code, 0);
    assert!(err.contains("the token was not sent"), "{err}");
    wait_for("the server, unharmed", || server.try_act("pane:list", json!({})).ok());
}
