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

use super::support::shell_words::with_tilde;
use crate::context::CliContext;
use crate::out::{Clock, StyledLine, TextStyle, units};
use crate::serve::ListenArgs;
use crate::settings::process_env;

pub(crate) use autostart::ensure_running;

const START: &str = "\
Examples:
  paned server start
  paned server start --port 0          on a free port
  paned --state-dir /tmp/try server start

It keeps running after you log out, and logs to server.log in the state folder. To run it in the foreground, use `paned serve`.";

const STOP: &str = "\
Examples:
  paned server stop
  paned server stop --all          and stop the programs of all panes

Panes keep running, and the next server finds them. With --all, their output stays readable.";

const STATUS: &str = "\
Examples:
  paned server status
  paned server status --json

The exit code is 13 if no server is running.";

const RESTART: &str = "\
Examples:
  paned server restart              with the same options
  paned server restart --port 8000  with another port

Panes keep running.";

const UPGRADE: &str = "\
Examples:
  make install && paned server upgrade

The server replaces itself with the program on disk and keeps its process id. Panes keep running, and no \
connection is refused.";

/// Manage the background server
#[derive(Subcommand)]
pub(crate) enum ServerSubcommand {
    /// Start a server in the background
    #[command(after_help = START)]
    Start(ListenArgs),
    /// Stop the server; panes keep running
    #[command(after_help = STOP)]
    Stop(stop::StopArgs),
    /// Show server status
    #[command(after_help = STATUS)]
    Status,
    /// Restart the server; panes keep running
    #[command(after_help = RESTART)]
    Restart(ListenArgs),
    /// Switch the server to a newly installed version; panes keep running
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
        by_life_cycle(&status.panes).map(|(word, count)| format!("{count} {word}")).collect();
    let panes = if panes.is_empty() { "none".to_owned() } else { panes.join(", ") };
    let journal = match &status.trouble {
        Some(trouble) => StyledLine::new(TextStyle::Bad, trouble),
        None => format!("healthy, last event #{}", status.last_event).into(),
    };
    let home = process_env("HOME");
    let text = |text: &Option<String>| {
        StyledLine::from(with_tilde(text.as_deref().unwrap_or("-"), home.as_deref()))
    };
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
        ("started", Clock::local().moment(status.started_at).into()),
        ("panes", panes.into()),
        ("journal", journal),
    ]
}

/// How many panes there are in each status, running ones first.
fn by_life_cycle(panes: &BTreeMap<String, usize>) -> impl Iterator<Item = (&str, usize)> {
    const ORDER: [&str; 5] = ["starting", "running", "exited", "killed", "lost"];
    let known = ORDER.iter().filter_map(|word| Some((*word, *panes.get(*word)?)));
    let rest = panes.iter().filter(|(word, _)| !ORDER.contains(&word.as_str()));
    known.chain(rest.map(|(word, count)| (word.as_str(), *count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_panes_are_counted_first() {
        let panes = [("exited", 3), ("killed", 1), ("running", 6)];
        let panes = panes.map(|(word, count)| (word.to_owned(), count)).into();
        let listed: Vec<_> = by_life_cycle(&panes).collect();
        assert_eq!(listed, [("running", 6), ("exited", 3), ("killed", 1)]);
    }
}
