//! `paned mcp`: the MCP server on standard input and output, for clients that start it, and the
//! setup of such clients.

use std::process::ExitCode;

use anyhow::Result;
use paned_mcp::Tier;

use super::ensure_running;
use super::mcp_install::{self, McpClientSubcommand};
use crate::client::{self, escape};
use crate::context::CliContext;
use crate::mcp_bridge;

/// Give a coding agent paned's tools over MCP
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  paned mcp install claude                add it to Claude Code
  paned mcp install codex --tier full     add it to Codex, with every tool
  paned mcp --tier read-only              what a client runs: tools that only look

The client starts this command and talks to it on standard input and output. It passes messages \
on to the paned server, which it starts if none runs; when the server is restarted, the next call \
works again. Inside a pane of paned the tools have the rights of that pane only. Over HTTP the same \
tools are at /mcp, with a token."
)]
pub(crate) struct Args {
    /// Which tools there are: read-only, standard (no approvals, no administration) or full
    #[arg(long, value_name = "TIER", default_value_t = Tier::Standard)]
    tier: Tier,
    #[command(subcommand)]
    client: Option<McpClientSubcommand>,
}

pub(crate) fn run(context: &CliContext, args: &Args) -> Result<ExitCode> {
    if let Some(client) = &args.client {
        return mcp_install::run(context, client);
    }
    ensure_running(context)?;
    let client = context.client()?.with_grant_of_pane();
    let mut path = format!("/mcp?tier={}", args.tier);
    if client.is_on_this_machine()
        && let Some(folder) =
            std::env::current_dir().ok().and_then(|it| it.into_os_string().into_string().ok())
    {
        path += &format!("&cwd={}", escape(&folder));
    }
    let starter = mcp_bridge::ServerStarter::new(context)?;
    client::block_on(mcp_bridge::run(client, path, starter))??;
    Ok(ExitCode::SUCCESS)
}
