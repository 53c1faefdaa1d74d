//! `paned ext list`

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use paned_kernel::extensions::{ExtensionInfo, ExtensionKind};

use super::notes;
use crate::commands::support::table_args::TableArgs;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable};

/// How to list them.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  paned ext list           each with what it may do, and what is wrong with it
  paned ext list --wide    every column
  paned ext list --json    for a program")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    table: TableArgs,
}

pub(super) fn run(context: &CliContext, args: &ListArgs) -> Result<ExitCode> {
    let out = context.out;
    context.show("ext:list", &(), |extensions: Vec<ExtensionInfo>| {
        if extensions.is_empty() {
            return out.note(
                "no extensions; install one with `paned ext install ADDRESS`, or write one with \
                `paned ext new NAME --ts`",
            );
        }
        out.table_in(&table(&extensions), args.table.width(out))?;
        match out.has_reader() {
            true => print_notes(out, &extensions),
            // The table stays one for programs that read it.
            false => extensions.iter().try_for_each(|extension| notes::print_aside(out, extension)),
        }
    })
}

fn print_notes(out: Out, extensions: &[ExtensionInfo]) -> io::Result<()> {
    let needs_note = |it: &&ExtensionInfo| it.reason.is_some() || !it.missing.is_empty();
    extensions.iter().filter(needs_note).try_for_each(|extension| {
        out.line("")?;
        out.line(notes::name_and_status(extension))?;
        notes::print(out, extension)
    })
}

fn table(extensions: &[ExtensionInfo]) -> TextTable {
    let head = &[
        "NAME",
        "STATUS",
        "VERSION",
        "PID",
        "RESTARTS",
        "ACTIONS",
        "KIND",
        "SCOPES",
        "DESCRIPTION",
    ];
    let table = TextTable::new(head, extensions, |extension| {
        let pid = extension.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
        let scopes: Vec<_> = extension.scopes.iter().map(|scope| scope.as_str()).collect();
        [
            StyledLine::new(TextStyle::Strong, &extension.name),
            notes::status(extension),
            extension.version.as_deref().unwrap_or("-").into(),
            pid.into(),
            extension.restarts.to_string().into(),
            extension.actions.len().to_string().into(),
            kind(extension).into(),
            scopes.join(",").into(),
            extension.description.as_deref().unwrap_or_default().into(),
        ]
    });
    table.only_wide(&["PID", "RESTARTS", "KIND"]).dropping(&["ACTIONS", "VERSION", "SCOPES"])
}

pub(super) fn kind(extension: &ExtensionInfo) -> &'static str {
    match extension.kind {
        Some(ExtensionKind::Node) => "node",
        Some(ExtensionKind::Program) => "program",
        None => "-",
    }
}
