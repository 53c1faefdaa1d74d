//! The profiles of agents: where they come from, and which one is used.
//!
//! There are the built-in profiles, and the user's files over them, which are read again when one
//! has changed. A wrapper around a known program is recognised by its processes or by its screen.
//! If a profile no longer matches the screen of its program, the generic rules are used until it
//! matches again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use paned_backend::processes::Processes;
use paned_model::AgentState;
use paned_policy::agent::{
    Composer, Engine, Profile, ProfileError, ProfileLibrary, ScreenSnapshot,
};
use tokio::time::Instant;

use super::GENERIC;

/// The shortest time between two reads of the folder.
const RELOAD_EVERY: Duration = Duration::from_secs(1);
/// A larger file is not a profile.
const LARGEST_FILE: u64 = 1 << 20;

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
        let is_due = in_any_case || state.looked_at.is_none_or(|at| at + RELOAD_EVERY <= now);
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
    if LARGEST_FILE < stamp.length {
        return Err(io::Error::other(format!("the file has {} bytes", stamp.length)));
    }
    fs::read_to_string(&stamp.file)
}

fn mistake(file: &Path, error: &io::Error) -> ProfileError {
    let file = file.to_string_lossy().into_owned();
    ProfileError { file, line: 1, sentence: format!("cannot read the file: {error}") }
}

/// How long a profile may find no composer before the generic one takes over.
const UNRECOGNISED_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a known program is searched for inside a wrapper.
const WRAPPER_TIMEOUT: Duration = Duration::from_secs(60);
/// The shortest time between two such searches.
const SEARCH_EVERY: Duration = Duration::from_secs(1);

/// A confidence below this may be due to a version that the profile does not know.
const WEAK: f32 = 0.65;

/// What is known about the program of an agent.
pub(super) struct Recognition {
    pub(super) processes: Processes,
    started: Instant,
    looked: Option<Instant>,
    /// When the profile last matched the screen.
    understood: Instant,
    /// The profile that was replaced because it did not match.
    replaced: Option<Arc<Profile>>,
    /// The version that the screen of the program shows.
    version: Option<String>,
}

impl Recognition {
    pub(super) fn new(pid: Option<u32>) -> Self {
        let now = Instant::now();
        Self {
            processes: Processes::new(pid),
            started: now,
            looked: None,
            understood: now,
            replaced: None,
            version: None,
        }
    }

    /// The profile was changed: the new one gets the full time to match the screen.
    pub(super) fn reset(&mut self) {
        self.understood = Instant::now();
        self.replaced = None;
    }

    /// When to check again if there is no output before.
    pub(super) fn deadline(&self, engine: &Engine) -> Option<Instant> {
        is_unrecognised(engine).then(|| self.understood + UNRECOGNISED_TIMEOUT)
    }

    /// A profile that fits better than the present one.
    pub(super) async fn step(
        &mut self,
        engine: &Engine,
        library: impl FnOnce() -> Arc<ProfileLibrary>,
    ) -> Option<Arc<Profile>> {
        let now = Instant::now();
        let look = engine.screen();
        if self.version.is_none() && now < self.started + WRAPPER_TIMEOUT {
            self.version = look.and_then(|look| engine.profile().version_on(look));
        }
        if engine.profile().is_generic() {
            return self.known_profile(now, look, library).await;
        }
        if !is_unrecognised(engine) {
            self.understood = now;
            self.replaced = None;
            return None;
        }
        if now < self.understood + UNRECOGNISED_TIMEOUT {
            return None;
        }
        self.understood = now;
        let generic = library().get(GENERIC).cloned()?;
        self.replaced = Some(engine.profile().clone());
        Some(Arc::new(engine.profile().with_generic_screen(&generic)))
    }

    /// The profile of a known program: the replaced one if it matches the screen again, or that of
    /// a program inside a wrapper.
    async fn known_profile(
        &mut self,
        now: Instant,
        look: Option<&ScreenSnapshot>,
        library: impl FnOnce() -> Arc<ProfileLibrary>,
    ) -> Option<Arc<Profile>> {
        if let Some(replaced) = &self.replaced {
            let is_understood = look.is_some_and(|look| {
                look.composer(replaced) != Composer::Hidden || look.dialog(replaced).is_some()
            });
            return is_understood.then(|| self.replaced.take()).flatten();
        }
        let is_due = self.looked.is_none_or(|looked| looked + SEARCH_EVERY <= now);
        if !is_due || self.started + WRAPPER_TIMEOUT < now {
            return None;
        }
        self.looked = Some(now);
        let library = library();
        let lines = self.processes.command_lines().await;
        let inside = lines.iter().find_map(|argv| library.for_command(argv));
        inside.or_else(|| library.for_screen(look?)).cloned()
    }

    /// Reasons to doubt the judgement: a replaced profile, a version newer than the profile.
    pub(super) fn warnings(&self, engine: &Engine) -> Vec<String> {
        let replaced = self.replaced.as_ref().map(|replaced| {
            let name = &replaced.name;
            let seconds = UNRECOGNISED_TIMEOUT.as_secs();
            format!(
                "profile `{name}` found no composer for {seconds} s, so the generic rules are \
                used"
            )
        });
        replaced.into_iter().chain(self.newer_version_warning(engine)).collect()
    }

    /// A warning if the evidence is weak and the program is newer than the versions that its
    /// profile was tested with.
    fn newer_version_warning(&self, engine: &Engine) -> Option<String> {
        let is_weak = self.replaced.is_some() || engine.judgement().confidence < WEAK;
        let version = self.version.as_ref().filter(|_| is_weak)?;
        let profile = self.replaced.as_ref().unwrap_or(engine.profile());
        let newest = profile.is_newer(version)?;
        let name = &profile.name;
        Some(format!(
            "this is version {version}; profile `{name}` was tested with versions up to {newest}"
        ))
    }
}

/// Whether the profile describes a screen, but does not recognise the present one.
fn is_unrecognised(engine: &Engine) -> bool {
    let profile = engine.profile();
    let describes = profile.composer.is_some() && !profile.is_generic();
    describes && matches!(engine.judgement().state, AgentState::Starting | AgentState::Unknown)
}
