//! `paned doctor`: looks at everything that a server needs, and says what to do about what it lacks.

mod check;
mod home;
mod machine;

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::context::Context;
use crate::out::{Out, Style, Text};
use check::Check;

const EXAMPLES: &str = "\
Examples:
  paned doctor
  paned doctor --json | jq '.checks[] | select(.ok | not)'

The exit code is 1 if anything is wrong.";

/// Check this machine and the server, with a hint for what is wrong
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(crate) fn run(context: &Context) -> Result<ExitCode> {
    let checks: Vec<_> =
        home::checks(context)?.into_iter().chain(machine::checks(context)?).collect();
    let is_well = checks.iter().all(|check| check.ok);
    if context.out.is_json() {
        context.out.json(&json!({ "ok": is_well, "checks": checks }))?;
    } else {
        checks.iter().try_for_each(|check| show(context.out, check))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(out: Out, check: &Check) -> Result<()> {
    let (style, mark) = if check.ok { (Style::Good, "✓") } else { (Style::Bad, "✗") };
    let line = Text::new(style, mark)
        .then(Style::Strong, &format!(" {:13}", check.name))
        .then(Style::Plain, &check.detail);
    out.say(line)?;
    if let Some(hint) = &check.hint {
        out.say(Text::new(Style::Faint, &format!("  {:13}→ {hint}", "")))?;
    }
    Ok(())
}
