//! What the program reports of itself by OSC 7501, and how long that is believed.

use paned_model::{AgentState, BlockKind, Time};

use super::{HOOK, StateEvidence, after};

/// How long a report of work is believed against a screen that no longer shows work but did.
const REPORTED: u64 = 1500;
/// The same if the screen never showed work in this turn, counted from its last change.
const UNSHOWN: u64 = 60_000;

impl StateEvidence<'_> {
    /// Since when the program reports this state.
    pub(super) fn reported(&self, state: AgentState) -> Option<Time> {
        self.facts.status.filter(|(status, _)| status.state() == state).map(|(_, at)| at)
    }

    /// Since when the program reports that it waits for an answer. Signs of work overrule it: codex
    /// reports its question 0.8 s before it draws it. A composer that has come back since then
    /// means that the question was answered. A missing login does not block while the composer
    /// accepts prompts.
    pub(super) fn reported_question(&self) -> Option<Time> {
        let at = self.reported(AgentState::Blocked)?;
        if self.busy_title().is_some() || self.busy_hit().is_some() {
            return None;
        }
        let composer = &self.facts.composer;
        let is_login = self.facts.kind() == Some(BlockKind::Login) && HOOK < self.age(at);
        (!composer.value || composer.since <= at && !is_login).then_some(at)
    }

    /// Since when the program reports that it works, and until when that is believed. A program may
    /// report a background task after its turn has ended. So the screen wins once it has shown work
    /// and now shows a composer without it.
    pub(super) fn reported_work(&self) -> Option<(Time, Option<Time>)> {
        let at = self.reported(AgentState::Busy)?;
        let facts = self.facts;
        if self.profile.composer.is_none() || !facts.composer.value {
            return Some((at, None));
        }
        let began = self.turn_began();
        if !facts.turn || self.ready_since(at.max(began)).is_some() {
            return None;
        }
        let until = match facts.busy.filter(|busy| began <= *busy) {
            Some(busy) => after(busy, REPORTED),
            None => after(facts.moved_at.max(at), UNSHOWN),
        };
        (self.now < until).then_some((at, Some(until)))
    }

    /// Since when the program reports that its turn is over. This counts only if the profile
    /// describes a composer.
    pub(super) fn reported_end(&self) -> Option<Time> {
        let ready = self.reported(AgentState::Ready).or_else(|| self.reported(AgentState::Error));
        let at = ready.filter(|_| self.profile.composer.is_some())?;
        (!self.is_too_soon(at)).then_some(at)
    }
}
