//! Views of our panes on a tmux server. A user option on the tmux pane names the pane that it
//! shows, so that every client of that server can query it.

use paned_model::{PaneId, Size};

use super::client::{CHANGE_SUBSCRIPTION, ControlClient};
use super::command::TmuxCommand;
use super::error::Error;
use super::ids::{SessionId, TmuxPane, WindowId, number};
use super::name::SessionName;
use super::operations::{
    self, SplitSide, TmuxCreateResult, TmuxProgram, TmuxSplit, kill_pane, title_pane,
};
use super::query::{self, CLIENT, SESSION, TmuxSession, TmuxWindow, WINDOW};
use super::rows::FormatRow;

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

/// What a server shows, from one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxSnapshot {
    /// The process that answered.
    pub server: u32,
    /// Every session, without our anchor session.
    pub sessions: Vec<TmuxSession>,
    /// Every window; one that is linked to several sessions is listed once for each.
    pub windows: Vec<TmuxWindow>,
    /// Every tmux pane, with the pane that it shows.
    pub views: Vec<TmuxPaneView>,
}

/// Where a new tmux pane is opened.
#[derive(Clone, Copy, Debug)]
pub enum NewView<'a> {
    /// In a session of its own.
    Session(&'a SessionName, Size),
    /// In a part of another pane.
    Split(TmuxPane, SplitSide),
    /// In a new window of a session, of this name. It does not become the active one.
    Window(SessionId, &'a str),
}

/// Commands that are sent in one line, with nothing in between. After an error the rest is not run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewCommands(Option<TmuxCommand>);

impl ViewCommands {
    /// Marks a tmux pane with the pane that it shows, and gives it that pane's title.
    #[must_use]
    pub fn mark_view(self, view: TmuxPane, shows: &PaneId, title: &str) -> Self {
        let mark = operations::option(view.into(), PANE_OPTION, shows.as_str());
        self.then(mark).title(view, title)
    }

    /// Marks a tmux pane as the main one of a session, and keeps the session's name.
    #[must_use]
    pub fn mark_main(self, main: TmuxCreateResult, name: &SessionName) -> Self {
        let mark = operations::option(main.pane.into(), MAIN_OPTION, "1");
        self.then(operations::note_name(main.session, name)).then(mark)
    }

    /// Sets the title of a tmux pane, cleaned by [`super::command::clean`].
    #[must_use]
    pub fn title(self, view: TmuxPane, title: &str) -> Self {
        self.then(title_pane(view, title))
    }

    /// Applies a layout to a window, as tmux writes it.
    #[must_use]
    pub fn select_layout(self, window: WindowId, layout: &str) -> Self {
        self.then(TmuxCommand::new("select-layout").target(window).argument(layout))
    }

    /// Swaps two panes.
    #[must_use]
    pub fn swap(self, a: TmuxPane, b: TmuxPane) -> Self {
        let swap = TmuxCommand::new("swap-pane").word("-d").text("-s", a.to_string());
        self.then(swap.target(b))
    }

    /// Zooms a pane, so that it covers the others of its window.
    #[must_use]
    pub fn zoom(self, pane: TmuxPane) -> Self {
        self.then(TmuxCommand::new("resize-pane").word("-Z").target(pane))
    }

    /// Kills a pane and its program; with the last pane, its window and session.
    #[must_use]
    pub fn kill(self, pane: TmuxPane) -> Self {
        self.then(kill_pane(pane))
    }

    /// Makes a foreign server report the current state within a second, and changes from then on;
    /// what appears and disappears between two of its checks is not reported. A server of our own
    /// reports everything anyway.
    #[must_use]
    pub fn watch(self) -> Self {
        self.then(TmuxCommand::new("refresh-client").word("-B").format(CHANGE_SUBSCRIPTION))
    }

    fn then(self, next: TmuxCommand) -> Self {
        Self(Some(match self.0 {
            Some(first) => first.then(next),
            None => next,
        }))
    }
}

impl ControlClient {
    /// Everything that there is, in one round trip.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn snapshot(&self) -> Result<TmuxSnapshot, Error> {
        let all = |list: &'static str| TmuxCommand::new(list).word("-a");
        let line = TmuxCommand::new("display-message")
            .word("-p")
            .format("#{pid}")
            .then(self.list_command(TmuxCommand::new("list-clients"), CLIENT))
            .then(self.list_command(TmuxCommand::new("list-sessions"), SESSION))
            .then(self.list_command(all("list-windows"), WINDOW))
            .then(self.list_command(all("list-panes"), COLUMNS));
        let replies = self.run(&line).await?;
        let [pid, clients, sessions, windows, panes] = &replies[..] else {
            return Err(Error::Protocol(format!("{} replies to 5 queries", replies.len())));
        };
        let pid = pid.lines.first().and_then(|line| number(line));
        let server = pid.ok_or_else(|| Error::Protocol("it has no process id".to_owned()))?;
        let clients = self.read_list(clients, CLIENT, query::attached_client)?;
        let mut sessions = self.read_list(sessions, SESSION, query::session)?;
        query::count_clients(&mut sessions, &self.without_own(clients));
        let windows = self.read_list(windows, WINDOW, query::window)?;
        let views = self.read_list(panes, COLUMNS, view)?;
        Ok(TmuxSnapshot { server, sessions, windows, views })
    }

    /// Every tmux pane, with the pane that it shows.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn views(&self) -> Result<Vec<TmuxPaneView>, Error> {
        self.list(TmuxCommand::new("list-panes").word("-a"), COLUMNS, view).await
    }

    /// Runs commands in one round trip.
    ///
    /// # Errors
    /// When tmux refuses one of them; those behind it were not run.
    pub async fn run_views(&self, commands: &ViewCommands) -> Result<(), Error> {
        match &commands.0 {
            Some(line) => self.run(line).await.map(drop),
            None => Ok(()),
        }
    }

    /// Runs commands and then opens a tmux pane that does not get the focus, in one round trip.
    ///
    /// # Errors
    /// When tmux refuses one of them, or the pane does not fit.
    pub async fn open_view(
        &self,
        before: ViewCommands,
        at: NewView<'_>,
        program: &TmuxProgram,
    ) -> Result<TmuxCreateResult, Error> {
        let open = match at {
            NewView::Session(name, size) => operations::new_session(name, size),
            NewView::Split(pane, side) => {
                operations::split_window(pane, TmuxSplit { side, size: None, focus: false })
            }
            NewView::Window(session, name) => operations::new_window(session, name),
        };
        let open = self.with_program(open, program)?;
        self.create(match before.0 {
            Some(before) => before.then(open),
            None => open,
        })
        .await
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
}

fn view(row: &mut FormatRow) -> Result<Option<TmuxPaneView>, Error> {
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
    Ok(Some(TmuxPaneView { id, window, session, shows, main, active, focused, size }))
}
