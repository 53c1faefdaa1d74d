//! `paned ext`: installs, lists and controls extensions.

mod create;
mod info;
mod install;
mod list;
mod logs;
mod notes;
mod settings;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_kernel::extensions::{ExtensionInfo, ExtensionRemoval};
use serde::Serialize;
use serde_json::{Value, json};

use super::for_each;
use crate::client;
use crate::context::CliContext;

const INFO: &str = "\
Examples:
  paned ext info guard            what it does, what it may do, where its log is
  paned ext info guard --json";

const REMOVE: &str = "\
Examples:
  paned ext remove guard              with its data, its log and your settings
  paned ext remove guard --keep-data  to install it again later

Of a link in the extensions folder only the link is deleted.";

const RELOAD: &str = "\
Examples:
  paned ext reload guard     after its files have changed
  paned ext reload           every extension

The other extensions keep running. One that is being reloaded gets every event that happens \
meanwhile.";

/// Install and manage extensions
#[derive(Subcommand)]
pub(crate) enum ExtSubcommand {
    /// List extensions and whether they run
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Show what extensions do and may do
    #[command(after_help = INFO)]
    Info {
        /// The extensions
        #[arg(required = true)]
        extensions: Vec<String>,
    },
    /// Install an extension from a git repository or a folder
    Install(install::InstallArgs),
    /// Stop extensions and delete them
    #[command(after_help = REMOVE, visible_alias = "rm")]
    Remove(RemoveArgs),
    /// Restart extensions whose files have changed
    #[command(after_help = RELOAD)]
    Reload {
        /// The extensions [default: all]
        extensions: Vec<String>,
    },
    /// Write a new extension to start from
    New(create::NewArgs),
    /// Print the log of an extension
    Logs(logs::LogsArgs),
    /// Change what an extension may do, or turn it on or off
    Set(settings::SetArgs),
}

/// Which extensions to remove.
#[derive(clap::Args)]
pub(crate) struct RemoveArgs {
    /// The extensions
    #[arg(required = true)]
    extensions: Vec<String>,
    /// Keep its data, its log and your settings for it
    #[arg(long)]
    keep_data: bool,
}

/// The parameters of an action on one extension.
#[derive(Serialize)]
struct NameParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

pub(crate) fn run(context: &CliContext, command: &ExtSubcommand) -> Result<ExitCode> {
    match command {
        ExtSubcommand::List(args) => list::run(context, args),
        ExtSubcommand::Info { extensions } => for_each(context, extensions, |name| {
            let params = NameParams { name: Some(name) };
            context.show("ext:info", &params, |extension| info::print(context.out, &extension))
        }),
        ExtSubcommand::Install(args) => install::run(context, args),
        ExtSubcommand::Remove(args) => for_each(context, &args.extensions, |name| {
            let params = json!({ "name": name, "keepData": args.keep_data });
            context.show("ext:remove", &params, |removed| print_removed(context, &removed))
        }),
        ExtSubcommand::Reload { extensions } if extensions.is_empty() => reload(context, None),
        ExtSubcommand::Reload { extensions } => {
            for_each(context, extensions, |name| reload(context, Some(name)))
        }
        ExtSubcommand::New(args) => create::run(context, args),
        ExtSubcommand::Logs(args) => logs::run(context, args),
        ExtSubcommand::Set(args) => settings::run(context, args),
    }
}

fn print_removed(context: &CliContext, removed: &ExtensionRemoval) -> std::io::Result<()> {
    let out = context.out;
    out.line(format!("{} removed", removed.name))?;
    if let Some(link) = &removed.link {
        out.line(format!("only the link was deleted; its files are in {}", link.display()))?;
    }
    match &removed.data {
        Some(data) => out.line(format!("its data is kept in {}", data.display())),
        None => Ok(()),
    }
}

/// Fails where an extension does not run afterwards, unless the user turned it off.
fn reload(context: &CliContext, name: Option<&str>) -> Result<ExitCode> {
    let answer: Value = context.call("ext:reload", &NameParams { name })?;
    let extensions: Vec<ExtensionInfo> = client::read(answer.clone())?;
    let has_failed = extensions.iter().any(notes::has_failed);
    if context.out.is_json() {
        context.out.json(&answer)?;
    } else if extensions.is_empty() {
        context.out.note("no extensions; `paned ext install` installs one")?;
    }
    if !context.out.is_json() {
        for extension in &extensions {
            context.out.line(notes::name_and_status(extension))?;
            notes::print(context.out, extension)?;
        }
    }
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
