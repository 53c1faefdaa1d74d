//! Finds the transcript of an agent: several agents of one program may run in one folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use paned_model::Time;
use paned_policy::agent::Profile;
use paned_policy::transcript::{
    TranscriptAnswer, TranscriptFormat, TranscriptSummary, TranscriptTime, read,
};
use serde_json::Value;

use super::transcript_files::TranscriptFile;
use super::{SESSION, VisibleTurn, database, is_session_id, transcript_files};
use crate::Kernel;
use crate::panes::Pane;
use crate::panes::launch_record::LaunchRecord;

/// How many of the newest files are read.
const MOST: usize = 20;
/// How much older than its pane a transcript may seem, in milliseconds; file times are coarse.
const EARLY: u64 = 2000;
/// How many characters of the end of an answer must be on the screen if its agent is in doubt.
const PROOF: usize = 24;
/// Variables that move the folders of some programs, and the default folder that they replace.
const MOVED: [(TranscriptFormat, &str, &str); 4] = [
    (TranscriptFormat::Codex, "CODEX_HOME", "{home}/.codex"),
    (TranscriptFormat::Claude, "CLAUDE_CONFIG_DIR", "{home}/.claude"),
    (TranscriptFormat::Opencode, "XDG_DATA_HOME", "{home}/.local/share"),
    (TranscriptFormat::Goose, "XDG_DATA_HOME", "{home}/.local/share"),
];

/// What is known about the agent whose transcript is searched.
pub(super) struct TranscriptQuery {
    kind: TranscriptFormat,
    pattern: String,
    cwd: String,
    /// Whether the path of a transcript contains the folder that it is about.
    is_by_folder: bool,
    session: Option<String>,
    since: Time,
    pid: Option<u32>,
    /// Whether others of the same program run in the same folder.
    is_doubtful: bool,
    /// The start of the turn whose answer is wanted; without it, any answer is accepted.
    pub(super) turn: Option<Time>,
}

/// The result of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TranscriptLookup {
    /// The transcript has the answer.
    Answer(TranscriptAnswer),
    /// There is no answer of this turn.
    Outdated,
    /// There is no transcript.
    Missing,
}

impl TranscriptQuery {
    /// A query, if the profile names a transcript.
    pub(super) async fn new(
        kernel: &Kernel,
        pane: &Arc<Pane>,
        profile: &Profile,
        turn: Option<Time>,
    ) -> Option<Self> {
        let transcript = profile.transcript.as_ref()?;
        let kind = TranscriptFormat::from_name(&transcript.kind)?;
        let record = pane.lock().record.clone();
        // Without it, the server's environment is the best guess.
        let launch = LaunchRecord::of(kernel, pane).await.ok().flatten();
        let environment = launch.map(|launch| launch.environment).unwrap_or_default();
        let inherits = environment.inherits();
        let pid = record.pid.filter(|_| record.end.is_none());
        let variable = |name: &str| {
            let its = || transcript_files::environment_variable(pid?, name);
            let ours = || kernel.setup().env.iter().find(|(key, _)| inherits && key == name);
            let asked = environment.env.get(name).cloned();
            asked.or_else(its).or_else(|| ours().map(|(_, value)| value.clone()))
        };
        let mut pattern = transcript.path.clone();
        for (_, name, usual) in MOVED.iter().filter(|(of, ..)| *of == kind) {
            if let Some(moved) = variable(name).filter(|moved| moved.starts_with('/')) {
                pattern = pattern.replace(usual, &moved);
            }
        }
        let is_by_folder = pattern.contains("{cwd}");
        let pattern = pattern.replace("{home}", &variable("HOME")?).replace("{cwd}", &record.cwd);
        let session = record.meta.get(SESSION).and_then(Value::as_str);
        let session = session.filter(|id| is_session_id(id)).map(str::to_owned);
        let is_doubtful = has_sibling(kernel, pane);
        let since = Time(record.created_at.0.saturating_sub(EARLY));
        let cwd = record.cwd;
        Some(Self { kind, pattern, cwd, is_by_folder, session, since, pid, is_doubtful, turn })
    }

    /// Searches the transcripts. Blocks.
    pub(super) fn look_up(&self, shown: &VisibleTurn) -> TranscriptLookup {
        if self.kind.is_database() {
            let answer = self.ask_database().filter(|answer| self.is_sure(answer, shown));
            let answer = answer.filter(|answer| answer.at.is_none_or(|at| self.is_of_turn(at)));
            return answer.map_or(TranscriptLookup::Outdated, TranscriptLookup::Answer);
        }
        let found = transcript_files::find(&self.pattern, system_time(self.since));
        if found.is_empty() {
            return TranscriptLookup::Missing;
        }
        let answer = match self.own_transcript(&found) {
            Some(own) => self.answer(own),
            None => self.answer_in_folder(&found, shown),
        };
        answer.map_or(TranscriptLookup::Outdated, TranscriptLookup::Answer)
    }

    /// The answer in a transcript that is known only to be about the same folder.
    fn answer_in_folder(
        &self,
        found: &[TranscriptFile],
        shown: &VisibleTurn,
    ) -> Option<TranscriptAnswer> {
        let read = found.iter().take(MOST).filter_map(|found| self.read(found));
        let mut here = read.filter(|(_, summary)| self.is_here(summary));
        here.find_map(|read| self.answer(read).filter(|answer| self.is_sure(answer, shown)))
    }

    /// The answer in a transcript, if it was given in the turn. If it has no time, the file must
    /// have been written since the turn began, and no prompt may follow the answer.
    fn answer(
        &self,
        (found, summary): (&TranscriptFile, TranscriptSummary),
    ) -> Option<TranscriptAnswer> {
        let is_new = |turn| system_time(turn) <= found.changed && !summary.is_unanswered;
        let answer = summary.answer?;
        let is_it = match answer.at {
            Some(at) => self.is_of_turn(at),
            None => self.turn.is_none_or(is_new),
        };
        is_it.then_some(answer)
    }

    /// Whether an answer with this time belongs to the turn.
    fn is_of_turn(&self, at: TranscriptTime) -> bool {
        self.turn.is_none_or(|turn| turn <= at.latest())
    }

    /// The transcript that certainly belongs to the agent: its name contains the session id and it
    /// is about the folder, or the program has it open. The id alone proves nothing: it comes from
    /// a caller.
    fn own_transcript<'a>(
        &self,
        found: &'a [TranscriptFile],
    ) -> Option<(&'a TranscriptFile, TranscriptSummary)> {
        let session = self.session.as_deref();
        let is_named = |found: &&TranscriptFile| {
            let name = found.path.file_name().unwrap_or_default().to_string_lossy();
            session.is_some_and(|session| has_word(&name, session))
        };
        let mut named = found.iter().filter(is_named).filter_map(|found| self.read(found));
        if let Some(own) = named.find(|(_, summary)| self.is_here(summary)) {
            return Some(own);
        }
        let open = self.pid.map(transcript_files::open_files).unwrap_or_default();
        self.read(found.iter().find(|found| open.contains(&found.path))?)
    }

    fn read<'a>(
        &self,
        found: &'a TranscriptFile,
    ) -> Option<(&'a TranscriptFile, TranscriptSummary)> {
        let path = &found.path;
        let text = transcript_files::read(path).ok()?;
        let summary = read(self.kind, &text);
        // gemini stores the folder in a file beside its chats.
        let root = || path.parent()?.parent().map(|folder| folder.join(".project_root"));
        let beside = || Some(std::fs::read_to_string(root()?).ok()?.trim().to_owned());
        Some((found, TranscriptSummary { cwd: summary.cwd.or_else(beside), ..summary }))
    }

    /// Whether a transcript is about the folder of the agent. One that names no folder does not
    /// count, unless its path does.
    fn is_here(&self, summary: &TranscriptSummary) -> bool {
        match &summary.cwd {
            Some(cwd) => is_same_folder(cwd, &self.cwd),
            None => self.is_by_folder,
        }
    }

    /// Whether an answer certainly belongs to the agent. If others run in the same folder, its
    /// screen must show the end of the answer.
    fn is_sure(&self, answer: &TranscriptAnswer, shown: &VisibleTurn) -> bool {
        if !self.is_doubtful {
            return true;
        }
        let squeezed: Vec<char> = answer.text.chars().filter(|c| !c.is_whitespace()).collect();
        let end: String = squeezed[squeezed.len().saturating_sub(PROOF)..].iter().collect();
        shown.all_text.contains(&end)
    }

    fn ask_database(&self) -> Option<TranscriptAnswer> {
        let path = self.database()?;
        let session = self.session.as_deref();
        let cwd = self.cwd.as_str();
        let since = i64::try_from(self.since.0).unwrap_or(i64::MAX);
        let answer = match self.kind {
            TranscriptFormat::Opencode => database::opencode(&path, session, cwd, since),
            _ => database::goose(&path, session, cwd),
        };
        let log_error = |error: &_| tracing::debug!(%error, "an agent's database cannot be read");
        answer.inspect_err(log_error).ok().flatten()
    }

    /// The database: the file that the pattern names, or one in that folder or beside it.
    fn database(&self) -> Option<PathBuf> {
        let path = Path::new(&self.pattern);
        let names = ["opencode.db", "sessions.db"];
        let beside =
            path.parent().into_iter().flat_map(|folder| names.map(|name| folder.join(name)));
        let within = names.map(|name| path.join(name));
        let mut all = std::iter::once(path.to_owned()).chain(within).chain(beside);
        all.find(|path| path.is_file())
    }
}

fn system_time(time: Time) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(time.0)
}

/// Whether two paths lead to the same folder.
pub(super) fn is_same_folder(one: &str, other: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().unwrap_or_else(|_| path.into());
    real(one) == real(other)
}

/// Whether a text contains this word, with no letter or digit on either side of it.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Whether another running agent of the same program works in the same folder.
fn has_sibling(kernel: &Kernel, pane: &Arc<Pane>) -> bool {
    let identity = |pane: &Pane| {
        let state = pane.lock();
        let profile = state.record.agent.as_ref().map(|agent| agent.profile.clone());
        (profile, state.record.cwd.clone(), state.status().is_live())
    };
    let (profile, cwd, _) = identity(pane);
    let all = kernel.panes().list();
    let mut others = all.iter().filter(|other| !Arc::ptr_eq(other, pane));
    others.any(|other| identity(other) == (profile.clone(), cwd.clone(), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_found_by_its_whole_name() {
        assert!(has_word("rollout-2026-11-16-01a1-b2.jsonl", "01a1-b2"));
        assert!(has_word("01a1-b2.jsonl", "01a1-b2"));
        for other in ["x01a1-b2.jsonl", "01a1-b22.jsonl", "01a1.jsonl", ""] {
            assert!(!has_word(other, "01a1-b2"), "{other}");
        }
    }
}
