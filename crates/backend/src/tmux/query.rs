//! Queries of a server: sessions, windows, panes and attached clients.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::time::Duration;

use paned_model::Size;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::sleep;

use super::client::ControlClient;
use super::command::{TmuxCommand, TmuxTarget};
use super::decode::TmuxReply;
use super::error::Error;
use super::ids::{SessionId, TmuxPane, WindowId};
use super::name::{self, SessionName};
use super::rows::FormatRow;

/// How often a pane that has ended without a status is queried again, and the pause between.
const MAX_POLLS: usize = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxSession {
    /// Its id.
    pub id: SessionId,
    /// Its name, as requested.
    pub name: String,
    /// Its name, as tmux has it.
    pub tmux_name: String,
    /// How many windows it has.
    pub windows: u32,
    /// How many clients are attached; our own is not counted.
    pub attached_clients: usize,
    /// The size of its active window.
    pub size: Size,
}

/// A window, in one of the sessions it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxWindow {
    /// Its id.
    pub id: WindowId,
    /// The session.
    pub session: SessionId,
    /// Its index there.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its size.
    pub size: Size,
    /// Whether it is the session's active window.
    pub active: bool,
    /// Whether it is zoomed: one pane covers all the others.
    pub zoomed: bool,
    /// How many panes it has.
    pub panes: u32,
    /// Their layout, as tmux writes it.
    pub layout: String,
}

/// A pane, in one of the sessions its window belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPaneInfo {
    /// Its id.
    pub id: TmuxPane,
    /// Its window.
    pub window: WindowId,
    /// The session.
    pub session: SessionId,
    /// Its index in the window.
    pub index: u32,
    /// Columns left of it.
    pub left: u16,
    /// Rows above it.
    pub top: u16,
    /// Its size.
    pub size: Size,
    /// Whether it is the window's active pane.
    pub active: bool,
    /// Whether its window is zoomed, on any pane.
    pub zoomed: bool,
    /// Whether it is in a mode, as when the user scrolls.
    pub in_mode: bool,
    /// How many lines of scrollback it has.
    pub history: usize,
    /// Its first process; `None` for a pane without a program.
    pub pid: Option<u32>,
    /// Whether that process runs.
    pub life: TmuxProgramState,
    /// Its title.
    pub title: String,
    /// The foreground program.
    pub command: String,
    /// The working directory of that program.
    pub cwd: PathBuf,
}

/// Whether a pane's program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TmuxProgramState {
    /// It runs.
    Alive,
    /// It ended; tmux does not always know how.
    Ended(Option<TmuxExit>),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TmuxExit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// An attached client: a terminal, or a program that speaks control mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedClient {
    /// Its name in tmux.
    pub client: String,
    /// Its process.
    pub pid: u32,
    /// The session that it is attached to.
    pub session: SessionId,
    /// How large its terminal is.
    pub size: Size,
    /// Whether it speaks control mode.
    pub control: bool,
    /// Whether it is read-only.
    pub read_only: bool,
}

pub(super) const SESSION: &[&str] = &[
    "session_id",
    "@paned_anchor",
    "session_name",
    "@paned_name",
    "session_windows",
    "window_width",
    "window_height",
];
pub(super) const WINDOW: &[&str] = &[
    "window_id",
    "@paned_anchor",
    "session_id",
    "window_index",
    "window_name",
    "window_width",
    "window_height",
    "window_active",
    "window_zoomed_flag",
    "window_panes",
    "window_layout",
];
const PANE: &[&str] = &[
    "pane_id",
    "@paned_anchor",
    "window_id",
    "session_id",
    "pane_index",
    "pane_left",
    "pane_top",
    "pane_width",
    "pane_height",
    "pane_active",
    "window_zoomed_flag",
    "pane_in_mode",
    "history_size",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pane_title",
    "pane_current_command",
    "pane_current_path",
];
pub(super) const CLIENT: &[&str] = &[
    "client_name",
    "@paned_anchor",
    "client_pid",
    "session_id",
    "client_width",
    "client_height",
    "client_control_mode",
    "client_readonly",
];

impl ControlClient {
    /// Every session, without our anchor session.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn sessions(&self) -> Result<Vec<TmuxSession>, Error> {
        let clients = self.attached_clients().await?;
        let list = TmuxCommand::new("list-sessions");
        let mut sessions: Vec<TmuxSession> = self.list(list, SESSION, session).await?;
        count_clients(&mut sessions, &clients);
        Ok(sessions)
    }

    /// The session of exactly this name.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`] when there is none.
    pub async fn session(&self, name: &SessionName) -> Result<TmuxSession, Error> {
        let found =
            self.sessions().await?.into_iter().find(|session| session.name == name.as_str());
        found.ok_or_else(|| Error::SessionNotFound(name.as_str().to_owned()))
    }

    /// The windows of a session, or of all sessions. A window that is linked to several sessions is
    /// listed once for each.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn windows(&self, session: Option<SessionId>) -> Result<Vec<TmuxWindow>, Error> {
        let list = TmuxCommand::new("list-windows");
        let list = match session {
            Some(session) => list.target(session),
            None => list.word("-a"),
        };
        self.list(list, WINDOW, window).await
    }

    /// The panes of a session or a window, or of everything.
    ///
    /// A tmux before 3.5 may miss the `SIGCHLD` of a program; it is sent again until tmux knows the
    /// exit status.
    ///
    /// # Errors
    /// When there is no such session or window.
    pub async fn panes(&self, of: Option<TmuxTarget>) -> Result<Vec<TmuxPaneInfo>, Error> {
        let mut panes = self.list_panes(of).await?;
        for _ in 0..MAX_POLLS {
            let has_no_status = |pane: &TmuxPaneInfo| {
                pane.life == TmuxProgramState::Ended(None) && pane.pid.is_some()
            };
            if !panes.iter().any(has_no_status) {
                break;
            }
            self.send_sigchld();
            sleep(POLL_INTERVAL).await;
            panes = self.list_panes(of).await?;
        }
        Ok(panes)
    }

    async fn list_panes(&self, of: Option<TmuxTarget>) -> Result<Vec<TmuxPaneInfo>, Error> {
        let list = TmuxCommand::new("list-panes");
        let list = match of {
            Some(session @ TmuxTarget::Session(_)) => list.word("-s").target(session),
            Some(target) => list.target(target),
            None => list.word("-a"),
        };
        self.list(list, PANE, pane).await
    }

    /// Every attached client, without our own.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn attached_clients(&self) -> Result<Vec<AttachedClient>, Error> {
        let all = self.list(TmuxCommand::new("list-clients"), CLIENT, attached_client).await?;
        Ok(self.without_own(all))
    }

    pub(super) fn without_own(&self, clients: Vec<AttachedClient>) -> Vec<AttachedClient> {
        let own = self.server().map(|server| server.client_pid);
        clients.into_iter().filter(|client| Some(client.pid) != own).collect()
    }

    /// Sends `SIGCHLD` to the server, so that it checks its children again. Harmless.
    pub fn send_sigchld(&self) {
        let pid = self.server().and_then(|server| Pid::from_raw(server.pid.try_into().ok()?));
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::CHILD);
        }
    }

    pub(super) async fn list<T>(
        &self,
        command: TmuxCommand,
        columns: &[&str],
        read: fn(&mut FormatRow) -> Result<Option<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        let replies = self.run(&self.list_command(command, columns)).await?;
        self.read_list(&replies[0], columns, read)
    }

    pub(super) fn list_command(&self, command: TmuxCommand, columns: &[&str]) -> TmuxCommand {
        command.word("-F").format(&self.separator.format(columns))
    }

    pub(super) fn read_list<T>(
        &self,
        reply: &TmuxReply,
        columns: &[&str],
        read: fn(&mut FormatRow) -> Result<Option<T>, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut rows = self.separator.read(reply, columns.len())?;
        rows.iter_mut().filter_map(|row| read(row).transpose()).collect()
    }
}

pub(super) fn count_clients(sessions: &mut [TmuxSession], clients: &[AttachedClient]) {
    for session in sessions {
        session.attached_clients =
            clients.iter().filter(|client| client.session == session.id).count();
    }
}

pub(super) fn session(row: &mut FormatRow) -> Result<Option<TmuxSession>, Error> {
    let id = row.need(SessionId::parse)?;
    let anchor = row.is_set();
    let tmux_name = name::unescape_name(&row.bytes());
    let requested = row.text();
    let windows = row.number().unwrap_or(0);
    let size = size(row);
    let name = name::display_name(&tmux_name, requested);
    let session = TmuxSession { id, name, tmux_name, windows, attached_clients: 0, size };
    Ok(Some(session).filter(|_| !anchor))
}

pub(super) fn window(row: &mut FormatRow) -> Result<Option<TmuxWindow>, Error> {
    let id = row.need(WindowId::parse)?;
    let anchor = row.is_set();
    let window = TmuxWindow {
        id,
        session: row.need(SessionId::parse)?,
        index: row.number().unwrap_or(0),
        name: name::unescape_name(&row.bytes()),
        size: size(row),
        active: row.is_set(),
        zoomed: row.is_set(),
        panes: row.number().unwrap_or(0),
        layout: row.text(),
    };
    Ok(Some(window).filter(|_| !anchor))
}

fn pane(row: &mut FormatRow) -> Result<Option<TmuxPaneInfo>, Error> {
    let id = row.need(TmuxPane::parse)?;
    let anchor = row.is_set();
    let pane = TmuxPaneInfo {
        id,
        window: row.need(WindowId::parse)?,
        session: row.need(SessionId::parse)?,
        index: row.number().unwrap_or(0),
        left: row.number().unwrap_or(0),
        top: row.number().unwrap_or(0),
        size: size(row),
        active: row.is_set(),
        zoomed: row.is_set(),
        in_mode: row.bytes() != b"0",
        history: row.number().unwrap_or(0),
        pid: row.number().filter(|pid| *pid != 0),
        life: program_state(row),
        title: row.text(),
        command: row.text(),
        cwd: OsString::from_vec(row.bytes()).into(),
    };
    Ok(Some(pane).filter(|_| !anchor))
}

fn program_state(row: &mut FormatRow) -> TmuxProgramState {
    let dead = row.is_set();
    let code = row.number();
    let signal = row.number();
    match (code, signal) {
        _ if !dead => TmuxProgramState::Alive,
        (_, Some(signal)) => TmuxProgramState::Ended(Some(TmuxExit::Signal(signal))),
        (Some(code), None) => TmuxProgramState::Ended(Some(TmuxExit::Code(code))),
        (None, None) => TmuxProgramState::Ended(None),
    }
}

pub(super) fn attached_client(row: &mut FormatRow) -> Result<Option<AttachedClient>, Error> {
    let name = row.text();
    let anchor = row.is_set();
    let attached = AttachedClient {
        client: name,
        pid: row.number().unwrap_or(0),
        session: row.need(SessionId::parse)?,
        size: size(row),
        control: row.is_set(),
        read_only: row.is_set(),
    };
    // A control client at the anchor is one of ours: another server of the same user, or one that
    // is just closing.
    Ok(Some(attached).filter(|attached| !(anchor && attached.control)))
}

fn size(row: &mut FormatRow) -> Size {
    Size { cols: row.number().unwrap_or(0), rows: row.number().unwrap_or(0) }
}
