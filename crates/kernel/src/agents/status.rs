//! What everybody may know of an agent at a moment.

use paned_model::{AgentInfo, AgentState, BlockKind, Time};
use paned_policy::agent::Judgement;

/// What everybody may know of an agent at a moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AgentStatus {
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
    /// When the last one began: at the Enter that submitted its prompt, where that was seen.
    pub(crate) began_at: Option<Time>,
}

/// How long after a prompt was handed over its turn may begin, in milliseconds.
const TO_BEGIN: u64 = 10_000;
/// How much earlier than it was seen a turn may have begun whose Enter was not seen, in milliseconds.
const UNSEEN: u64 = 1_000;

impl Turns {
    /// Whether it is at work.
    pub(crate) fn is_under_way(self) -> bool {
        self.ended < self.begun
    }

    /// A prompt was handed over; work is to follow.
    pub(crate) fn expect(&mut self, now: Time) {
        self.expected = Some(now);
    }

    /// When the turn began that is under way, is expected, or was the last. Answers from before that are of other turns.
    pub(crate) fn start(self, now: Time) -> Option<Time> {
        self.expected.filter(|at| now.since(*at) < TO_BEGIN).or(self.began_at)
    }

    /// What it does now.
    pub(crate) fn note(&mut self, state: AgentState, kind: Option<BlockKind>, now: Time) {
        match state {
            AgentState::Busy => self.begin(now),
            // Questions at the start are no work.
            AgentState::Blocked if !is_startup_question(kind) => self.begin(now),
            AgentState::Ready | AgentState::Error | AgentState::Limited => self.end(),
            AgentState::Exited => {
                self.end();
                self.expected = None;
            }
            AgentState::Blocked | AgentState::Starting | AgentState::Unknown => {}
        }
    }

    fn begin(&mut self, now: Time) {
        let entered = self.expected.take().filter(|at| now.since(*at) < TO_BEGIN);
        if !self.is_under_way() {
            self.begun += 1;
            self.began_at = Some(entered.unwrap_or(Time(now.0.saturating_sub(UNSEEN))));
        }
    }

    fn end(&mut self) {
        self.ended = self.begun;
    }
}

fn is_startup_question(kind: Option<BlockKind>) -> bool {
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
pub(super) fn legacy_status(state: AgentState) -> Option<&'static str> {
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
            turns.note(state, kind, Time(0));
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
    fn a_turn_starts_with_the_enter_that_submitted_its_prompt() {
        let (mut turns, busy) = (Turns::default(), AgentState::Busy);
        assert_eq!(turns.start(Time(50_000)), None);
        turns.expect(Time(50_000));
        assert_eq!(turns.start(Time(50_010)), Some(Time(50_000)), "before work is seen");
        turns.note(busy, None, Time(50_100));
        turns.expect(Time(52_000));
        turns.note(busy, None, Time(52_100));
        assert_eq!(
            turns.start(Time(52_200)),
            Some(Time(50_000)),
            "an Enter in a turn is part of it"
        );
        turns.note(AgentState::Ready, None, Time(53_000));
        turns.expect(Time(54_000));
        assert_eq!(turns.start(Time(54_001)), Some(Time(54_000)));
        assert_eq!(turns.start(Time(64_001)), Some(Time(50_000)), "nothing followed that Enter");
        turns.note(busy, None, Time(90_000));
        assert_eq!(turns.start(Time(90_000)), Some(Time(89_000)), "its Enter was not seen");
    }

    #[test]
    fn questions_at_the_start_are_no_turn() {
        check("tr", 0, 0);
        check("trbr", 1, 1);
    }
}
