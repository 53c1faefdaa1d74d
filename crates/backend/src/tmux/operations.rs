//! Operations on a server. Programs are started as argument vectors, never through a shell.
//! `respawn-pane` is not among them, because it crashes a tmux that has a control client.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use paned_model::Size;

use super::client::ControlClient;
use super::command::{self, TmuxCommand, TmuxTarget};
use super::error::Error;
use super::ids::{SessionId, TmuxPane, WindowId};
use super::name::SessionName;

/// A program for a new pane. Without arguments, tmux starts its shell.
#[derive(Clone, Debug, Default)]
pub struct TmuxProgram {
    /// The program and its arguments.
    pub argv: Vec<Vec<u8>>,
    /// Variables on top of tmux's own.
    pub env: Vec<(String, Vec<u8>)>,
    /// Where to start it; in the server's folder otherwise.
    pub cwd: Option<PathBuf>,
}

/// A session with its first window and pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TmuxCreateResult {
    /// The session.
    pub session: SessionId,
    /// Its window.
    pub window: WindowId,
    /// Its pane.
    pub pane: TmuxPane,
}

/// How to split a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TmuxSplit {
    /// Where the new pane goes.
    pub side: SplitSide,
    /// The size of the new pane; half by default.
    pub size: Option<SplitSize>,
    /// Whether it becomes the active pane.
    pub focus: bool,
}

/// A side of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitSide {
    /// Left of it.
    Left,
    /// Right of it.
    Right,
    /// Above it.
    Above,
    /// Below it.
    Below,
}

/// The size of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitSize {
    /// Columns or rows.
    Cells(u16),
    /// Per cent.
    Percent(u8),
}

/// How tmux arranges the panes of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayoutPreset {
    /// In one row.
    EvenHorizontal,
    /// In one column.
    EvenVertical,
    /// A large one on top.
    MainHorizontal,
    /// A large one at the left.
    MainVertical,
    /// As a grid.
    Tiled,
}

const CREATE_FORMAT: &[&str] = &["session_id", "window_id", "pane_id"];

impl ControlClient {
    /// Makes a detached session of this name and size.
    ///
    /// # Errors
    /// [`Error::SessionExists`] when the name is taken, or another that is the same to tmux.
    pub async fn new_session(
        &self,
        name: &SessionName,
        size: Size,
        program: &TmuxProgram,
    ) -> Result<TmuxCreateResult, Error> {
        let created = self.create(self.with_program(new_session(name, size), program)?).await?;
        self.run(&note_name(created.session, name)).await?;
        Ok(created)
    }

    /// Makes a window at the end of a session, which does not become the active one.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn new_window(
        &self,
        session: SessionId,
        name: &str,
        program: &TmuxProgram,
    ) -> Result<TmuxCreateResult, Error> {
        self.create(self.with_program(new_window(session, name), program)?).await
    }

    /// Splits a pane.
    ///
    /// # Errors
    /// [`Error::PaneLimit`] when it does not fit.
    pub async fn split(
        &self,
        pane: TmuxPane,
        split: TmuxSplit,
        program: &TmuxProgram,
    ) -> Result<TmuxCreateResult, Error> {
        self.create(self.with_program(split_window(pane, split), program)?).await
    }

    /// A command that makes a pane, with the program for it.
    pub(super) fn with_program(
        &self,
        mut command: TmuxCommand,
        program: &TmuxProgram,
    ) -> Result<TmuxCommand, Error> {
        for (name, value) in &program.env {
            if name.is_empty() || name.contains('=') {
                return Err(Error::InvalidCommand(format!("invalid variable name {name:?}")));
            }
            command = command.text("-e", [name.as_bytes(), b"=", value].concat());
        }
        if let Some(cwd) = &program.cwd {
            command = command.name("-c", cwd.as_os_str().as_bytes());
        }
        command = command.word("-P").word("-F").format(&self.separator.format(CREATE_FORMAT));
        Ok(command.program(&program.argv))
    }

    /// Runs commands of which the last one makes a pane.
    pub(super) async fn create(&self, command: TmuxCommand) -> Result<TmuxCreateResult, Error> {
        let nothing = || Error::Protocol("tmux created nothing".to_owned());
        let replies = self.run(&command).await?;
        let reply = replies.last().ok_or_else(nothing)?;
        let mut rows = self.separator.read(reply, CREATE_FORMAT.len())?;
        let row = rows.first_mut().ok_or_else(nothing)?;
        Ok(TmuxCreateResult {
            session: row.need(SessionId::parse)?,
            window: row.need(WindowId::parse)?,
            pane: row.need(TmuxPane::parse)?,
        })
    }

    /// Types any bytes into a pane, also while the user scrolls there.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn send(&self, pane: TmuxPane, bytes: &[u8]) -> Result<(), Error> {
        for command in command::input(pane, bytes) {
            self.run(&command).await?;
        }
        Ok(())
    }

    /// Makes a pane the active one of its window, and the window the active one of its session.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn select_pane(&self, pane: TmuxPane) -> Result<(), Error> {
        let window = TmuxCommand::new("select-window").target(pane);
        self.run_unit(&window.then(TmuxCommand::new("select-pane").target(pane))).await
    }

    /// Kills a pane and its program; with the last pane, its window and session.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn kill_pane(&self, pane: TmuxPane) -> Result<(), Error> {
        self.run_unit(&kill_pane(pane)).await
    }

    /// Kills a window and every program in it.
    ///
    /// # Errors
    /// When there is no such window.
    pub async fn kill_window(&self, window: WindowId) -> Result<(), Error> {
        self.run_unit(&TmuxCommand::new("kill-window").target(window)).await
    }

    /// Kills a session and every program in it.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn kill_session(&self, session: SessionId) -> Result<(), Error> {
        self.run_unit(&TmuxCommand::new("kill-session").target(session)).await
    }

    /// Sets the columns or rows of a pane, or both, as far as its neighbours allow.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn resize_pane(
        &self,
        pane: TmuxPane,
        cols: Option<u16>,
        rows: Option<u16>,
    ) -> Result<(), Error> {
        let mut command = TmuxCommand::new("resize-pane").target(pane);
        if let Some(cols) = cols {
            command = command.number("-x", cols);
        }
        if let Some(rows) = rows {
            command = command.number("-y", rows);
        }
        self.run_unit(&command).await
    }

    /// Sets the size of a window, whatever the sizes of attached clients.
    ///
    /// # Errors
    /// When there is no such window.
    pub async fn resize_window(&self, window: WindowId, size: Size) -> Result<(), Error> {
        let command = TmuxCommand::new("resize-window").target(window);
        self.run_unit(&command.number("-x", size.cols).number("-y", size.rows)).await
    }

    /// Arranges the panes of a window.
    ///
    /// # Errors
    /// When there is no such window.
    pub async fn arrange(&self, window: WindowId, layout: LayoutPreset) -> Result<(), Error> {
        let command = TmuxCommand::new("select-layout").target(window);
        self.run_unit(&match layout {
            LayoutPreset::EvenHorizontal => command.word("even-horizontal"),
            LayoutPreset::EvenVertical => command.word("even-vertical"),
            LayoutPreset::MainHorizontal => command.word("main-horizontal"),
            LayoutPreset::MainVertical => command.word("main-vertical"),
            LayoutPreset::Tiled => command.word("tiled"),
        })
        .await
    }

    /// Renames a session.
    ///
    /// # Errors
    /// [`Error::SessionExists`] when it is taken.
    pub async fn rename_session(
        &self,
        session: SessionId,
        name: &SessionName,
    ) -> Result<(), Error> {
        let rename = TmuxCommand::new("rename-session").target(session).argument(name.in_tmux());
        self.run_unit(&rename.then(note_name(session, name))).await
    }

    /// Renames a window; the name is cleaned by [`command::clean`].
    ///
    /// # Errors
    /// When there is no such window.
    pub async fn rename_window(&self, window: WindowId, name: &str) -> Result<(), Error> {
        let command = TmuxCommand::new("rename-window").target(window);
        self.run_unit(&command.named(command::clean(name.as_bytes()))).await
    }

    /// Sets the title of a pane, cleaned by [`command::clean`]. Its program can change it again.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn set_title(&self, pane: TmuxPane, title: &str) -> Result<(), Error> {
        self.run_unit(&title_pane(pane, title)).await
    }

    /// Sets a user option, whose name begins with `@`, on a session, a window or a pane.
    ///
    /// # Errors
    /// When the target does not exist.
    pub async fn set_option(
        &self,
        on: impl Into<TmuxTarget>,
        key: &'static str,
        value: &str,
    ) -> Result<(), Error> {
        self.run_unit(&option(on.into(), key, value)).await
    }

    async fn run_unit(&self, command: &TmuxCommand) -> Result<(), Error> {
        self.run(command).await.map(drop)
    }
}

pub(super) fn new_session(name: &SessionName, size: Size) -> TmuxCommand {
    let command = TmuxCommand::new("new-session").word("-d").text("-s", name.in_tmux());
    command.number("-x", size.cols).number("-y", size.rows)
}

pub(super) fn new_window(session: SessionId, name: &str) -> TmuxCommand {
    let command = TmuxCommand::new("new-window").word("-d").target(session);
    command.name("-n", command::clean(name.as_bytes()))
}

/// Keeps the name of a session as it was requested.
pub(super) fn note_name(session: SessionId, name: &SessionName) -> TmuxCommand {
    option(session.into(), "@paned_name", name.as_str())
}

pub(super) fn split_window(pane: TmuxPane, split: TmuxSplit) -> TmuxCommand {
    let mut command = TmuxCommand::new("split-window").target(pane);
    command = match split.side {
        SplitSide::Left => command.word("-h").word("-b"),
        SplitSide::Right => command.word("-h"),
        SplitSide::Above => command.word("-v").word("-b"),
        SplitSide::Below => command.word("-v"),
    };
    command = match split.size {
        Some(SplitSize::Cells(cells)) => command.number("-l", cells),
        Some(SplitSize::Percent(percent)) => command.text("-l", format!("{percent}%")),
        None => command,
    };
    if split.focus { command } else { command.word("-d") }
}

pub(super) fn title_pane(pane: TmuxPane, title: &str) -> TmuxCommand {
    let command = TmuxCommand::new("select-pane").target(pane);
    command.name("-T", command::clean(title.as_bytes()))
}

pub(super) fn kill_pane(pane: TmuxPane) -> TmuxCommand {
    TmuxCommand::new("kill-pane").target(pane)
}

pub(super) fn option(on: TmuxTarget, key: &'static str, value: &str) -> TmuxCommand {
    let command = TmuxCommand::new("set-option").target(on);
    let command = match on {
        TmuxTarget::Session(_) => command,
        TmuxTarget::Window(_) => command.word("-w"),
        TmuxTarget::Pane(_) => command.word("-p"),
    };
    command.argument(key).argument(value)
}
