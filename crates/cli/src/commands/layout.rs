//! `paned layout`: where panes are in tmux.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::Refusal;
use serde_json::{Map, Value, json};

use crate::context::CliContext;
use crate::settings::process_env;

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

/// Say and change where panes are in tmux
#[derive(Subcommand)]
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
        at: WindowArgs,
    },
    /// Show a pane
    #[command(after_help = PLACE)]
    Place {
        /// The pane
        pane: String,
        /// Let a pane that is done make room
        #[arg(long)]
        replace: bool,
        /// Do not wait for room
        #[arg(long)]
        no_wait: bool,
        #[command(flatten)]
        at: WindowArgs,
    },
    /// Show a pane no more
    #[command(after_help = HIDE)]
    Hide {
        /// The pane
        pane: String,
    },
    /// Keep how a window is divided
    #[command(after_help = SAVE)]
    Save {
        /// What to call it
        name: String,
        #[command(flatten)]
        at: WindowArgs,
    },
    /// Bring panes into the places of a layout that was kept
    #[command(after_help = SAVE)]
    Apply {
        /// The layout
        name: String,
        #[command(flatten)]
        at: WindowArgs,
    },
}

/// Which window.
#[derive(clap::Args)]
pub(crate) struct WindowArgs {
    /// The session [default: main]
    #[arg(long, conflicts_with = "here")]
    session: Option<String>,
    /// The tmux window that this is typed in
    #[arg(long)]
    here: bool,
}

impl WindowArgs {
    /// The window as parameters of an action.
    pub(super) fn fields(&self) -> Result<Map<String, Value>> {
        if self.here {
            return current_tmux_pane();
        }
        let session = self.session.iter().map(|name| ("session".to_owned(), json!(name)));
        Ok(session.collect())
    }
}

/// The tmux pane that this is typed in.
pub(super) fn current_tmux_pane() -> Result<Map<String, Value>> {
    let (Some(tmux), Some(pane)) = (process_env("TMUX"), process_env("TMUX_PANE")) else {
        return Err(Refusal::invalid("this is not typed in tmux, so there is no `--here`").into());
    };
    Ok([("tmux".to_owned(), json!(tmux)), ("beside".to_owned(), json!(pane))].into_iter().collect())
}

pub(crate) fn run(context: &CliContext, command: LayoutSubcommand) -> Result<ExitCode> {
    let (action, at, fields) = match command {
        LayoutSubcommand::Get(at) => ("layout:get", Some(at), json!({})),
        LayoutSubcommand::Plan { panes, replace, at } => {
            ("layout:plan", Some(at), json!({ "panes": panes, "replace": replace }))
        }
        LayoutSubcommand::Place { pane, replace, no_wait, at } => {
            let fields = json!({ "paneId": pane, "replace": replace, "wait": !no_wait });
            ("layout:place", Some(at), fields)
        }
        LayoutSubcommand::Hide { pane } => ("layout:hide", None, json!({ "paneId": pane })),
        LayoutSubcommand::Save { name, at } => ("layout:save", Some(at), json!({ "name": name })),
        LayoutSubcommand::Apply { name, at } => ("layout:apply", Some(at), json!({ "name": name })),
    };
    let mut params = at.map(|at| at.fields()).transpose()?.unwrap_or_default();
    params.extend(fields.as_object().cloned().unwrap_or_default());
    let answer = context.action(action, &Value::Object(params))?;
    match context.out.is_json() {
        true => context.out.json(&answer)?,
        false => context.out.value(&answer)?,
    }
    Ok(ExitCode::SUCCESS)
}
