//! `paned mcp install`: makes paned's tools known to an MCP client, in its own configuration.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::hooks::show_targets;
use crate::client_config::{
    ChangeArgs, Edit, Homes, Operation, Target, change, own_program, status,
};
use crate::context::CliContext;
use crate::settings::process_env;

const INSTALL: &str = "\
Examples:
  paned mcp install claude
  paned mcp install codex --tier read-only
  paned mcp install cursor --project --dry-run

The change is shown before it is written, and the old file is kept. Your other servers stay as they are.";

const REMOVE: &str = "\
Examples:
  paned mcp remove claude";

const UNDO: &str = "\
Examples:
  paned mcp undo claude

It restores the file as it was before the last change. If the file has changed since, only the server is removed.";

const STATUS: &str = "\
Examples:
  paned mcp status
  paned mcp status codex --json";

/// Set up MCP clients
#[derive(Subcommand)]
pub(crate) enum McpClientSubcommand {
    /// Add paned to the MCP servers of a client
    #[command(after_help = INSTALL)]
    Install {
        #[command(flatten)]
        client: ClientArgs,
        /// The tools that the client gets [default: standard]
        #[arg(long, value_name = "TIER")]
        tier: Option<Tier>,
    },
    /// Remove paned from the MCP servers of a client
    #[command(after_help = REMOVE)]
    Remove(ClientArgs),
    /// Restore the client's file as it was before the last change
    #[command(after_help = UNDO)]
    Undo(ClientArgs),
    /// Show which clients know paned
    #[command(after_help = STATUS)]
    Status {
        /// The client [default: all]
        client: Option<McpClient>,
        /// Show the files of the project in the current folder
        #[arg(long)]
        project: bool,
    },
}

/// The client, and how its file is changed.
#[derive(clap::Args)]
pub(crate) struct ClientArgs {
    /// The client
    client: McpClient,
    #[command(flatten)]
    change: ChangeArgs,
}

/// A program that uses MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum McpClient {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// OpenCode
    Opencode,
    /// Gemini CLI
    Gemini,
    /// Cursor
    Cursor,
}

/// Which tools a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tier {
    /// Those that change nothing
    ReadOnly,
    /// Those that an agent needs
    Standard,
    /// All, with every action
    Full,
}

/// The variables by which a program in a pane reaches its server. Codex passes on none by itself.
const PANE_VARIABLES: [&str; 4] = ["PANED_PANE", "PANED_SOCKET", "PANED_TOKEN", "PANED_URL"];

pub(crate) fn run(context: &CliContext, command: &McpClientSubcommand) -> Result<ExitCode> {
    let (args, tier, operation) = match command {
        McpClientSubcommand::Status { client, project } => {
            return show(context, *client, *project);
        }
        McpClientSubcommand::Install { client, tier } => (client, *tier, Operation::Install),
        McpClientSubcommand::Remove(client) => (client, None, Operation::Remove),
        McpClientSubcommand::Undo(client) => (client, None, Operation::Undo),
    };
    change(context, &target(args.client, tier, args.change.project)?, operation, &args.change)
}

fn show(context: &CliContext, client: Option<McpClient>, project: bool) -> Result<ExitCode> {
    let clients = client.map_or_else(|| McpClient::value_variants().to_vec(), |it| vec![it]);
    let targets = clients.into_iter().map(|client| installed_target(client, project));
    let targets = targets.collect::<Result<Vec<_>>>()?;
    show_targets(context, &targets, &["CLIENT", "SERVER", "FILE", ""])
}

/// The target in the tier that is installed, as each tier is up to date.
fn installed_target(client: McpClient, project: bool) -> Result<Target> {
    for tier in [None, Some(Tier::ReadOnly), Some(Tier::Standard), Some(Tier::Full)] {
        let target = target(client, tier, project)?;
        if status(&target).1["status"] == "installed" {
            return Ok(target);
        }
    }
    target(client, None, project)
}

/// The file of a client, and what goes into it.
fn target(client: McpClient, tier: Option<Tier>, project: bool) -> Result<Target> {
    let folder = if project { Some(std::env::current_dir()?) } else { None };
    let homes = Homes::new(&process_env, folder)?;
    let program = own_program()?.program;
    let mut args = vec!["mcp".to_owned()];
    if let Some(tier) = tier.and_then(|tier| tier.to_possible_value()) {
        args.extend(["--tier".to_owned(), tier.get_name().to_owned()]);
    }
    let server = json!({ "command": program, "args": args });
    let json_server = |parent, server| Edit::JsonServer { parent, server };
    let target =
        |program, path, edit| Target { program, part: "MCP server", path, edit, notes: Vec::new() };
    Ok(match client {
        McpClient::Claude => {
            let server = json!({ "type": "stdio", "command": program, "args": args });
            target("claude", homes.claude_servers(), json_server("mcpServers", server))
        }
        McpClient::Codex => {
            let mut server = server;
            server["env_vars"] = json!(PANE_VARIABLES);
            let edit = Edit::TomlServer { parent: "mcp_servers", server };
            target("codex", homes.codex("config.toml"), edit)
        }
        McpClient::Opencode => {
            let command: Vec<Value> =
                std::iter::once(program).chain(args).map(Value::from).collect();
            let server = json!({ "type": "local", "command": command, "enabled": true });
            target("opencode", homes.opencode(), json_server("mcp", server))
        }
        McpClient::Gemini => {
            // It passes on no variable whose name contains TOKEN unless it is named here.
            let mut server = server;
            server["env"] = json!({ "PANED_TOKEN": "$PANED_TOKEN" });
            target("gemini", homes.gemini(), json_server("mcpServers", server))
        }
        McpClient::Cursor => target("cursor", homes.cursor(), json_server("mcpServers", server)),
    })
}
