//! `paned ext set`

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::ArgGroup;
use paned_kernel::extensions::ExtensionInfo;
use paned_model::Scope;
use serde_json::json;

use super::notes;
use crate::context::CliContext;
use crate::out::Out;

/// What to change.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned ext set guard --scopes read,input    whatever its manifest asks for
  paned ext set guard --scopes \"\"            it may call no action
  paned ext set guard --reset-scopes         what its manifest asks for again
  paned ext set guard --disabled             stop it, and do not start it again

Scopes: read (view), input (type), spawn (start panes), kill (stop panes), approve \
(answer agents' questions), admin (everything). The extension is restarted.")]
#[command(group = change())]
pub(crate) struct SetArgs {
    /// The extension
    extension: String,
    /// What its calls may do, with commas between
    #[arg(long, value_name = "SCOPES", value_parser = scopes)]
    scopes: Option<ScopeList>,
    /// Let it do what its manifest asks for
    #[arg(long, conflicts_with = "scopes")]
    reset_scopes: bool,
    /// Start it, now and with the server
    #[arg(long)]
    enabled: bool,
    /// Stop it, and do not start it with the server
    #[arg(long, conflicts_with = "enabled")]
    disabled: bool,
}

/// At least one change is needed.
fn change() -> ArgGroup {
    let flags = ["scopes", "reset_scopes", "enabled", "disabled"];
    ArgGroup::new("change").args(flags).required(true).multiple(true)
}

/// Scopes of one flag, which may be none.
#[derive(Clone, Debug)]
struct ScopeList(Vec<Scope>);

fn scopes(text: &str) -> Result<ScopeList, String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
    words.map(str::parse).collect::<Result<_, _>>().map(ScopeList)
}

pub(super) fn run(context: &CliContext, args: &SetArgs) -> Result<ExitCode> {
    let enabled = match (args.enabled, args.disabled) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let params = json!({
        "name": args.extension,
        "scopes": args.scopes.as_ref().map(|list| &list.0),
        "resetScopes": args.reset_scopes,
        "enabled": enabled,
    });
    context.show("ext:set", &params, |extension| print(context.out, &extension))
}

fn print(out: Out, extension: &ExtensionInfo) -> io::Result<()> {
    let scopes = notes::scopes(&extension.scopes);
    out.line(notes::name_and_status(extension))?;
    out.line(format!("  it may: {scopes}"))?;
    if extension.scopes != extension.scopes_asked {
        out.line(format!("  it asks for: {}", notes::scopes(&extension.scopes_asked)))?;
    }
    if extension.enabled { notes::print(out, extension) } else { Ok(()) }
}
