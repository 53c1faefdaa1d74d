//! Panes of ours that are shown on a server: each is noted on the tmux pane that shows it, so that whoever asks
//! tmux knows.

use paned_model::{PaneId, Size};

use super::client::ControlClient;
use super::command::TmuxCommand;
use super::error::Error;
use super::ids::{SessionId, TmuxPane, WindowId};

/// The user option that names the pane of ours that a tmux pane shows.
const PANE_OPTION: &str = "@paned_pane";
/// The user option of the tmux pane that others are put beside.
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

/// A tmux pane and whom it shows.
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
    /// Whether others are put beside it.
    pub main: bool,
    /// Whether it has the focus within its window.
    pub active: bool,
    /// Whether it has the focus within its session.
    pub focused: bool,
    /// How large it is.
    pub size: Size,
}

impl ControlClient {
    /// Every tmux pane, with whom it shows.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn views(&self) -> Result<Vec<TmuxPaneView>, Error> {
        let list = TmuxCommand::new("list-panes").word("-a").word("-F");
        let replies = self.run(&list.format(&self.separator.format(COLUMNS))).await?;
        let mut rows = self.separator.read(&replies[0], COLUMNS.len())?;
        let read = |row: &mut super::rows::FormatRow| {
            let (id, window) = (row.need(TmuxPane::parse)?, row.need(WindowId::parse)?);
            let session = row.need(SessionId::parse)?;
            // A note that is no name is none of ours.
            let shows = row.text().parse().ok();
            let (main, active, window_active) = (row.is_set(), row.is_set(), row.is_set());
            let (cols, rows) = (row.number().unwrap_or(0), row.number().unwrap_or(0));
            let (focused, size) = (active && window_active, Size { cols, rows });
            Ok(TmuxPaneView { id, window, session, shows, main, active, focused, size })
        };
        rows.iter_mut().map(read).collect()
    }

    /// Notes on a tmux pane whom it shows.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn mark_view(&self, view: TmuxPane, shows: &PaneId) -> Result<(), Error> {
        self.set_option(view, PANE_OPTION, shows.as_str()).await
    }

    /// Notes that others are put beside this tmux pane.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn mark_main(&self, view: TmuxPane) -> Result<(), Error> {
        self.set_option(view, MAIN_OPTION, "1").await
    }

    /// Brings the panes of a window into places, as tmux writes them.
    ///
    /// # Errors
    /// When the window has another number of panes, or does not exist.
    pub async fn select_layout(&self, window: WindowId, layout: &str) -> Result<(), Error> {
        let command = TmuxCommand::new("select-layout").target(window).argument(layout);
        self.run(&command).await.map(drop)
    }

    /// Two panes change places.
    ///
    /// # Errors
    /// When one of them does not exist.
    pub async fn swap(&self, a: TmuxPane, b: TmuxPane) -> Result<(), Error> {
        let command = TmuxCommand::new("swap-pane").word("-d").text("-s", a.to_string());
        self.run(&command.target(b)).await.map(drop)
    }

    /// Ends the server, and every program on it.
    ///
    /// # Errors
    /// When it cannot be told so.
    pub async fn kill_server(&self) -> Result<(), Error> {
        match self.run(&TmuxCommand::new("kill-server")).await {
            // It goes without a word.
            Ok(_) | Err(Error::Gone(_) | Error::NoServer(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Lets a pane cover the others of its window.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn zoom(&self, pane: TmuxPane) -> Result<(), Error> {
        self.run(&TmuxCommand::new("resize-pane").word("-Z").target(pane)).await.map(drop)
    }
}
