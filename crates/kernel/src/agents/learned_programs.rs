//! What was learned of programs without a profile, kept across panes and restarts of the server.
//!
//! One small file in the state folder, read once and rewritten when something new was learned. Its
//! content is not trusted: a file that is damaged, too large or owned by another user is ignored.
//! Deleting it only means that programs are learned again. What was learned of one version of a
//! program is never used for another program or version.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paned_backend::processes::ProgramIdentity;
use paned_model::Time;
use paned_policy::agent::{ComposerSign, MAX_SIGNS};
use serde::{Deserialize, Serialize};

use crate::state_folder::write_private;

/// The name of the file in the state folder.
const FILE: &str = "learned.json";
/// The version of the file format.
const VERSION: u32 = 1;
/// How many programs are kept; of more, those that were learned last.
const MOST: usize = 64;
/// A larger file is ignored.
const LARGEST: u64 = 1 << 20;

/// The learned programs.
#[derive(Debug)]
pub(crate) struct LearnedPrograms {
    file: Option<PathBuf>,
    /// Read when a program is first looked up.
    entries: Mutex<Option<Vec<LearnedProgram>>>,
    /// Held while the file is written, so that an older write cannot replace a newer one.
    writing: Mutex<()>,
}

#[derive(Debug, Deserialize, Serialize)]
struct LearnedFile {
    version: u32,
    programs: Vec<LearnedProgram>,
}

/// What was learned of one version of a program, and when.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct LearnedProgram {
    program: ProgramIdentity,
    at: u64,
    signs: Vec<ComposerSign>,
}

impl LearnedPrograms {
    /// Stored in this folder; without one, only in memory.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let file = folder.map(|folder| folder.join(FILE));
        Self { file, entries: Mutex::default(), writing: Mutex::default() }
    }

    /// What was learned of a program, and when.
    pub(crate) fn get(&self, program: &ProgramIdentity) -> Option<(Vec<ComposerSign>, Time)> {
        let entries = self.lock();
        let entry = entries.as_ref()?.iter().find(|entry| entry.program == *program)?;
        Some((entry.signs.clone(), Time(entry.at)))
    }

    /// Stores what was learned of a program; writes the file in the background if that is new.
    pub(crate) fn keep(
        self: &Arc<Self>,
        program: ProgramIdentity,
        signs: &[ComposerSign],
        now: Time,
    ) {
        if self.add(program, signs, now) && self.file.is_some() {
            let learned = self.clone();
            tokio::task::spawn_blocking(move || learned.write());
        }
    }

    /// Adds the signs; returns whether any is new.
    fn add(&self, program: ProgramIdentity, signs: &[ComposerSign], now: Time) -> bool {
        let mut entries = self.lock();
        let Some(entries) = entries.as_mut() else { return false };
        let old = entries.iter().find(|entry| entry.program == program);
        let mut known = old.map(|entry| entry.signs.clone()).unwrap_or_default();
        let new: Vec<_> = signs.iter().filter(|sign| !known.contains(sign)).cloned().collect();
        if new.is_empty() || MAX_SIGNS <= known.len() {
            return false;
        }
        known.extend(new);
        known.truncate(MAX_SIGNS);
        // A new version at the same path replaces the old one.
        entries.retain(|entry| !entry.program.is_same_program(&program));
        entries.push(LearnedProgram { program, at: now.0, signs: known });
        let surplus = entries.len().saturating_sub(MOST);
        entries.drain(..surplus);
        true
    }

    /// The programs, read from the file at the first call.
    fn lock(&self) -> MutexGuard<'_, Option<Vec<LearnedProgram>>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.is_none() {
            *entries = Some(self.file.as_deref().map(read).unwrap_or_default());
        }
        entries
    }

    fn write(&self) {
        let _one_writer = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let programs = self.lock().clone().unwrap_or_default();
        let Some(file) = &self.file else { return };
        let text = serde_json::to_string(&LearnedFile { version: VERSION, programs });
        let written = text.map_err(io::Error::from).and_then(|text| write_private(file, &text));
        if let Err(error) = written {
            tracing::warn!(file = %file.display(), %error, "cannot save the learned programs");
        }
    }
}

/// The programs in a file. A missing or invalid file has none.
fn read(file: &Path) -> Vec<LearnedProgram> {
    match try_read(file) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "the learned programs are ignored");
            Vec::new()
        }
    }
}

fn try_read(file: &Path) -> io::Result<Vec<LearnedProgram>> {
    let found = fs::symlink_metadata(file)?;
    let folder = file.parent().map(fs::metadata).transpose()?;
    let is_ours = folder.is_none_or(|folder| folder.uid() == found.uid());
    if !found.is_file() || !is_ours || LARGEST < found.len() {
        return Err(io::Error::other("it is not a small file owned by this user"));
    }
    let mut text = String::new();
    fs::File::open(file)?.take(LARGEST).read_to_string(&mut text)?;
    let contents: LearnedFile = serde_json::from_str(&text)?;
    if contents.version != VERSION {
        return Err(io::Error::other(format!("its version is {}", contents.version)));
    }
    let is_sound = |entry: &LearnedProgram| {
        let count = entry.signs.len();
        (1..=MAX_SIGNS).contains(&count) && entry.signs.iter().all(ComposerSign::is_sound)
    };
    Ok(contents.programs.into_iter().filter(is_sound).take(MOST).collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use paned_policy::agent::SignShape;

    use super::*;

    fn program(name: &str, size: u64) -> ProgramIdentity {
        let executable = format!("/bin/{name}");
        ProgramIdentity { executable, runs: None, size, modified: 1 }
    }

    fn sign(text: &str) -> ComposerSign {
        ComposerSign { shape: SignShape::Line, text: text.to_owned() }
    }

    fn learn(learned: &LearnedPrograms, program: ProgramIdentity, text: &str) -> bool {
        let is_new = learned.add(program, &[sign(text)], Time(5));
        learned.write();
        is_new
    }

    #[test]
    fn what_was_learned_is_there_after_a_restart_and_only_for_that_program_and_version() {
        let folder = tempfile::tempdir().unwrap();
        let learned = LearnedPrograms::new(Some(folder.path()));
        assert!(learn(&learned, program("one", 1), "one>"));
        assert!(!learn(&learned, program("one", 1), "one>"), "it is known");
        assert!(learn(&learned, program("one", 1), "more>"));
        let again = LearnedPrograms::new(Some(folder.path()));
        let (signs, at) = again.get(&program("one", 1)).unwrap();
        assert_eq!((signs, at), (vec![sign("one>"), sign("more>")], Time(5)));
        assert_eq!(again.get(&program("one", 2)), None, "another version");
        assert_eq!(again.get(&program("two", 1)), None, "another program");
        let mode = fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(learn(&again, program("one", 2), "two>"));
        assert_eq!(again.get(&program("one", 1)), None, "it was replaced");
    }

    #[test]
    fn a_file_that_cannot_be_believed_is_ignored_and_replaced() {
        let sound = r#"{"version":1,"programs":[{"program":{"executable":"/bin/one","size":1,"modified":1},
            "at":5,"signs":[{"shape":"line","text":"one>"}]}]}"#;
        let hostile = sound.replace("one>", "\\u001b]0;x\\u0007");
        let many = sound.replace(r#"{"shape":"line","text":"one>"}"#, &sign_list(9));
        let large = format!("{sound}{}", " ".repeat(1 << 20));
        let cut = &sound[..sound.len() / 2];
        let newer = sound.replace("\"version\":1", "\"version\":2");
        for text in ["", "[]", "null", cut, &newer, &hostile, &many, &large] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(FILE), text).unwrap();
            let learned = LearnedPrograms::new(Some(folder.path()));
            assert_eq!(learned.get(&program("one", 1)), None, "{:.60}", text);
            assert!(learn(&learned, program("one", 1), "new>"));
            let again = LearnedPrograms::new(Some(folder.path()));
            assert!(again.get(&program("one", 1)).is_some());
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE), sound).unwrap();
        let learned = LearnedPrograms::new(Some(folder.path()));
        assert!(learned.get(&program("one", 1)).is_some());
        let linked = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path().join(FILE), linked.path().join(FILE)).unwrap();
        let learned = LearnedPrograms::new(Some(linked.path()));
        assert_eq!(learned.get(&program("one", 1)), None, "a link is not our file");
    }

    fn sign_list(count: usize) -> String {
        vec![r#"{"shape":"line","text":"one>"}"#; count].join(",")
    }

    #[test]
    fn few_programs_are_remembered_and_a_deleted_file_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let learned = LearnedPrograms::new(Some(folder.path()));
        for number in 0..MOST + 10 {
            learned.add(program(&format!("p{number}"), 1), &[sign(">")], Time(5));
        }
        fs::remove_file(folder.path().join(FILE)).unwrap_or_default();
        learned.write();
        let again = LearnedPrograms::new(Some(folder.path()));
        assert_eq!(again.get(&program("p0", 1)), None);
        assert!(again.get(&program(&format!("p{}", MOST + 9), 1)).is_some());
        assert_eq!(again.lock().as_ref().unwrap().len(), MOST);
    }
}
