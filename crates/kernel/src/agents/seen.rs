//! What everybody may know of an agent at a moment.

use paned_model::{AgentInfo, AgentState, BlockKind, Time};
use paned_policy::agent::Judgement;

/// What everybody may know of an agent at a moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// What it is doing.
    pub(crate) info: AgentInfo,
    /// Its turns so far.
    pub(crate) turns: Turns,
}

/// An agent's turns since it is followed: each begins with work and ends when it waits for a prompt again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    /// How many have begun.
    pub(crate) begun: u64,
    /// How many of them have ended.
    pub(crate) ended: u64,
    /// Since when one is expected, because a prompt was handed over.
    pub(crate) expected: Option<Time>,
}

impl Turns {
    /// Whether it is at work.
    pub(crate) fn is_under_way(self) -> bool {
        self.ended < self.begun
    }

    /// A prompt was handed over; work is to follow.
    pub(crate) fn expect(&mut self, now: Time) {
        self.expected = Some(now);
    }

    /// What it does now.
    pub(crate) fn note(&mut self, state: AgentState, kind: Option<BlockKind>) {
        match state {
            AgentState::Busy => self.begin(),
            // Questions at the start are no work.
            AgentState::Blocked if !is_of_the_start(kind) => self.begin(),
            AgentState::Ready | AgentState::Error | AgentState::Limited => self.end(),
            AgentState::Exited => {
                self.end();
                self.expected = None;
            }
            AgentState::Blocked | AgentState::Starting | AgentState::Unknown => {}
        }
    }

    fn begin(&mut self) {
        self.expected = None;
        if !self.is_under_way() {
            self.begun += 1;
        }
    }

    fn end(&mut self) {
        self.ended = self.begun;
    }
}

fn is_of_the_start(kind: Option<BlockKind>) -> bool {
    matches!(kind, Some(BlockKind::Trust | BlockKind::Login))
}

/// A judgement as everyone sees it.
pub(super) fn info(
    profile: &str,
    judged: &Judgement,
    kind: Option<BlockKind>,
    queued: usize,
) -> AgentInfo {
    AgentInfo {
        profile: profile.to_owned(),
        state: judged.state,
        kind,
        dialog: judged.dialog.clone(),
        until: judged.until,
        since: judged.since,
        source: judged.source,
        confidence: judged.confidence,
        context_percent: judged.context_percent,
        queued,
    }
}

/// The word of older tools for a state: only one that waits for a prompt is idle, and they have none for
/// one that has ended.
pub(super) fn status_word(state: AgentState) -> Option<&'static str> {
    match state {
        AgentState::Ready => Some("idle"),
        AgentState::Error => Some("error"),
        AgentState::Starting
        | AgentState::Busy
        | AgentState::Blocked
        | AgentState::Limited
        | AgentState::Unknown => Some("running"),
        AgentState::Exited => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is a state: ready, busy, (p)ermission, (t)rust, unknown, limited, exited, error. Answers
    /// how many turns began and ended.
    #[track_caller]
    fn check(states: &str, begun: u64, ended: u64) {
        let mut turns = Turns::default();
        for letter in states.chars() {
            let (state, kind) = match letter {
                'r' => (AgentState::Ready, None),
                'b' => (AgentState::Busy, None),
                'p' => (AgentState::Blocked, Some(BlockKind::Permission)),
                't' => (AgentState::Blocked, Some(BlockKind::Trust)),
                'u' => (AgentState::Unknown, None),
                'l' => (AgentState::Limited, None),
                'x' => (AgentState::Exited, None),
                'e' => (AgentState::Error, None),
                other => unreachable!("{other}"),
            };
            turns.note(state, kind);
        }
        assert_eq!((turns.begun, turns.ended), (begun, ended), "{states}");
    }

    #[test]
    fn a_turn_goes_from_work_to_waiting_for_a_prompt() {
        check("r", 0, 0);
        check("rb", 1, 0);
        check("rbpb", 1, 0);
        check("rbpbr", 1, 1);
        check("rbubr", 1, 1);
        check("rbrbe", 2, 2);
        check("rbl", 1, 1);
        check("rbx", 1, 1);
    }

    #[test]
    fn questions_at_the_start_are_no_turn() {
        check("tr", 0, 0);
        check("trbr", 1, 1);
    }
}
