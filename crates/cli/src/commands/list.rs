//! `paned list`: shows the actions the server has.

use std::process::ExitCode;

use anyhow::Result;

use crate::client;
use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, TextTable};

const EXAMPLES: &str = "\
Examples:
  paned list
  paned list --json | jq '.[].name'
  paned action pane:new --help    what one of them takes";

/// Show the actions that the server has
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

pub(crate) fn run(context: &CliContext) -> Result<ExitCode> {
    let client = context.client()?;
    if context.out.is_json() {
        context.out.json(&client::block_on(client.get("/actions"))??)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = TextTable::new(&["NAME", "SCOPE", "WHAT IT DOES"]);
    for action in client::block_on(client.actions())?? {
        table.row(vec![
            StyledLine::new(TextStyle::Strong, &action.name),
            action.scope.into(),
            action.doc.into(),
        ]);
    }
    context.out.table(&table)?;
    Ok(ExitCode::SUCCESS)
}
