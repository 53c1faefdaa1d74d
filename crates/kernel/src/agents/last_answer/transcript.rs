//! Which transcript is an agent's own: several of one program may run in one folder.

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
use super::{SESSION, VisibleTurn, database, is_session_id, process_info, transcript_files};
use crate::Kernel;
use crate::panes::Pane;

/// How many of the newest files are read.
const MOST: usize = 20;
/// How much earlier than its pane a transcript may seem to have begun; clocks of files are coarse.
const EARLY: u64 = 2000;
/// How much of an answer's end must be on the screen where it is doubtful whose it is.
const PROOF: usize = 24;
/// Variables that move the folders of some programs, and what they stand in for.
const MOVED: [(TranscriptFormat, &str, &str); 4] = [
    (TranscriptFormat::Codex, "CODEX_HOME", "{home}/.codex"),
    (TranscriptFormat::Claude, "CLAUDE_CONFIG_DIR", "{home}/.claude"),
    (TranscriptFormat::Opencode, "XDG_DATA_HOME", "{home}/.local/share"),
    (TranscriptFormat::Goose, "XDG_DATA_HOME", "{home}/.local/share"),
];

/// What is known of an agent whose transcript is looked for.
pub(super) struct TranscriptQuery {
    kind: TranscriptFormat,
    pattern: String,
    cwd: String,
    /// Whether the place alone says which folder a transcript is about.
    is_by_folder: bool,
    session: Option<String>,
    since: Time,
    pid: Option<u32>,
    /// Whether others of the same program run in the same folder.
    is_doubtful: bool,
    /// When the turn began whose answer is looked for; without it, any answer will do.
    pub(super) turn: Option<Time>,
}

/// What a transcript has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TranscriptLookup {
    /// The answer.
    Answer(TranscriptAnswer),
    /// No answer of this turn.
    Outdated,
    /// There is no transcript.
    Missing,
}

impl TranscriptQuery {
    /// What to look for, if the profile says where.
    pub(super) fn new(
        kernel: &Kernel,
        pane: &Arc<Pane>,
        profile: &Profile,
        turn: Option<Time>,
    ) -> Option<Self> {
        let transcript = profile.transcript.as_ref()?;
        let kind = TranscriptFormat::from_name(&transcript.kind)?;
        let record = pane.lock().record.clone();
        let made = record.agent.as_ref().and_then(|agent| agent.made.as_ref());
        let pid = record.pid.filter(|_| record.end.is_none());
        let variable = |name: &str| {
            let asked = made.and_then(|made| made.env.get(name).cloned());
            let its = || process_info::environment_variable(pid?, name);
            let ours = || kernel.setup().env.iter().find(|(key, _)| key == name);
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

    /// Looks for it. May take a while.
    pub(super) fn look_up(&self, shown: &VisibleTurn) -> TranscriptLookup {
        if self.kind.is_database() {
            let answer = self.ask_database().filter(|answer| self.is_sure(answer, shown));
            let answer = answer.filter(|answer| answer.at.is_none_or(|at| self.is_of_turn(at)));
            return answer.map_or(TranscriptLookup::Outdated, TranscriptLookup::Answer);
        }
        let found = transcript_files::find(&self.pattern, moment(self.since));
        if found.is_empty() {
            return TranscriptLookup::Missing;
        }
        let answer = match self.own_transcript(&found) {
            Some(own) => self.answer(own),
            None => self.answer_in_folder(&found, shown),
        };
        answer.map_or(TranscriptLookup::Outdated, TranscriptLookup::Answer)
    }

    /// The answer in a transcript of which only the folder is known to be right.
    fn answer_in_folder(
        &self,
        found: &[TranscriptFile],
        shown: &VisibleTurn,
    ) -> Option<TranscriptAnswer> {
        let read = found.iter().take(MOST).filter_map(|found| self.read(found));
        let mut here = read.filter(|(_, story)| self.is_here(story));
        here.find_map(|read| self.answer(read).filter(|answer| self.is_sure(answer, shown)))
    }

    /// The answer of a transcript, if it was given in the turn. Where it has no time, the file must have been written since the
    /// turn began, and no prompt may follow the answer.
    fn answer(
        &self,
        (found, story): (&TranscriptFile, TranscriptSummary),
    ) -> Option<TranscriptAnswer> {
        let is_new = |turn| moment(turn) <= found.changed && !story.is_unanswered;
        let answer = story.answer?;
        let is_it = match answer.at {
            Some(at) => self.is_of_turn(at),
            None => self.turn.is_none_or(is_new),
        };
        is_it.then_some(answer)
    }

    /// Whether something that was written at this moment is of the turn.
    fn is_of_turn(&self, at: TranscriptTime) -> bool {
        self.turn.is_none_or(|turn| turn <= at.latest())
    }

    /// The transcript that is certainly its own: it has the session's name and is about the folder, or the program has it
    /// open. The name alone proves nothing: it is what a caller says.
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
        if let Some(own) = named.find(|(_, story)| self.is_here(story)) {
            return Some(own);
        }
        let open = self.pid.map(process_info::open_files).unwrap_or_default();
        self.read(found.iter().find(|found| open.contains(&found.path))?)
    }

    fn read<'a>(
        &self,
        found: &'a TranscriptFile,
    ) -> Option<(&'a TranscriptFile, TranscriptSummary)> {
        let path = &found.path;
        let text = transcript_files::read(path).ok()?;
        let story = read(self.kind, &text);
        // gemini says beside its chats which folder they are about.
        let root = || path.parent()?.parent().map(|folder| folder.join(".project_root"));
        let beside = || Some(std::fs::read_to_string(root()?).ok()?.trim().to_owned());
        Some((found, TranscriptSummary { cwd: story.cwd.or_else(beside), ..story }))
    }

    /// Whether a transcript is about its folder. One that does not say so is another's.
    fn is_here(&self, story: &TranscriptSummary) -> bool {
        match &story.cwd {
            Some(cwd) => is_same_folder(cwd, &self.cwd),
            None => self.is_by_folder,
        }
    }

    /// Whether an answer is certainly its own; where others run beside it, its screen must show the end of it.
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
        let (session, cwd) = (self.session.as_deref(), self.cwd.as_str());
        let since = i64::try_from(self.since.0).unwrap_or(i64::MAX);
        let answer = match self.kind {
            TranscriptFormat::Opencode => database::opencode(&path, session, cwd, since),
            _ => database::goose(&path, session, cwd),
        };
        let tell = |error: &_| tracing::debug!(%error, "an agent's database cannot be read");
        answer.inspect_err(tell).ok().flatten()
    }

    /// The database: what the pattern names, or what lies in that folder or beside it.
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

fn moment(time: Time) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(time.0)
}

/// Whether two paths lead to the same folder.
pub(super) fn is_same_folder(one: &str, other: &str) -> bool {
    let real = |path: &str| Path::new(path).canonicalize().unwrap_or_else(|_| path.into());
    real(one) == real(other)
}

/// Whether a text holds this word, with no letter or digit on either side of it.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Whether another living agent of the same program works in the same folder.
fn has_sibling(kernel: &Kernel, pane: &Arc<Pane>) -> bool {
    let what = |pane: &Pane| {
        let state = pane.lock();
        let profile = state.record.agent.as_ref().map(|agent| agent.profile.clone());
        (profile, state.record.cwd.clone(), state.status().is_live())
    };
    let (profile, cwd, _) = what(pane);
    let all = kernel.panes().list();
    let mut others = all.iter().filter(|other| !Arc::ptr_eq(other, pane));
    others.any(|other| what(other) == (profile.clone(), cwd.clone(), true))
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
