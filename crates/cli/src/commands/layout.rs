//! `paned layout`: where panes are in tmux.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::{Size, ViewState};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::support::params::WindowParams;
use super::support::view_note;
use crate::client;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable};

const GET: &str = "\
Examples:
  paned layout get                            the window of the session `main`
  paned layout get --here                     the tmux window that you are in";

const PLAN: &str = "\
Examples:
  paned layout plan tests logs                where they would be placed and why";

const PLACE: &str = "\
Examples:
  paned layout place tests            in the session `main`
  paned layout place tests --here     in your window, beside this tmux pane
  paned layout place tests --replace  may replace a finished pane
  paned layout place tests --wait     wait for room, open no new window";

const HIDE: &str = "\
Examples:
  paned layout hide tests                     its program keeps running";

const SAVE: &str = "\
Examples:
  paned layout save morning
  paned layout apply morning";

/// Inspect and change the tmux layout
#[derive(Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum LayoutSubcommand {
    /// Show the panes of a tmux window
    #[command(after_help = GET)]
    Get(WindowArgs),
    /// Show where panes would be placed and why, without placing them
    #[command(after_help = PLAN)]
    Plan {
        /// The panes
        #[arg(required = true, value_name = "PANE")]
        panes: Vec<String>,
        /// Allow replacing finished panes
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        #[serde(flatten)]
        no_room: NoRoomArgs,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
    /// Show a pane in tmux
    #[command(after_help = PLACE)]
    Place {
        /// The pane
        #[serde(rename = "paneId")]
        pane: String,
        /// Allow replacing a finished pane
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        #[serde(flatten)]
        no_room: NoRoomArgs,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
    /// Hide a pane
    #[command(after_help = HIDE)]
    Hide {
        /// The pane
        #[serde(rename = "paneId")]
        pane: String,
    },
    /// Save a window's layout
    #[command(after_help = SAVE)]
    Save {
        /// The name of the layout
        name: String,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
    /// Restore a saved layout
    #[command(after_help = SAVE)]
    Apply {
        /// The layout
        name: String,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
}

/// What is done when the window has no room.
#[derive(clap::Args)]
pub(crate) struct NoRoomArgs {
    /// Wait for room in the window [default: open a new window]
    #[arg(long, conflicts_with = "no_wait")]
    wait: bool,
    /// Keep it hidden if the window has no room
    #[arg(long)]
    no_wait: bool,
}

impl Serialize for NoRoomArgs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wait = (self.wait || self.no_wait).then_some(("wait", self.wait));
        serializer.collect_map(wait)
    }
}

/// Which window.
#[derive(clap::Args, Serialize)]
pub(crate) struct WindowArgs {
    /// The session [default: main]
    #[arg(long, value_name = "NAME", conflicts_with = "here")]
    session: Option<String>,
    /// Use the current tmux window
    #[arg(long)]
    #[serde(skip)]
    here: bool,
}

pub(crate) fn run(context: &CliContext, command: &LayoutSubcommand) -> Result<ExitCode> {
    let (action, here) = match command {
        LayoutSubcommand::Get(at) => ("layout:get", at.here),
        LayoutSubcommand::Plan { at, .. } => ("layout:plan", at.here),
        LayoutSubcommand::Place { at, .. } => ("layout:place", at.here),
        LayoutSubcommand::Hide { .. } => ("layout:hide", false),
        LayoutSubcommand::Save { at, .. } => ("layout:save", at.here),
        LayoutSubcommand::Apply { at, .. } => ("layout:apply", at.here),
    };
    let params = WindowParams::new(command, here)?;
    context.show(action, &params, |answer: Value| show(context.out, command, answer))
}

fn show(out: Out, command: &LayoutSubcommand, answer: Value) -> Result<()> {
    let line = |text: String| anyhow::Ok(out.line(text.as_str())?);
    match command {
        LayoutSubcommand::Get(_) => show_window(out, &client::read(answer)?),
        LayoutSubcommand::Plan { .. } => {
            let PlanReply { decisions } = client::read(answer)?;
            decisions.iter().map(PlannedPane::sentence).try_for_each(line)
        }
        LayoutSubcommand::Place { .. } => {
            let placed: PlaceReply = client::read(answer)?;
            line(placed.sentence())
        }
        LayoutSubcommand::Hide { pane } => line(format!("hid {pane}; it keeps running")),
        LayoutSubcommand::Save { name, .. } => {
            let SaveReply { file } = client::read(answer)?;
            line(format!("saved {name} in {file}; restore it with `paned layout apply {name}`"))
        }
        LayoutSubcommand::Apply { name, .. } => {
            line(format!("applied {name}"))?;
            show_window(out, &client::read(answer)?)
        }
    }
}

fn show_window(out: Out, window: &WindowReply) -> Result<()> {
    let zoomed = if window.zoomed { ", one pane is zoomed" } else { "" };
    let count = window.panes.len();
    let panes = if count == 1 { "pane" } else { "panes" };
    out.line(format!("{}, {count} {panes}{zoomed}", window.size).as_str())?;
    let head = &["TMUX", "PANE", "SIZE", "LEFT", "TOP", "WHAT"];
    let table = TextTable::new(head, &window.panes, |pane| {
        let owner = match pane.owner.as_str() {
            "main" => "main",
            "ours" => "beside main",
            _ => "yours",
        };
        let active = if pane.active { ", active" } else { "" };
        [
            pane.tmux_pane.as_str().into(),
            StyledLine::new(TextStyle::Strong, pane.pane.as_deref().unwrap_or("-")),
            format!("{}x{}", pane.width, pane.height).into(),
            pane.left.to_string().into(),
            pane.top.to_string().into(),
            format!("{owner}{active}").into(),
        ]
    });
    Ok(out.table(&table.dropping(&["LEFT", "TOP", "TMUX"]))?)
}

#[derive(Deserialize)]
struct WindowReply {
    size: Size,
    zoomed: bool,
    panes: Vec<WindowPane>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WindowPane {
    tmux_pane: String,
    owner: String,
    pane: Option<String>,
    active: bool,
    left: u16,
    top: u16,
    width: u16,
    height: u16,
}

#[derive(Deserialize)]
struct SaveReply {
    file: String,
}

#[derive(Deserialize)]
struct PlanReply {
    decisions: Vec<PlannedPane>,
}

#[derive(Deserialize)]
struct PlannedPane {
    pane: String,
    decision: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    direction: String,
    #[serde(default)]
    victim: String,
    #[serde(default)]
    reason: String,
}

impl PlannedPane {
    fn sentence(&self) -> String {
        let Self { pane, decision, target, direction, victim, reason } = self;
        let side = if direction == "down" { "below" } else { "to the right of" };
        match decision.as_str() {
            "spawn" => format!("{pane}: {side} {target}"),
            "replace" => format!("{pane}: in place of {victim}, because {reason}"),
            "window" => format!("{pane}: in a new window, because {reason}"),
            "defer" => format!("{pane}: waits for room, because {reason}"),
            _ => format!("{pane}: not shown, because {reason}"),
        }
    }
}

#[derive(Deserialize)]
struct PlaceReply {
    id: String,
    state: ViewState,
    session: Option<String>,
    window: Option<u32>,
    reason: Option<String>,
}

impl PlaceReply {
    fn sentence(&self) -> String {
        let Self { id, state, session, window, reason } = self;
        let session = session.as_deref();
        let reason = reason.as_deref().unwrap_or("no room");
        match (state, window, session) {
            (ViewState::Shown, Some(window), session) => {
                format!("{id}: {}", view_note::new_window(session, *window))
            }
            (ViewState::Shown, None, Some(session)) => {
                format!("{id} is shown; open its session with `paned session attach {session}`")
            }
            (ViewState::Shown, None, None) => format!("{id} is shown in this window"),
            (ViewState::Waiting, ..) => format!("{id}: {}", view_note::waiting(id, reason)),
            (ViewState::Hidden, ..) => format!("{id} is not shown: {reason}"),
        }
    }
}
