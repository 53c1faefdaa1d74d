//! Budgets: work, disk space, streams and failed logins that one caller may use up.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{Read, Write};
use std::net::TcpStream;

use paned_e2e::{Reply, Request, Server, wait_for};
use serde_json::{Value, json};

/// A token with these scopes over one pane.
fn narrow(server: &Server, scope: &str) -> String {
    let made = server.act("grant:create", json!({ "scopes": [scope], "panes": ["a"] }));
    made["token"].as_str().unwrap().to_owned()
}

fn ask(server: &Server, token: &str, method: &str, path: &str, body: Option<&Value>) -> Reply {
    let request = Request::new(method, path).header("host", &server.authority());
    let request = request.header("authorization", &format!("Bearer {token}"));
    let request = body.map_or(request.clone(), |body| request.json(body));
    request.over_tcp(&server.authority())
}

#[test]
fn a_narrow_grant_records_so_many_events_and_the_owner_as_many_as_they_like() {
    let server = Server::start_set("[limits]\nevents_per_second = 1\n", &[]);
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let token = narrow(&server, "input");
    let event = json!({ "name": "test:flood", "payload": { "paneId": "a" } });
    let refused = (0..100).find_map(|_| {
        let reply = ask(&server, &token, "POST", "/action/event:emit", Some(&event));
        (reply.status != 200).then_some(reply)
    });
    let refused = refused.expect("a hundred events at once are too many at one a second");
    assert_eq!(refused.status, 429, "{}", refused.body);
    assert!(refused.body.contains("limits.events_per_second"), "{}", refused.body);
    assert!(refused.header("retry-after").is_some());
    for _ in 0..100 {
        server.act("event:emit", json!({ "name": "test:owner" }));
    }
}

#[test]
fn the_journal_is_kept_by_bytes() {
    let server = Server::start_set("[limits]\njournal_bytes = 1048576\n", &[]);
    let long = json!({ "name": "test:long", "payload": "x".repeat(500_000) });
    for _ in 0..60 {
        server.act("event:emit", long.clone());
    }
    let size = std::fs::metadata(server.state().join("journal.db")).map_or(0, |file| file.len());
    assert!(size < 8 << 20, "30 MB of events take {size} bytes");
}

#[test]
fn tags_are_limited_like_meta() {
    let server = Server::start();
    let tags: Vec<String> = (0..900).map(|n| format!("{n}{}", "x".repeat(1000))).collect();
    let refusal = server.try_act("pane:new", json!({ "id": "a", "argv": ["cat"], "tags": tags }));
    let refusal = refusal.unwrap_err();
    assert_eq!(refusal.code.as_str(), "limit", "{refusal:?}");
    assert!(refusal.sentence.contains("tags"), "{refusal:?}");
}

/// Opens a stream of events; answers its status, and the connection while it is kept.
fn stream(server: &Server, token: &str) -> (u16, TcpStream) {
    let mut stream = TcpStream::connect(server.authority()).unwrap();
    let host = server.authority();
    let head = format!(
        "GET /events?include=* HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    (std::str::from_utf8(&status[9..]).unwrap().parse().unwrap(), stream)
}

#[test]
fn a_narrow_grant_has_so_many_streams_and_the_owner_always_gets_in() {
    let server = Server::start_set("[limits]\nstreams_per_grant = 5\n", &[]);
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let token = narrow(&server, "read");
    let mut open: Vec<_> = (0..5).map(|_| stream(&server, &token)).collect();
    assert!(open.iter().all(|(status, _)| *status == 200));
    assert_eq!(stream(&server, &token).0, 429);
    assert_eq!(stream(&server, &server.token()).0, 200);
    assert_eq!(server.ask("GET", "/health").status, 200);
    // One that ends makes room.
    drop(open.pop());
    wait_for("room for another", || (stream(&server, &token).0 == 200).then_some(()));
}

#[test]
fn many_wrong_tokens_are_told_to_wait_and_a_right_one_is_let_in() {
    let server = Server::start();
    let wrong = |_| ask(&server, "paned_abc_wrong", "GET", "/actions", None);
    assert_eq!(wrong(0).status, 401);
    let limited = (0..20_000).map(wrong).find(|reply| reply.status != 401);
    let limited = limited.expect("wrong tokens are limited");
    assert_eq!(limited.status, 429, "{}", limited.body);
    assert!(limited.header("retry-after").is_some());
    assert_eq!(server.ask("GET", "/health").status, 200);
    assert_eq!(server.ask("GET", "/actions").status, 200);
    server.act("pane:list", json!({}));
}

#[test]
fn changes_count_like_events_and_ending_is_always_possible() {
    let server = Server::start_set("[limits]\nevents_per_second = 1\n", &[]);
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let made = server.act("grant:create", json!({ "scopes": ["input", "kill"], "panes": ["a"] }));
    let token = made["token"].as_str().unwrap().to_owned();
    let change = json!({ "paneId": "a", "key": "k", "value": "x".repeat(60_000) });
    let refused = (0..100).find_map(|_| {
        let reply = ask(&server, &token, "POST", "/action/pane:set-meta", Some(&change));
        (reply.status != 200).then_some(reply)
    });
    let refused = refused.expect("a hundred large changes at once are too many");
    assert_eq!(refused.status, 429, "{}", refused.body);
    let kill = json!({ "paneId": "a" });
    let killed = ask(&server, &token, "POST", "/action/pane:kill", Some(&kill));
    assert_eq!(killed.status, 200, "{}", killed.body);
}

#[test]
fn idle_connections_of_a_narrow_grant_keep_nobody_out() {
    let server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let token = narrow(&server, "read");
    let host = server.authority();
    let head =
        format!("GET /health HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    let idle: Vec<TcpStream> = (0..1100)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(&host).ok()?;
            stream.write_all(head.as_bytes()).ok()?;
            // Answered or turned away: either way it stays open as long as the server lets it.
            let _ = stream.read(&mut [0; 64]);
            Some(stream)
        })
        .collect();
    let owner = server.token();
    let reply = ask(&server, &owner, "GET", "/health", None);
    assert_eq!(reply.status, 200, "beside {} connections: {}", idle.len(), reply.body);
}
