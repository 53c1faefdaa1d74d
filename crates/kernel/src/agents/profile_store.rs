//! The profiles of agents: the built-in ones, and the user's files over them. Files are read again
//! when one has changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use paned_policy::agent::{ProfileError, ProfileLibrary};
use tokio::time::Instant;

/// The shortest time between two reads of the folder.
const OFTEN: Duration = Duration::from_secs(1);
/// A larger file is not a profile.
const LARGEST: u64 = 1 << 20;

/// All profiles, and the errors in files that were left out.
pub(crate) struct ProfileStore {
    folder: Option<PathBuf>,
    state: Mutex<ProfileStoreState>,
}

struct ProfileStoreState {
    looked_at: Option<Instant>,
    stamps: Vec<FileStamp>,
    /// Loaded at the first call: compiling the patterns takes a while.
    library: Option<Arc<ProfileLibrary>>,
    mistakes: Arc<Vec<ProfileError>>,
}

/// A file, with its length and time to detect a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FileStamp {
    file: PathBuf,
    length: u64,
    changed: Option<SystemTime>,
}

/// The profiles as they are now.
pub(crate) struct ProfileSet {
    pub(crate) library: Arc<ProfileLibrary>,
    pub(crate) mistakes: Arc<Vec<ProfileError>>,
    /// Whether a file has changed since the last read.
    pub(crate) is_new: bool,
}

impl ProfileStore {
    /// The built-in profiles, with the files of this folder over them.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        let state = ProfileStoreState {
            looked_at: None,
            stamps: Vec::new(),
            library: None,
            mistakes: Arc::default(),
        };
        Self { folder, state: Mutex::new(state) }
    }

    /// The folder of the user's profiles.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The present profiles. The folder is read if the last read is not recent, or `in_any_case`.
    pub(crate) fn look(&self, now: Instant, in_any_case: bool) -> ProfileSet {
        let mut state = self.lock();
        let is_due = in_any_case || state.looked_at.is_none_or(|at| at + OFTEN <= now);
        let is_new = is_due && self.folder.as_ref().is_some_and(|folder| state.read(folder));
        if is_due {
            state.looked_at = Some(now);
        }
        let library =
            state.library.get_or_insert_with(|| Arc::new(ProfileLibrary::embedded())).clone();
        ProfileSet { library, mistakes: state.mistakes.clone(), is_new }
    }

    fn lock(&self) -> MutexGuard<'_, ProfileStoreState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProfileStoreState {
    /// Reads the files again if one has changed; returns whether one has.
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
        let (library, mut mistakes) = ProfileLibrary::with(&files);
        mistakes.extend(unread);
        for ProfileError { file, line, sentence } in &mistakes {
            tracing::warn!(file, line, sentence, "an error in a profile");
        }
        self.stamps = stamps;
        self.library = Some(Arc::new(library));
        self.mistakes = Arc::new(mistakes);
        true
    }
}

/// The profiles in a folder, sorted by path. A missing folder has none.
fn stamps(folder: &Path) -> Vec<FileStamp> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|end| end == "toml"));
    let stamp = |file: PathBuf| {
        let found = file.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(FileStamp { length: found.len(), changed: found.modified().ok(), file })
    };
    let mut stamps: Vec<FileStamp> = files.filter_map(stamp).collect();
    stamps.sort();
    stamps
}

fn text(stamp: &FileStamp) -> io::Result<String> {
    if LARGEST < stamp.length {
        return Err(io::Error::other(format!("it has {} bytes", stamp.length)));
    }
    fs::read_to_string(&stamp.file)
}

fn mistake(file: &Path, error: &io::Error) -> ProfileError {
    let file = file.to_string_lossy().into_owned();
    ProfileError { file, line: 1, sentence: format!("it cannot be read: {error}") }
}
