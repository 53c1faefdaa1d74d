//! The stages after the text is typed: presses Enter once the text is visible and no question is
//! open, and confirms that the agent accepted it.

use paned_model::{AgentState, BlockKind, Delivery, Time};

use super::{
    Attempt, AttemptStage, SubmitState, TypedText, is_busy, later, unsubmitted_delivery, wait,
};
use crate::agent::{Composer, Observation};
use crate::delivery::text_match::TextVisibility;
use crate::delivery::{DeliveryStep, InputAction};

/// How long a program may take to show a text, in milliseconds, plus one for each [`BYTES_PER_MS`]
/// bytes.
const SHOW_TIMEOUT: u64 = 10_000;
const BYTES_PER_MS: u64 = 50;
/// The same for a text that an earlier server typed.
const RESUMED_TIMEOUT: u64 = 4_000;
/// A text that is visible only in part is taken as whole after this long without a change.
const PARTIAL_STABLE: u64 = 400;
/// How long after the last change the next key is pressed.
const SETTLED: u64 = 40;
/// How long until Enter is pressed again if the text is still in the composer: [`RETRY`] if the
/// program has printed since, else [`RETRY_SILENT`].
const RETRY: u64 = 900;
const RETRY_SILENT: u64 = 2_000;
/// How often Enter is pressed at most while the text is still in a composer that the profile
/// describes.
const MAX_PRESSES: u32 = 4;
/// How long a composer must stay empty: a screen that is drawn in pieces shows an empty one
/// briefly.
const EMPTIED: u64 = 150;
/// How long to wait for a confirmation after the last Enter.
const CONFIRM_TIMEOUT: u64 = 12_000;
/// The shortest text that counts as ours if it is found in the conversation.
const MIN_MATCH_CHARS: usize = 16;

impl Attempt {
    /// The text is being typed, or is in the composer and Enter was not pressed.
    pub(super) fn step_typed(
        &mut self,
        mut typed: TypedText,
        observation: &Observation,
        now: Time,
    ) -> DeliveryStep {
        let shows = observation.text_visibility(&self.prepared.text);
        typed.note_visibility(shows, observation, now);
        self.stage = AttemptStage::Typed(typed.clone());
        if let Some(step) = self.stopped(&typed, shows, observation) {
            return step;
        }
        let next = typed.remaining.last().cloned();
        let at = match &next {
            Some(_) => Some(later(typed.at, SETTLED)),
            None => self.press_at(&typed),
        };
        match at {
            Some(at) if at <= now && !observation.may_ask() => match next {
                Some(piece) => {
                    typed.remaining.pop();
                    self.write(piece, AttemptStage::Typed(typed), observation)
                }
                None => self.press(typed, 1, observation),
            },
            at => self.await_show(&typed, at.filter(|at| now < *at), observation, now),
        }
    }

    /// Finishes the attempt if something prevents Enter.
    fn stopped(
        &mut self,
        typed: &TypedText,
        shows: TextVisibility,
        observation: &Observation,
    ) -> Option<DeliveryStep> {
        if observation.state == AgentState::Exited {
            return Some(
                self.end(Delivery::Unknown, "its program exited before Enter was pressed"),
            );
        }
        let empty = shows == TextVisibility::Nothing && observation.composer == Composer::Empty;
        let telling =
            MIN_MATCH_CHARS <= self.prepared.text.chars().count() || is_busy(observation.state);
        if typed.was_resumed
            && empty
            && telling
            && observation.is_in_conversation(&self.prepared.text)
        {
            return Some(self.end(Delivery::Submitted, "the text is in the conversation"));
        }
        if observation.asks() {
            let why = "a question appeared after the text was typed, so Enter was not pressed";
            return Some(self.end_at(observation, unsubmitted_delivery(typed), why));
        }
        if observation.typed != typed.typed_before {
            return Some(self.end(
                unsubmitted_delivery(typed),
                "a user typed after the text, so Enter was not pressed",
            ));
        }
        None
    }

    /// When Enter may be pressed, once the text is visible.
    fn press_at(&self, typed: &TypedText) -> Option<Time> {
        let (shown, _, since) = typed.shown.as_ref()?;
        let still = match shown {
            TextVisibility::Nothing => return None,
            // A resumed text must be known to be ours.
            TextVisibility::Other | TextVisibility::Part if typed.was_resumed => return None,
            TextVisibility::Other | TextVisibility::Part => PARTIAL_STABLE,
            TextVisibility::Whole => SETTLED,
        };
        Some(later(*since, still).max(later(typed.at, self.profile.submit.delay_ms)))
    }

    fn press(&mut self, typed: TypedText, count: u32, observation: &Observation) -> DeliveryStep {
        let pressed = SubmitState {
            at: Time(0),
            count,
            was_busy: is_busy(observation.state),
            draft: observation.composer.clone(),
            end: observation.end,
        };
        let keys = self.profile.submit.enter.clone();
        self.write(InputAction::Press(keys), AttemptStage::Submitted(typed, pressed), observation)
    }

    fn await_show(
        &mut self,
        typed: &TypedText,
        at: Option<Time>,
        observation: &Observation,
        now: Time,
    ) -> DeliveryStep {
        let length = self.prepared.text.len() as u64;
        // A text that was typed long ago is visible by now.
        let usual = if typed.was_resumed && !observation.may_ask() {
            RESUMED_TIMEOUT
        } else {
            SHOW_TIMEOUT
        };
        let until = later(typed.at, usual + length / BYTES_PER_MS);
        if now < until {
            return wait(Some(at.unwrap_or(until).min(until)), "the text is being typed");
        }
        let delivery = unsubmitted_delivery(typed);
        self.end(delivery, match delivery {
            Delivery::Drafted => "the agent's state could not be determined, so Enter was not \
                                 pressed",
            _ => "the text was typed but is not visible in the composer, so Enter was not pressed",
        })
    }

    /// Enter was pressed.
    pub(super) fn step_submitted(
        &mut self,
        mut typed: TypedText,
        pressed: SubmitState,
        observation: &Observation,
        now: Time,
    ) -> DeliveryStep {
        let shows = observation.text_visibility(&self.prepared.text);
        typed.note_visibility(shows, observation, now);
        self.stage = AttemptStage::Submitted(typed.clone(), pressed.clone());
        let is_unchanged = matches!(observation.composer, Composer::Draft(_))
            && observation.composer == pressed.draft;
        let ours = is_unchanged || TextVisibility::Part <= shows;
        let is_taken = !ours && !observation.has_unread_line;
        let sign = self.sign(&typed, &pressed, shows, observation).filter(|_| is_taken);
        if let Some((sign, lasting_ms)) = sign {
            let since = typed.shown.as_ref().map_or(now, |(_, _, since)| *since);
            let until = later(since, lasting_ms);
            if now < until {
                return wait(Some(until), "Enter was pressed");
            }
            let after = now.since(pressed.at);
            return self.end(Delivery::Submitted, &format!("{sign} within {after} ms"));
        }
        if observation.state == AgentState::Exited {
            return self.end(Delivery::Unknown, "its program exited after Enter was pressed");
        }
        // Enter is pressed again only into a known composer, not after a line that was already
        // entered.
        let stays =
            ours && !observation.may_ask() && matches!(observation.composer, Composer::Draft(_));
        let delay = if pressed.end < observation.end { RETRY } else { RETRY_SILENT };
        let retry = later(pressed.at, delay * u64::from(pressed.count + 1) / 2);
        let until = if stays { retry } else { later(pressed.at, CONFIRM_TIMEOUT) };
        if now < until {
            return wait(Some(until), "Enter was pressed");
        }
        // Without a profile, the text that looks like a composer may be a line that the program has
        // already read: a second Enter could answer a question that follows it.
        let presses = if self.profile.is_generic() { 1 } else { MAX_PRESSES };
        // A draft into which a user has typed is no longer ours to submit.
        if stays && observation.typed == typed.typed_before && pressed.count < presses {
            return self.press(typed, pressed.count + 1, observation);
        }
        self.unconfirmed(ours, observation)
    }

    /// What shows that the agent accepted the text, as a clause, and for how long it must persist.
    /// A text that is still in the composer was not accepted, whatever other evidence there is: the
    /// busy state is partly inferred from our own Enter.
    fn sign(
        &self,
        typed: &TypedText,
        pressed: &SubmitState,
        shows: TextVisibility,
        observation: &Observation,
    ) -> Option<(&'static str, u64)> {
        if !pressed.was_busy && observation.state == AgentState::Busy && !observation.inferred {
            return Some(("the agent became busy", 0));
        }
        if observation.composer == Composer::Empty && !observation.may_ask() {
            return Some(("the composer was emptied", EMPTIED));
        }
        let gone = shows == TextVisibility::Nothing && observation.composer == Composer::Hidden;
        if gone && observation.is_in_conversation(&self.prepared.text) {
            return Some(("the text moved from the composer to the conversation", EMPTIED));
        }
        // Enter was written when no question was open and no turn was running. So the text started
        // the turn that asks, unless a user has typed.
        let asks = observation.dialog.as_ref().is_some_and(|dialog| is_asked_in_turn(dialog.kind));
        let alone = typed.typed_before.is_some() && observation.typed == typed.typed_before;
        let led_to_it = gone && asks && alone && !pressed.was_busy && !self.profile.is_generic();
        led_to_it.then_some(("the agent asked a question", EMPTIED))
    }

    fn unconfirmed(&mut self, ours: bool, observation: &Observation) -> DeliveryStep {
        let (delivery, why) = match (ours, &observation.composer) {
            (true, _) => (Delivery::Drafted, "the text is still in the composer"),
            _ if observation.has_unread_line => {
                (Delivery::Unknown, "the text was typed, but the program has not read the line")
            }
            (false, Composer::Draft(_)) => {
                (Delivery::Unknown, "the composer now contains other text")
            }
            (false, Composer::Empty | Composer::Hidden) => {
                (Delivery::Unknown, "there is no evidence of the outcome")
            }
        };
        self.end_at(observation, delivery, why)
    }
}

/// Whether a question of this kind comes up only within a turn.
fn is_asked_in_turn(kind: BlockKind) -> bool {
    match kind {
        BlockKind::Permission | BlockKind::Plan => true,
        BlockKind::Question | BlockKind::Trust | BlockKind::Login | BlockKind::Limit => false,
    }
}

impl TypedText {
    /// Updates how much is visible, and since when the composer has not changed.
    fn note_visibility(&mut self, shows: TextVisibility, observation: &Observation, now: Time) {
        let same = |(before, words, _): &(TextVisibility, Composer, Time)| {
            *before == shows && *words == observation.composer
        };
        if !self.shown.as_ref().is_some_and(same) {
            self.shown = Some((shows, observation.composer.clone(), now));
        }
    }
}
