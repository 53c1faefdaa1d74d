//! The listener of opencode-pty at a port of its own, marked open, with real programs.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Instant;

use paned_e2e::{Reply, Request, Server, WAIT_TIMEOUT, is_alive};
use serde_json::{Value, json};

struct OpencodePtyServer {
    server: Server,
    authority: String,
}

impl OpencodePtyServer {
    fn open() -> Self {
        let server = Server::start_with(&["--compat", "opencode-pty=127.0.0.1:0,open"]);
        let url = server.ready()["compat"]["opencode-pty"].as_str().unwrap();
        let authority = url.strip_prefix("http://").unwrap().to_owned();
        Self { server, authority }
    }

    fn request(&self, method: &str, path: &str) -> Request {
        Request::new(method, path).header("host", &self.authority)
    }

    fn ask(&self, method: &str, path: &str) -> Reply {
        self.request(method, path).over_tcp(&self.authority)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let reply = self.request("POST", path).json(body).over_tcp(&self.authority);
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    }

    /// Starts a shell script as a session; answers its path.
    fn script(&self, script: &str) -> String {
        let body = json!({ "command": "/bin/bash", "args": ["--norc", "-c", script] });
        let info = self.post("/api/sessions", &body);
        format!("/api/sessions/{}", info["id"].as_str().unwrap())
    }
}

/// Waits until this holds.
#[track_caller]
fn until(holds: impl Fn() -> bool) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < deadline, "it never held");
    }
}

/// The session's id, which is its last word.
fn id(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

#[test]
fn a_session_is_started_used_killed_and_forgotten() {
    let listener = OpencodePtyServer::open();
    let script = "trap '' TERM HUP; stty size; read line; echo \"got $line\"; sleep 1000";
    let path = listener.script(script);
    let pid = listener.ask("GET", &path).json()["pid"].as_u64().unwrap();
    let pid = u32::try_from(pid).unwrap();
    listener.post(&format!("{path}/input"), &json!({ "data": "hello\r" }));
    let wait = json!({ "paneId": id(&path), "pattern": "got hello", "since": 0 });
    assert_eq!(listener.server.act("pane:wait", wait)["met"], "pattern");
    // What is typed early is echoed early, so the size need not come first.
    let plain = listener.ask("GET", &format!("{path}/buffer/plain")).json();
    assert!(plain["plain"].as_str().unwrap().contains("40 120\r\n"), "{plain}");
    assert!(is_alive(pid));
    // It ignores being asked, and is made to end, which shows while it lasts.
    std::thread::scope(|scope| {
        let killing = scope.spawn(|| listener.ask("DELETE", &path).json());
        until(|| listener.ask("GET", &path).json()["status"] == "killing");
        assert!(is_alive(pid));
        assert_eq!(killing.join().unwrap(), json!({ "success": true }));
    });
    let info = listener.ask("GET", &path).json();
    assert_eq!((&info["status"], &info["exitSignal"]), (&json!("killed"), &json!("SIGKILL")));
    assert!(!is_alive(pid));
    assert_eq!(info["pid"], pid);
    let cleaned = listener.ask("DELETE", &format!("{path}/cleanup"));
    assert_eq!(cleaned.json(), json!({ "success": true }));
    assert_eq!(listener.ask("GET", &path).status, 404);
    assert_eq!(listener.ask("GET", "/api/sessions").json(), json!([]));
}

#[test]
fn the_real_exit_code_is_told() {
    let listener = OpencodePtyServer::open();
    let path = listener.script("exit 7");
    listener.server.act("pane:wait", json!({ "paneId": id(&path), "exit": true }));
    let info = listener.ask("GET", &path).json();
    assert_eq!((&info["status"], &info["exitCode"]), (&json!("exited"), &json!(7)));
}

#[test]
fn an_open_listener_is_warned_about_and_still_guarded() {
    let listener = OpencodePtyServer::open();
    let moved = listener.ask("GET", "/anything");
    assert_eq!((moved.status, moved.header("location")), (302, Some("/index.html")));
    let foreign = listener.request("GET", "/api/sessions").header("origin", "http://evil.example");
    assert_eq!(foreign.over_tcp(&listener.authority).status, 403);
    let renamed = Request::new("GET", "/api/sessions").header("host", "evil.example");
    assert_eq!(renamed.over_tcp(&listener.authority).status, 421);
    assert_eq!(listener.server.ask("GET", "/compat/opencode-pty/anything").status, 404);
    assert!(
        listener.server.log().contains("this listener requires no token"),
        "{}",
        listener.server.log()
    );
    let served = std::fs::read(listener.server.state().join("server.json")).unwrap();
    let served: Value = serde_json::from_slice(&served).unwrap();
    assert_eq!(served["compat"], listener.server.ready()["compat"]);
}

#[test]
fn a_listener_outlives_an_upgrade() {
    let listener = OpencodePtyServer::open();
    assert!(listener.server.cli(&["server", "upgrade"]).status.success());
    assert_eq!(listener.ask("GET", "/health").json()["status"], "healthy");
}
