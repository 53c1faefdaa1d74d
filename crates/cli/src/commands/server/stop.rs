//! `paned server stop`: stops the server, and with `--all` the programs of its panes first.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, PaneInfo, Refusal};
use serde_json::{Value, json};

use super::background;
use crate::commands::pane::is_to_kill;
use crate::commands::support::exit_status::exit_code;
use crate::commands::support::selection::{act_on_each, list};
use crate::context::CliContext;
use crate::out::units;

/// How often new panes are looked for: programs may start some while others are ended.
const ROUNDS: usize = 3;

/// What else to stop.
#[derive(clap::Args)]
pub(crate) struct StopArgs {
    /// Stop the programs of all panes first; adopted tmux panes are left alone
    #[arg(long)]
    all: bool,
}

pub(super) fn run(context: &CliContext, args: &StopArgs) -> Result<ExitCode> {
    if !args.all {
        background::stop(context, "stopped paned; panes keep running", json!({}))?;
        return Ok(ExitCode::SUCCESS);
    }
    refuse_own_pane(context)?;
    let mut count = 0;
    let ended = end_all(context, &mut count)?;
    if ended != ExitCode::SUCCESS {
        context
            .out
            .note("paned: the server keeps running, because some programs could not be stopped")?;
        return Ok(ended);
    }
    let sentence = format!("stopped {} and paned", units::count(count, "program"));
    background::stop(context, &sentence, json!({ "ended": count }))?;
    Ok(ExitCode::SUCCESS)
}

/// In a pane, this command would be ended before it can stop the server.
fn refuse_own_pane(context: &CliContext) -> Result<()> {
    let client = context.client()?;
    let Some(own) = client.own_pane() else { return Ok(()) };
    if !running(context)?.iter().any(|id| id == own) {
        return Ok(());
    }
    let sentence = format!(
        "this runs in pane `{own}`, which would be stopped before the server; run it in another terminal"
    );
    Err(Refusal::new(Code::Conflict, sentence).into())
}

/// Ends the programs of all panes, and counts them.
fn end_all(context: &CliContext, count: &mut usize) -> Result<ExitCode> {
    for _ in 0..ROUNDS {
        let panes = running(context)?;
        if panes.is_empty() {
            break;
        }
        let params = |pane: &str| Ok(json!({ "paneId": pane }));
        let ended = act_on_each(context, &panes, "pane:kill", params, |pane, answer| {
            if let Some(left) = survivors(answer) {
                context.out.note(format!("paned: {pane} has {left} that cannot be stopped"))?;
                return Ok(exit_code(Some(Code::Busy)));
            }
            *count += 1;
            Ok(ExitCode::SUCCESS)
        })?;
        if ended != ExitCode::SUCCESS {
            return Ok(ended);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn running(context: &CliContext) -> Result<Vec<String>> {
    let panes = list(context, None)?;
    let live = panes.iter().filter(|pane| is_to_kill(pane));
    Ok(live.map(|pane: &PaneInfo| pane.id.to_string()).collect())
}

/// How many processes of a pane could not be ended.
fn survivors(answer: &Value) -> Option<String> {
    let count = answer.get("survivors")?.as_array()?.len();
    (0 < count).then(|| match count {
        1 => "1 process".to_owned(),
        _ => format!("{count} processes"),
    })
}
