//! A state folder of our own, and everything that lives in it.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paned_keeper::tape::Reader;
use rustix::process::Pid;

use crate::error::{Doing, Error};
use crate::plan::Plan;
use crate::proc;

/// How long a keeper may take to end once its program has.
const PATIENCE: Duration = Duration::from_secs(10);

/// A state folder. Dropping it ends every program and keeper in it; the plan removes it in the end.
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

    /// What a pane has printed.
    pub(crate) fn tape(&self, pane: &str) -> Result<Reader, Error> {
        let path = self.path().join("panes").join(pane).join("tape");
        Reader::open(&path)
            .map_err(|error| Error::Odd { what: "a pane's tape", found: error.to_string() })
    }

    /// Everything a pane has printed and that is kept.
    pub(crate) fn printed(&self, pane: &str) -> Result<Vec<u8>, Error> {
        let tape = self.tape(pane)?;
        let mut bytes = vec![0; usize::try_from(tape.end() - tape.first()).unwrap_or(0)];
        match tape.read(tape.first(), &mut bytes).doing("read a tape")? {
            Ok(read) if read == bytes.len() => Ok(bytes),
            other => Err(Error::Odd { what: "a pane's tape", found: format!("{other:?}") }),
        }
    }

    /// The tapes of all panes.
    pub(crate) fn tapes(&self) -> Vec<Reader> {
        let panes = fs::read_dir(self.path().join("panes")).into_iter().flatten().flatten();
        panes.filter_map(|pane| Reader::open(&pane.path().join("tape")).ok()).collect()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let tapes = self.tapes();
        let running = tapes.iter().filter(|tape| tape.ending().is_none());
        running.filter_map(|tape| proc::pid(tape.pid()?)).for_each(proc::kill);
        let keepers = tapes.iter().filter_map(|tape| proc::pid(tape.keeper()));
        keepers.for_each(bury);
    }
}

/// Waits until a keeper whose program has ended is gone, and makes it go when it stays.
fn bury(keeper: Pid) {
    if proc::is_paned(keeper) && !proc::has_ended_within(keeper, PATIENCE) {
        proc::kill(keeper);
    }
}
