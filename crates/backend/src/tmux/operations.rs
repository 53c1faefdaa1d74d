//! What can be done on a server. Programs are started as argument vectors, never through a shell; `respawn-pane` is
//! not among these, because it crashes a tmux that has a control client.

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use paned_model::Size;

use super::client::ControlClient;
use super::command::{self, TmuxCommand, TmuxTarget};
use super::error::Error;
use super::ids::{SessionId, TmuxPane, WindowId};
use super::name::SessionName;

/// A program for a new pane. Without arguments it is the shell that tmux starts.
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
    /// How large it becomes; half of it otherwise.
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

/// A part of a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitSize {
    /// Columns or rows.
    Cells(u16),
    /// A part of a hundred.
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
    /// Makes a session of this name and size that nobody is attached to.
    ///
    /// # Errors
    /// [`Error::SessionExists`] when the name is taken, or one that tmux cannot tell from it.
    pub async fn new_session(
        &self,
        name: &SessionName,
        size: Size,
        program: &TmuxProgram,
    ) -> Result<TmuxCreateResult, Error> {
        let command = TmuxCommand::new("new-session").word("-d").text("-s", name.in_tmux());
        let command = command.number("-x", size.cols).number("-y", size.rows);
        let made = self.make(command, program).await?;
        let keep = TmuxCommand::new("set-option").target(made.session).argument("@paned_name");
        self.run(&keep.argument(name.as_str())).await?;
        Ok(made)
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
        let command = TmuxCommand::new("new-window").word("-d").target(session);
        self.make(command.name("-n", command::clean(name.as_bytes())), program).await
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
        if !split.focus {
            command = command.word("-d");
        }
        self.make(command, program).await
    }

    async fn make(
        &self,
        mut command: TmuxCommand,
        program: &TmuxProgram,
    ) -> Result<TmuxCreateResult, Error> {
        for (name, value) in &program.env {
            if name.is_empty() || name.contains('=') {
                return Err(Error::InvalidCommand(format!("no variable is called {name:?}")));
            }
            command = command.text("-e", [name.as_bytes(), b"=", value].concat());
        }
        if let Some(cwd) = &program.cwd {
            command = command.name("-c", cwd.as_os_str().as_bytes());
        }
        command = command.word("-P").word("-F").format(&self.separator.format(CREATE_FORMAT));
        let replies = self.run(&command.program(&program.argv)).await?;
        let mut rows = self.separator.read(&replies[0], CREATE_FORMAT.len())?;
        let row = rows.first_mut().ok_or_else(|| Error::Protocol("nothing was made".to_owned()))?;
        Ok(TmuxCreateResult {
            session: row.need(SessionId::parse)?,
            window: row.need(WindowId::parse)?,
            pane: row.need(TmuxPane::parse)?,
        })
    }

    /// Types bytes into a pane, whatever they are, also while somebody scrolls there.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn send(&self, pane: TmuxPane, bytes: &[u8]) -> Result<(), Error> {
        for command in command::input(pane, bytes) {
            self.run(&command).await?;
        }
        Ok(())
    }

    /// Makes a pane the active one of its window, and that the active one of its session.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn select_pane(&self, pane: TmuxPane) -> Result<(), Error> {
        let window = TmuxCommand::new("select-window").target(pane);
        self.run_unit(&window.then(TmuxCommand::new("select-pane").target(pane))).await
    }

    /// Ends a pane and its program; with the last, its window and session.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn kill_pane(&self, pane: TmuxPane) -> Result<(), Error> {
        self.run_unit(&TmuxCommand::new("kill-pane").target(pane)).await
    }

    /// Ends a window and every program in it.
    ///
    /// # Errors
    /// When there is no such window.
    pub async fn kill_window(&self, window: WindowId) -> Result<(), Error> {
        self.run_unit(&TmuxCommand::new("kill-window").target(window)).await
    }

    /// Ends a session and every program in it.
    ///
    /// # Errors
    /// When there is no such session.
    pub async fn kill_session(&self, session: SessionId) -> Result<(), Error> {
        self.run_unit(&TmuxCommand::new("kill-session").target(session)).await
    }

    /// Gives a pane so many columns, or rows, or both, as far as its neighbours allow.
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

    /// Gives a window a size, whoever looks at it.
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

    /// Gives a session another name.
    ///
    /// # Errors
    /// [`Error::SessionExists`] when it is taken.
    pub async fn rename_session(
        &self,
        session: SessionId,
        name: &SessionName,
    ) -> Result<(), Error> {
        let rename = TmuxCommand::new("rename-session").target(session).argument(name.in_tmux());
        let keep = TmuxCommand::new("set-option").target(session).argument("@paned_name");
        self.run_unit(&rename.then(keep.argument(name.as_str()))).await
    }

    /// Gives a window another name, cleaned as [`command::clean`] says.
    ///
    /// # Errors
    /// When there is no such window.
    pub async fn rename_window(&self, window: WindowId, name: &str) -> Result<(), Error> {
        let command = TmuxCommand::new("rename-window").target(window);
        self.run_unit(&command.named(command::clean(name.as_bytes()))).await
    }

    /// Gives a pane a title, cleaned as [`command::clean`] says. Its program can change it again.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn set_title(&self, pane: TmuxPane, title: &str) -> Result<(), Error> {
        let command = TmuxCommand::new("select-pane").target(pane);
        self.run_unit(&command.name("-T", command::clean(title.as_bytes()))).await
    }

    /// Notes something on a session, a window or a pane: a user option, whose name begins with `@`.
    ///
    /// # Errors
    /// When there is no such thing.
    pub async fn set_option(
        &self,
        on: impl Into<TmuxTarget>,
        key: &'static str,
        value: &str,
    ) -> Result<(), Error> {
        let on = on.into();
        let command = TmuxCommand::new("set-option").target(on);
        let command = match on {
            TmuxTarget::Session(_) => command,
            TmuxTarget::Window(_) => command.word("-w"),
            TmuxTarget::Pane(_) => command.word("-p"),
        };
        self.run_unit(&command.argument(key).argument(value)).await
    }

    async fn run_unit(&self, command: &TmuxCommand) -> Result<(), Error> {
        self.run(command).await.map(drop)
    }
}
