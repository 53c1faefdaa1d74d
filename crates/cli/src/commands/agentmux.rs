//! `paned agentmux`: the commands of agentmux, against a running server.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use hyper::Method;
use serde_json::{Value, json};

use crate::client::{self, escape};
use crate::context::CliContext;
use crate::serve;

const SERVE: &str = "\
Examples:
  paned agentmux serve                   agentmux's protocol on 127.0.0.1:8765
  AGENTMUX_TOKEN=… paned agentmux serve  for clients that send this token

It is `paned serve` with agentmux's protocol at AGENTMUX_HOST and AGENTMUX_PORT, and prints its address as one line of JSON. Without AGENTMUX_TOKEN every program on this machine can use that port, as with agentmux itself.";

const STATUS: &str = "\
Examples:
  paned agentmux status                       the answer of GET /health";

const CLEANUP: &str = "\
Examples:
  paned agentmux cleanup  closes idle sessions except the active one";

const SEND: &str = "\
Examples:
  paned agentmux send 'explain this folder'
  paned agentmux send -- --help               a text that begins with a dash

The exit code is 1 if there is no active session.";

const KEY: &str = "\
Examples:
  paned agentmux key enter
  paned agentmux key down --repeat 3";

const CAPTURE: &str = "\
Examples:
  paned agentmux capture --lines 200";

/// agentmux-compatible commands
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<AgentmuxSubcommand>,
}

/// agentmux-compatible commands
#[derive(Subcommand)]
enum AgentmuxSubcommand {
    /// Run a server in the foreground with agentmux's protocol (default)
    #[command(after_help = SERVE)]
    Serve,
    /// Show the status of agentmux sessions
    #[command(after_help = STATUS)]
    Status,
    /// Close idle sessions except the active one
    #[command(after_help = CLEANUP)]
    Cleanup,
    /// Send a text to the active session's agent
    #[command(after_help = SEND)]
    Send {
        /// The text to send
        text: String,
    },
    /// Press a key in the active session
    #[command(after_help = KEY)]
    Key {
        /// The key: enter, up, down, left, right, tab, escape, space, backspace, delete
        name: String,
        /// Number of times, at most 50
        #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
        repeat: i64,
    },
    /// Show the last lines of the active session and its screen
    #[command(after_help = CAPTURE)]
    Capture {
        /// Number of lines above the screen, from 10 to 500
        #[arg(long, value_name = "N", default_value_t = 60, allow_negative_numbers = true)]
        lines: i64,
    },
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    match args.command.unwrap_or(AgentmuxSubcommand::Serve) {
        AgentmuxSubcommand::Serve => serve::run_agentmux(context),
        AgentmuxSubcommand::Status => request(context, Method::GET, "health", None, whole),
        AgentmuxSubcommand::Cleanup => {
            let killed = |answer: &Value| json!({ "ok": true, "killed": answer["killed"] });
            request(context, Method::POST, "cleanup", Some(json!({})), killed)
        }
        AgentmuxSubcommand::Send { text } => {
            request(context, Method::POST, "send", Some(json!({ "text": text })), target)
        }
        AgentmuxSubcommand::Key { name, repeat } => {
            let key = json!({ "key": name, "repeat": repeat });
            request(context, Method::POST, "key", Some(key), target)
        }
        AgentmuxSubcommand::Capture { lines } => {
            let path = format!("capture?lines={}", escape(&lines.to_string()));
            request(context, Method::GET, &path, None, whole)
        }
    }
}

/// Sends a request in agentmux's protocol, and prints the part of the answer that agentmux prints.
/// An error is printed unchanged, with exit code 1.
fn request(
    context: &CliContext,
    method: Method,
    path: &str,
    body: Option<Value>,
    show: impl Fn(&Value) -> Value,
) -> Result<ExitCode> {
    let client = context.client()?;
    let path = format!("/compat/agentmux/{path}");
    let (status, answer) =
        client::block_on(client.request_with_status(method, &path, body.as_ref()))??;
    if !status.is_success() {
        context.out.json(&json!({ "error": answer["error"] }))?;
        return Ok(ExitCode::FAILURE);
    }
    let shown = show(&answer);
    // Short answers are one line, as agentmux prints them.
    if shown.as_object().is_some_and(|fields| 2 < fields.len()) {
        context.out.value(&shown)?;
    } else {
        context.out.json(&shown)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn whole(answer: &Value) -> Value {
    answer.clone()
}

fn target(answer: &Value) -> Value {
    json!({ "ok": true, "target": answer["target"] })
}
