//! The stages before the text is typed: waits until the composer is free and no question is open.

use paned_model::{AgentState, Delivery, Time};

use super::{Attempt, AttemptStage, TypedText, is_busy, later, wait};
use crate::agent::{Composer, Observation};
use crate::delivery::text_match::TextVisibility;
use crate::delivery::{DeliveryStep, InputAction, Outcome, WhenBusy};

/// How long an agent's state may be unclear before a message to it is refused, in milliseconds.
const UNCLEAR_TIMEOUT: u64 = 60_000;
/// The screen may not show keys yet that a user typed this recently.
const RECENT_TYPING: u64 = 800;
/// How long the program may take to clear its composer, and how often that is tried.
const CLEAR_TIMEOUT: u64 = 250;
const MAX_CLEARS: u32 = 8;
/// How soon a state that is only inferred is checked again.
const INFERRED_RECHECK: u64 = 200;
/// How much of a draft is quoted.
const QUOTED: usize = 40;

impl Attempt {
    pub(super) fn step_before(&mut self, observation: &Observation, now: Time) -> DeliveryStep {
        if observation.state == AgentState::Exited {
            return self.end(Delivery::Refused, "its program has exited");
        }
        if observation.asks() {
            return self.on_question(observation);
        }
        if is_busy(observation.state) && self.when_busy != WhenBusy::Send {
            // Whether the last Enter has started a turn shows in a moment.
            return match observation.inferred {
                true => wait(Some(later(now, INFERRED_RECHECK)), "it may have started a turn"),
                false => self.on_busy(observation.state),
            };
        }
        if observation.may_ask() {
            return self.on_unclear(&format!("its state is {}", observation.state), now);
        }
        let fresh =
            observation.typed_at.map(|at| later(at, RECENT_TYPING)).filter(|until| now < *until);
        match &observation.composer {
            Composer::Draft(draft) => self.on_draft(draft, observation),
            Composer::Empty | Composer::Hidden if fresh.is_some() => {
                wait(fresh, "a user typed a moment ago")
            }
            Composer::Hidden => self.on_unclear("its composer is not visible", now),
            Composer::Empty => self.begin(observation),
        }
    }

    /// A question is on the screen, and nothing was typed.
    fn on_question(&mut self, observation: &Observation) -> DeliveryStep {
        if self.was_queued {
            return self.queue(Delivery::Queued, "a question is waiting for an answer");
        }
        let why = "a question is on its screen, so nothing was typed; answer it with \
                  `agent:answer`";
        self.end_at(observation, Delivery::Refused, why)
    }

    fn on_busy(&mut self, state: AgentState) -> DeliveryStep {
        if self.when_busy == WhenBusy::Refuse {
            let why = format!("it is {state}, so nothing was typed");
            return self.end(Delivery::Refused, &why);
        }
        self.queue(Delivery::Queued, &format!("it is {state}"))
    }

    /// The composer holds a draft.
    fn on_draft(&mut self, draft: &str, observation: &Observation) -> DeliveryStep {
        let ours = self.leftover.as_ref().filter(|left| left.typed == observation.typed);
        let ours = ours
            .is_some_and(|left| observation.text_visibility(&left.text) == TextVisibility::Whole);
        if ours && self.cleared == 0 && !self.profile.submit.clear.is_empty() {
            return self.clear(observation);
        }
        let begin: String = draft.chars().take(QUOTED).collect();
        let whose = if ours { "an earlier message" } else { "a user's draft" };
        let why = format!("the composer contains {whose}: `{}`", begin.escape_debug());
        self.queue(Delivery::Held, &why)
    }

    fn clear(&mut self, observation: &Observation) -> DeliveryStep {
        let keys = self.profile.submit.clear.clone();
        self.write(InputAction::Press(keys), AttemptStage::Clearing(Time(0)), observation)
    }

    /// Types the first piece: nothing blocks it.
    fn begin(&mut self, observation: &Observation) -> DeliveryStep {
        let mut remaining = match self
            .prepared
            .acts(observation.view.modes.bracketed_paste, &self.profile.submit)
        {
            Ok(acts) => acts,
            Err(why) => return self.end(Delivery::Refused, &why),
        };
        remaining.reverse();
        let Some(first) = remaining.pop() else {
            return self.end(Delivery::Refused, "the text is empty");
        };
        let next_stage = AttemptStage::Typed(TypedText {
            typed_before: observation.typed,
            remaining,
            at: Time(0),
            shown: None,
            was_resumed: false,
        });
        self.write(first, next_stage, observation)
    }

    /// It is unclear whether the text can be typed: waits, and refuses the message after a
    /// time-out.
    fn on_unclear(&mut self, why: &str, now: Time) -> DeliveryStep {
        let since = *self.unclear_since.get_or_insert(now);
        let until = later(since, UNCLEAR_TIMEOUT);
        if until <= now {
            let why = format!("{why} after {} s, so nothing was typed", UNCLEAR_TIMEOUT / 1000);
            return self.end(Delivery::Refused, &why);
        }
        wait(Some(until), why)
    }

    /// Queues or holds the message until the agent or the user is done.
    fn queue(&mut self, delivery: Delivery, why: &str) -> DeliveryStep {
        self.was_queued = true;
        self.unclear_since = None;
        DeliveryStep::Wait(None, Outcome::new(delivery, why))
    }

    pub(super) fn step_clearing(
        &mut self,
        since: Time,
        observation: &Observation,
        now: Time,
    ) -> DeliveryStep {
        let until = later(since, CLEAR_TIMEOUT);
        let ours = self.leftover.as_ref().is_some_and(|left| left.typed == observation.typed);
        if ours && !observation.may_ask() && matches!(observation.composer, Composer::Draft(_)) {
            if now < until {
                return wait(Some(until), "an earlier message is being cleared");
            }
            // One press may clear only one line.
            if self.cleared < MAX_CLEARS {
                return self.clear(observation);
            }
        }
        self.stage = AttemptStage::Before;
        self.step_before(observation, now)
    }
}
