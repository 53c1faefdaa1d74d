//! What an attacker may try.
#![forbid(unsafe_code)]

use std::os::unix::fs::MetadataExt;

use paned_e2e::{Request, Server};
use serde_json::json;

#[test]
fn files_are_for_their_user_alone() {
    let server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"], "env": { "SECRET": "hunter2" } }));
    let mut folders = vec![server.state()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o077, 0, "{}", folder.display());
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let found = entry.metadata().unwrap();
            if found.is_dir() {
                folders.push(entry.path());
                continue;
            }
            seen += 1;
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            let holds =
                |secret: &str| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            let name = entry.file_name();
            // It is what the pane is started with again, and holds its environment.
            let is_private = name == "launch.json" && found.mode() & 0o077 == 0;
            assert_eq!(holds("hunter2"), is_private, "{}", entry.path().display());
            if name != "token" {
                assert!(!holds(&server.token()), "{} holds the token", entry.path().display());
            }
        }
    }
    assert!(5 < seen);
}

#[test]
fn a_web_page_cannot_reach_in() {
    let server = Server::start();
    let authority = server.authority();
    let port = authority.rsplit(':').next().unwrap().to_owned();
    let bearer = format!("Bearer {}", server.token());
    let body = json!({ "command": "touch /tmp/paned-was-hijacked" });
    let post = |host: &str| {
        Request::new("POST", "/action/shell:run")
            .header("host", host)
            .header("authorization", &bearer)
    };
    for (request, status) in [
        (post("evil.example").json(&body), 421),
        (post(&format!("evil.example:{port}")).json(&body), 421),
        (post("127.0.0.1").json(&body), 421),
        (post(&authority).header("host", "evil.example").json(&body), 421),
        (post(&authority).header("origin", "http://evil.example").json(&body), 403),
        (post(&authority).header("origin", "null").json(&body), 403),
        (post(&authority).header("origin", "http://localhost:3000").json(&body), 403),
        (post(&authority).header("content-type", "text/plain").body(body.to_string()), 415),
        (post(&authority).body(body.to_string()), 415),
        (Request::new("POST", "/action/shell:run").header("host", &authority).json(&body), 401),
        (
            Request::new("GET", &format!("/actions?token={}", server.token()))
                .header("host", &authority),
            401,
        ),
        (
            Request::new("GET", "/actions")
                .header("host", &authority)
                .header("cookie", &format!("token={}", server.token())),
            401,
        ),
        (
            Request::new("OPTIONS", "/action/shell:run")
                .header("host", &authority)
                .header("origin", &format!("http://{authority}")),
            401,
        ),
    ] {
        let reply = request.over_tcp(&authority);
        assert_eq!(reply.status, status, "{request:?} {reply:?}");
        assert!(
            reply
                .headers
                .iter()
                .all(|(name, _)| !name.starts_with("access-control") && name != "set-cookie")
        );
    }
    assert!(!std::path::Path::new("/tmp/paned-was-hijacked").exists());
    assert_eq!(server.ask("GET", "/actions").status, 200);
}

#[test]
fn a_pane_speaks_for_itself_and_for_nobody_else() {
    let server = Server::start();
    server.act("pane:new", json!({ "id": "victim", "argv": ["cat"] }));
    let mut events = server.events("pane:exited", None);
    let ask = r#"
import json, os, urllib.request
def ask(name, params, pane=None):
    request = urllib.request.Request(os.environ["PANED_URL"] + "/action/" + name, json.dumps(params).encode())
    request.add_header("authorization", "Bearer " + os.environ["PANED_TOKEN"])
    request.add_header("content-type", "application/json")
    if pane: request.add_header("x-poly-pane", pane)
    try: return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error: return error.code
me = os.environ["PANED_PANE"]
print(ask("pane:get", {"paneId": me}), ask("pane:get", {"paneId": "victim"}), ask("grant:list", {}),
      ask("pane:get", {"paneId": me}, me), ask("pane:get", {"paneId": me}, "victim"),
      ask("pane:new", {"id": "child", "argv": ["cat"]}), ask("pane:close", {"paneId": "child"}), ask("server:stop", {}))
"#;
    for (id, can, expect) in [
        ("a", json!(["spawn"]), "200 403 403 200 403 200 200 403"),
        ("b", json!([]), "200 403 403 200 403 403 403 403"),
    ] {
        let argv = json!(["python3", "-c", ask]);
        server.act("pane:new", json!({ "id": id, "argv": argv, "can": can }));
        events.until_exit(id);
        assert_eq!(server.text(id).trim(), expect);
    }
}

#[test]
fn what_is_too_much_is_refused_with_a_sentence() {
    let server = Server::start();
    let authority = server.authority();
    let post = |path: &str| {
        let request = Request::new("POST", path).header("host", &authority);
        request
            .header("authorization", &format!("Bearer {}", server.token()))
            .header("content-type", "application/json")
    };
    let large = post("/action/pane:list").body(vec![b' '; (1 << 20) + 1]).over_tcp(&authority);
    assert_eq!((large.status, &large.json()["code"]), (413, &json!("limit")));
    let deep = format!("{{\"name\":\"t:x\",\"payload\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let deep = post("/action/event:emit").body(deep).over_tcp(&authority);
    assert_eq!((deep.status, &deep.json()["code"]), (400, &json!("invalid")));
    let unknown = post("/no/such/route").body("{}").over_tcp(&authority);
    assert_eq!((unknown.status, &unknown.json()["code"]), (404, &json!("not_found")));
    let garbage = post("/action/pane:new").body([0xff, 0xfe, 0x00]).over_tcp(&authority);
    assert_eq!(garbage.status, 400);
    assert_eq!(server.ask("GET", "/health").json()["status"], "ok");
}

#[test]
fn hosts_beyond_this_machine_are_refused() {
    let server = Server::start();
    for host in ["0.0.0.0", "::", "192.0.2.1"] {
        let state = server.state().with_file_name("other");
        let mut command = server.command(&["serve", "--port", "0", "--host", host]);
        let output = command.env("PANED_STATE_DIR", &state).output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("127.0.0.1"), "{said}");
    }
}

#[test]
fn no_token_is_ever_in_the_log() {
    let server = Server::start_with(&[]);
    let made = server.act("grant:create", json!({ "scopes": ["read"] }));
    let token = made["token"].as_str().unwrap();
    let wrong = Request::new("GET", "/actions").header("host", &server.authority());
    let wrong = wrong.header("authorization", &format!("Bearer {token}x"));
    assert_eq!(wrong.over_tcp(&server.authority()).status, 401);
    let owner = server.token();
    assert!(server.cli(&["server", "stop"]).status.success());
    let log = server.log();
    assert!(!log.contains(token) && !log.contains(&owner), "{log}");
}
