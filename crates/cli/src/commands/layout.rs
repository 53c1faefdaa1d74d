//! `paned layout`: where panes are in tmux.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde::Serialize;
use serde_json::Value;

use super::support::params::{WindowParams, negated};
use crate::context::CliContext;

const GET: &str = "\
Examples:
  paned layout get                            the window of the session `main`
  paned layout get --here                     the tmux window that you are in";

const PLAN: &str = "\
Examples:
  paned layout plan tests logs                where they would go, and why";

const PLACE: &str = "\
Examples:
  paned layout place tests                    show the pane `tests` in the session `main`
  paned layout place tests --here             show it beside this tmux pane, in your own window
  paned layout place tests --replace          a pane that is done may go for it";

const HIDE: &str = "\
Examples:
  paned layout hide tests                     its program goes on unseen";

const SAVE: &str = "\
Examples:
  paned layout save morning
  paned layout apply morning";

/// Inspect and change the tmux layout
#[derive(Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum LayoutSubcommand {
    /// Show a window: where its panes are, and whose
    #[command(after_help = GET)]
    Get(WindowArgs),
    /// Say where panes would go, and why, without doing it
    #[command(after_help = PLAN)]
    Plan {
        /// The panes
        #[arg(required = true)]
        panes: Vec<String>,
        /// Let panes that are done make room
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
    /// Show a pane
    #[command(after_help = PLACE)]
    Place {
        /// The pane
        #[serde(rename = "paneId")]
        pane: String,
        /// Let a pane that is done make room
        #[arg(long)]
        replace: bool,
        /// Do not wait for room
        #[arg(long)]
        #[serde(rename = "wait", serialize_with = "negated")]
        no_wait: bool,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
    /// Show a pane no more
    #[command(after_help = HIDE)]
    Hide {
        /// The pane
        #[serde(rename = "paneId")]
        pane: String,
    },
    /// Keep how a window is divided
    #[command(after_help = SAVE)]
    Save {
        /// What to call it
        name: String,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
    /// Bring panes into the places of a layout that was kept
    #[command(after_help = SAVE)]
    Apply {
        /// The layout
        name: String,
        #[command(flatten)]
        #[serde(flatten)]
        at: WindowArgs,
    },
}

/// Which window.
#[derive(clap::Args, Serialize)]
pub(crate) struct WindowArgs {
    /// The session [default: main]
    #[arg(long, conflicts_with = "here")]
    session: Option<String>,
    /// The tmux window that this is typed in
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
    context.show(action, &params, |answer: Value| context.out.value(&answer))
}
