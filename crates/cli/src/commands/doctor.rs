//! `paned doctor`: checks everything that a server needs, with a hint for each failed check.

mod machine;
mod server;

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle};

/// Diagnose problems and suggest fixes
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned doctor
  paned doctor --json | jq '.checks[] | select(.ok | not)'

The exit code is 1 if anything is wrong.")]
pub(crate) struct Args {}

/// The result of one check, and what to do about it.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    /// A check that passed.
    fn good(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: true, detail: detail.into(), hint: None }
    }

    /// A check that failed, with what to do about it.
    fn bad(name: &'static str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, ok: false, detail: detail.into(), hint: Some(hint.into()) }
    }
}

pub(crate) fn run(context: &CliContext) -> Result<ExitCode> {
    let checks: Vec<_> =
        server::checks(context)?.into_iter().chain(machine::checks(context)?).collect();
    let is_well = checks.iter().all(|check| check.ok);
    if context.out.is_json() {
        context.out.json(&json!({ "ok": is_well, "checks": checks }))?;
    } else {
        checks.iter().try_for_each(|check| show(context.out, check))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show(out: Out, check: &Check) -> Result<()> {
    let (style, mark) = if check.ok { (TextStyle::Good, "✓") } else { (TextStyle::Bad, "✗") };
    let line = StyledLine::new(style, mark)
        .then(TextStyle::Strong, &format!(" {:13}", check.name))
        .then(TextStyle::Plain, &check.detail);
    out.line(line)?;
    if let Some(hint) = &check.hint {
        out.line(StyledLine::new(TextStyle::Faint, &format!("  {:13}→ {hint}", "")))?;
    }
    Ok(())
}
