//! M1: what the tools of MCP cost an agent's context, in tokens.
//!
//! A token is estimated as four characters of the JSON that the client gets, rounded up. Tokenizers
//! differ by a fifth or so from that, and from each other.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::Row;
use crate::error::{Error, IoContext};
use crate::figure::{Figure, Quantity, Unit};
use crate::plan::Plan;
use crate::server::Server;

pub(super) const ROW: Row = Row { name: "M1", doc: "what MCP tools cost in tokens", run };

const CHARS_PER_TOKEN: usize = 4;
/// A server that takes 45 seconds to start is asked for nine times by an agent that polls.
const POLLS: usize = 9;
/// What such a server prints.
const SCRIPT: &str = "for n in $(seq 1 40); do echo \"[info] compiled module $n of 40 in 120 ms\"; \
    done; echo 'ready on http://127.0.0.1:4321'; sleep 600";

fn run(plan: &Plan) -> Result<Vec<Figure>, Error> {
    let server = Server::start(plan)?;
    let mut figures = Vec::new();
    for (tier, must, target) in [("read-only", 1500.0, 1200.0), ("standard", 2500.0, 2100.0)] {
        let tokens = Client::start(&server, plan, tier)?.tools()?;
        let what = format!("the list of tools, {tier}");
        figures.push(Figure::plain(what, tokens).at_most(must, target));
    }
    let mut client = Client::start(&server, plan, "standard")?;
    let args = json!({ "command": "sh", "args": ["-c", SCRIPT] });
    let (spawned, _) = client.call("pty_spawn", &args)?;
    let id = &spawned["structuredContent"]["id"];
    let args = json!({ "id": id, "pattern": "ready on (\\S+)", "timeoutSeconds": 45 });
    let (_, waited) = client.call("pty_wait", &args)?;
    let (_, read) = client.call("pty_read", &json!({ "id": id, "offset": -50 }))?;
    let polled = tokens(read * POLLS);
    let what = "a wait of 45 s, beside nine reads in that time";
    figures.push(Figure::plain(what, tokens(waited)).beside(polled).at_most(500.0, 300.0));
    client.call("pty_kill", &json!({ "id": id, "cleanup": true }))?;
    Ok(figures)
}

fn tokens(chars: usize) -> Quantity {
    Quantity::new(chars.div_ceil(CHARS_PER_TOKEN) as f64, Unit::Tokens)
}

/// A client of `paned mcp`. Dropping it ends it.
struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(server: &Server, plan: &Plan, tier: &str) -> Result<Self, Error> {
        let mut command = server.cli(plan);
        command.args(["mcp", "--tier", tier]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().doing("start `paned mcp`")?;
        let input = process.stdin.take().expect("it is piped");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut client = Self { process, input, output };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "paned-bench", "version": "1" },
        });
        client.ask("initialize", &params)?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(client)
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        writeln!(self.input, "{message}").doing("send a message")
    }

    /// Sends a request; returns its result.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, Error> {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))?;
        let mut line = String::new();
        self.output.read_line(&mut line).doing("read an answer")?;
        let answer: Value = serde_json::from_str(&line).unwrap_or_default();
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(Error::Refused { what: method.to_owned(), answer: line }),
        }
    }

    /// What the list of tools costs.
    fn tools(&mut self) -> Result<Quantity, Error> {
        let listed = self.ask("tools/list", &json!({}))?;
        Ok(tokens(listed["tools"].to_string().chars().count()))
    }

    /// Calls a tool; returns its result, and the characters of the call and of the text that
    /// answers it.
    fn call(&mut self, name: &str, args: &Value) -> Result<(Value, usize), Error> {
        let params = json!({ "name": name, "arguments": args });
        let result = self.ask("tools/call", &params)?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let chars = params.to_string().chars().count() + text.chars().count();
        if result["isError"] == true {
            return Err(Error::Refused { what: name.to_owned(), answer: text.to_owned() });
        }
        Ok((result, chars))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
