//! What is done to a pane of somebody's that was adopted, and to no other.
//!
//! A server gives its ids anew when it is started anew. So whatever is typed, piped or ended goes out behind a guard in
//! the same line: unless server, pane and process are still those that were adopted, tmux does none of it.

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

/// What tmux is told to do when the guard fails. There is no such command, which ends the line.
const GUARD_FAILED: &str = "paned-not-that-pane";
/// So much of what has scrolled off is taken over.
const HISTORY: usize = 20_000;
/// So long may taking that over take.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a program that has ended is asked after, and how long between.
const MAX_POLLS: usize = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// By what a pane is known again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TmuxPaneIdentity {
    /// The server's process.
    pub server: u32,
    /// The pane.
    pub pane: TmuxPane,
    /// The pane's process.
    pub pid: u32,
}

/// A pane as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxPaneSnapshot {
    /// By what to know it again. A pane without a program has none.
    pub identity: Option<TmuxPaneIdentity>,
    /// How large it is.
    pub size: Size,
    /// Whether its program has ended, and how, where tmux knows.
    pub ended: Option<Option<TmuxExit>>,
    /// Whether its output goes to somebody's command.
    pub piped: bool,
    /// The pane of ours that it shows.
    pub shows: Option<String>,
    /// The program in front.
    pub command: String,
    /// What it was started with, where that was said.
    pub started: String,
    /// Where its program is.
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
    /// A pane as it is now, if there is one of this id.
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

    /// Gives what a pane prints to a command of ours from now on; answers what it had printed until then, as bytes that
    /// draw the same. Nothing is between the two, and nothing is in both.
    ///
    /// # Errors
    /// [`Error::SessionNotFound`] when it is not that pane any more, has ended, or has a pipe; then it is left alone.
    pub async fn open_pipe(
        &self,
        who: &TmuxPaneIdentity,
        argv: &[&str],
    ) -> Result<(Vec<u8>, Size), Error> {
        let pipe = TmuxCommand::new("pipe-pane").word("-O").target(who.pane).named(shell(argv));
        let moment = list_one(who.pane, &self.separator.format(redraw::COLUMNS));
        let take = capture(who.pane, HISTORY, CaptureStyle::Coloured);
        let take = take.then(guard(who, "/#{pane_pipe}", "/0")).then(pipe).then(moment);
        let replies = self.run_within(&take, CAPTURE_TIMEOUT).await.map_err(map_guard_error)?;
        let [_, lines, _, _, moment] = &replies[..] else {
            return Err(Error::Protocol("an answer is missing".to_owned()));
        };
        let moment = self.parse_screen_state(moment)?;
        let below = if moment.alternate { self.covered_screen(who.pane).await } else { Vec::new() };
        Ok((redraw::draw(&lines.lines, &below, &moment), moment.size))
    }

    fn parse_screen_state(&self, reply: &TmuxReply) -> Result<TmuxScreenState, Error> {
        let mut rows = self.separator.read(reply, redraw::COLUMNS.len())?;
        let row = rows.first_mut().ok_or_else(|| Error::Protocol("the pane is gone".to_owned()))?;
        Ok(TmuxScreenState::read(row))
    }

    /// What the program's screen lies over. It does not change while it is not seen.
    async fn covered_screen(&self, pane: TmuxPane) -> Vec<Vec<u8>> {
        let count = list_one(pane, "0 #{pane_height}");
        let capture =
            TmuxCommand::new("capture-pane").word("-a").word("-p").word("-e").target(pane);
        let replies = self.run(&count.then(capture).counted()).await;
        replies.ok().and_then(|mut replies| replies.pop()).map_or_else(Vec::new, |last| last.lines)
    }

    /// Ends our pipe. Only while the other end of it is known to be ours.
    ///
    /// # Errors
    /// When it is not that pane any more.
    pub async fn close_pipe(&self, who: &TmuxPaneIdentity) -> Result<(), Error> {
        let close = TmuxCommand::new("pipe-pane").target(who.pane);
        self.run(&guard(who, "", "").then(close)).await.map(drop).map_err(map_guard_error)
    }

    /// Types bytes, whatever they are, also while somebody scrolls there: in one piece, so that nothing comes between.
    /// What does not fit into a command goes by way of a file in this folder, which only its owner may enter.
    ///
    /// # Errors
    /// When it is not that pane any more; then nothing was typed.
    pub async fn type_into(
        &self,
        who: &TmuxPaneIdentity,
        bytes: &[u8],
        by: &Path,
    ) -> Result<(), Error> {
        let pieces = command::input(who.pane, bytes);
        if let ([piece], false) = (&pieces[..], bytes.contains(&0)) {
            let piece = guard(who, "", "").then(piece.clone());
            return self.run(&piece).await.map(drop).map_err(map_guard_error);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let file = by.join("typed");
        let written = write_private(&file, bytes);
        let typed = match written {
            Ok(()) => self.type_file(who, &file).await,
            Err(error) => Err(Error::Refused(format!("{}: {error}", file.display()))),
        };
        let _ = fs::remove_file(&file);
        typed
    }

    async fn type_file(&self, who: &TmuxPaneIdentity, file: &Path) -> Result<(), Error> {
        let load = TmuxCommand::new("load-buffer").text("-b", command::BUFFER);
        let load = load.named(file.as_os_str().as_bytes());
        let paste =
            TmuxCommand::new("paste-buffer").word("-d").word("-r").text("-b", command::BUFFER);
        // Again after it was loaded, which tmux does not do in the same breath.
        let load = guard(who, "", "").then(load).then(guard(who, "", ""));
        let typed =
            self.run(&load.then(paste.target(who.pane))).await.map(drop).map_err(map_guard_error);
        if typed.is_err() {
            let delete = TmuxCommand::new("delete-buffer").text("-b", command::BUFFER);
            let _ = self.run(&delete).await;
        }
        typed
    }

    /// Ends a pane and its program.
    ///
    /// # Errors
    /// When it is not that pane any more.
    pub async fn kill_guarded(&self, who: &TmuxPaneIdentity) -> Result<(), Error> {
        let kill = TmuxCommand::new("kill-pane").target(who.pane);
        self.run(&guard(who, "", "").then(kill)).await.map(drop).map_err(map_guard_error)
    }

    /// Has every change of a pane's size told as a notice, wherever it is; within a second where it is not in the
    /// session that our client looks at.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn watch_size(&self, pane: TmuxPane) -> Result<(), Error> {
        let number = pane.0;
        let what = format!("paned-{number}:{pane}:#{{pane_width}}x#{{pane_height}}");
        self.run(&TmuxCommand::new("refresh-client").text("-B", what)).await.map(drop)
    }

    /// And no more.
    ///
    /// # Errors
    /// When tmux cannot be asked.
    pub async fn unwatch_size(&self, pane: TmuxPane) -> Result<(), Error> {
        let what = format!("paned-{}", pane.0);
        self.run(&TmuxCommand::new("refresh-client").text("-B", what)).await.map(drop)
    }

    /// How the program of a pane ended, once it has: known where tmux keeps the pane.
    ///
    /// A tmux before 3.5 may not have noticed (it misses the signal); it is nudged until it does.
    pub async fn exit_status(&self, who: &TmuxPaneIdentity) -> Option<TmuxExit> {
        for _ in 0..MAX_POLLS {
            let now = self.snapshot_pane(who.pane).await.ok()??;
            match now.ended {
                _ if now.identity != Some(*who) => return None,
                Some(Some(ended)) => return Some(ended),
                Some(None) | None => self.send_sigchld(),
            }
            sleep(POLL_INTERVAL).await;
        }
        None
    }
}

/// Goes on only if the pane is the one that was adopted, lives, and `more` is `expect`.
fn guard(who: &TmuxPaneIdentity, more: &str, expect: &str) -> TmuxCommand {
    let TmuxPaneIdentity { server, pane, pid } = who;
    let asks = format!("#{{pid}}/#{{pane_id}}/#{{pane_pid}}/#{{pane_dead}}{more}");
    let holds = format!("#{{==:{asks},{server}/{pane}/{pid}/0{expect}}}");
    TmuxCommand::new("if-shell")
        .word("-F")
        .target(*pane)
        .argument(holds)
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

/// The guard's own error, said as what it means.
fn map_guard_error(error: Error) -> Error {
    match error {
        Error::InvalidCommand(text) if text.contains(GUARD_FAILED) => {
            Error::SessionNotFound("the tmux pane is not the one that was adopted".to_owned())
        }
        other => other,
    }
}

/// A line for the shell that tmux starts, which tmux expands as a time first.
fn shell(argv: &[&str]) -> String {
    let quoted = argv.iter().map(|word| format!(" '{}'", word.replace('\'', r"'\''")));
    format!("exec{}", quoted.collect::<String>()).replace('%', "%%")
}

fn parse_snapshot(pane: TmuxPane, row: &mut FormatRow) -> TmuxPaneSnapshot {
    let (server, pid) = (row.number(), row.number());
    let (cols, rows) = (row.number().unwrap_or(0), row.number().unwrap_or(0));
    let (dead, code, signal) = (row.is_set(), row.number(), row.number());
    let how = signal.map(TmuxExit::Signal).or(code.map(TmuxExit::Code));
    TmuxPaneSnapshot {
        identity: server.zip(pid).map(|(server, pid)| TmuxPaneIdentity { server, pane, pid }),
        size: Size { cols, rows },
        ended: dead.then_some(how),
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
        let who = TmuxPaneIdentity { server: 7, pane: TmuxPane(3), pid: 9 };
        let line = guard(&who, "", "").encode().unwrap();
        let line = String::from_utf8(super::super::notice::unescape(line.as_bytes())).unwrap();
        assert!(line.contains("7/%3/9/0}"), "{line}");
        assert!(line.starts_with("if-shell -F -t %3 -- "), "{line}");
    }
}
