//! The listener of opencode-pty at a port of its own, marked open, with real programs.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::time::Instant;

use paned_e2e::{Frame, Reply, Request, Server, WAIT_TIMEOUT, decode_output, is_alive};
use serde_json::{Value, json};

struct OpencodePtyServer {
    server: Server,
    authority: String,
}

impl OpencodePtyServer {
    fn open() -> Self {
        Self::of(Server::start_with(&["--compat", "opencode-pty=127.0.0.1:0,open"]))
    }

    /// At the address that opencode-pty's own variables give, with more of them.
    fn of_variables(env: &[(&str, &str)]) -> Self {
        let usual = [("PTY_WEB_HOSTNAME", "127.0.0.1"), ("PTY_WEB_PORT", "0")];
        let env: Vec<_> = usual.iter().chain(env).copied().collect();
        Self::of(Server::start_set("[compat]\nopencode_pty_serve = true\n", &env))
    }

    fn of(server: Server) -> Self {
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

/// The texts of the lines of a pane that can be read, and how many are not kept any more.
fn lines(server: &Server, id: &str) -> (Vec<String>, u64) {
    let read = server.act("pane:read", json!({ "paneId": id, "offset": 0, "limit": 1000 }));
    let texts = read["lines"].as_array().unwrap().iter();
    (
        texts.map(|line| line["text"].as_str().unwrap().to_owned()).collect(),
        read["dropped"].as_u64().unwrap(),
    )
}

#[test]
fn lines_beyond_the_limit_of_opencode_ptys_variable_are_gone_also_after_restarts() {
    let mut listener = OpencodePtyServer::of_variables(&[("PTY_MAX_BUFFER_LINES", "50")]);
    // Some lines are longer than the terminal is wide: what counts is where a line ends.
    let script =
        "for n in $(seq 200); do printf 'line %s %0300d\\n' $n 0; done; printf open; sleep 1000";
    let path = listener.script(script);
    let id = id(&path).to_owned();
    let wait = json!({ "paneId": id, "pattern": "open", "since": 0 });
    assert_eq!(listener.server.act("pane:wait", wait)["met"], "pattern");
    let check = |listener: &OpencodePtyServer| {
        let (texts, dropped) = lines(&listener.server, &id);
        assert_eq!((texts.len(), dropped), (50, 151), "{texts:?}");
        assert!(texts[0].starts_with("line 152 ") && texts[49] == "open", "{texts:?}");
        let info = listener.ask("GET", &path).json();
        assert_eq!(info["lineCount"], 50);
        let plain = listener.ask("GET", &format!("{path}/buffer/plain")).json();
        let plain = plain["plain"].as_str().unwrap();
        assert!(plain.starts_with("line 152 ") && plain.ends_with("\r\nopen"), "{plain}");
        for (pattern, count) in [("^line 151 ", 0), ("^line 152 ", 1)] {
            let found = json!({ "panes": [id], "pattern": pattern });
            let found = listener.server.act("pane:search", found);
            assert_eq!(found["hits"].as_array().unwrap().len(), count, "{found}");
        }
        let pane = listener.server.pane(&id);
        assert_eq!((&pane["maxLines"], &pane["lines"]), (&json!(50), &json!(200)));
        assert!(0 < pane["dropped"].as_u64().unwrap());
    };
    check(&listener);
    listener.server.kill();
    listener.server.start_again();
    listener.authority = listener.server.ready()["compat"]["opencode-pty"]
        .as_str()
        .unwrap()
        .trim_start_matches("http://")
        .to_owned();
    check(&listener);
    listener.server.act("pane:write", json!({ "paneId": id, "text": "typed" }));
    listener.server.act("pane:kill", json!({ "paneId": id }));
    listener.server.act("pane:wait", json!({ "paneId": id, "exit": true }));
    assert_eq!(lines(&listener.server, &id).0.len(), 50);
}

#[test]
fn a_pane_can_have_its_own_limit_of_lines() {
    let server = Server::start();
    let seq = |id: &str, most: Value| {
        let new = json!({ "id": id, "argv": ["seq", "1000"], "maxLines": most });
        server.act("pane:new", new);
        server.act("pane:wait", json!({ "paneId": id, "exit": true }));
        lines(&server, id)
    };
    let (texts, dropped) = seq("few", json!(3));
    assert_eq!(
        (texts, dropped),
        (vec!["998".to_owned(), "999".to_owned(), "1000".to_owned()], 997)
    );
    assert_eq!(seq("all", Value::Null).1, 0);
    for bad in [json!(0), json!(-1), json!(1.5), json!("many")] {
        let new = json!({ "id": "bad", "argv": ["true"], "maxLines": bad });
        let refusal = server.try_act("pane:new", new).unwrap_err();
        assert!(refusal.sentence.contains("maxLines"), "{refusal:?}");
    }
    let (out, err, code) =
        decode_output(&server.cli(&["new", "--id", "cli", "--max-lines", "2", "--", "seq", "9"]));
    assert_eq!((out.as_str(), code), ("cli\n", 0), "{err}");
    server.act("pane:wait", json!({ "paneId": "cli", "exit": true }));
    assert_eq!(lines(&server, "cli").0, ["8", "9"]);
}

#[test]
fn a_limit_of_lines_that_is_no_number_is_refused_with_its_source() {
    let home = tempfile::tempdir().unwrap();
    let mut serve = std::process::Command::new(paned_e2e::binary());
    serve.args(["serve", "--port", "0"]).env("HOME", home.path());
    let (_, err, code) =
        decode_output(&serve.env("PTY_MAX_BUFFER_LINES", "many").output().unwrap());
    assert_ne!(code, 0);
    let expect = "`PTY_MAX_BUFFER_LINES`: invalid `limits.lines`: `many` is not a number from 0";
    assert!(err.contains(expect), "{err}");
}

#[test]
fn a_socket_that_listens_misses_nothing_of_what_the_limit_drops() {
    let server = Server::start();
    let script = "read x; seq 500; read y";
    server.act("pane:new", json!({ "id": "p", "argv": ["/bin/sh", "-c", script], "maxLines": 1 }));
    let mut socket = server.socket_to_panes();
    socket.subscribe("p", json!(0));
    server.act("pane:write", json!({ "paneId": "p", "text": "\r" }));
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n500\r\n") {
        if let Frame::Output(_, _, bytes) = socket.next() {
            text.extend(bytes);
        }
    }
    let expect: String = (1..=500).map(|number| format!("{number}\r\n")).collect();
    assert!(String::from_utf8(text).unwrap().ends_with(&expect));
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
