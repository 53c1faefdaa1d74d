//! `paned version`: prints the version of this program.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::json;

use crate::context::CliContext;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Print the version
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned version
  paned version --json
  paned server status       the version of the server")]
pub(crate) struct Args {}

pub(crate) fn run(context: &CliContext) -> Result<ExitCode> {
    if context.out.is_json() {
        context.out.json(&json!({ "version": VERSION }))?;
    } else {
        context.out.line(format!("paned {VERSION}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
