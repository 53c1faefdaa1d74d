//! Answers dialogs at the startup of an agent as its profile says, if its creator allowed that.

use std::collections::BTreeSet;

use paned_model::{AgentState, Dialog};
use paned_policy::agent::{Judgement, Profile};
use paned_policy::delivery::WriteResult;
use paned_term::keys::{Key, UnencodableKey};
use paned_term::screen::view::ScreenModes;

use crate::panes::Pane;

/// How many dialogs are answered at most.
const MAX_QUESTIONS: usize = 8;

/// Answers the startup dialogs of one agent: each once, and only until the agent is ready.
#[derive(Debug, Default)]
pub(super) struct StartupAnswerer {
    is_allowed: bool,
    answered: BTreeSet<String>,
}

impl StartupAnswerer {
    pub(super) fn new(pane: &Pane) -> Self {
        let state = pane.lock();
        let made = state.record.agent.as_ref().and_then(|agent| agent.made.as_ref());
        // A recovered agent that has worked is past its startup.
        let is_new = state.record.agent.as_ref().is_some_and(|agent| {
            matches!(agent.state, AgentState::Starting | AgentState::Blocked | AgentState::Unknown)
        });
        let is_allowed = is_new && made.is_some_and(|made| made.trust);
        Self { is_allowed, answered: BTreeSet::new() }
    }

    /// The id of the present dialog and the keys that answer it, if it is to be answered.
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

    /// The keys for a dialog were written. If the guard refused the write, because of new output or
    /// unread input, the dialog is tried again.
    pub(super) fn pressed(&mut self, dialog_id: String, result: &WriteResult) {
        if !matches!(result, WriteResult::Stale | WriteResult::Unread) {
            self.answered.insert(dialog_id);
        }
    }
}

fn choose(dialog: &Dialog, profile: &Profile) -> Option<Vec<Key>> {
    let option = dialog.options.get(profile.startup_answer(dialog)?)?;
    let keys: Option<Vec<Key>> = option.keys.iter().map(|key| key.parse().ok()).collect();
    keys.filter(|keys| !keys.is_empty())
}

/// The bytes of keys; an error if one of them has none.
pub(super) fn encode(
    pane: &Pane,
    keys: &[Key],
    modes: &ScreenModes,
) -> Result<Vec<u8>, UnencodableKey> {
    let encode = if pane.is_adopted() { Key::encode_in_tmux } else { Key::encode };
    let bytes: Result<Vec<_>, _> = keys.iter().map(|key| encode(key, modes)).collect();
    Ok(bytes?.concat())
}
