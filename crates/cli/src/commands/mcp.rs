//! `paned mcp`: the MCP server, and the setup of its clients.

use std::process::ExitCode;

use anyhow::Result;

use super::mcp_install::{self, McpClientSubcommand};
use crate::context::CliContext;

/// Set up MCP clients
#[derive(clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    client: McpClientSubcommand,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    mcp_install::run(context, &args.client)
}
