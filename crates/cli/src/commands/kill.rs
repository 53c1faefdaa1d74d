//! `paned kill`: ends panes' programs and keeps the panes readable.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::Code;
use paned_model::frame::Survivor;
use serde::Deserialize;
use serde_json::json;

use super::support::duration::millis_by_default;
use super::{for_each, params, read};
use crate::context::CliContext;

const EXAMPLES: &str = "\
Examples:
  paned kill web                  ask it to end, and make it end if it does not
  paned kill web db --grace-ms 0  at once
  paned kill web --force          at once, also if its keeper does not answer

The exit code is 9 (busy) if a process could not be ended.";

/// End panes' programs and all that they started; the panes stay readable
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The panes
    #[arg(required = true)]
    pane: Vec<String>,
    /// How long a program may take to end when asked, as in 500ms or 3s; a number alone is
    /// milliseconds
    #[arg(long, value_name = "TIME", value_parser = millis_by_default)]
    grace_ms: Option<u64>,
    /// End it at once, without its keeper if that does not answer
    #[arg(long)]
    force: bool,
    /// Mean it, although it is the pane that this is typed in
    #[arg(long = "self")]
    itself: bool,
}

/// The answer of `pane:kill`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaneKillReply {
    status: String,
    exit_code: Option<u8>,
    exit_signal: Option<String>,
    survivors: Vec<Survivor>,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    for_each(context, &args.pane, |pane| kill(context, pane, args))
}

fn kill(context: &CliContext, pane: &str, args: &Args) -> Result<ExitCode> {
    let force = args.force.then_some(true);
    let request = params([
        ("paneId", json!(pane)),
        ("graceMs", json!(args.grace_ms)),
        ("force", json!(force)),
        ("self", json!(args.itself)),
    ]);
    let answer = context.action("pane:kill", &request)?;
    let killed: PaneKillReply = read(answer.clone())?;
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else {
        context.out.line(killed.sentence(pane))?;
    }
    let all_gone = killed.survivors.is_empty();
    Ok(if all_gone { ExitCode::SUCCESS } else { ExitCode::from(Code::Busy.exit()) })
}

impl PaneKillReply {
    fn sentence(&self, pane: &str) -> String {
        let code = self.exit_code.map(|code| format!("exit code {code}"));
        let exit = self.exit_signal.clone().or(code);
        let exit = exit.map_or_else(String::new, |exit| format!(" ({exit})"));
        let left: Vec<_> =
            self.survivors.iter().map(|it| format!("{} {}", it.pid, it.command)).collect();
        match left.is_empty() {
            true => format!("{pane} {}{exit}", self.status),
            false => format!("{pane} {}{exit}; still there: {}", self.status, left.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn survivors_are_named() {
        let answer = json!({
            "status": "running", "survivors": [{ "pid": 7, "command": "stuck" }],
        });
        let killed: PaneKillReply = serde_json::from_value(answer).unwrap();
        assert_eq!(killed.sentence("web"), "web running; still there: 7 stuck");
        let answer = json!({ "status": "killed", "exitSignal": "SIGTERM", "survivors": [] });
        let killed: PaneKillReply = serde_json::from_value(answer).unwrap();
        assert_eq!(killed.sentence("web"), "web killed (SIGTERM)");
    }
}
