//! A recording with its truth.

use std::fs;
use std::path::{Path, PathBuf};

use paned_model::{AgentState, BlockKind};
use paned_policy::agent::{ComposerSign, ProfileLibrary, Sample, replay, replay_with_learned};
use serde_json::Value;

/// A recording with its truth.
pub struct Recording {
    /// Whose it is: the folder, as `codex`.
    pub program: String,
    /// Which profile judges it.
    pub profile: String,
    /// The case and the size, as `answer.80x24`.
    pub case: String,
    /// What was true, in order.
    pub labels: Vec<Label>,
    cast: String,
    reports: Option<String>,
}

/// From when on something was true.
pub struct Label {
    /// Milliseconds from the beginning.
    pub at: u64,
    /// The earliest it can have been so.
    pub after: u64,
    /// What was true.
    pub expected: ExpectedState,
}

/// What was true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpectedState {
    /// It came up.
    Starting,
    /// It waited for a prompt.
    Ready,
    /// It worked.
    Busy,
    /// It asked whether it may.
    Permission,
    /// It asked something else.
    Dialog,
    /// Its last turn had failed.
    Error,
    /// A shell's last command had failed, which it does not show.
    Failed,
    /// A shell waited for the rest of a command.
    Continuation,
    /// It had ended.
    Exited,
}

impl ExpectedState {
    fn of(word: &str, is_repl: bool) -> Option<Self> {
        Some(match word {
            "starting" => Self::Starting,
            "ready" => Self::Ready,
            "busy" => Self::Busy,
            "permission" => Self::Permission,
            "dialog" => Self::Dialog,
            "error" if is_repl => Self::Failed,
            "error" => Self::Error,
            "continuation" => Self::Continuation,
            // Some take seconds to end. What they show then is neither right nor wrong.
            "quitting" | "exited" => Self::Exited,
            _ => return None,
        })
    }

    /// Whether this is what an engine should have said.
    #[must_use]
    pub fn is(self, state: AgentState, kind: Option<BlockKind>) -> bool {
        match self {
            Self::Starting => state == AgentState::Starting,
            Self::Ready => state == AgentState::Ready,
            Self::Busy => state == AgentState::Busy,
            Self::Permission => kind == Some(BlockKind::Permission),
            Self::Dialog => kind.is_some_and(|kind| kind != BlockKind::Permission),
            Self::Error => state == AgentState::Error,
            Self::Failed => matches!(state, AgentState::Ready | AgentState::Error),
            Self::Continuation => matches!(state, AgentState::Blocked | AgentState::Unknown),
            Self::Exited => state == AgentState::Exited,
        }
    }

    /// The word in tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Busy => "busy",
            Self::Permission => "blocked (permission)",
            Self::Dialog => "blocked (other)",
            Self::Error => "error",
            Self::Failed => "failed",
            Self::Continuation => "continuation",
            Self::Exited => "exited",
        }
    }
}

impl Recording {
    /// What the engine says over it.
    #[must_use]
    pub fn judge(&self, library: &ProfileLibrary) -> Vec<Sample> {
        let profile = library.get(&self.profile).unwrap();
        replay(profile, &self.cast, self.reports.as_deref()).unwrap()
    }

    /// The same, with composer signs that were learned before. Also returns the signs that are
    /// learned in this run.
    #[must_use]
    pub fn judge_knowing(
        &self,
        library: &ProfileLibrary,
        known: Vec<ComposerSign>,
    ) -> (Vec<Sample>, Vec<ComposerSign>) {
        let profile = library.get(&self.profile).unwrap();
        replay_with_learned(profile, &self.cast, self.reports.as_deref(), known).unwrap()
    }

    /// Judges it by another profile from now on, without what the program's hooks reported.
    pub fn judge_as(&mut self, profile: &str) {
        profile.clone_into(&mut self.profile);
        self.reports = None;
    }

    /// When it ends or is told to, in milliseconds.
    #[must_use]
    pub fn end(&self) -> u64 {
        let ended = self.labels.iter().find(|label| label.expected == ExpectedState::Exited);
        ended.or(self.labels.last()).map_or(0, |label| label.at)
    }
}

/// Every recording in a folder of folders, by program and case.
#[must_use]
pub fn all(folder: &Path) -> Vec<Recording> {
    let mut files: Vec<PathBuf> = Vec::new();
    for program in fs::read_dir(folder).unwrap().flatten().filter(|it| it.path().is_dir()) {
        let casts = fs::read_dir(program.path()).unwrap().flatten().map(|entry| entry.path());
        files.extend(casts.filter(|path| path.extension().is_some_and(|ending| ending == "cast")));
    }
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Recording {
    let program = path.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
    let case = path.file_stem().unwrap().to_string_lossy().into_owned();
    let beside = |ending: &str| fs::read_to_string(path.with_file_name(format!("{case}.{ending}")));
    let states: Value = serde_json::from_str(&beside("states.json").unwrap()).unwrap();
    let profile = match program.as_str() {
        "repl-bash" => "shell",
        other if other.starts_with("repl-") => "repl",
        // A folder may name a version: `pi-0.87`.
        other => other.split_once("-0.").map_or(other, |(name, _)| name),
    };
    let is_repl = program.starts_with("repl-");
    let labels = states.as_array().unwrap().iter().map(|state| label(state, is_repl)).collect();
    Recording {
        profile: profile.to_owned(),
        program,
        labels,
        cast: fs::read_to_string(path).unwrap(),
        reports: beside("reports.jsonl").ok(),
        case,
    }
}

fn label(state: &Value, is_repl: bool) -> Label {
    let millis = |value: &Value| value.as_f64().map(|seconds| (seconds * 1000.0).round());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short time")]
    let at = millis(&state["t"]).unwrap() as u64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short time")]
    let after = millis(&state["after"]).map_or(at, |after| after as u64);
    let word = match state["note"].as_str() {
        // Recorded as a permission, but what is asked is something else.
        Some("plan" | "question" | "two questions") => "dialog",
        _ => state["state"].as_str().unwrap(),
    };
    let truth = ExpectedState::of(word, is_repl).unwrap();
    Label { at, after, expected: truth }
}
