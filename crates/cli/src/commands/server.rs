//! `paned server`: starts, stops and queries the server in the background.

mod autostart;
mod background;
mod stop;

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::Time;
use serde::Deserialize;

use crate::context::CliContext;
use crate::out::{StyledLine, TextStyle, units};
use crate::serve::ListenArgs;

pub(crate) use autostart::ensure_running;

const START: &str = "\
Examples:
  paned server start
  paned server start --port 0          on a free port
  paned --state-dir /tmp/try server start

It runs on after you log out; what it has to say goes to server.log in the state folder. To keep \
it in the foreground, use `paned serve`.";

const STOP: &str = "\
Examples:
  paned server stop
  paned server stop --all          and end the programs of all panes

Panes live on, and the next server finds them. With --all their output stays readable.";

const STATUS: &str = "\
Examples:
  paned server status
  paned server status --json

The exit code is 13 when no server runs.";

const RESTART: &str = "\
Examples:
  paned server restart              with what it was started with
  paned server restart --port 8000  with something else

Panes live on.";

const UPGRADE: &str = "\
Examples:
  make install && paned server upgrade

The server goes on as the program that is now in its file, with the same process id. Panes live \
on, and no connection is refused meanwhile.";

/// Manage the background server
#[derive(Subcommand)]
pub(crate) enum ServerSubcommand {
    /// Start a server in the background
    #[command(after_help = START)]
    Start(ListenArgs),
    /// Stop the server; panes live on
    #[command(after_help = STOP)]
    Stop(stop::StopArgs),
    /// Show how the server is
    #[command(after_help = STATUS)]
    Status,
    /// Stop the server and start it again; panes live on
    #[command(after_help = RESTART)]
    Restart(ListenArgs),
    /// Have the server go on as the program that is now in its file
    #[command(after_help = UPGRADE)]
    Upgrade,
}

pub(crate) fn run(context: &CliContext, command: ServerSubcommand) -> Result<ExitCode> {
    match command {
        ServerSubcommand::Start(listen) => background::start(context, &listen.to_args())?,
        ServerSubcommand::Stop(args) => return stop::run(context, &args),
        ServerSubcommand::Status => {
            return context
                .show("server:status", &(), |status| context.out.fields(&fields(&status)));
        }
        ServerSubcommand::Restart(listen) => background::restart(context, &listen.to_args())?,
        ServerSubcommand::Upgrade => background::upgrade(context)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What `server:status` answers, as far as it is shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerStatusReply {
    version: String,
    pid: u32,
    url: Option<String>,
    socket: Option<String>,
    started_at: Time,
    uptime_ms: u64,
    panes: BTreeMap<String, usize>,
    last_event: u64,
    trouble: Option<String>,
}

fn fields(status: &ServerStatusReply) -> Vec<(&'static str, StyledLine)> {
    let up = units::age(status.uptime_ms);
    let panes: Vec<_> =
        status.panes.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let panes = if panes.is_empty() { "none".to_owned() } else { panes.join(", ") };
    let journal = match &status.trouble {
        Some(trouble) => StyledLine::new(TextStyle::Bad, trouble),
        None => format!("in order, last event #{}", status.last_event).into(),
    };
    let text = |text: &Option<String>| StyledLine::from(text.as_deref().unwrap_or("-"));
    vec![
        (
            "server",
            StyledLine::new(TextStyle::Good, "running")
                .then(TextStyle::Plain, &format!(" for {up}")),
        ),
        ("version", status.version.as_str().into()),
        ("pid", status.pid.to_string().into()),
        ("address", text(&status.url)),
        ("socket", text(&status.socket)),
        ("started", status.started_at.to_string().into()),
        ("panes", panes.into()),
        ("journal", journal),
    ]
}
