//! `paned ext logs`

use std::process::ExitCode;

use anyhow::Result;
use paned_kernel::extensions::LogText;
use serde_json::{Value, json};

use crate::client;
use crate::context::CliContext;

/// How long the server waits for text before it answers without.
const WAIT_MS: u64 = 20_000;

/// Which log to print.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned ext logs guard          the last 200 lines
  paned ext logs guard -n 20
  paned ext logs guard -f       and those that follow; ctrl+c ends it

The log has what the extension writes to standard error, and what paned notes about it.")]
pub(crate) struct LogsArgs {
    /// The extension
    extension: String,
    /// Only the last N lines [default: 200]
    #[arg(short = 'n', long, value_name = "N")]
    lines: Option<usize>,
    /// Keep printing lines as they are written
    #[arg(short, long)]
    follow: bool,
}

pub(super) fn run(context: &CliContext, args: &LogsArgs) -> Result<ExitCode> {
    let client = context.client()?;
    let name = &args.extension;
    let mut params = json!({ "name": name, "lines": args.lines });
    client::block_on(async {
        loop {
            let answer: Value = client.call("ext:logs", &params).await?;
            let log: LogText = client::read(answer.clone())?;
            print(context, &log, &answer, args.follow)?;
            if !args.follow {
                return Ok(ExitCode::SUCCESS);
            }
            params = json!({ "name": name, "after": log.next, "waitMs": WAIT_MS });
        }
    })?
}

fn print(context: &CliContext, log: &LogText, answer: &Value, follow: bool) -> Result<()> {
    let out = context.out;
    if log.text.is_empty() && follow {
        return Ok(());
    }
    if out.is_json() {
        return Ok(out.json(answer)?);
    }
    if log.text.is_empty() && out.has_reader() {
        return Ok(out.note("the log is empty")?);
    }
    Ok(out.program_lines(log.text.lines())?)
}
