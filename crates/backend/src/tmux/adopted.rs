//! Operations on an adopted pane of a foreign server, and on no other pane.
//!
//! A restarted server assigns the same ids again. So every input, pipe or kill is sent behind a
//! guard in the same line: unless server, pane and process are still those that were adopted, tmux
//! does none of it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paned_model::Size;
use tokio::time::sleep;

use super::capture::{CaptureStyle, capture};
use super::client::ControlClient;
use super::command::{self, TmuxCommand};
use super::decode::TmuxReply;
use super::error::Error;
use super::ids::TmuxPane;
use super::query::TmuxExit;
use super::redraw::{self, TmuxScreenState};
use super::rows::FormatRow;

/// The command that tmux runs when the guard fails. It does not exist, and its error ends the line.
const GUARD_FAILED: &str = "paned-not-that-pane";
/// How many lines of scrollback are taken over.
const HISTORY: usize = 20_000;
/// How long taking that over may take.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(10);
/// How often the status of a program that has ended is queried, and the pause between.
const MAX_POLLS: usize = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Identifies a pane across restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TmuxPaneIdentity {
    /// The server's process.
    pub server: u32,
    /// The pane.
    pub pane: TmuxPane,
    /// The pane's process.
    pub pid: u32,
}

/// The current state of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPaneSnapshot {
    /// Identifies it. `None` for a pane without a program.
    pub identity: Option<TmuxPaneIdentity>,
    /// How large it is.
    pub size: Size,
    /// `Some` when its program has ended, with its exit status where tmux knows it.
    pub ended: Option<Option<TmuxExit>>,
    /// Whether its output goes to another command.
    pub piped: bool,
    /// The pane of ours that it shows.
    pub shows: Option<String>,
    /// Its foreground program.
    pub command: String,
    /// The command it was started with, where one was given.
    pub started: String,
    /// The working directory of its program.
    pub cwd: PathBuf,
}

const SNAPSHOT_FORMAT: &[&str] = &[
    "pid",
    "pane_pid",
    "pane_width",
    "pane_height",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pane_pipe",
    "@paned_pane",
    "pane_current_command",
    "pane_start_command",
    "pane_current_path",
];

impl ControlClient {
    /// The current state of a pane, if it exists.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn snapshot_pane(&self, pane: TmuxPane) -> Result<Option<TmuxPaneSnapshot>, Error> {
        let replies = match self.run(&list_one(pane, &self.separator.format(SNAPSHOT_FORMAT))).await
        {
            Err(Error::SessionNotFound(_)) => return Ok(None),
            other => other?,
        };
        let mut rows = self.separator.read(&replies[0], SNAPSHOT_FORMAT.len())?;
        Ok(rows.first_mut().map(|row| parse_snapshot(pane, row)))
    }

    /// Pipes the output of a pane to a command of ours from now on; returns its size and what it
    /// had printed until then, as bytes that draw the same. No output is lost or doubled between
    /// the two.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`] when it is not that pane any more, has ended, or has a pipe; then
    /// nothing is changed.
    pub async fn open_pipe(
        &self,
        identity: &TmuxPaneIdentity,
        argv: &[&str],
    ) -> Result<(Vec<u8>, Size), Error> {
        let pipe =
            TmuxCommand::new("pipe-pane").word("-O").target(identity.pane).named(shell(argv));
        let state = list_one(identity.pane, &self.separator.format(redraw::COLUMNS));
        let command = capture(identity.pane, HISTORY, CaptureStyle::Coloured);
        let command = command.then(guard(identity, "/#{pane_pipe}", "/0")).then(pipe).then(state);
        let replies = self.run_within(&command, CAPTURE_TIMEOUT).await.map_err(map_guard_error)?;
        let [_, lines, _, _, state] = &replies[..] else {
            return Err(Error::Protocol("the reply is missing".to_owned()));
        };
        let state = self.parse_screen_state(state)?;
        let covered =
            if state.alternate { self.covered_screen(identity.pane).await } else { Vec::new() };
        Ok((redraw::draw(&lines.lines, &covered, &state), state.size))
    }

    fn parse_screen_state(&self, reply: &TmuxReply) -> Result<TmuxScreenState, Error> {
        let mut rows = self.separator.read(reply, redraw::COLUMNS.len())?;
        let row = rows
            .first_mut()
            .ok_or_else(|| Error::Protocol("the pane no longer exists".to_owned()))?;
        Ok(TmuxScreenState::read(row))
    }

    /// The normal screen below the alternate screen. It does not change while it is covered.
    async fn covered_screen(&self, pane: TmuxPane) -> Vec<Vec<u8>> {
        let count = list_one(pane, "0 #{pane_height}");
        let capture =
            TmuxCommand::new("capture-pane").word("-a").word("-p").word("-e").target(pane);
        let replies = self.run(&count.then(capture).counted()).await;
        replies.ok().and_then(|mut replies| replies.pop()).map_or_else(Vec::new, |last| last.lines)
    }

    /// Closes our pipe. Call it only while the other end is known to be ours.
    ///
    /// # Errors
    /// When it is not that pane any more.
    pub async fn close_pipe(&self, identity: &TmuxPaneIdentity) -> Result<(), Error> {
        let close = TmuxCommand::new("pipe-pane").target(identity.pane);
        self.run(&guard(identity, "", "").then(close)).await.map(drop).map_err(map_guard_error)
    }

    /// Types any bytes, also while the user scrolls there: as one write, so that no other input
    /// comes between. What does not fit into a command goes through a file in `folder`, which only
    /// its owner may enter.
    ///
    /// # Errors
    /// When it is not that pane any more; then nothing was typed.
    pub async fn type_into(
        &self,
        identity: &TmuxPaneIdentity,
        bytes: &[u8],
        folder: &Path,
    ) -> Result<(), Error> {
        let commands = command::input(identity.pane, bytes);
        if let ([command], false) = (&commands[..], bytes.contains(&0)) {
            let command = guard(identity, "", "").then(command.clone());
            return self.run(&command).await.map(drop).map_err(map_guard_error);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let file = folder.join("typed");
        let written = write_private(&file, bytes);
        let typed = match written {
            Ok(()) => self.type_file(identity, &file).await,
            Err(error) => Err(Error::Refused(format!("{}: {error}", file.display()))),
        };
        let _ = fs::remove_file(&file);
        typed
    }

    async fn type_file(&self, identity: &TmuxPaneIdentity, file: &Path) -> Result<(), Error> {
        let load = TmuxCommand::new("load-buffer").text("-b", command::BUFFER);
        let load = load.named(file.as_os_str().as_bytes());
        let paste =
            TmuxCommand::new("paste-buffer").word("-d").word("-r").text("-b", command::BUFFER);
        // Guarded again after loading, because tmux does not load and paste in one step.
        let load = guard(identity, "", "").then(load).then(guard(identity, "", ""));
        let typed = self
            .run(&load.then(paste.target(identity.pane)))
            .await
            .map(drop)
            .map_err(map_guard_error);
        if typed.is_err() {
            let delete = TmuxCommand::new("delete-buffer").text("-b", command::BUFFER);
            let _ = self.run(&delete).await;
        }
        typed
    }

    /// Kills a pane and its program.
    ///
    /// # Errors
    /// When it is not that pane any more.
    pub async fn kill_guarded(&self, identity: &TmuxPaneIdentity) -> Result<(), Error> {
        let kill = TmuxCommand::new("kill-pane").target(identity.pane);
        self.run(&guard(identity, "", "").then(kill)).await.map(drop).map_err(map_guard_error)
    }

    /// Subscribes to a pane's size, wherever the pane is. Outside the session of our client, a
    /// change is reported within a second.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn watch_size(&self, pane: TmuxPane) -> Result<(), Error> {
        let number = pane.0;
        let what = format!("paned-{number}:{pane}:#{{pane_width}}x#{{pane_height}}");
        self.run(&TmuxCommand::new("refresh-client").text("-B", what)).await.map(drop)
    }

    /// Ends that subscription.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn unwatch_size(&self, pane: TmuxPane) -> Result<(), Error> {
        let what = format!("paned-{}", pane.0);
        self.run(&TmuxCommand::new("refresh-client").text("-B", what)).await.map(drop)
    }

    /// The exit status of a pane's program, once it has ended: known where tmux keeps the pane.
    ///
    /// A tmux before 3.5 may miss the `SIGCHLD`; it is sent again until tmux notices.
    pub async fn exit_status(&self, identity: &TmuxPaneIdentity) -> Option<TmuxExit> {
        for _ in 0..MAX_POLLS {
            let now = self.snapshot_pane(identity.pane).await.ok()??;
            match now.ended {
                _ if now.identity != Some(*identity) => return None,
                Some(Some(ended)) => return Some(ended),
                Some(None) | None => self.send_sigchld(),
            }
            sleep(POLL_INTERVAL).await;
        }
        None
    }
}

/// Continues only if the pane is the one that was adopted, is alive, and `more` is `expect`.
fn guard(identity: &TmuxPaneIdentity, more: &str, expect: &str) -> TmuxCommand {
    let TmuxPaneIdentity { server, pane, pid } = identity;
    let format = format!("#{{pid}}/#{{pane_id}}/#{{pane_pid}}/#{{pane_dead}}{more}");
    let condition = format!("#{{==:{format},{server}/{pane}/{pid}/0{expect}}}");
    TmuxCommand::new("if-shell")
        .word("-F")
        .target(*pane)
        .argument(condition)
        .argument("")
        .argument(GUARD_FAILED)
}

/// Writes a file that only its owner can read.
fn write_private(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let _ = fs::remove_file(file);
    let mut open = fs::OpenOptions::new();
    open.write(true).create_new(true).mode(0o600).open(file)?.write_all(bytes)
}

/// Lists one pane, or none.
fn list_one(pane: TmuxPane, format: &str) -> TmuxCommand {
    let list = TmuxCommand::new("list-panes").target(pane);
    list.word("-f").format(&format!("#{{==:#{{pane_id}},{pane}}}")).word("-F").format(format)
}

/// Maps the guard's own error to what it means.
fn map_guard_error(error: Error) -> Error {
    match error {
        Error::InvalidCommand(text) if text.contains(GUARD_FAILED) => {
            Error::SessionNotFound("the tmux pane is not the one that was adopted".to_owned())
        }
        other => other,
    }
}

/// A line for the shell that tmux starts. tmux expands it with strftime first.
fn shell(argv: &[&str]) -> String {
    let quoted = argv.iter().map(|word| format!(" '{}'", word.replace('\'', r"'\''")));
    format!("exec{}", quoted.collect::<String>()).replace('%', "%%")
}

fn parse_snapshot(pane: TmuxPane, row: &mut FormatRow) -> TmuxPaneSnapshot {
    let server = row.number();
    let pid = row.number();
    let cols = row.number().unwrap_or(0);
    let rows = row.number().unwrap_or(0);
    let is_dead = row.is_set();
    let code = row.number();
    let signal = row.number();
    let exit = signal.map(TmuxExit::Signal).or(code.map(TmuxExit::Code));
    TmuxPaneSnapshot {
        identity: server.zip(pid).map(|(server, pid)| TmuxPaneIdentity { server, pane, pid }),
        size: Size { cols, rows },
        ended: is_dead.then_some(exit),
        piped: row.is_set(),
        shows: Some(row.text()).filter(|shows| !shows.is_empty()),
        command: row.text(),
        started: row.text(),
        cwd: OsString::from_vec(row.bytes()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_each_word_as_it_is() {
        assert_eq!(shell(&["/a b/paned", "it's", "%d"]), r"exec '/a b/paned' 'it'\''s' '%%d'");
    }

    #[test]
    fn the_guard_names_server_pane_and_process() {
        let identity = TmuxPaneIdentity { server: 7, pane: TmuxPane(3), pid: 9 };
        let line = guard(&identity, "", "").encode().unwrap();
        let line = String::from_utf8(super::super::notice::unescape(line.as_bytes())).unwrap();
        assert!(line.contains("7/%3/9/0}"), "{line}");
        assert!(line.starts_with("if-shell -F -t %3 -- "), "{line}");
    }
}
