//! Views of our panes on a tmux server. A user option on the tmux pane names the pane that it
//! shows, so that every client of that server can query it.

use paned_model::{PaneId, Size};

use super::client::ControlClient;
use super::command::TmuxCommand;
use super::error::Error;
use super::ids::{SessionId, TmuxPane, WindowId};

/// The user option that names the pane of ours that a tmux pane shows.
const PANE_OPTION: &str = "@paned_pane";
/// The user option of the main tmux pane, beside which others are placed.
const MAIN_OPTION: &str = "@paned_main";
const COLUMNS: &[&str] = &[
    "pane_id",
    "window_id",
    "session_id",
    PANE_OPTION,
    MAIN_OPTION,
    "pane_active",
    "window_active",
    "pane_width",
    "pane_height",
];

/// A tmux pane and the pane that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPaneView {
    /// The tmux pane.
    pub id: TmuxPane,
    /// Its window.
    pub window: WindowId,
    /// Its session.
    pub session: SessionId,
    /// The pane of ours, if it shows one.
    pub shows: Option<PaneId>,
    /// Whether it is the main pane, beside which others are placed.
    pub main: bool,
    /// Whether it has the focus within its window.
    pub active: bool,
    /// Whether it has the focus within its session.
    pub focused: bool,
    /// How large it is.
    pub size: Size,
}

impl ControlClient {
    /// Every tmux pane, with the pane that it shows.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn views(&self) -> Result<Vec<TmuxPaneView>, Error> {
        let list = TmuxCommand::new("list-panes").word("-a").word("-F");
        let replies = self.run(&list.format(&self.separator.format(COLUMNS))).await?;
        let mut rows = self.separator.read(&replies[0], COLUMNS.len())?;
        let read = |row: &mut super::rows::FormatRow| {
            let id = row.need(TmuxPane::parse)?;
            let window = row.need(WindowId::parse)?;
            let session = row.need(SessionId::parse)?;
            // A value that is not a pane id is not ours.
            let shows = row.text().parse().ok();
            let main = row.is_set();
            let active = row.is_set();
            let window_active = row.is_set();
            let cols = row.number().unwrap_or(0);
            let rows = row.number().unwrap_or(0);
            let focused = active && window_active;
            let size = Size { cols, rows };
            Ok(TmuxPaneView { id, window, session, shows, main, active, focused, size })
        };
        rows.iter_mut().map(read).collect()
    }

    /// Marks a tmux pane with the pane that it shows.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn mark_view(&self, view: TmuxPane, shows: &PaneId) -> Result<(), Error> {
        self.set_option(view, PANE_OPTION, shows.as_str()).await
    }

    /// Marks a tmux pane as the main one.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn mark_main(&self, view: TmuxPane) -> Result<(), Error> {
        self.set_option(view, MAIN_OPTION, "1").await
    }

    /// Applies a layout to a window, as tmux writes it.
    ///
    /// # Errors
    /// When the window has another number of panes, or does not exist.
    pub async fn select_layout(&self, window: WindowId, layout: &str) -> Result<(), Error> {
        let command = TmuxCommand::new("select-layout").target(window).argument(layout);
        self.run(&command).await.map(drop)
    }

    /// Swaps two panes.
    ///
    /// # Errors
    /// When one of them does not exist.
    pub async fn swap(&self, a: TmuxPane, b: TmuxPane) -> Result<(), Error> {
        let command = TmuxCommand::new("swap-pane").word("-d").text("-s", a.to_string());
        self.run(&command.target(b)).await.map(drop)
    }

    /// Kills the server and every program on it.
    ///
    /// # Errors
    /// When the command cannot be sent.
    pub async fn kill_server(&self) -> Result<(), Error> {
        match self.run(&TmuxCommand::new("kill-server")).await {
            // It exits without a reply.
            Ok(_) | Err(Error::Gone(_) | Error::NoServer(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Zooms a pane, so that it covers the others of its window.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn zoom(&self, pane: TmuxPane) -> Result<(), Error> {
        self.run(&TmuxCommand::new("resize-pane").word("-Z").target(pane)).await.map(drop)
    }
}
