//! `paned adopt` and `paned tmux ls`: panes of the user's own tmux.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::near::alternatives;
use paned_model::{Code, PaneId, PaneInfo, Refusal, Size};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::support::params::{json_pair, object};
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable};
use crate::settings::process_env;

/// Control a pane of your own tmux with paned
#[derive(clap::Args, Serialize)]
#[command(after_help = "\
Examples:
  paned tmux ls                        the panes that can be adopted
  paned adopt %3                       the pane %3 of the current tmux
  paned adopt                          the current tmux pane
  paned adopt %0 --tmux /tmp/tmux-1000/work --id build

The pane stays where it is. `paned close` releases it, and its program keeps running.")]
pub(crate) struct AdoptArgs {
    /// The tmux pane, as in %3 [default: the current one]
    #[serde(skip)]
    pane: Option<String>,
    /// The socket of its tmux server [default: the current one, or the only one that has the
    /// pane]
    #[arg(long, value_name = "SOCKET")]
    #[serde(skip)]
    tmux: Option<String>,
    /// The id of the pane [default: generated]
    #[arg(long)]
    id: Option<PaneId>,
    /// Its title [default: the one its program sets, or its command]
    #[arg(long)]
    title: Option<String>,
    /// The profile of its agent, if its command does not identify it
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Metadata; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = json_pair)]
    #[serde(serialize_with = "object")]
    meta: Vec<(String, Value)>,
    /// A tag; repeatable
    #[arg(long)]
    #[serde(rename = "tags")]
    tag: Vec<String>,
}

/// The parameters of `pane:adopt`.
#[derive(Serialize)]
struct AdoptParams<'a> {
    tmux: String,
    pane: String,
    #[serde(flatten)]
    args: &'a AdoptArgs,
}

pub(crate) fn adopt(context: &CliContext, args: &AdoptArgs) -> Result<ExitCode> {
    context.client_or_start()?;
    let pane = args.pane.clone().or_else(|| process_env("TMUX_PANE")).ok_or_else(|| {
        Refusal::invalid(
            "not inside tmux; pass a pane, as in `paned adopt %3`; `paned tmux ls` lists them",
        )
    })?;
    let tmux = match args.tmux.clone().or_else(|| process_env("TMUX")) {
        Some(tmux) => tmux,
        None => only_server_with(context, &pane)?,
    };
    let params = AdoptParams { tmux, pane, args };
    context.show("pane:adopt", &params, |pane: PaneInfo| context.out.line(pane.id.as_str()))
}

/// The socket of the only tmux server that has this pane.
fn only_server_with(context: &CliContext, pane: &str) -> Result<String> {
    let servers: Vec<TmuxServerReply> = context.call("tmux:list", &json!({}))?;
    let has_pane = |server: &&TmuxServerReply| server.panes().any(|it| it.pane.id == pane);
    let found = servers.iter().filter(|server| !server.own).filter(has_pane);
    let sockets: Vec<String> = found.map(|server| server.socket.clone()).collect();
    match sockets.as_slice() {
        [socket] => Ok(socket.clone()),
        [] => {
            let sentence = format!("no tmux has a pane `{pane}`; `paned tmux ls` shows all panes");
            Err(Refusal::not_found(sentence).into())
        }
        several => {
            let sockets = alternatives(several).unwrap_or_default();
            let sentence =
                format!("several tmux servers have a pane `{pane}`; pass --tmux with {sockets}");
            Err(Refusal::new(Code::Conflict, sentence).into())
        }
    }
}

/// Inspect your own tmux servers
#[derive(Subcommand)]
pub(crate) enum TmuxSubcommand {
    /// List the panes of your tmux servers
    #[command(
        visible_alias = "list",
        after_help = "\
Examples:
  paned tmux ls
  paned tmux ls --json
  paned tmux ls --tmux /tmp/work.sock  also a server with its socket elsewhere

`paned adopt %3` watches one of them."
    )]
    Ls(TmuxLsArgs),
}

/// Which servers to list.
#[derive(clap::Args)]
pub(crate) struct TmuxLsArgs {
    /// The socket of an additional tmux server
    #[arg(long, value_name = "SOCKET")]
    tmux: Option<String>,
}

#[derive(Deserialize)]
struct TmuxServerReply {
    socket: String,
    own: bool,
    error: Option<String>,
    sessions: Vec<TmuxSessionReply>,
}

#[derive(Deserialize)]
struct TmuxSessionReply {
    name: String,
    windows: Vec<TmuxWindowReply>,
}

#[derive(Deserialize)]
struct TmuxWindowReply {
    index: u32,
    panes: Vec<TmuxPaneReply>,
}

#[derive(Deserialize)]
struct TmuxPaneReply {
    id: String,
    index: u32,
    size: Size,
    title: String,
    command: String,
    paned: Option<PaneId>,
}

/// A tmux pane, and where it is.
struct LocatedPane<'a> {
    location: String,
    pane: &'a TmuxPaneReply,
}

impl TmuxServerReply {
    fn panes(&self) -> impl Iterator<Item = LocatedPane<'_>> {
        self.sessions.iter().flat_map(|session| {
            session.windows.iter().flat_map(move |window| {
                window.panes.iter().map(move |pane| LocatedPane {
                    location: format!("{}:{}.{}", session.name, window.index, pane.index),
                    pane,
                })
            })
        })
    }
}

pub(crate) fn tmux(context: &CliContext, command: &TmuxSubcommand) -> Result<ExitCode> {
    let TmuxSubcommand::Ls(args) = command;
    context.client_or_start()?;
    let params = json!({ "tmux": args.tmux.clone().or_else(|| process_env("TMUX")) });
    context.show("tmux:list", &params, |servers: Vec<TmuxServerReply>| {
        show_servers(context.out, &servers)
    })
}

fn show_servers(out: Out, servers: &[TmuxServerReply]) -> Result<()> {
    if servers.iter().all(|server| server.own) {
        out.note("no tmux of yours is running")?;
    }
    for server in servers.iter().filter(|server| !server.own) {
        out.line(StyledLine::new(TextStyle::Faint, &server.socket))?;
        if let Some(error) = &server.error {
            out.note(format!("paned: {}: {error}", server.socket))?;
            continue;
        }
        let head = &["PANE", "WHERE", "SIZE", "ADOPTED AS", "COMMAND", "TITLE"];
        out.table(&TextTable::new(head, server.panes(), |LocatedPane { location, pane }| {
            let adopted = pane.paned.as_ref().map_or("-", PaneId::as_str);
            [
                StyledLine::new(TextStyle::Strong, &pane.id),
                location.as_str().into(),
                pane.size.to_string().into(),
                adopted.into(),
                pane.command.as_str().into(),
                pane.title.as_str().into(),
            ]
        }))?;
    }
    Ok(())
}
