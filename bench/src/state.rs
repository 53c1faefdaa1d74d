//! A state folder of our own, and everything that lives in it.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use paned_keeper::tape::TapeReader;
use rustix::process::Pid;

use crate::error::{Error, IoContext};
use crate::plan::Plan;
use crate::proc;

/// How long a keeper may take to end once its program has.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a tmux server may take to end.
const TMUX_TIMEOUT: Duration = Duration::from_secs(2);

/// A state folder. Dropping it ends every program, keeper and tmux in it; the plan removes it in
/// the end.
pub(crate) struct State {
    folder: PathBuf,
}

impl State {
    pub(crate) fn new(plan: &Plan) -> Result<Self, Error> {
        let folder = plan.fresh_folder();
        DirBuilder::new().mode(0o700).create(&folder).doing("make a state folder")?;
        Ok(Self { folder })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.folder
    }

    /// A file beside it.
    pub(crate) fn beside(&self, extension: &str) -> PathBuf {
        self.folder.with_extension(extension)
    }

    /// Where the server's own tmux server lives.
    pub(crate) fn tmux_dir(&self) -> PathBuf {
        self.folder.join("tmux")
    }

    /// What a pane has printed.
    pub(crate) fn tape(&self, pane: &str) -> Result<TapeReader, Error> {
        let path = self.path().join("panes").join(pane).join("tape");
        TapeReader::open(&path)
            .map_err(|error| Error::Unexpected { what: "a pane's tape", found: error.to_string() })
    }

    /// Everything a pane has printed and that is kept.
    pub(crate) fn printed(&self, pane: &str) -> Result<Vec<u8>, Error> {
        let tape = self.tape(pane)?;
        let mut bytes = vec![0; usize::try_from(tape.end() - tape.first()).unwrap_or(0)];
        match tape.read(tape.first(), &mut bytes).doing("read a tape")? {
            Ok(read) if read == bytes.len() => Ok(bytes),
            other => Err(Error::Unexpected { what: "a pane's tape", found: format!("{other:?}") }),
        }
    }

    /// The tapes of all panes.
    pub(crate) fn tapes(&self) -> Vec<TapeReader> {
        let panes = fs::read_dir(self.path().join("panes")).into_iter().flatten().flatten();
        panes.filter_map(|pane| TapeReader::open(&pane.path().join("tape")).ok()).collect()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        kill_tmux(&self.tmux_dir().join("tmux.sock"));
        let tapes = self.tapes();
        let running = tapes.iter().filter(|tape| tape.ending().is_none());
        running.filter_map(|tape| proc::pid(tape.pid()?)).for_each(proc::kill);
        let keepers = tapes.iter().filter_map(|tape| proc::pid(tape.keeper()));
        keepers.for_each(await_keeper_exit);
    }
}

/// Ends the tmux server at this socket, if there is one, and with it the clients that show panes in
/// it.
fn kill_tmux(socket: &Path) {
    if !socket.exists() {
        return;
    }
    let tmux = |args: &[&str]| {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(socket).args(args).stdin(Stdio::null()).stderr(Stdio::null());
        command.output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let server = tmux(&["display-message", "-p", "#{pid}"]).ok();
    let server = server.and_then(|pid| pid.parse().ok()).and_then(proc::pid);
    let _ = tmux(&["kill-server"]);
    // It may wait for ever for a control client whose exit it has not noticed yet.
    if let Some(server) = server.filter(|server| !proc::has_ended_within(*server, TMUX_TIMEOUT)) {
        proc::kill(server);
    }
}

/// Waits until a keeper whose program has ended is gone, and kills it if it stays.
fn await_keeper_exit(keeper: Pid) {
    if proc::is_paned(keeper) && !proc::has_ended_within(keeper, PATIENCE) {
        proc::kill(keeper);
    }
}
