//! The profiles of agents: ours, and the user's files over them, read again when a file has changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use paned_policy::agent::{Library, Mistake};
use tokio::time::Instant;

/// The folder is looked at no more often than this.
const OFTEN: Duration = Duration::from_secs(1);
/// A profile is text; whatever is larger is none.
const LARGEST: u64 = 1 << 20;

/// All profiles, and what is wrong with those that are left out.
pub(crate) struct Shelf {
    folder: Option<PathBuf>,
    state: Mutex<State>,
}

struct State {
    looked_at: Option<Instant>,
    stamps: Vec<Stamp>,
    library: Arc<Library>,
    mistakes: Arc<Vec<Mistake>>,
}

/// A file, and how to tell that it has changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stamp {
    file: PathBuf,
    length: u64,
    changed: Option<SystemTime>,
}

/// The profiles as they are now.
pub(crate) struct Profiles {
    pub(crate) library: Arc<Library>,
    pub(crate) mistakes: Arc<Vec<Mistake>>,
    /// Whether they differ from those of the last look.
    pub(crate) is_new: bool,
}

impl Shelf {
    /// Ours, with the files of this folder over them.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let state = State {
            looked_at: None,
            stamps: Vec::new(),
            library: Arc::new(Library::embedded()),
            mistakes: Arc::default(),
        };
        Self { folder, state: Mutex::new(state) }
    }

    /// The folder of the user's own.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The profiles as they are now; the folder is looked at when that was not done just before.
    pub(crate) fn look(&self, now: Instant) -> Profiles {
        let mut state = self.lock();
        let is_due = state.looked_at.is_none_or(|at| at + OFTEN <= now);
        let is_new = is_due && self.folder.as_ref().is_some_and(|folder| state.read(folder));
        if is_due {
            state.looked_at = Some(now);
        }
        Profiles { library: state.library.clone(), mistakes: state.mistakes.clone(), is_new }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Reads the files again if any of them has changed; whether one has.
    fn read(&mut self, folder: &Path) -> bool {
        let stamps = stamps(folder);
        if stamps == self.stamps {
            return false;
        }
        let mut unread = Vec::new();
        let mut files = Vec::new();
        for stamp in &stamps {
            match text(stamp) {
                Ok(text) => files.push((stamp.file.to_string_lossy().into_owned(), text)),
                Err(error) => unread.push(mistake(&stamp.file, &error)),
            }
        }
        let (library, mut mistakes) = Library::with(&files);
        mistakes.extend(unread);
        for Mistake { file, line, sentence } in &mistakes {
            tracing::warn!(file, line, sentence, "a mistake in a profile");
        }
        self.stamps = stamps;
        self.library = Arc::new(library);
        self.mistakes = Arc::new(mistakes);
        true
    }
}

/// The profiles that lie in a folder, by name. One that is not there has none.
fn stamps(folder: &Path) -> Vec<Stamp> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|end| end == "toml"));
    let stamp = |file: PathBuf| {
        let found = file.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Stamp { length: found.len(), changed: found.modified().ok(), file })
    };
    let mut stamps: Vec<Stamp> = files.filter_map(stamp).collect();
    stamps.sort();
    stamps
}

fn text(stamp: &Stamp) -> io::Result<String> {
    if LARGEST < stamp.length {
        return Err(io::Error::other(format!("it has {} bytes", stamp.length)));
    }
    fs::read_to_string(&stamp.file)
}

fn mistake(file: &Path, error: &io::Error) -> Mistake {
    let file = file.to_string_lossy().into_owned();
    Mistake { file, line: 1, sentence: format!("it cannot be read: {error}") }
}
