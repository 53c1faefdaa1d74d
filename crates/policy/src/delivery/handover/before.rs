//! Until the first of it is typed: whether it can be, may be, and nobody is in the way.

use paned_model::{AgentState, Delivery, Time};

use super::{Before, Handover, Stage, Typed, is_busy, later, wait};
use crate::agent::Composer;
use crate::delivery::sight::Shown;
use crate::delivery::{Act, Sight, Standing, Step, WhenBusy};

/// How long an agent may be hard to make out before a message to it is refused, in milliseconds.
const PATIENCE: u64 = 60_000;
/// A person who typed so lately may not see their own keys yet.
const FRESH: u64 = 800;
/// How long a composer may take to be emptied, and how often that is tried.
const CLEAR: u64 = 250;
const CLEARS: u32 = 8;
/// How soon a state that is only surmised is looked at again.
const SURMISED: u64 = 200;
/// How much of a draft is quoted.
const QUOTED: usize = 40;

impl Handover {
    pub(super) fn before(&mut self, before: Before, sight: &Sight<'_>, now: Time) -> Step {
        if sight.state == AgentState::Exited {
            return self.end(Delivery::Refused, "its program has ended");
        }
        if sight.asks() {
            return self.is_asked(before, sight);
        }
        if is_busy(sight.state) && self.when_busy != WhenBusy::Send {
            // Whether a turn has begun with the last Enter shows in a moment.
            return match sight.surmised {
                true => wait(Some(later(now, SURMISED)), "it may have begun a turn"),
                false => self.is_busy(before, sight.state),
            };
        }
        if sight.may_ask() {
            return self.unclear(before, &format!("its state is {}", sight.state), now);
        }
        let fresh = sight.typed_at.map(|at| later(at, FRESH)).filter(|until| now < *until);
        match sight.composer {
            Composer::Draft(draft) => self.is_drafted(before, draft, sight),
            Composer::Empty | Composer::Hidden if fresh.is_some() => {
                wait(fresh, "somebody has typed a moment ago")
            }
            Composer::Hidden => self.unclear(before, "its composer is not to be seen", now),
            Composer::Empty => self.begin(sight),
        }
    }

    /// A question is on the screen, and nothing was typed.
    fn is_asked(&mut self, before: Before, sight: &Sight<'_>) -> Step {
        if before.accepted {
            return self.accepted(before, Delivery::Queued, "a question waits for an answer");
        }
        self.note("a question is on its screen, which Enter would answer; nothing was typed");
        Step::Finished(self.outcome(Delivery::Refused, Some(sight)))
    }

    fn is_busy(&mut self, before: Before, state: AgentState) -> Step {
        if self.when_busy == WhenBusy::Refuse {
            let why = format!("it is {state}, and the message was not to wait; nothing was typed");
            return self.end(Delivery::Refused, &why);
        }
        self.accepted(before, Delivery::Queued, &format!("it is {state}"))
    }

    /// Somebody's words stand in the composer.
    fn is_drafted(&mut self, before: Before, draft: &str, sight: &Sight<'_>) -> Step {
        let ours = self.leftover.as_ref().filter(|left| left.typed == sight.typed);
        let ours = ours.is_some_and(|left| sight.shows(&left.text) == Shown::Whole);
        if ours && before.cleared == 0 && !self.recipe.clear.is_empty() {
            return self.clear(before, sight);
        }
        let begin: String = draft.chars().take(QUOTED).collect();
        let whose = if ours { "an earlier message" } else { "somebody's draft" };
        let why = format!("{whose} stands in the composer: `{}`", begin.escape_debug());
        self.accepted(before, Delivery::Held, &why)
    }

    fn clear(&mut self, before: Before, sight: &Sight<'_>) -> Step {
        let before = Before { cleared: before.cleared + 1, ..before };
        let keys = self.recipe.clear.clone();
        self.write(Act::Press(keys), Stage::Clearing(before, Time(0)), sight)
    }

    /// Nothing is in the way.
    fn begin(&mut self, sight: &Sight<'_>) -> Step {
        let mut left = match self.prepared.acts(sight.view.modes.bracketed_paste, &self.recipe) {
            Ok(acts) => acts,
            Err(why) => return self.end(Delivery::Refused, &why),
        };
        left.reverse();
        let Some(first) = left.pop() else {
            return self.end(Delivery::Refused, "there is nothing to type");
        };
        let (hands, at, shown, found) = (sight.typed, Time(0), None, false);
        let then = Stage::Typed(Typed { hands, left, at, shown, found });
        self.write(first, then, sight)
    }

    /// Whether it can be typed cannot be made out, for a while.
    fn unclear(&mut self, before: Before, why: &str, now: Time) -> Step {
        let since = before.unclear.unwrap_or(now);
        let until = later(since, PATIENCE);
        if until <= now {
            let why = format!("{why}, for {} s by now; nothing was typed", PATIENCE / 1000);
            return self.end(Delivery::Refused, &why);
        }
        self.stage = Stage::Before(Before { unclear: Some(since), ..before });
        wait(Some(until), why)
    }

    /// It waits until somebody else is done.
    fn accepted(&mut self, before: Before, word: Delivery, why: &str) -> Step {
        self.stage = Stage::Before(Before { accepted: true, unclear: None, ..before });
        Step::Wait(None, Standing { word, why: why.to_owned(), passing: false })
    }

    pub(super) fn clearing(
        &mut self,
        before: Before,
        since: Time,
        sight: &Sight<'_>,
        now: Time,
    ) -> Step {
        let until = later(since, CLEAR);
        let ours = self.leftover.as_ref().is_some_and(|left| left.typed == sight.typed);
        if ours && !sight.may_ask() && matches!(sight.composer, Composer::Draft(_)) {
            if now < until {
                return wait(Some(until), "an earlier message is cleared away");
            }
            // One press may take one line of it.
            if before.cleared < CLEARS {
                return self.clear(before, sight);
            }
        }
        self.stage = Stage::Before(before);
        self.before(before, sight, now)
    }
}
