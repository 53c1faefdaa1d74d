//! The routes of Poly, at a listener of their own and on the main port.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use paned_e2e::{Request, WAIT_TIMEOUT, wait_for};
use serde_json::{Value, json};

use super::{PolyServer, file_of_a_pane};

/// The lines of a stream of events.
struct Stream(BufReader<TcpStream>);

impl Stream {
    /// Opens it with these headers, and reads up to the first line of the body.
    fn open(poly: &PolyServer, path: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(&poly.authority).unwrap();
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        let authority = &poly.authority;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {authority}\r\n{headers}\r\n").unwrap();
        let mut stream = Self(BufReader::new(stream));
        assert_eq!(stream.line(), "HTTP/1.1 200 OK");
        let mut heads = Vec::new();
        while heads.last().is_none_or(|line: &String| !line.is_empty()) {
            heads.push(stream.line());
        }
        assert!(heads.contains(&"content-type: text/event-stream".to_owned()), "{heads:?}");
        stream
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended");
        line.trim_end().to_owned()
    }

    /// The next event: its id, its name and its data.
    fn event(&mut self) -> (u64, String, Value) {
        let mut fields = [const { String::new() }; 3];
        loop {
            let line = self.line();
            for (field, name) in fields.iter_mut().zip(["id: ", "event: ", "data: "]) {
                if let Some(value) = line.strip_prefix(name) {
                    *field = value.to_owned();
                }
            }
            let [id, name, data] = &fields;
            if !data.is_empty() {
                return (id.parse().unwrap(), name.clone(), serde_json::from_str(data).unwrap());
            }
        }
    }
}

#[test]
fn a_client_without_a_token_does_what_it_did_with_poly() {
    let poly = PolyServer::open();
    assert_eq!(poly.ask("GET", "/health").json()["status"], "ok");
    let actions = poly.ask("GET", "/actions").json();
    let names: Vec<_> = actions.as_array().unwrap().iter().map(|it| &it["name"]).collect();
    for name in [
        "pane:new",
        "pane:close",
        "pane:list",
        "pane:get-meta",
        "pane:set-meta",
        "pane:delete-meta",
        "pane:update-meta",
        "pane:activate",
        "shell:run",
        "agent:create",
        "agent:message",
        "agent:set-state",
    ] {
        assert!(names.contains(&&json!(name)), "{name}");
    }
    let made = poly.act(
        "pane:new",
        json!({
            "id": "a", "argv": ["cat"], "cwd": "/tmp", "env": { "K": "V" }, "meta": { "n": 1 },
            "persist": true,
        }),
    );
    assert_eq!((&made["id"], &made["meta"]), (&json!("a"), &json!({ "n": 1 })));
    let list = poly.act("pane:list", json!({}));
    assert_eq!((&list[0]["id"], &list[0]["meta"]), (&json!("a"), &json!({ "n": 1 })));
    let set = json!({ "paneId": "a", "key": "n", "value": 2 });
    let changed = poly.act("pane:set-meta", set.clone());
    let expect =
        json!({ "id": "a", "previousMeta": { "n": 1 }, "meta": { "n": 2 }, "changed": true });
    assert_eq!(changed, expect);
    assert_eq!(poly.act("pane:set-meta", set)["changed"], false);
    let update = json!({ "paneId": "a", "set": { "m": "x" }, "deleteKeys": ["n"] });
    assert_eq!(poly.act("pane:update-meta", update)["meta"], json!({ "m": "x" }));
    let delete = json!({ "paneId": "a", "keys": ["m"] });
    assert_eq!(poly.act("pane:delete-meta", delete)["meta"], json!({}));
    let meta = poly.act("pane:get-meta", json!({ "paneId": "a" }));
    assert_eq!(meta, json!({ "id": "a", "meta": {} }));
    let file = poly.server.home().join("ran");
    let run = json!({ "command": "echo ran >ran", "cwd": poly.server.home() });
    assert_eq!(poly.act("shell:run", run), json!({}));
    wait_for("the command's file", || file.exists().then_some(()));
    assert_eq!(poly.act("pane:close", json!({ "paneId": "a" })), json!({}));
    let gone = poly.post("/action/pane:get-meta", &json!({ "paneId": "a" }));
    assert_eq!((gone.status, &gone.json()["code"]), (404, &json!("not_found")));
    assert_eq!(poly.post("/action/no:such", &json!({})).status, 404);
    assert_eq!(poly.post("/action/pane:new", &json!({ "argv": "cat" })).status, 400);
}

#[test]
fn events_are_sent_as_asked_for_and_silence_is_the_default() {
    let poly = PolyServer::open();
    let mut silent = Stream::open(&poly, "/events", "");
    let mut exact = Stream::open(&poly, "/events?include=pane:ready", "");
    let mut prefix = Stream::open(&poly, "/events?include=action:*", "");
    poly.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let emitted = poly.post("/emit/pane:ready", &json!({ "paneId": "a", "n": 7 }));
    assert_eq!(emitted.status, 200, "{emitted:?}");
    let id = emitted.json()["id"].as_u64().unwrap();
    let (seen, name, data) = exact.event();
    assert_eq!((seen, name.as_str()), (id, "pane:ready"));
    assert_eq!((&data["paneId"], &data["n"]), (&json!("a"), &json!(7)));
    let (start, name, data) = prefix.event();
    assert_eq!((name.as_str(), &data["actionName"]), ("action:start", &json!("pane:new")));
    assert_eq!(data["params"]["argv"], json!(["cat"]));
    let (success, name, data) = prefix.event();
    assert_eq!((name.as_str(), &data["result"]["id"]), ("action:success", &json!("a")));
    assert!(start < success && success < id, "ids rise");
    let mut again =
        Stream::open(&poly, "/events?include=*", &format!("Last-Event-ID: {start}\r\n"));
    assert_eq!(again.event().0, start + 1, "what came after is sent again");
    assert!(poly.server.log().contains("follows /events without `include`"));
    // The server ends every stream as it stops; this one held nothing but comments.
    assert_eq!(poly.server.cli(&["server", "stop"]).status.code(), Some(0));
    let mut rest = String::new();
    while silent.0.read_line(&mut rest).is_ok_and(|bytes| 0 < bytes) {}
    assert!(!rest.contains("data:"), "{rest}");
}

#[test]
fn a_pane_in_a_header_is_a_label_unless_its_grant_comes_with_it() {
    let poly = PolyServer::open();
    let token = file_of_a_pane(&poly.server, "a", "printf %s \"$PANED_TOKEN\"");
    poly.act("pane:new", json!({ "id": "b", "argv": ["cat"] }));
    let post = |pane: &str, token: Option<&str>, name: &str, params: Value| {
        let request = poly.request("POST", &format!("/action/{name}")).header("x-poly-pane", pane);
        let request = match token {
            Some(token) => request.header("authorization", &format!("Bearer {token}")),
            None => request,
        };
        request.json(&params).over_tcp(&poly.authority)
    };
    let status = |pane: &str| {
        poly.act("pane:get-meta", json!({ "paneId": pane }))["meta"]["agent.status"].clone()
    };
    // Without a grant it only stands for a pane that the caller could have named anyway.
    let idle = json!({ "status": "idle" });
    assert_eq!(post("b", None, "agent:set-state", idle.clone()).status, 200);
    assert_eq!((status("b"), status("a")), (json!("idle"), Value::Null));
    assert_eq!(post("no pane", None, "agent:set-state", idle.clone()).status, 400);
    assert_eq!(post("gone", None, "agent:set-state", idle.clone()).status, 404);
    assert_eq!(poly.post("/action/agent:set-state", &idle).status, 400);
    assert_eq!(post("gone", None, "pane:list", json!({})).status, 200);
    assert_eq!(post("a", None, "grant:create", json!({ "scopes": ["read"] })).status, 403);
    // With a pane's grant it is checked, and the grant counts.
    assert_eq!(post("a", Some(&token), "agent:set-state", idle.clone()).status, 200);
    assert_eq!(status("a"), "idle");
    assert_eq!(post("b", Some(&token), "pane:list", json!({})).status, 403);
    assert_eq!(post("a", Some("paned_x_y"), "pane:list", json!({})).status, 401);
    let other = json!({ "paneId": "b", "text": "x" });
    assert_eq!(post("a", Some(&token), "pane:write", other).status, 403);
}

#[test]
fn an_open_listener_admits_programs_of_this_machine_and_administers_nothing() {
    let poly = PolyServer::open();
    // It is logged after the ready line.
    wait_for("a warning in the log", || {
        poly.server.log().contains("this listener requires no token").then_some(())
    });
    for (name, params) in [
        ("grant:create", json!({ "scopes": ["admin"] })),
        ("server:stop", json!({})),
        ("agent:answer", json!({ "paneId": "a", "option": "yes" })),
        ("pane:new", json!({ "tmux": "/tmp/x", "beside": "%1" })),
    ] {
        let reply = poly.post(&format!("/action/{name}"), &params);
        assert_eq!(reply.status, 403, "{name}: {reply:?}");
    }
    let run = || poly.request("POST", "/action/shell:run").body(r#"{"command":"true"}"#);
    let page = run().header("content-type", "text/plain").over_tcp(&poly.authority);
    assert_eq!(page.status, 415, "a page can send plain text, and no JSON");
    let json = || run().header("content-type", "application/json");
    let foreign = json().header("origin", "http://evil.example").over_tcp(&poly.authority);
    assert_eq!(foreign.status, 403);
    let renamed = Request::new("GET", "/actions").header("host", "evil.example");
    assert_eq!(renamed.over_tcp(&poly.authority).status, 421);
    assert_eq!(json().over_tcp(&poly.authority).status, 200);
}

#[test]
fn a_listener_that_is_not_open_needs_a_token() {
    let poly = PolyServer::with("poly=127.0.0.1:0");
    assert_eq!(poly.ask("GET", "/health").json(), json!({ "status": "ok" }));
    for (method, path) in [("GET", "/actions"), ("GET", "/events"), ("GET", "/nothing")] {
        assert_eq!(poly.ask(method, path).status, 401, "{path}");
    }
    let bearer = format!("Bearer {}", poly.server.token());
    let shown = poly.request("GET", "/actions").header("authorization", &bearer);
    // The owner's token proves no pane: the name is a label here, too.
    let shown = shown.header("x-poly-pane", "a").over_tcp(&poly.authority);
    assert_eq!(shown.status, 200, "{shown:?}");
}

#[test]
fn other_paths_are_answered_with_the_ones_there_are() {
    let poly = PolyServer::open();
    for (method, path) in
        [("GET", "/"), ("GET", "/ws"), ("POST", "/nothing"), ("GET", "/openapi.json")]
    {
        let reply = poly.ask(method, path);
        assert_eq!((reply.status, &reply.json()["code"]), (404, &json!("not_found")), "{path}");
        assert!(reply.body.contains("`GET /events`"), "{reply:?}");
    }
    let reply = poly.ask("GET", "/action/pane:list");
    assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")));
}

#[test]
fn the_main_port_has_the_same_routes_for_those_with_a_token() {
    let poly = PolyServer::open();
    let main = &poly.server;
    assert_eq!(main.ask("GET", "/compat/poly/actions").status, 200);
    assert_eq!(main.ask("GET", "/compat/poly/nothing").status, 404);
    let anyone = Request::new("GET", "/compat/poly/actions").header("host", &main.authority());
    assert_eq!(anyone.over_tcp(&main.authority()).status, 401);
    let bearer = format!("Bearer {}", main.token());
    let claim = Request::new("GET", "/compat/poly/actions").header("host", &main.authority());
    let claim = claim.header("authorization", &bearer).header("x-poly-pane", "a");
    assert_eq!(claim.over_tcp(&main.authority()).status, 403, "a claim is proven there");
}

/// A hook as Poly's are: it knows the variables of its pane and no token.
const HOOK: &str = r#"
import json, os, urllib.request as http
url = os.environ["POLY_BASE_URL"] + "/action/agent:set-state"
body = json.dumps({"paneId": os.environ["POLY_PANE"], "status": "idle", "runtime": "poly-test"})
head = {"Content-Type": "application/json", "x-poly-pane": os.environ["POLY_PANE"]}
http.urlopen(http.Request(url, body.encode(), head)).read()
print(os.environ["POLY_PORT"])
"#;

#[test]
fn a_hook_in_a_pane_finds_the_listener_and_needs_no_token() {
    let poly = PolyServer::open();
    let script = format!("python3 -c '{HOOK}' 2>&1");
    let port = file_of_a_pane(&poly.server, "hooked", &script);
    assert!(poly.authority.ends_with(&format!(":{}", port.trim())), "{port}");
    let meta = poly.act("pane:get-meta", json!({ "paneId": "hooked" }))["meta"].clone();
    assert_eq!(
        (&meta["agent.status"], &meta["agent.runtime"]),
        (&json!("idle"), &json!("poly-test"))
    );
}
