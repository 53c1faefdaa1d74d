//! Until the first of it is typed: whether it can be, may be, and nobody is in the way.

use paned_model::{AgentState, Delivery, Time};

use super::{AttemptStage, BeforeTyping, DeliveryAttempt, TypedText, is_busy, later, wait};
use crate::agent::Composer;
use crate::delivery::observation::TextVisibility;
use crate::delivery::{AgentObservation, DeliveryStep, DeliveryWait, InputAction, WhenBusy};

/// How long an agent may be hard to make out before a message to it is refused, in milliseconds.
const UNCLEAR_TIMEOUT: u64 = 60_000;
/// A person who typed so lately may not see their own keys yet.
const RECENT_TYPING: u64 = 800;
/// How long a composer may take to be emptied, and how often that is tried.
const CLEAR_TIMEOUT: u64 = 250;
const MAX_CLEARS: u32 = 8;
/// How soon a state that is only surmised is looked at again.
const INFERRED_RECHECK: u64 = 200;
/// How much of a draft is quoted.
const QUOTED: usize = 40;

impl DeliveryAttempt {
    pub(super) fn step_before(
        &mut self,
        before: BeforeTyping,
        sight: &AgentObservation<'_>,
        now: Time,
    ) -> DeliveryStep {
        if sight.state == AgentState::Exited {
            return self.end(Delivery::Refused, "its program has ended");
        }
        if sight.asks() {
            return self.on_question(before, sight);
        }
        if is_busy(sight.state) && self.when_busy != WhenBusy::Send {
            // Whether a turn has begun with the last Enter shows in a moment.
            return match sight.inferred {
                true => wait(Some(later(now, INFERRED_RECHECK)), "it may have begun a turn"),
                false => self.on_busy(before, sight.state),
            };
        }
        if sight.may_ask() {
            return self.on_unclear(before, &format!("its state is {}", sight.state), now);
        }
        let fresh = sight.typed_at.map(|at| later(at, RECENT_TYPING)).filter(|until| now < *until);
        match sight.composer {
            Composer::Draft(draft) => self.on_draft(before, draft, sight),
            Composer::Empty | Composer::Hidden if fresh.is_some() => {
                wait(fresh, "somebody has typed a moment ago")
            }
            Composer::Hidden => self.on_unclear(before, "its composer is not to be seen", now),
            Composer::Empty => self.begin(sight),
        }
    }

    /// A question is on the screen, and nothing was typed.
    fn on_question(&mut self, before: BeforeTyping, sight: &AgentObservation<'_>) -> DeliveryStep {
        if before.accepted {
            return self.accepted(before, Delivery::Queued, "a question waits for an answer");
        }
        self.note("a question is on its screen, which Enter would answer; nothing was typed");
        DeliveryStep::Finished(self.outcome(Delivery::Refused, Some(sight)))
    }

    fn on_busy(&mut self, before: BeforeTyping, state: AgentState) -> DeliveryStep {
        if self.when_busy == WhenBusy::Refuse {
            let why = format!("it is {state}, and the message was not to wait; nothing was typed");
            return self.end(Delivery::Refused, &why);
        }
        self.accepted(before, Delivery::Queued, &format!("it is {state}"))
    }

    /// Somebody's words stand in the composer.
    fn on_draft(
        &mut self,
        before: BeforeTyping,
        draft: &str,
        sight: &AgentObservation<'_>,
    ) -> DeliveryStep {
        let ours = self.leftover.as_ref().filter(|left| left.typed == sight.typed);
        let ours =
            ours.is_some_and(|left| sight.text_visibility(&left.text) == TextVisibility::Whole);
        if ours && before.cleared == 0 && !self.recipe.clear.is_empty() {
            return self.clear(before, sight);
        }
        let begin: String = draft.chars().take(QUOTED).collect();
        let whose = if ours { "an earlier message" } else { "somebody's draft" };
        let why = format!("{whose} stands in the composer: `{}`", begin.escape_debug());
        self.accepted(before, Delivery::Held, &why)
    }

    fn clear(&mut self, before: BeforeTyping, sight: &AgentObservation<'_>) -> DeliveryStep {
        let before = BeforeTyping { cleared: before.cleared + 1, ..before };
        let keys = self.recipe.clear.clone();
        self.write(InputAction::Press(keys), AttemptStage::Clearing(before, Time(0)), sight)
    }

    /// Nothing is in the way.
    fn begin(&mut self, sight: &AgentObservation<'_>) -> DeliveryStep {
        let mut left = match self.prepared.acts(sight.view.modes.bracketed_paste, &self.recipe) {
            Ok(acts) => acts,
            Err(why) => return self.end(Delivery::Refused, &why),
        };
        left.reverse();
        let Some(first) = left.pop() else {
            return self.end(Delivery::Refused, "there is nothing to type");
        };
        let (hands, at, shown, found) = (sight.typed, Time(0), None, false);
        let then = AttemptStage::Typed(TypedText {
            typed_before: hands,
            remaining: left,
            at,
            shown,
            was_resumed: found,
        });
        self.write(first, then, sight)
    }

    /// Whether it can be typed cannot be made out, for a while.
    fn on_unclear(&mut self, before: BeforeTyping, why: &str, now: Time) -> DeliveryStep {
        let since = before.unclear.unwrap_or(now);
        let until = later(since, UNCLEAR_TIMEOUT);
        if until <= now {
            let why = format!("{why}, for {} s by now; nothing was typed", UNCLEAR_TIMEOUT / 1000);
            return self.end(Delivery::Refused, &why);
        }
        self.stage = AttemptStage::Before(BeforeTyping { unclear: Some(since), ..before });
        wait(Some(until), why)
    }

    /// It waits until somebody else is done.
    fn accepted(&mut self, before: BeforeTyping, word: Delivery, why: &str) -> DeliveryStep {
        self.stage = AttemptStage::Before(BeforeTyping { accepted: true, unclear: None, ..before });
        DeliveryStep::Wait(
            None,
            DeliveryWait { delivery: word, why: why.to_owned(), transient: false },
        )
    }

    pub(super) fn step_clearing(
        &mut self,
        before: BeforeTyping,
        since: Time,
        sight: &AgentObservation<'_>,
        now: Time,
    ) -> DeliveryStep {
        let until = later(since, CLEAR_TIMEOUT);
        let ours = self.leftover.as_ref().is_some_and(|left| left.typed == sight.typed);
        if ours && !sight.may_ask() && matches!(sight.composer, Composer::Draft(_)) {
            if now < until {
                return wait(Some(until), "an earlier message is cleared away");
            }
            // One press may take one line of it.
            if before.cleared < MAX_CLEARS {
                return self.clear(before, sight);
            }
        }
        self.stage = AttemptStage::Before(before);
        self.step_before(before, sight, now)
    }
}
