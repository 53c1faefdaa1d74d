//! `paned audit`: who did what, and what allowed it.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use paned_model::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::support::duration::millis;
use super::support::table_args::TableArgs;
use crate::client::{self, ApiClient};
use crate::context::CliContext;
use crate::out::{Clock, Out, StyledLine, TextStyle, TextTable, units};

/// Records of one request of an export.
const PAGE: u16 = 1000;

/// Show who did what, and what allowed it
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned audit                            the last changes
  paned audit --since 1h --caller pane:web
  paned audit --action 'pane:*' --pane web
  paned audit --since 24h --export audit.jsonl

Every call of an action that changes something is listed with its caller, the grant it used, the \
outcome, and the scope, rule or approval that allowed it. What was typed, prompts, tokens and \
environment variables are not part of it.")]
pub(crate) struct Args {
    /// Only from this long ago on, as in 1h; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    since: Option<u64>,
    /// Only of this caller: owner, pane:ID, token:ID or ext:NAME
    #[arg(long)]
    caller: Option<String>,
    /// Only about this pane, or from it
    #[arg(long)]
    pane: Option<String>,
    /// Only this action, or those whose names begin as it does before a `*`
    #[arg(long)]
    action: Option<String>,
    /// How many at most
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 50)]
    limit: u16,
    /// Write all of them to this file, one JSON object in a line; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "limit")]
    export: Option<PathBuf>,
    #[command(flatten)]
    table: TableArgs,
}

/// The parameters of `audit:list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuditParams<'a> {
    after: Option<u64>,
    since: Option<Time>,
    caller: Option<&'a str>,
    pane_id: Option<&'a str>,
    action: Option<&'a str>,
    limit: u16,
}

#[derive(Deserialize)]
struct AuditReply {
    records: Vec<AuditRecordReply>,
    more: bool,
}

/// The same with records as they are, for an export.
#[derive(Deserialize)]
struct AuditPage {
    records: Vec<Value>,
    seen: u64,
    more: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditRecordReply {
    time: Time,
    caller: Option<String>,
    action: Option<String>,
    outcome: String,
    code: Option<String>,
    pane_id: Option<String>,
    scope: Option<String>,
    rule: Option<String>,
    approval: Option<String>,
    answered_by: Option<String>,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    let now = paned_keeper::time::now();
    let params = AuditParams {
        after: None,
        since: args.since.map(|ago| Time(now.0.saturating_sub(ago))),
        caller: args.caller.as_deref(),
        pane_id: args.pane.as_deref(),
        action: args.action.as_deref(),
        limit: args.limit,
    };
    if let Some(file) = &args.export {
        let client = context.client()?;
        let count = client::block_on(export(&client, params, file))??;
        context.out.note(format!("{} exported", units::count(count, "record")))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.show("audit:list", &params, |reply| show(context.out, args, &reply))
}

/// Writes all records from the oldest on.
async fn export(client: &ApiClient, params: AuditParams<'_>, file: &Path) -> Result<usize> {
    let mut out: Box<dyn Write> = match file == Path::new("-") {
        true => Box::new(io::stdout().lock()),
        false => {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            let opened = options.open(file);
            Box::new(BufWriter::new(
                opened.with_context(|| format!("cannot write {}", file.display()))?,
            ))
        }
    };
    let mut params = AuditParams { after: Some(0), limit: PAGE, ..params };
    let mut count = 0;
    loop {
        let page: AuditPage = client.call("audit:list", &params).await?;
        for record in &page.records {
            writeln!(out, "{record}")?;
            count += 1;
        }
        if !page.more {
            out.flush()?;
            return Ok(count);
        }
        params.after = Some(page.seen);
    }
}

fn show(out: Out, args: &Args, reply: &AuditReply) -> io::Result<()> {
    if reply.records.is_empty() {
        return out.note("no records");
    }
    out.table_in(&table(&reply.records), args.table.width(out))?;
    if reply.more && out.has_reader() {
        let note = "older records are not listed; `-n NUMBER` lists more, `--export FILE` all";
        return out.note(StyledLine::new(TextStyle::Faint, note));
    }
    Ok(())
}

fn table(records: &[AuditRecordReply]) -> TextTable {
    let clock = Clock::local();
    let head = &["TIME", "CALLER", "ACTION", "PANE", "OUTCOME", "ALLOWED BY"];
    TextTable::new(head, records, |record| {
        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let style = match record.outcome.as_str() {
            "error" | "denied" | "expired" => TextStyle::Bad,
            _ => TextStyle::Plain,
        };
        let outcome = record.code.as_ref().unwrap_or(&record.outcome);
        [
            clock.short(record.time).into(),
            text(&record.caller).into(),
            StyledLine::new(TextStyle::Strong, &text(&record.action)),
            text(&record.pane_id).into(),
            StyledLine::new(style, outcome),
            allowed_by(record).into(),
        ]
    })
    .dropping(&["PANE"])
}

/// The narrowest thing that allowed it: a person, a rule, or only the scope of the token.
fn allowed_by(record: &AuditRecordReply) -> String {
    match record {
        AuditRecordReply { answered_by: Some(by), approval: Some(approval), .. } => {
            format!("{by} ({approval})")
        }
        AuditRecordReply { approval: Some(approval), .. } => format!("({approval})"),
        AuditRecordReply { rule: Some(rule), .. } => format!("rule {rule}"),
        AuditRecordReply { scope: Some(scope), .. } => format!("scope {scope}"),
        _ => "-".to_owned(),
    }
}
