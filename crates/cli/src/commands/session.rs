//! `paned session`: sessions in tmux, where panes are shown.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command as Process, ExitCode};

use anyhow::Result;
use clap::Subcommand;
use paned_backend::trusted_path;
use paned_model::near::{did_you_mean, nearest};
use paned_model::{Code, Refusal, Size};
use serde::{Deserialize, Serialize};

use super::support::environment::EnvironmentArgs;
use super::support::params::negated;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable};

const START: &str = "\
Examples:
  paned session start                         a login shell in the session `main`
  paned session start --no-follow             new panes are not shown in it
  paned session start work -- vim notes.md
  paned session start && paned session attach";

const STOP: &str = "\
Examples:
  paned session stop                          ends the panes that were made for it, too
  paned session stop work --keep-panes        their programs go on unseen";

const ATTACH: &str = "\
Examples:
  paned session attach                        leave it with tmux's own keys: ctrl+b d
  paned session attach work";

const LIST: &str = "\
Examples:
  paned session list
  paned session list --json";

/// The columns that the names of a session's panes take in a list.
const PANES_WIDTH: usize = 30;

/// Manage tmux sessions that show panes
#[derive(Subcommand, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum SessionSubcommand {
    /// Start a session, with a program in its first pane
    #[command(after_help = START)]
    Start(SessionStartArgs),
    /// Stop a session, and end the panes that were made for it
    #[command(after_help = STOP)]
    Stop {
        /// The session
        #[arg(default_value = "main")]
        name: String,
        /// Let the programs of its panes go on unseen
        #[arg(long)]
        keep_panes: bool,
        /// Mean it, although it ends the pane that this is typed in
        #[arg(long = "self")]
        #[serde(rename = "self")]
        itself: bool,
    },
    /// Use a session in this terminal
    #[command(after_help = ATTACH)]
    Attach {
        /// The session
        #[arg(default_value = "main")]
        name: String,
    },
    /// Show every session
    #[command(after_help = LIST, visible_alias = "ls")]
    List,
}

/// What to start.
#[derive(clap::Args, Serialize)]
pub(crate) struct SessionStartArgs {
    /// What to call it
    #[arg(default_value = "main")]
    name: String,
    #[command(flatten)]
    #[serde(flatten)]
    environment: EnvironmentArgs,
    /// How large its window is until a client is attached, as in 200x50
    #[arg(long)]
    size: Option<Size>,
    /// Do not show panes in it that are made from now on
    #[arg(long)]
    #[serde(rename = "follow", serialize_with = "negated")]
    no_follow: bool,
    /// The program of its first pane and its arguments [default: your login shell]
    #[arg(last = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    argv: Vec<String>,
}

#[derive(Deserialize)]
struct SessionReply {
    name: String,
    socket: PathBuf,
    target: String,
    attached: usize,
    panes: Vec<String>,
    size: Size,
    follows: bool,
}

#[derive(Deserialize)]
struct StopReply {
    closed: Vec<String>,
    kept: Vec<String>,
}

pub(crate) fn run(context: &CliContext, mut command: SessionSubcommand) -> Result<ExitCode> {
    if let SessionSubcommand::Start(args) = &mut command {
        args.environment.resolve(context.out, &context.client_or_start()?)?;
    }
    match &command {
        SessionSubcommand::Start(SessionStartArgs { name, no_follow, .. }) => {
            let follows = if *no_follow { "" } else { ", and new panes appear in it" };
            let sentence =
                format!("started session {name}{follows}; `paned session attach {name}` shows it");
            context.confirm("session:start", &command, sentence)
        }
        SessionSubcommand::Stop { name, .. } => context
            .show("session:stop", &command, |stopped| show_stopped(context.out, name, stopped)),
        SessionSubcommand::Attach { name } => attach(context, name),
        SessionSubcommand::List => {
            context.show("session:list", &(), |sessions| show(context.out, sessions))
        }
    }
}

/// Executes tmux in place of this process, because users know it.
fn attach(context: &CliContext, name: &str) -> Result<ExitCode> {
    let sessions: Vec<SessionReply> = context.call("session:list", &())?;
    let Some(session) = sessions.iter().find(|session| session.name == name) else {
        let near = nearest(name, sessions.iter().map(|session| session.name.as_str()));
        let hint = did_you_mean(&near)
            .unwrap_or_else(|| format!("`paned session start {name}` starts it"));
        return Err(Refusal::not_found(format!("no session `{name}`; {hint}")).into());
    };
    // A tmux client obeys its server, so it must connect to a trusted socket only.
    let socket = trusted_path::TrustedSocket::find(&session.socket).and_then(|socket| {
        socket.connect()?;
        Ok(socket.path())
    });
    let socket = socket.map_err(|error| Refusal::new(Code::Forbidden, error.to_string()))?;
    let mut tmux = Process::new("tmux");
    tmux.arg("-u").arg("-S").arg(&socket).args(["attach-session", "-t", &session.target]);
    // We may run inside another tmux server, which would refuse to nest.
    let error = tmux.env_remove("TMUX").env_remove("TMUX_PANE").exec();
    Err(Refusal::new(Code::Unavailable, format!("cannot run tmux: {error}")).into())
}

fn show_stopped(out: Out, name: &str, stopped: StopReply) -> Result<()> {
    out.line(format!("{name} is stopped").as_str())?;
    if !stopped.closed.is_empty() {
        out.line(format!("ended: {}", stopped.closed.join(", ")).as_str())?;
    }
    if !stopped.kept.is_empty() {
        let kept = stopped.kept.join(", ");
        out.line(format!("still running, unseen: {kept}; `paned attach` shows one").as_str())?;
    }
    Ok(())
}

/// As many names as fit into a column, and how many more there are.
fn few(names: &[String]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        if 0 < at && PANES_WIDTH < text.chars().count() + 1 + name.chars().count() {
            return format!("{text} +{}", names.len() - at);
        }
        text = if at == 0 { name.clone() } else { format!("{text} {name}") };
    }
    text
}

fn show(out: Out, sessions: Vec<SessionReply>) -> Result<()> {
    if sessions.is_empty() {
        return Ok(out.note("no sessions; start one with `paned session start`")?);
    }
    let head = &["NAME", "SIZE", "ATTACHED", "NEW PANES", "PANES"];
    Ok(out.table(&TextTable::new(head, sessions, |session| {
        [
            StyledLine::new(TextStyle::Strong, &session.name),
            session.size.to_string().into(),
            session.attached.to_string().into(),
            if session.follows { "here" } else { "-" }.into(),
            few(&session.panes).into(),
        ]
    }))?)
}
