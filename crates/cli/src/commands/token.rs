//! `paned token`: creates, lists and revokes grants.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::{Grant, PaneSet, Scope};
use serde::Serialize;
use serde_json::{Value, json};

use super::for_each;
use super::support::duration::seconds;
use super::support::table_args::TableArgs;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable, units};

const CREATE: &str = "\
Examples:
  paned token create --scope read --label dashboard
  paned token create --scope read --scope input --pane web --expires 12h

Scopes: read (view), input (type), spawn (start panes), kill (stop panes), approve \
(answer agents' questions), admin (everything).";

const LIST: &str = "\
Examples:
  paned token ls             your tokens
  paned token ls -a          and those that paned created for panes
  paned token ls --json      all of them, for a program";

const REVOKE: &str = "\
Examples:
  paned token revoke 4x7k2m9qd0";

/// Create, list and revoke API tokens
#[derive(Subcommand)]
pub(crate) enum TokenSubcommand {
    /// Create a token (shown only once)
    #[command(after_help = CREATE)]
    Create(TokenCreateArgs),
    /// List active tokens, without their secrets
    #[command(after_help = LIST, visible_alias = "ls")]
    List(TokenListArgs),
    /// Revoke tokens and disconnect the clients that use them
    #[command(after_help = REVOKE)]
    Revoke {
        /// The ids of the tokens, as in `paned token list`
        #[arg(required = true)]
        id: Vec<String>,
    },
}

/// Which tokens to list.
#[derive(clap::Args)]
pub(crate) struct TokenListArgs {
    /// Include the tokens that paned created for panes
    #[arg(short, long)]
    all: bool,
    #[command(flatten)]
    table: TableArgs,
}

/// What the token may do.
#[derive(clap::Args, Serialize)]
pub(crate) struct TokenCreateArgs {
    /// What it permits; repeatable
    #[arg(long, required = true)]
    #[serde(rename = "scopes")]
    scope: Vec<Scope>,
    /// Only for this pane and those started from it; repeatable [default: all]
    #[arg(long)]
    #[serde(rename = "panes", skip_serializing_if = "Vec::is_empty")]
    pane: Vec<String>,
    /// A label for lists
    #[arg(long)]
    label: Option<String>,
    /// How long it is valid, as in 12h; a number alone is seconds [default: until revoked]
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    #[serde(rename = "expiresInSeconds")]
    expires: Option<u32>,
}

pub(crate) fn run(context: &CliContext, command: &TokenSubcommand) -> Result<ExitCode> {
    match command {
        TokenSubcommand::Create(args) => create(context, args),
        TokenSubcommand::List(args) => {
            context.show("grant:list", &(), |grants| show(context.out, args, grants))
        }
        TokenSubcommand::Revoke { id } => for_each(context, id, |id| {
            context.confirm("grant:revoke", &json!({ "id": id }), format!("{id} revoked"))
        }),
    }
}

fn create(context: &CliContext, args: &TokenCreateArgs) -> Result<ExitCode> {
    context.show("grant:create", args, |answer: Value| {
        let token = answer.get("token").and_then(Value::as_str).unwrap_or_default();
        let id = answer.pointer("/grant/id").and_then(Value::as_str).unwrap_or_default();
        // The token alone goes to standard output, so that it can be piped.
        context.out.note(format!("created token {id}; this is the only time it is shown:"))?;
        context.out.line(token)
    })
}

/// Hides the tokens of panes, which each pane has and no user made.
fn show(out: Out, args: &TokenListArgs, mut grants: Vec<Grant>) -> io::Result<()> {
    let count = grants.len();
    grants.retain(|grant| args.all || grant.pane.is_none());
    let hidden = count - grants.len();
    if grants.is_empty() && hidden == 0 {
        return out.note("no tokens; create one with `paned token create --scope read`");
    }
    if !grants.is_empty() {
        out.table_in(&table(&grants), args.table.width(out))?;
    }
    if 0 < hidden && out.has_reader() {
        let what = units::count(hidden, "token");
        let note = format!("{what} of panes not listed; `paned token ls -a` lists all");
        return out.note(StyledLine::new(TextStyle::Faint, &note));
    }
    Ok(())
}

fn table(grants: &[Grant]) -> TextTable {
    let now = paned_keeper::time::now();
    let head = &["ID", "SCOPES", "PANES", "AGE", "EXPIRES IN", "LABEL"];
    TextTable::new(head, grants, |grant| {
        let scopes: Vec<_> = grant.scopes.iter().map(|scope| scope.as_str()).collect();
        let left = grant.expires_at.map(|end| units::age(end.since(now)));
        [
            StyledLine::new(TextStyle::Strong, &grant.id.0),
            scopes.join(",").into(),
            panes(&grant.panes).into(),
            units::age(now.since(grant.created_at)).into(),
            left.unwrap_or_else(|| "never".into()).into(),
            label(grant).into(),
        ]
    })
    .dropping(&["AGE", "PANES", "EXPIRES IN"])
}

/// The label, and whether a device has the token.
fn label(grant: &Grant) -> String {
    match (grant.device, grant.label.as_str()) {
        (false, label) => label.to_owned(),
        (true, "") => "(device)".to_owned(),
        (true, label) => format!("{label} (device)"),
    }
}

fn panes(panes: &PaneSet) -> String {
    match panes {
        PaneSet::All => "all".into(),
        PaneSet::Only(panes) => {
            panes.iter().map(|pane| pane.id.as_str()).collect::<Vec<_>>().join(",")
        }
    }
}
