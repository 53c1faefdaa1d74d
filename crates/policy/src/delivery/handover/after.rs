//! Once it is typed: Enter when it is to be seen and nothing speaks against it, and what became of it.

use paned_model::{AgentState, Delivery, Time};

use super::{Handover, Pressed, Stage, Typed, is_busy, later, there, wait};
use crate::agent::Composer;
use crate::delivery::sight::Shown;
use crate::delivery::{Act, Sight, Step};

/// How long a program may take to show a text, in milliseconds; and one more for so many bytes.
const SHOW: u64 = 10_000;
const BYTES_PER_MS: u64 = 50;
/// The same for one that was typed before we came.
const FOUND: u64 = 4_000;
/// A text that shows only in part is taken for whole after so long without a change.
const STILL: u64 = 400;
/// After the last change, the next key comes so much later.
const SETTLED: u64 = 40;
/// After so long Enter is pressed again if the text still stands there: sooner if the program has printed since.
const RETRY: u64 = 900;
const RETRY_SILENT: u64 = 2_000;
/// A screen that is drawn in pieces shows an empty composer for a moment: it must stay so for this long.
const EMPTIED: u64 = 150;
/// How long after the last Enter a sign of it is waited for.
const CONFIRM: u64 = 12_000;
/// A text that was found in a conversation is taken for ours if it is no shorter than this.
const TELLING: usize = 16;

impl Handover {
    /// It is being typed, or stands there and Enter was not pressed.
    pub(super) fn typed(&mut self, mut typed: Typed, sight: &Sight<'_>, now: Time) -> Step {
        let shows = sight.shows(&self.prepared.text);
        typed.see(shows, sight, now);
        self.stage = Stage::Typed(typed.clone());
        if let Some(step) = self.stopped(&typed, shows, sight) {
            return step;
        }
        let next = typed.left.last().cloned();
        let at = match &next {
            Some(_) => Some(later(typed.at, SETTLED)),
            None => self.press_at(&typed),
        };
        match at {
            Some(at) if at <= now && !sight.may_ask() => match next {
                Some(piece) => {
                    typed.left.pop();
                    self.write(piece, Stage::Typed(typed), sight)
                }
                None => self.press(typed, 1, sight),
            },
            at => self.await_show(&typed, at.filter(|at| now < *at), sight, now),
        }
    }

    /// What ends it before Enter was pressed.
    fn stopped(&mut self, typed: &Typed, shows: Shown, sight: &Sight<'_>) -> Option<Step> {
        if sight.state == AgentState::Exited {
            return Some(self.end(Delivery::Unknown, "its program ended before Enter was pressed"));
        }
        if sight.recorded {
            return Some(self.end(Delivery::Submitted, "it stands in the agent's own record"));
        }
        let empty = shows == Shown::Nothing && *sight.composer == Composer::Empty;
        let telling = TELLING <= self.prepared.text.len() || is_busy(sight.state);
        if typed.found && empty && telling && sight.tells(&self.prepared.text) {
            return Some(self.end(Delivery::Submitted, "it stands in the conversation"));
        }
        if sight.asks() {
            self.note("a question came up after the text was typed; Enter was not pressed");
            return Some(Step::Finished(self.outcome(there(typed), Some(sight))));
        }
        if sight.typed != typed.hands {
            return Some(
                self.end(there(typed), "somebody typed after that; Enter was not pressed"),
            );
        }
        None
    }

    /// When Enter may be pressed, once the text is to be seen.
    fn press_at(&self, typed: &Typed) -> Option<Time> {
        let (shown, _, since) = typed.shown.as_ref()?;
        let still = match shown {
            Shown::Nothing => return None,
            // What was found there must be known to be ours.
            Shown::Other | Shown::Part if typed.found => return None,
            Shown::Other | Shown::Part => STILL,
            Shown::Whole => SETTLED,
        };
        Some(later(*since, still).max(later(typed.at, self.recipe.delay_ms)))
    }

    fn press(&mut self, typed: Typed, count: u32, sight: &Sight<'_>) -> Step {
        let (at, was_busy, end) = (Time(0), is_busy(sight.state), sight.end);
        let pressed = Pressed { at, count, was_busy, draft: sight.composer.clone(), end };
        let keys = self.recipe.submit.clone();
        self.write(Act::Press(keys), Stage::Pressed(typed, pressed), sight)
    }

    fn await_show(
        &mut self,
        typed: &Typed,
        at: Option<Time>,
        sight: &Sight<'_>,
        now: Time,
    ) -> Step {
        let length = self.prepared.text.len() as u64;
        // What was typed long ago shows by now.
        let usual = if typed.found && !sight.may_ask() { FOUND } else { SHOW };
        let until = later(typed.at, usual + length / BYTES_PER_MS);
        if now < until {
            return wait(Some(at.unwrap_or(until).min(until)), "it is being typed");
        }
        let word = there(typed);
        self.end(word, match word {
            Delivery::Drafted => "what the agent does could not be made out; Enter was not pressed",
            _ => "the text was typed and is not to be seen in the composer; Enter was not pressed",
        })
    }

    /// Enter was pressed.
    pub(super) fn pressed(
        &mut self,
        mut typed: Typed,
        pressed: Pressed,
        sight: &Sight<'_>,
        now: Time,
    ) -> Step {
        let shows = sight.shows(&self.prepared.text);
        typed.see(shows, sight, now);
        self.stage = Stage::Pressed(typed.clone(), pressed.clone());
        let stands =
            matches!(sight.composer, Composer::Draft(_)) && *sight.composer == pressed.draft;
        let ours = stands || Shown::Part <= shows;
        let sign = self.sign(pressed.was_busy, shows, sight).filter(|_| !ours);
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
        let until = if stays { retry } else { later(pressed.at, CONFIRM) };
        if now < until {
            return wait(Some(until), "Enter was pressed");
        }
        // What somebody has typed into is no longer ours to submit.
        if stays && sight.typed == typed.hands && pressed.count < self.recipe.presses {
            return self.press(typed, pressed.count + 1, sight);
        }
        self.unconfirmed(ours, sight)
    }

    /// What shows that the agent has taken it. A text that still stands in the composer was not taken, whatever else
    /// speaks for it: that an agent is busy is partly surmised from our own Enter.
    fn sign(&self, was_busy: bool, shows: Shown, sight: &Sight<'_>) -> Option<Sign> {
        let at_once = |what| Some(Sign { what, must_last: false });
        let lasting = |what| Some(Sign { what, must_last: true });
        if sight.recorded {
            return at_once("it was in the agent's own record");
        }
        if !was_busy && sight.state == AgentState::Busy && !sight.surmised {
            return at_once("the agent turned busy");
        }
        if *sight.composer == Composer::Empty && !sight.may_ask() {
            return lasting("the composer emptied");
        }
        let gone = shows == Shown::Nothing && *sight.composer == Composer::Hidden;
        if gone && sight.tells(&self.prepared.text) {
            return lasting("it moved from the composer to the conversation");
        }
        None
    }

    fn unconfirmed(&mut self, ours: bool, sight: &Sight<'_>) -> Step {
        let (word, why) = match (ours, sight.composer) {
            (true, _) => (Delivery::Drafted, "the text still stands in the composer"),
            (false, Composer::Draft(_)) => {
                (Delivery::Unknown, "something else stands in the composer now")
            }
            (false, Composer::Empty | Composer::Hidden) => {
                (Delivery::Unknown, "nothing shows what became of it")
            }
        };
        self.note(why);
        let asked = sight.asks().then_some(sight);
        Step::Finished(self.outcome(word, asked))
    }
}

/// What shows that the agent has taken a text.
struct Sign {
    /// As a clause.
    what: &'static str,
    /// Whether one look is not enough.
    must_last: bool,
}

impl Typed {
    /// Notes how far it shows, and since when it does so in the same words.
    fn see(&mut self, shows: Shown, sight: &Sight<'_>, now: Time) {
        let same = |(before, words, _): &(Shown, Composer, Time)| {
            *before == shows && words == sight.composer
        };
        if !self.shown.as_ref().is_some_and(same) {
            self.shown = Some((shows, sight.composer.clone(), now));
        }
    }
}
