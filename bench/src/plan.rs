//! What is measured, and how much of it.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, IoContext};

/// What is measured, and how much of it.
pub(crate) struct Plan {
    /// The program that is measured.
    pub(crate) paned: PathBuf,
    /// This program, which is also the child in the panes.
    pub(crate) bench: PathBuf,
    /// How many times each side is measured, in turn.
    pub(crate) rounds: usize,
    /// Whether rivals are measured, too.
    pub(crate) rivals: bool,
    quick: bool,
    scratch: TempDir,
    folders: Cell<usize>,
}

impl Plan {
    /// A plan for this paned, or for the one beside this program.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn new(paned: Option<PathBuf>, rounds: usize, quick: bool) -> Result<Self, Error> {
        let bench = std::env::current_exe().doing("find this program")?;
        let paned = paned.unwrap_or_else(|| bench.with_file_name("paned"));
        // Absolute, because servers and panes have folders of their own.
        let paned = paned.canonicalize().map_err(|_| Error::NoPaned(paned))?;
        // A short name, so that sockets in it have paths that are short enough for sockets.
        let scratch = TempDir::with_prefix("pb-").doing("make a folder")?;
        Ok(Self { paned, bench, rounds, rivals: false, quick, scratch, folders: Cell::new(0) })
    }

    /// Where everything is kept that is written while measuring. It is removed with the plan and
    /// not before: ext4 looks at each inode that was freed in the last half minute before it gives
    /// out another, so that a row that cleans up slows down the next.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The name of a folder that is not there yet.
    pub(crate) fn fresh_folder(&self) -> PathBuf {
        self.folders.set(self.folders.get() + 1);
        self.scratch().join(self.folders.get().to_string())
    }

    /// As much as this, or a part of it when it has to be quick.
    pub(crate) fn amount(&self, full: u64) -> u64 {
        if self.quick { full.div_ceil(4) } else { full }
    }

    /// The command that runs this program as a child.
    pub(crate) fn child(&self, args: &[&str]) -> Vec<String> {
        let bench = self.bench.to_string_lossy().into_owned();
        let args = args.iter().map(|arg| (*arg).to_owned());
        [bench, "child".to_owned()].into_iter().chain(args).collect()
    }

    /// The command of a child that prints this many bytes of plain lines.
    pub(crate) fn flood(&self, bytes: u64) -> Vec<String> {
        self.child(&["flood", &bytes.to_string()])
    }

    /// Measures both sides in turn, round by round.
    ///
    /// # Errors
    /// With the first that any round met.
    pub(crate) fn in_turn<A, B>(
        &self,
        mut limit: impl FnMut() -> Result<A, Error>,
        mut ours: impl FnMut() -> Result<B, Error>,
    ) -> Result<(Vec<A>, Vec<B>), Error> {
        (0..self.rounds).map(|_| Ok((limit()?, ours()?))).collect()
    }
}
