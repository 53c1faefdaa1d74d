//! The rules of the protocol and of paned over HTTP: who is answered, and what is refused.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use paned_e2e::{Reply, Request, Server, WAIT_TIMEOUT, script, wait_for, wait_within};
use serde_json::{Value, json};

use crate::support::{HttpClient, VERSION, initialize, last_message, text, token, tool};

#[track_caller]
fn refused(reply: &Reply, status: u16, sentence: &str) {
    assert_eq!(reply.status, status, "{reply:?}");
    assert!(reply.body.contains(sentence), "{reply:?}");
}

#[test]
fn foreign_hosts_and_origins_and_callers_without_a_token_are_refused() {
    let server = Server::start();
    let authority = server.authority();
    let post =
        |host: &str| Request::new("POST", "/mcp").header("host", host).header("accept", "*/*");
    let bearer = format!("Bearer {}", server.token());
    let own = || post(&authority).header("authorization", &bearer);
    refused(&post(&authority).json(&initialize()).over_tcp(&authority), 401, "token");
    let rebound = post("evil.example:80").header("authorization", &bearer);
    refused(&rebound.json(&initialize()).over_tcp(&authority), 421, "Host");
    let foreign = own().header("origin", "http://evil.example");
    refused(&foreign.json(&initialize()).over_tcp(&authority), 403, "other origins");
    let ours = own().header("origin", &format!("http://{authority}"));
    assert_eq!(ours.json(&initialize()).over_tcp(&authority).status, 200);
    let plain = own().header("content-type", "text/plain").body(initialize().to_string());
    refused(&plain.over_tcp(&authority), 415, "application/json");
}

#[test]
fn what_is_no_message_is_answered_with_what_is_wrong() {
    let server = Server::start();
    let client = HttpClient::start(&server, &server.token(), "");
    let post = |body: &str| {
        let request = client.request("POST").header("content-type", "application/json");
        request.body(body).over_tcp(&server.authority())
    };
    let invalid = post("{");
    refused(&invalid, 400, "not valid JSON");
    assert_eq!(invalid.json()["error"]["code"], -32700);
    let batch = post(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
    refused(&batch, 400, "a batch is not supported");
    assert_eq!(batch.json()["error"]["code"], -32600);
    refused(&post("{}"), 400, "not a JSON-RPC 2.0 message");
    let wrong = client.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "no/such" }));
    assert_eq!(last_message(&wrong)["error"]["code"], -32601, "{wrong:?}");
    let shape =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": 7 } });
    let shape = last_message(&client.post(&shape));
    assert_eq!(shape["error"]["code"], -32602, "{shape}");
    assert!(shape["error"]["message"].as_str().unwrap().contains("must be"), "{shape}");
    let unknown = last_message(&client.post(&tool(2, "pty_spwan", json!({}))));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let accept = Request::new("POST", "/mcp")
        .header("host", &server.authority())
        .header("authorization", &format!("Bearer {}", server.token()))
        .header("accept", "text/html");
    refused(&accept.json(&initialize()).over_tcp(&server.authority()), 406, "event-stream");
    refused(&server.ask("GET", "/mcp?teir=full"), 400, "unknown query parameter `teir`");
    refused(&server.ask("GET", "/mcp?tier=all"), 400, "no tier `all`");
    refused(&server.ask("GET", "/mcp?cwd=here"), 400, "`cwd` must be an absolute path");
}

#[test]
fn a_session_is_needed_and_belongs_to_its_token() {
    let server = Server::start();
    let mut client = HttpClient::start(&server, &server.token(), "");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let session = client.session.clone().unwrap();
    assert_eq!(client.post(&list).status, 200);

    let (_, other) = token(&server, &["read"], None);
    let mut foreign = HttpClient::new(&server, &other, "");
    foreign.session = Some(session.clone());
    let answer = foreign.post(&list);
    refused(&answer, 404, "no such MCP session");
    assert_eq!(answer.json()["id"], 1);

    client.session = None;
    refused(&client.post(&list), 400, "ession");
    client.session = Some("no-such".to_owned());
    refused(&client.post(&list), 404, "start one with `initialize`");

    client.session = Some(session);
    let ended = client.request("DELETE").over_tcp(&server.authority());
    assert_eq!(ended.status, 202, "{ended:?}");
    refused(&client.post(&list), 404, "no such MCP session");
}

#[test]
fn an_unknown_version_of_the_protocol_is_refused() {
    let server = Server::start();
    let client = HttpClient::start(&server, &server.token(), "");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let request = Request::new("POST", "/mcp")
        .header("host", &server.authority())
        .header("accept", "application/json, text/event-stream")
        .header("authorization", &format!("Bearer {}", server.token()))
        .header("mcp-session-id", client.session.as_deref().unwrap())
        .header("mcp-protocol-version", "1999-01-01");
    refused(&request.json(&list).over_tcp(&server.authority()), 400, "1999-01-01");
    let answer = last_message(&client.post(&initialize()));
    assert_eq!(answer["result"]["protocolVersion"], VERSION, "{answer}");
}

#[test]
fn the_protocol_without_sessions_is_spoken_too() {
    let server = Server::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let client = HttpClient::new(&server, &server.token(), "");
    let post = |method: &str, name: &str, params: Value| {
        let request = client.request("POST").header("mcp-protocol-version", "2026-07-28");
        let request = request.header("mcp-method", method);
        let request = if name.is_empty() { request } else { request.header("mcp-name", name) };
        let mut params = params;
        params["_meta"] = meta.clone();
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        request.json(&message).over_tcp(&server.authority())
    };
    let discovered = last_message(&post("server/discover", "", json!({})));
    assert!(discovered["result"]["supportedVersions"].is_array(), "{discovered}");
    let listed = last_message(&post("tools/list", "", json!({})));
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(13), "{listed}");
    let called = post("tools/call", "pty_list", json!({ "name": "pty_list", "arguments": {} }));
    assert_eq!(text(&last_message(&called)["result"]), "No active PTY sessions.");
    let mismatch = post("tools/call", "pty_read", json!({ "name": "pty_list", "arguments": {} }));
    assert_eq!(mismatch.status, 400, "{mismatch:?}");
}

fn tools(client: &HttpClient) -> BTreeSet<String> {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = last_message(&client.post(&list));
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_tier_hides_tools_and_refuses_actions_beyond_it() {
    let server = Server::start();
    server.act("pane:new", script("web", "echo up; sleep 600"));
    let reader = HttpClient::start(&server, &server.token(), "?tier=read-only");
    let seen = tools(&reader);
    assert!(seen.contains("pty_read") && !seen.contains("pty_spawn"), "{seen:?}");
    let hidden = last_message(&reader.post(&tool(1, "pty_kill", json!({ "id": "web" }))));
    let why = hidden["error"]["message"].as_str().unwrap();
    assert!(why.contains("is not in the tier read-only"), "{hidden}");
    let kill = json!({ "name": "pane:kill", "params": { "paneId": "web" } });
    let refused = reader.call("action_call", kill);
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("needs the scope `kill`"), "{refused}");
    assert_eq!(server.pane("web")["status"], "running");

    let grants = json!({ "name": "grant:list" });
    let standard = HttpClient::start(&server, &server.token(), "");
    assert_eq!(standard.call("action_call", grants.clone())["isError"], true);
    let full = HttpClient::start(&server, &server.token(), "?tier=full");
    assert_eq!(full.call("action_call", grants)["isError"], false);
}

#[test]
fn a_narrow_token_reaches_only_its_panes_and_scopes() {
    let server = Server::start();
    server.act("pane:new", script("mine", "echo secret-of-mine; sleep 600"));
    server.act("pane:new", script("other", "echo secret-of-other; sleep 600"));
    wait_for("the output", || server.text("other").contains("secret").then_some(()));
    let (_, narrow) = token(&server, &["read"], Some(&["mine"]));
    let client = HttpClient::start(&server, &narrow, "?tier=full");
    let listed = client.call("pty_list", json!({}));
    assert!(text(&listed).contains("[mine]") && !text(&listed).contains("other"), "{listed}");
    let read = client.call("pty_read", json!({ "id": "other" }));
    assert_eq!(read["isError"], true, "{read}");
    assert!(!read.to_string().contains("secret"), "{read}");
    let missing = client.call("pty_read", json!({ "id": "absent77" }));
    let like = |result: &Value, id: &str| text(result).replace(id, "X");
    assert_eq!(like(&read, "other"), like(&missing, "absent77"), "a pane that is there shows");
    let found = client.call("pty_search", json!({ "pattern": "secret" }));
    assert!(!text(&found).contains("other"), "{found}");
    let typed = client.call("pty_write", json!({ "id": "mine", "data": "x" }));
    assert!(text(&typed).contains("input"), "{typed}");
    let uri = "paned://pane/other/screen";
    let screen =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": uri } });
    assert!(last_message(&client.post(&screen))["error"].is_object());
}

#[test]
fn a_revoked_token_ends_its_calls_and_its_session_within_a_second() {
    let server = Server::start();
    server.act("pane:new", script("web", "sleep 600"));
    let (id, narrow) = token(&server, &["read"], None);
    let client = HttpClient::start(&server, &narrow, "");
    let wait = tool(1, "pty_wait", json!({ "id": "web", "timeoutSeconds": 600 }));
    let request = client.request("POST").json(&wait);
    let authority = server.authority();
    let waiting = std::thread::spawn(move || (request.over_tcp(&authority), Instant::now()));
    // The wait has begun when its session is in use: this call comes after it.
    std::thread::sleep(Duration::from_millis(500)); // not a wait: the token is to be revoked meanwhile
    let revoked = Instant::now();
    server.act("grant:revoke", json!({ "id": id }));
    let (reply, ended) = waiting.join().unwrap();
    assert!(ended - revoked < Duration::from_secs(5), "{:?}: {reply:?}", ended - revoked);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    assert_eq!(client.post(&list).status, 401);
}

/// Waits for a port take one of the token's streams, so that a second one is refused while the
/// first runs.
fn waits_for_port(client: &HttpClient) -> Value {
    client.call("pty_wait", json!({ "id": "web", "port": 1, "timeoutSeconds": 0.1 }))
}

/// Reads a response until it reports progress: then its wait has begun.
fn until_progress(stream: &TcpStream) {
    stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("notifications/progress")), "it ends before");
}

#[test]
fn a_cancelled_wait_and_a_closed_stream_end_the_wait_in_the_kernel() {
    let server = Server::start_set("[limits]\nstreams_per_grant = 1\n", &[]);
    server.act("pane:new", script("web", "sleep 600"));
    // The streams of the owner's token are not limited.
    let (_, limited) = token(&server, &["read", "spawn"], None);
    let client = HttpClient::start(&server, &limited, "");
    let long = json!({ "id": "web", "port": 1, "timeoutSeconds": 600 });
    let free = |client: &HttpClient| {
        let waited = waits_for_port(client);
        (waited["isError"] == false).then_some(())
    };
    let mut call = tool(5, "pty_wait", long);
    call["params"]["_meta"] = json!({ "progressToken": "wait" });
    for cancels in [true, false] {
        let stream = client.request("POST").json(&call).begin_tcp(&server.authority());
        until_progress(&stream);
        assert!(free(&client).is_none(), "the wait does not take a stream");
        if cancels {
            let params = json!({ "requestId": 5 });
            let notice =
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            assert_eq!(client.post(&notice).status, 202);
            wait_within(Duration::from_secs(10), "the wait to end", || free(&client));
        }
        drop(stream);
        wait_within(Duration::from_secs(10), "the wait to end", || free(&client));
    }
}

#[test]
fn sessions_of_one_token_are_bounded() {
    let server = Server::start();
    let (_, narrow) = token(&server, &["read"], None);
    let first = HttpClient::start(&server, &narrow, "");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let others: Vec<HttpClient> =
        (0..64).map(|_| HttpClient::start(&server, &narrow, "")).collect();
    refused(&first.post(&list), 404, "no such MCP session");
    assert_eq!(others.last().unwrap().post(&list).status, 200);
}
