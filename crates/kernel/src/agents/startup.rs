//! Answers questions at an agent's start, as its profile says and whoever started it allowed.

use std::collections::BTreeSet;

use paned_model::{AgentState, Dialog};
use paned_policy::agent::{Judgement, Profile};
use paned_policy::delivery::WriteResult;
use paned_term::keys::{Key, UnencodableKey};
use paned_term::screen::view::ScreenModes;

use crate::panes::Pane;

/// How many questions there may be.
const MAX_QUESTIONS: usize = 8;

/// What is answered for one agent. Each question is answered once, and only until the agent has been ready.
#[derive(Debug, Default)]
pub(super) struct StartupAnswerer {
    is_allowed: bool,
    answered: BTreeSet<String>,
}

impl StartupAnswerer {
    pub(super) fn new(pane: &Pane) -> Self {
        let state = pane.lock();
        let made = state.record.agent.as_ref().and_then(|agent| agent.made.as_ref());
        // One that has been at work is past its start.
        let is_new = state.record.agent.as_ref().is_some_and(|agent| {
            matches!(agent.state, AgentState::Starting | AgentState::Blocked | AgentState::Unknown)
        });
        let is_allowed = is_new && made.is_some_and(|made| made.trust);
        Self { is_allowed, answered: BTreeSet::new() }
    }

    /// The question that is asked now and the keys that answer it, if it is one to be answered.
    pub(super) fn keys(
        &mut self,
        judged: &Judgement,
        profile: &Profile,
    ) -> Option<(String, Vec<Key>)> {
        if !self.is_allowed {
            return None;
        }
        if judged.state.takes_prompts() || judged.state == AgentState::Busy {
            self.is_allowed = false;
            return None;
        }
        let dialog = judged.dialog.as_ref().filter(|_| judged.state == AgentState::Blocked)?;
        if MAX_QUESTIONS <= self.answered.len() || self.answered.contains(&dialog.id) {
            return None;
        }
        Some((dialog.id.clone(), choose(dialog, profile)?))
    }

    /// Keys were pressed for a question. If something moved meanwhile, or earlier keys wait, they were not, and it is
    /// looked at anew.
    pub(super) fn pressed(&mut self, question: String, how: &WriteResult) {
        if !matches!(how, WriteResult::Stale | WriteResult::Unread) {
            self.answered.insert(question);
        }
    }
}

fn choose(dialog: &Dialog, profile: &Profile) -> Option<Vec<Key>> {
    let option = dialog.options.get(profile.startup_answer(dialog)?)?;
    let keys: Option<Vec<Key>> = option.keys.iter().map(|key| key.parse().ok()).collect();
    keys.filter(|keys| !keys.is_empty())
}

/// The bytes of keys, if all of them have some.
pub(super) fn encode(
    pane: &Pane,
    keys: &[Key],
    modes: &ScreenModes,
) -> Result<Vec<u8>, UnencodableKey> {
    let encode = if pane.is_adopted() { Key::encode_in_tmux } else { Key::encode };
    let bytes: Result<Vec<_>, _> = keys.iter().map(|key| encode(key, modes)).collect();
    Ok(bytes?.concat())
}
