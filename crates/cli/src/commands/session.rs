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
use super::support::shell_words::with_tilde;
use super::support::table_args::TableArgs;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable};
use crate::settings::process_env;

const START: &str = "\
Examples:
  paned session start              a login shell in the session `main`
  paned session start --no-follow  do not show new panes in it
  paned session start work -- vim notes.md
  paned session start && paned session attach";

const STOP: &str = "\
Examples:
  paned session stop                    also stops the panes created for it
  paned session stop work --keep-panes  their programs keep running";

const ATTACH: &str = "\
Examples:
  paned session attach                        detach with ctrl+b d, as in tmux
  paned session attach work";

const LIST: &str = "\
Examples:
  paned session list
  paned session list --json";

/// Manage tmux sessions that show panes
#[derive(Subcommand, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum SessionSubcommand {
    /// Start a session with a program in its first pane
    #[command(after_help = START)]
    Start(SessionStartArgs),
    /// Stop a session and the panes that were created for it
    #[command(after_help = STOP)]
    Stop {
        /// The session [env: PANED_SESSION_NAME] [default: main]
        name: Option<String>,
        /// Keep the programs of its panes running
        #[arg(long)]
        keep_panes: bool,
        /// Allow it to stop the current pane
        #[arg(long = "self")]
        #[serde(rename = "self")]
        itself: bool,
    },
    /// Attach this terminal to a session
    #[command(after_help = ATTACH)]
    Attach {
        /// The session [env: PANED_SESSION_NAME] [default: main, or the only one]
        name: Option<String>,
    },
    /// List sessions
    #[command(after_help = LIST, visible_alias = "ls")]
    List {
        #[command(flatten)]
        #[serde(skip)]
        table: TableArgs,
    },
}

/// What to start.
#[derive(clap::Args, Serialize)]
pub(crate) struct SessionStartArgs {
    /// The name of the session [env: PANED_SESSION_NAME] [default: main]
    name: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    environment: EnvironmentArgs,
    /// The size of its window until a client attaches, as in 200x50
    #[arg(long)]
    size: Option<Size>,
    /// Do not show new panes in it
    #[arg(long)]
    #[serde(rename = "follow", serialize_with = "negated")]
    no_follow: bool,
    /// The program of its first pane and its arguments [default: your login shell]
    #[arg(last = true, value_name = "COMMAND")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    argv: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionReply {
    name: String,
    socket: PathBuf,
    target: String,
    attached: usize,
    panes: Vec<String>,
    size: Size,
    follows: bool,
    #[serde(rename = "default")]
    is_default: bool,
    #[serde(default)]
    config_errors: Vec<String>,
}

#[derive(Deserialize)]
struct StopReply {
    name: String,
    closed: Vec<String>,
    kept: Vec<String>,
}

pub(crate) fn run(context: &CliContext, mut command: SessionSubcommand) -> Result<ExitCode> {
    if let SessionSubcommand::Start(args) = &mut command {
        args.environment.resolve(context.out, &context.client_or_start()?)?;
    }
    if let SessionSubcommand::Start(SessionStartArgs { name, .. })
    | SessionSubcommand::Stop { name, .. }
    | SessionSubcommand::Attach { name } = &mut command
    {
        *name = context.session(name.take())?;
    }
    match &command {
        SessionSubcommand::Start(_) => {
            context.show("session:start", &command, |started: SessionReply| {
                show_started(context.out, &started)
            })
        }
        SessionSubcommand::Stop { name, .. } => context
            .show("session:stop", &command, |stopped| show_stopped(context.out, name, stopped)),
        SessionSubcommand::Attach { name } => attach(context, name.as_deref()),
        SessionSubcommand::List { table } => {
            context.show("session:list", &(), |sessions| show(context.out, *table, sessions))
        }
    }
}

fn show_started(
    out: Out,
    SessionReply { name, follows, config_errors, .. }: &SessionReply,
) -> Result<()> {
    let follows = if *follows { ", and new panes appear in it" } else { "" };
    out.line(format!(
        "started session {name}{follows}; attach with `paned session attach {name}`"
    ))?;
    config_errors.iter().try_for_each(|error| Ok(out.note(format!("paned: {error}"))?))
}

/// The session of this name; without one the default session, or the only one.
fn find<'a>(sessions: &'a [SessionReply], name: Option<&str>) -> Result<&'a SessionReply, Refusal> {
    let found = match (name, sessions) {
        (Some(name), _) => sessions.iter().find(|session| session.name == name),
        (None, [only]) => Some(only),
        (None, _) => sessions.iter().find(|session| session.is_default),
    };
    found.ok_or_else(|| missing(sessions, name))
}

fn missing(sessions: &[SessionReply], name: Option<&str>) -> Refusal {
    let names = || sessions.iter().map(|session| session.name.as_str());
    let Some(name) = name else {
        return Refusal::not_found(match names().next() {
            None => "no session; `paned session start` starts one".to_owned(),
            Some(_) => {
                let names: Vec<_> = names().collect();
                format!("there are several sessions ({}); name one of them", names.join(", "))
            }
        });
    };
    let start = || format!("`paned session start {name}` starts it");
    let hint = did_you_mean(&nearest(name, names())).unwrap_or_else(start);
    Refusal::not_found(format!("no session `{name}`; {hint}"))
}

/// Executes tmux in place of this process, because users know it.
fn attach(context: &CliContext, name: Option<&str>) -> Result<ExitCode> {
    let sessions: Vec<SessionReply> = context.call("session:list", &())?;
    let session = find(&sessions, name)?;
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

fn show_stopped(out: Out, name: &Option<String>, stopped: StopReply) -> Result<()> {
    let name = name.as_ref().unwrap_or(&stopped.name);
    out.line(format!("stopped session {name}").as_str())?;
    if !stopped.closed.is_empty() {
        out.line(format!("stopped panes: {}", stopped.closed.join(", ")).as_str())?;
    }
    if !stopped.kept.is_empty() {
        let kept = stopped.kept.join(", ");
        out.line(format!("still running, hidden: {kept}; open one with `paned attach`").as_str())?;
    }
    Ok(())
}

fn show(out: Out, args: TableArgs, sessions: Vec<SessionReply>) -> Result<()> {
    if sessions.is_empty() {
        return Ok(out.note("no sessions; start one with `paned session start`")?);
    }
    let home = process_env("HOME");
    let head = &["NAME", "SIZE", "ATTACHED", "NEW PANES", "SOCKET", "PANES"];
    let table = TextTable::new(head, sessions, |session| {
        [
            StyledLine::new(TextStyle::Strong, &session.name),
            session.size.to_string().into(),
            session.attached.to_string().into(),
            if session.follows { "here" } else { "-" }.into(),
            with_tilde(&session.socket.to_string_lossy(), home.as_deref()).into(),
            session.panes.join(" ").into(),
        ]
    });
    let table = table.only_wide(&["SOCKET"]).dropping(&["NEW PANES", "ATTACHED", "SIZE"]);
    Ok(out.table_in(&table, args.width(out))?)
}
