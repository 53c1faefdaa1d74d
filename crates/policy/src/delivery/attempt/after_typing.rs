//! Once it is typed: Enter when it is to be seen and nothing speaks against it, and what became of it.

use paned_model::{AgentState, Delivery, Time};

use super::{
    AttemptStage, DeliveryAttempt, SubmitState, TypedText, is_busy, later, unsubmitted_delivery,
    wait,
};
use crate::agent::Composer;
use crate::delivery::observation::TextVisibility;
use crate::delivery::{AgentObservation, DeliveryStep, InputAction};

/// How long a program may take to show a text, in milliseconds; and one more for so many bytes.
const SHOW_TIMEOUT: u64 = 10_000;
const BYTES_PER_MS: u64 = 50;
/// The same for one that was typed before we came.
const RESUMED_TIMEOUT: u64 = 4_000;
/// A text that shows only in part is taken for whole after so long without a change.
const PARTIAL_STABLE: u64 = 400;
/// After the last change, the next key comes so much later.
const SETTLED: u64 = 40;
/// After so long Enter is pressed again if the text still stands there: sooner if the program has printed since.
const RETRY: u64 = 900;
const RETRY_SILENT: u64 = 2_000;
/// A screen that is drawn in pieces shows an empty composer for a moment: it must stay so for this long.
const EMPTIED: u64 = 150;
/// How long after the last Enter a sign of it is waited for.
const CONFIRM_TIMEOUT: u64 = 12_000;
/// A text that was found in a conversation is taken for ours if it is no shorter than this.
const MIN_MATCH_CHARS: usize = 16;

impl DeliveryAttempt {
    /// It is being typed, or stands there and Enter was not pressed.
    pub(super) fn step_typed(
        &mut self,
        mut typed: TypedText,
        sight: &AgentObservation<'_>,
        now: Time,
    ) -> DeliveryStep {
        let shows = sight.text_visibility(&self.prepared.text);
        typed.note_visibility(shows, sight, now);
        self.stage = AttemptStage::Typed(typed.clone());
        if let Some(step) = self.stopped(&typed, shows, sight) {
            return step;
        }
        let next = typed.remaining.last().cloned();
        let at = match &next {
            Some(_) => Some(later(typed.at, SETTLED)),
            None => self.press_at(&typed),
        };
        match at {
            Some(at) if at <= now && !sight.may_ask() => match next {
                Some(piece) => {
                    typed.remaining.pop();
                    self.write(piece, AttemptStage::Typed(typed), sight)
                }
                None => self.press(typed, 1, sight),
            },
            at => self.await_show(&typed, at.filter(|at| now < *at), sight, now),
        }
    }

    /// What ends it before Enter was pressed.
    fn stopped(
        &mut self,
        typed: &TypedText,
        shows: TextVisibility,
        sight: &AgentObservation<'_>,
    ) -> Option<DeliveryStep> {
        if sight.state == AgentState::Exited {
            return Some(self.end(Delivery::Unknown, "its program ended before Enter was pressed"));
        }
        if sight.recorded {
            return Some(self.end(Delivery::Submitted, "it stands in the agent's own record"));
        }
        let empty = shows == TextVisibility::Nothing && *sight.composer == Composer::Empty;
        let telling = MIN_MATCH_CHARS <= self.prepared.text.len() || is_busy(sight.state);
        if typed.was_resumed && empty && telling && sight.is_in_conversation(&self.prepared.text) {
            return Some(self.end(Delivery::Submitted, "it stands in the conversation"));
        }
        if sight.asks() {
            self.note("a question came up after the text was typed; Enter was not pressed");
            return Some(DeliveryStep::Finished(
                self.outcome(unsubmitted_delivery(typed), Some(sight)),
            ));
        }
        if sight.typed != typed.typed_before {
            return Some(self.end(
                unsubmitted_delivery(typed),
                "somebody typed after that; Enter was not pressed",
            ));
        }
        None
    }

    /// When Enter may be pressed, once the text is to be seen.
    fn press_at(&self, typed: &TypedText) -> Option<Time> {
        let (shown, _, since) = typed.shown.as_ref()?;
        let still = match shown {
            TextVisibility::Nothing => return None,
            // What was found there must be known to be ours.
            TextVisibility::Other | TextVisibility::Part if typed.was_resumed => return None,
            TextVisibility::Other | TextVisibility::Part => PARTIAL_STABLE,
            TextVisibility::Whole => SETTLED,
        };
        Some(later(*since, still).max(later(typed.at, self.recipe.delay_ms)))
    }

    fn press(
        &mut self,
        typed: TypedText,
        count: u32,
        sight: &AgentObservation<'_>,
    ) -> DeliveryStep {
        let (at, was_busy, end) = (Time(0), is_busy(sight.state), sight.end);
        let pressed = SubmitState { at, count, was_busy, draft: sight.composer.clone(), end };
        let keys = self.recipe.submit.clone();
        self.write(InputAction::Press(keys), AttemptStage::Submitted(typed, pressed), sight)
    }

    fn await_show(
        &mut self,
        typed: &TypedText,
        at: Option<Time>,
        sight: &AgentObservation<'_>,
        now: Time,
    ) -> DeliveryStep {
        let length = self.prepared.text.len() as u64;
        // What was typed long ago shows by now.
        let usual =
            if typed.was_resumed && !sight.may_ask() { RESUMED_TIMEOUT } else { SHOW_TIMEOUT };
        let until = later(typed.at, usual + length / BYTES_PER_MS);
        if now < until {
            return wait(Some(at.unwrap_or(until).min(until)), "it is being typed");
        }
        let word = unsubmitted_delivery(typed);
        self.end(word, match word {
            Delivery::Drafted => "what the agent does could not be made out; Enter was not pressed",
            _ => "the text was typed and is not to be seen in the composer; Enter was not pressed",
        })
    }

    /// Enter was pressed.
    pub(super) fn step_submitted(
        &mut self,
        mut typed: TypedText,
        pressed: SubmitState,
        sight: &AgentObservation<'_>,
        now: Time,
    ) -> DeliveryStep {
        let shows = sight.text_visibility(&self.prepared.text);
        typed.note_visibility(shows, sight, now);
        self.stage = AttemptStage::Submitted(typed.clone(), pressed.clone());
        let stands =
            matches!(sight.composer, Composer::Draft(_)) && *sight.composer == pressed.draft;
        let ours = stands || TextVisibility::Part <= shows;
        let is_taken = !ours && !sight.has_unread_line;
        let sign = self.sign(pressed.was_busy, shows, sight).filter(|_| is_taken);
        if let Some(sign) = sign {
            let since = typed.shown.as_ref().map_or(now, |(_, _, since)| *since);
            let until = if sign.must_last { later(since, EMPTIED) } else { now };
            if now < until {
                return wait(Some(until), "Enter was pressed");
            }
            let (sign, after) = (sign.what, now.since(pressed.at));
            return self.end(Delivery::Submitted, &format!("{sign} within {after} ms"));
        }
        if sight.state == AgentState::Exited {
            return self.end(Delivery::Unknown, "its program ended after Enter was pressed");
        }
        // Only where it is known to be a composer, and not a line that was entered, is Enter pressed again.
        let stays = ours && !sight.may_ask() && matches!(sight.composer, Composer::Draft(_));
        let patience = if pressed.end < sight.end { RETRY } else { RETRY_SILENT };
        let retry = later(pressed.at, patience * u64::from(pressed.count + 1) / 2);
        let until = if stays { retry } else { later(pressed.at, CONFIRM_TIMEOUT) };
        if now < until {
            return wait(Some(until), "Enter was pressed");
        }
        // What somebody has typed into is no longer ours to submit.
        if stays && sight.typed == typed.typed_before && pressed.count < self.recipe.presses {
            return self.press(typed, pressed.count + 1, sight);
        }
        self.unconfirmed(ours, sight)
    }

    /// What shows that the agent has taken it. A text that still stands in the composer was not taken, whatever else
    /// speaks for it: that an agent is busy is partly surmised from our own Enter.
    fn sign(
        &self,
        was_busy: bool,
        shows: TextVisibility,
        sight: &AgentObservation<'_>,
    ) -> Option<AcceptanceSign> {
        let at_once = |what| Some(AcceptanceSign { what, must_last: false });
        let lasting = |what| Some(AcceptanceSign { what, must_last: true });
        if sight.recorded {
            return at_once("it was in the agent's own record");
        }
        if !was_busy && sight.state == AgentState::Busy && !sight.inferred {
            return at_once("the agent turned busy");
        }
        if *sight.composer == Composer::Empty && !sight.may_ask() {
            return lasting("the composer emptied");
        }
        let gone = shows == TextVisibility::Nothing && *sight.composer == Composer::Hidden;
        if gone && sight.is_in_conversation(&self.prepared.text) {
            return lasting("it moved from the composer to the conversation");
        }
        None
    }

    fn unconfirmed(&mut self, ours: bool, sight: &AgentObservation<'_>) -> DeliveryStep {
        let (word, why) = match (ours, sight.composer) {
            (true, _) => (Delivery::Drafted, "the text still stands in the composer"),
            _ if sight.has_unread_line => {
                (Delivery::Unknown, "it was typed, and its program has not read the line")
            }
            (false, Composer::Draft(_)) => {
                (Delivery::Unknown, "something else stands in the composer now")
            }
            (false, Composer::Empty | Composer::Hidden) => {
                (Delivery::Unknown, "nothing shows what became of it")
            }
        };
        self.note(why);
        let asked = sight.asks().then_some(sight);
        DeliveryStep::Finished(self.outcome(word, asked))
    }
}

/// What shows that the agent has taken a text.
struct AcceptanceSign {
    /// As a clause.
    what: &'static str,
    /// Whether one look is not enough.
    must_last: bool,
}

impl TypedText {
    /// Notes how far it shows, and since when it does so in the same words.
    fn note_visibility(&mut self, shows: TextVisibility, sight: &AgentObservation<'_>, now: Time) {
        let same = |(before, words, _): &(TextVisibility, Composer, Time)| {
            *before == shows && words == sight.composer
        };
        if !self.shown.as_ref().is_some_and(same) {
            self.shown = Some((shows, sight.composer.clone(), now));
        }
    }
}
