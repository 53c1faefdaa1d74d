//! What the rest of the kernel sees of the task of an agent: requests to it, its status and its
//! turns.

use std::sync::Arc;

use paned_model::{AgentInfo, AgentState, BlockKind, Refusal, Time};
use paned_policy::agent::{Composer, EvidenceItem, HookReport, Profile};
use paned_policy::delivery::InterruptOutcome;
use paned_policy::transcript::TranscriptAnswer;
use tokio::sync::{mpsc, oneshot, watch};

use super::recording::HistorySlice;
use super::typist::{DialogAnswer, TypingReply};
use crate::panes::TypedInput;

/// A cheap handle to the task of one running agent.
#[derive(Clone)]
pub(crate) struct AgentHandle {
    pub(super) requests: mpsc::Sender<AgentRequest>,
    pub(super) status: watch::Receiver<AgentStatus>,
}

impl AgentHandle {
    /// Sends a request to its task and awaits the reply; `None` if the program ends meanwhile.
    pub(crate) async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<T>) -> AgentRequest,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).await.ok()?;
        answer.await.ok()
    }

    /// A client types this. Called before the write, so that the engine sees it before the output
    /// that follows from it. Never waits: a task that is behind sees the result on the screen.
    pub(crate) fn typing(&self, typed: &TypedInput) {
        let _ = self.requests.try_send(AgentRequest::Typing(typed.clone()));
    }

    /// The input was written. Recordings contain it from now on.
    pub(crate) fn typed(&self, typed: TypedInput) {
        let _ = self.requests.try_send(AgentRequest::Typed(typed));
    }

    /// Uses this profile from now on.
    pub(crate) async fn switch_profile(&self, profile: Arc<Profile>) {
        // A task that has ended needs none.
        let _ = self.requests.send(AgentRequest::Profile(profile)).await;
    }

    /// Subscribes to its status.
    pub(crate) fn seen(&self) -> watch::Receiver<AgentStatus> {
        self.status.clone()
    }
}

/// A request to an agent's task.
pub(crate) enum AgentRequest {
    /// Read the screen now, and return everything that is known.
    Inspect(oneshot::Sender<AgentInspection>),
    /// A report of its hook, or of a client on its behalf. Answered when the engine has used it.
    Report(HookReport, oneshot::Sender<()>),
    /// A client types this: the agent is expected to react.
    Typing(TypedInput),
    /// This was typed: it goes into the history, for recordings.
    Typed(TypedInput),
    /// Use this profile from now on.
    Profile(Arc<Profile>),
    /// Return the history since this time.
    History(Time, oneshot::Sender<HistorySlice>),
    /// A message was accepted; it is in the outbox.
    Message,
    /// Cancel this message, if nothing of it is typed.
    Cancel(u64, oneshot::Sender<Result<(), Refusal>>),
    /// Answer the question on the screen.
    Answer(DialogAnswer),
    /// Interrupt the turn.
    Interrupt(TypingReply<InterruptOutcome>),
}

/// Everything that is known about an agent.
pub(crate) struct AgentInspection {
    pub(crate) seen: AgentStatus,
    pub(crate) reasons: Vec<EvidenceItem>,
    /// What makes the judgement doubtful, in sentences.
    pub(crate) warnings: Vec<String>,
    pub(crate) composer: Composer,
    /// The beginning of the last prompt that was submitted.
    pub(crate) prompt: Option<String>,
    /// The last answer that its hook reported.
    pub(crate) said: Option<TranscriptAnswer>,
}

/// The public status of an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AgentStatus {
    /// Its state.
    pub(crate) info: AgentInfo,
    /// Its turns so far.
    pub(crate) turns: Turns,
}

/// The turns of an agent since its task has started: each begins with work and ends when the agent
/// waits for a prompt again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    /// How many have begun.
    pub(crate) begun: u64,
    /// How many of them have ended.
    pub(crate) ended: u64,
    /// Since when a turn is expected, because a prompt was submitted.
    pub(crate) expected: Option<Time>,
    /// When the last one began: at the Enter that submitted its prompt, where that was seen.
    pub(crate) began_at: Option<Time>,
}

/// How long after a prompt was submitted its turn may begin, in milliseconds.
pub(super) const TO_BEGIN: u64 = 10_000;
/// How much earlier than observed a turn without an observed Enter may have begun, in milliseconds.
const UNSEEN: u64 = 1_000;

impl Turns {
    /// Whether it is at work.
    pub(crate) fn is_under_way(self) -> bool {
        self.ended < self.begun
    }

    /// A prompt was submitted: a turn is expected.
    pub(crate) fn expect(&mut self, now: Time) {
        self.expected = Some(now);
    }

    /// The start of the expected turn, else of the present or the last one. Answers from before it
    /// belong to other turns.
    pub(crate) fn start(self, now: Time) -> Option<Time> {
        self.expected.filter(|at| now.since(*at) < TO_BEGIN).or(self.began_at)
    }

    /// Updates the turns for a new state.
    pub(crate) fn note(&mut self, state: AgentState, kind: Option<BlockKind>, now: Time) {
        match state {
            AgentState::Busy => self.begin(now),
            // Startup dialogs are no work.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter is a state: ready, busy, (p)ermission, (t)rust, unknown, limited, e(x)ited,
    /// error. Checks how many turns began and ended.
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
