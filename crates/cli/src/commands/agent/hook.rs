//! `paned agent hook`: forwards the report of an agent's own hook to the server.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use paned_model::Refusal;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::client::{self, params};
use crate::context::CliContext;
use crate::settings::process_env;

use super::hook_origin;

/// How long the server may take; the agent waits for its hook.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Report an agent's state from its own hook
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned agent hook                       reads the JSON from standard input
  paned agent hook '{\"type\":\"agent-turn-complete\"}'
  paned agent hook --event Stop

The pane is the one that the hook runs in. It always exits with 0 and prints nothing, because a failing hook could stop the agent. Errors go to standard error.")]
pub(crate) struct Args {
    /// The report as JSON [default: standard input]
    #[serde(skip)]
    #[arg(value_name = "JSON")]
    said: Option<String>,
    /// The name of the event, if the JSON does not contain it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// The agent whose hook this is; where it does not run in a pane itself, nothing is reported
    #[arg(long, value_name = "PROFILE")]
    #[serde(rename = "runtime")]
    agent: Option<String>,
    /// The agent's pane [default: the one this runs in]
    #[arg(long)]
    #[serde(rename = "paneId")]
    pane: Option<String>,
}

pub(super) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    if let Err(error) = forward(context, args) {
        context.out.note(format!("paned: {error:#}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn forward(context: &CliContext, args: &Args) -> Result<()> {
    // Read in any case: an agent may take it for a failure that nothing reads its report.
    let report = report(args);
    if args.agent.is_some() && args.pane.is_none() && !is_own_pane() {
        return Ok(());
    }
    let mut report = report?;
    report.extend(params(args)?);
    // Not `call`: what a hook says is passed on as it is.
    let client = context.client()?;
    let params = report.into();
    let action = client.action("agent:set-state", &params);
    client::block_on(async { tokio::time::timeout(TIMEOUT, action).await })???;
    Ok(())
}

/// Whether the agent that runs this hook is the program of a pane: installed hooks run wherever the
/// agent does, also outside of panes and inside of other agents.
fn is_own_pane() -> bool {
    process_env("PANED_PANE").is_some() && hook_origin::is_on_terminal_of_pane()
}

fn report(args: &Args) -> Result<Map<String, Value>> {
    let mut text = args.said.clone().unwrap_or_default();
    if args.said.is_none() && args.event.is_none() {
        std::io::stdin().read_to_string(&mut text)?;
    }
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(&text) {
        Ok(Value::Object(report)) => Ok(report),
        Ok(_) => Err(Refusal::invalid("the report of a hook must be a JSON object").into()),
        Err(error) => {
            Err(Refusal::invalid(format!("the report of the hook is not valid JSON: {error}"))
                .into())
        }
    }
}
