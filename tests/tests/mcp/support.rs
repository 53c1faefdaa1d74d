//! Clients that speak just enough MCP.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use paned_e2e::{Reply, Request, Server, WAIT_TIMEOUT};
use serde_json::{Value, json};

pub(crate) const ACCEPT: &str = "application/json, text/event-stream";
pub(crate) const VERSION: &str = "2025-11-25";

/// The request that starts a session.
pub(crate) fn initialize() -> Value {
    let params = json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

/// A call of a tool.
pub(crate) fn tool(id: u64, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// A client over TCP with a token.
pub(crate) struct HttpClient {
    authority: String,
    token: String,
    query: &'static str,
    pub(crate) session: Option<String>,
}

impl HttpClient {
    pub(crate) fn new(server: &Server, token: &str, query: &'static str) -> Self {
        let authority = server.authority();
        Self { authority, token: token.to_owned(), query, session: None }
    }

    /// One that has started a session.
    #[track_caller]
    pub(crate) fn start(server: &Server, token: &str, query: &'static str) -> Self {
        let mut client = Self::new(server, token, query);
        let reply = client.post(&initialize());
        assert_eq!(reply.status, 200, "{reply:?}");
        client.session = reply.header("mcp-session-id").map(str::to_owned);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.post(&ready).status, 202);
        client
    }

    /// A request with the right headers.
    pub(crate) fn request(&self, method: &str) -> Request {
        let request = Request::new(method, &format!("/mcp{}", self.query))
            .header("host", &self.authority)
            .header("accept", ACCEPT)
            .header("authorization", &format!("Bearer {}", self.token));
        match &self.session {
            Some(session) => {
                request.header("mcp-session-id", session).header("mcp-protocol-version", VERSION)
            }
            None => request,
        }
    }

    pub(crate) fn post(&self, message: &Value) -> Reply {
        self.request("POST").json(message).over_tcp(&self.authority)
    }

    /// Calls a tool; answers its result.
    #[track_caller]
    pub(crate) fn call(&self, name: &str, arguments: Value) -> Value {
        let reply = self.post(&tool(7, name, arguments));
        let answer = last_message(&reply);
        assert!(answer["result"].is_object(), "{reply:?}");
        answer["result"].clone()
    }
}

/// The last message of a response, whether it is JSON or a stream.
#[track_caller]
pub(crate) fn last_message(reply: &Reply) -> Value {
    let lines = reply.body.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = lines.map(str::trim).rfind(|data| !data.is_empty());
    let text = last.unwrap_or(&reply.body);
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no message: {reply:?}"))
}

/// The text of a tool's result.
#[track_caller]
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

/// `paned mcp`, as a client that started it sees it.
pub(crate) struct StdioClient {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    next: u64,
}

impl StdioClient {
    /// Starts it, without a session.
    #[track_caller]
    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (lines, received) = channel();
        std::thread::spawn(move || {
            let lines_of_output = output.lines().map_while(Result::ok);
            lines_of_output.map(|line| lines.send(line)).take_while(Result::is_ok).for_each(drop);
        });
        Self { input: child.stdin.take(), child, output: received, next: 0 }
    }

    /// One that has started a session.
    #[track_caller]
    pub(crate) fn start(server: &Server, args: &[&str]) -> Self {
        let args: Vec<&str> = ["mcp"].iter().chain(args).copied().collect();
        let mut client = Self::spawn(server.command(&args));
        client.initialize();
        client
    }

    #[track_caller]
    pub(crate) fn initialize(&mut self) {
        self.send(&initialize().to_string());
        let answer = self.receive();
        assert_eq!(answer["result"]["serverInfo"]["name"], "paned", "{answer}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    pub(crate) fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.output.recv_timeout(WAIT_TIMEOUT).expect("a message in time");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }

    /// The next message, if there is one soon.
    #[track_caller]
    pub(crate) fn try_receive(&mut self) -> Option<Value> {
        let line = self.output.recv_timeout(Duration::from_millis(200)).ok()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}")))
    }

    /// Sends a call of a tool; answers its id.
    pub(crate) fn begin(&mut self, name: &str, arguments: Value) -> u64 {
        self.next += 1;
        let call = tool(self.next, name, arguments).to_string();
        self.send(&call);
        self.next
    }

    /// The result of the call with this id.
    #[track_caller]
    pub(crate) fn result(&mut self, id: u64) -> Value {
        loop {
            let message = self.receive();
            if message["id"] == id {
                assert!(message["result"].is_object(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// Calls a tool; answers its result.
    #[track_caller]
    pub(crate) fn call(&mut self, name: &str, arguments: Value) -> Value {
        let id = self.begin(name, arguments);
        self.result(id)
    }

    /// Closes its input, and waits until it ends.
    #[track_caller]
    pub(crate) fn close(mut self) {
        drop(self.input.take());
        let status =
            paned_e2e::wait_for("the end of `paned mcp`", || self.child.try_wait().unwrap());
        assert!(status.success(), "{status}");
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A token with these scopes over all panes, or these.
#[track_caller]
pub(crate) fn token(server: &Server, scopes: &[&str], panes: Option<&[&str]>) -> (String, String) {
    let mut params = json!({ "label": "test", "scopes": scopes });
    if let Some(panes) = panes {
        params["panes"] = json!(panes);
    }
    let created = server.act("grant:create", params);
    let text = |field: &str| created[field].as_str().unwrap_or_default().to_owned();
    let id = created["grant"]["id"].as_str().map_or_else(|| text("id"), str::to_owned);
    (id, text("token"))
}
