//! The listener of agentapi: one agent's messages, and whether it works.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use paned_e2e::{Reply, WAIT_TIMEOUT, wait_for};
use serde_json::{Value, json};

use super::CompatServer;

const PROTOCOL: &str = "agentapi";

impl CompatServer {
    #[track_caller]
    fn agent(&self, id: &str) {
        let mut params = self.agent.params(id);
        params["profile"] = json!("fake-agent");
        self.server.act("agent:create", params);
        self.is(id, "ready");
    }

    #[track_caller]
    fn is(&self, id: &str, state: &str) {
        wait_for(state, || {
            let agent = self.server.act("agent:state", json!({ "paneId": id }));
            (agent["state"] == state).then_some(())
        });
    }

    fn api(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let request = self.request(PROTOCOL, method, path);
        let request = body.map_or(request.clone(), |body| request.json(&body));
        request.over_tcp(&self.authority(PROTOCOL))
    }

    /// Says something to the agent.
    fn say(&self, path: &str, kind: &str, content: &str) -> Reply {
        self.api("POST", path, Some(json!({ "content": content, "type": kind })))
    }

    /// Who said what, as the listener tells it.
    fn talk(&self) -> Vec<(String, String)> {
        let told = self.api("GET", "/messages", None).json();
        let word =
            |message: &Value, key: &str| message[key].as_str().unwrap_or_default().to_owned();
        let all = told["messages"].as_array().into_iter().flatten();
        all.map(|message| (word(message, "role"), word(message, "content"))).collect()
    }
}

#[test]
fn a_message_is_handed_over_and_its_answer_read() {
    let house = CompatServer::new(&["--work", "300"]);
    assert_eq!(house.api("GET", "/status", None).status, 404);
    house.agent("a");
    let stable = json!({ "agent_type": "fake-agent", "status": "stable", "transport": "pty" });
    assert_eq!(house.api("GET", "/status", None).json(), stable);
    let said = house.say("/message", "user", "hello\nthere");
    assert_eq!((said.status, said.json()), (200, json!({ "ok": true })));
    assert_eq!(house.agent.prompts(), ["hello\nthere"]);
    house.agent.wait("ready", 2);
    house.is("a", "ready");
    let talk = wait_for("an answer", || Some(house.talk()).filter(|talk| 3 <= talk.len()));
    assert_eq!(talk[1], ("user".to_owned(), "hello\nthere".to_owned()), "{talk:?}");
    assert_eq!(talk[2].0, "agent");
    assert!(!talk[2].1.is_empty() && !talk[2].1.contains("? for help"), "{talk:?}");
    let messages = house.api("GET", "/messages", None).json();
    for (at, message) in messages["messages"].as_array().into_iter().flatten().enumerate() {
        assert_eq!(message["id"], at);
        assert!(message["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{message}");
    }
}

#[test]
fn a_message_to_one_that_works_is_refused_and_told() {
    let house = CompatServer::new(&["--work", "60000"]);
    house.agent("a");
    assert_eq!(house.say("/message", "user", "first").status, 200);
    house.is("a", "busy");
    assert_eq!(house.api("GET", "/status", None).json()["status"], "running");
    let refused = house.say("/message", "user", "second");
    assert_eq!(refused.status, 500);
    assert_eq!(refused.header("content-type"), Some("application/problem+json"));
    let why =
        "failed to send message: message can only be sent when the agent is waiting for user input";
    assert_eq!(refused.json()["errors"], json!([{ "message": why }]));
    assert_eq!(house.agent.prompts(), ["first"]);
    // Keys go through as they are.
    assert_eq!(house.say("/message", "raw", "\u{1b}").status, 200);
    house.agent.wait("interrupted", 1);
}

#[test]
fn agents_have_it_under_their_names_and_the_newest_at_the_root() {
    let house = CompatServer::new(&["--work", "100"]);
    house.agent("one");
    house.agent("two");
    assert_eq!(house.say("/one/message", "user", "to one").status, 200);
    assert_eq!(house.say("/message", "user", "to the newest").status, 200);
    assert_eq!(house.agent.prompts(), ["to one", "to the newest"]);
    let sees = |id: &str, text: &str| house.server.text(id).contains(text);
    assert!(sees("one", "to one") && !sees("two", "to one"));
    assert!(sees("two", "to the newest") && !sees("one", "to the newest"));
    assert_eq!(house.server.ask("GET", "/compat/agentapi/one/status").status, 200);
    for path in ["/none/status", "/none/messages", "/none/events"] {
        assert_eq!(house.api("GET", path, None).status, 404, "{path}");
    }
    house.server.act("pane:kill", json!({ "paneId": "one" }));
    house.is("one", "exited");
    assert_eq!(house.api("GET", "/one/status", None).status, 410);
}

#[test]
fn what_makes_no_sense_is_a_problem() {
    let house = CompatServer::new(&[]);
    house.agent("a");
    for (body, status) in [
        (json!({}), 422),
        (json!({ "content": "x" }), 422),
        (json!({ "content": "x", "type": "other" }), 422),
        (json!({ "content": "", "type": "user" }), 500),
        (json!({ "content": " x", "type": "user" }), 500),
    ] {
        let refused = house.api("POST", "/message", Some(body.clone()));
        assert_eq!(refused.status, status, "{body}");
        let problem = refused.json();
        assert_eq!(problem["status"], status);
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
    }
    let upload =
        house.request(PROTOCOL, "POST", "/upload").header("content-type", "multipart/form-data");
    let upload = upload.body("--x").over_tcp(&house.authority(PROTOCOL));
    assert_eq!(upload.status, 404);
    assert!(
        upload.json()["detail"].as_str().is_some_and(|it| it.contains("not supported")),
        "{upload:?}"
    );
    assert_eq!(house.agent.prompts(), [""; 0]);
}

/// A stream of events, as it comes in.
struct AgentapiEvents(BufReader<TcpStream>);

impl AgentapiEvents {
    #[track_caller]
    fn open(house: &CompatServer, path: &str) -> Self {
        let authority = house.authority(PROTOCOL);
        let mut stream = TcpStream::connect(&authority).expect("it listens");
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).expect("a socket has one");
        let head = format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it takes it");
        Self(BufReader::new(stream))
    }

    /// The next event and its data; nothing at the end.
    fn next(&mut self) -> Option<(String, Value)> {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("it goes on") == 0 {
                return None;
            }
            if let Some(name) = line.strip_prefix("event: ") {
                event = name.trim().to_owned();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some((event, serde_json::from_str(data).expect("it is JSON")));
            }
        }
    }

    #[track_caller]
    fn until(&mut self, wanted: impl Fn(&str, &Value) -> bool) -> Value {
        loop {
            let (event, data) = self.next().expect("it has not ended");
            if wanted(&event, &data) {
                return data;
            }
        }
    }
}

#[test]
fn a_stream_begins_with_what_is_and_goes_on_with_what_changes() {
    let house = CompatServer::new(&["--work", "400"]);
    house.agent("a");
    let mut stream = AgentapiEvents::open(&house, "/events");
    let status = |word: &'static str| {
        move |event: &str, data: &Value| event == "status_change" && data["status"] == word
    };
    let first = stream.until(status("stable"));
    assert_eq!(first, json!({ "status": "stable", "agent_type": "fake-agent" }));
    assert_eq!(house.say("/message", "user", "hello").status, 200);
    stream.until(status("running"));
    let said = |role: &'static str| {
        move |event: &str, data: &Value| event == "message_update" && data["role"] == role
    };
    stream.until(status("stable"));
    // Whoever comes late hears everything.
    let mut late = AgentapiEvents::open(&house, "/a/events");
    let prompt = late.until(said("user"));
    assert_eq!((&prompt["message"], &prompt["id"]), (&json!("hello"), &json!(1)));
    late.until(said("agent"));
    late.until(status("stable"));
    // It ends with its agent.
    house.server.act("pane:kill", json!({ "paneId": "a" }));
    while late.next().is_some() {}
}
