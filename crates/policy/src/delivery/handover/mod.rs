//! One message on its way into an agent's composer and out of it.

mod after;
mod before;

use paned_model::{AgentState, Delivery, Time};
use serde::{Deserialize, Serialize};

use super::sight::Shown;
use super::step::passing as wait;
use super::{Act, Outcome, Prepared, Recipe, Sight, Step, WhenBusy, Wrote};
use crate::agent::Composer;

/// How long after a write that did not happen the next one is tried, in milliseconds.
const AGAIN: u64 = 15;
/// The same for a program that does not read.
const AGAIN_UNREAD: u64 = 150;
/// How long a program may take to read what was typed.
const UNREAD: u64 = 10_000;
/// How long a screen may keep moving between every look and the write after it.
const RESTLESS: u64 = 30_000;
/// Writes that did not happen belong together when no more than this lies between them.
const APART: u64 = 2_000;

const UNREFEREED: &str =
    "nobody but us made sure that nothing happened between the look and the write";

/// One message on its way. Whoever owns it calls [`Handover::step`] with each look, and [`Handover::wrote`] after
/// each write that it asked for.
#[derive(Clone, Debug)]
pub struct Handover {
    prepared: Prepared,
    recipe: Recipe,
    when_busy: WhenBusy,
    leftover: Option<Leftover>,
    stage: Stage,
    /// What comes after the write that was asked for.
    then: Option<Stage>,
    moved: Option<Moved>,
    evidence: Vec<String>,
}

/// What an earlier message may have left in the composer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Leftover {
    /// Its text.
    pub text: String,
    /// How often somebody had typed by then; more than that, and it is no longer ours alone.
    pub typed: Option<u64>,
}

/// That a message is about to be typed: what must be remembered before that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Begun {
    /// How often somebody had typed by then.
    pub typed: Option<u64>,
    /// How many writes behind a guard the keeper had done by then, where it counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<u64>,
    /// How many writes the text takes; the next one is Enter.
    #[serde(default)]
    pub pieces: u64,
}

impl Begun {
    /// What was written since, if the keeper has done this many writes by now. Keys that broke off a turn meanwhile count,
    /// too: more may seem written than was, never less.
    fn progress(self, guarded: Option<u64>) -> Progress {
        match guarded.zip(self.guarded).map(|(now, then)| now.saturating_sub(then)) {
            Some(0) => Progress::Nothing,
            Some(writes) if 0 < self.pieces && self.pieces < writes => Progress::Enter,
            Some(_) | None => Progress::Text,
        }
    }
}

/// How far a message had come before the server was restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Nothing of it was written.
    Nothing,
    /// Some of the text may have been written, or all of it, and perhaps Enter.
    Text,
    /// Enter was written.
    Enter,
}

#[derive(Clone, Debug)]
enum Stage {
    /// Nothing was typed.
    Before(Before),
    /// The keys that empty the composer of what an earlier message left were pressed.
    Clearing(Before, Time),
    /// It is being typed, or stands there.
    Typed(Typed),
    /// Enter was pressed.
    Pressed(Typed, Pressed),
}

#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Since when it cannot be made out whether it could be typed.
    unclear: Option<Time>,
    /// Whether it was seen to wait its turn; then a question does not refuse it.
    accepted: bool,
    /// How often the keys that empty the composer were pressed for it.
    cleared: u32,
}

#[derive(Clone, Debug)]
struct Typed {
    /// How often somebody had typed before it.
    hands: Option<u64>,
    /// What is still to be typed, last first.
    left: Vec<Act>,
    /// When the last of it was typed.
    at: Time,
    /// How far it shows, in which words, and since when.
    shown: Option<(Shown, Composer, Time)>,
    /// Whether this was typed before we came.
    found: bool,
}

#[derive(Clone, Debug)]
struct Pressed {
    at: Time,
    count: u32,
    /// What the agent did then.
    was_busy: bool,
    /// What stood in the composer then.
    draft: Composer,
    /// Where the output ended then.
    end: u64,
}

/// Writes that did not happen, one after the other.
#[derive(Clone, Copy, Debug)]
struct Moved {
    since: Time,
    last: Time,
    /// Whether the program had not read yet what was typed before.
    unread: bool,
}

impl Handover {
    /// A message that was accepted.
    #[must_use]
    pub fn new(
        prepared: Prepared,
        recipe: Recipe,
        when_busy: WhenBusy,
        leftover: Option<Leftover>,
    ) -> Self {
        let (stage, evidence) = (Stage::Before(Before::default()), prepared.changes.clone());
        let (then, moved) = (None, None);
        Self { prepared, recipe, when_busy, leftover, stage, then, moved, evidence }
    }

    /// The same, when its sender was told that it waits: a question does not refuse it any more, it waits for the answer.
    #[must_use]
    pub fn that_waits(mut self) -> Self {
        if let Stage::Before(before) = &mut self.stage {
            before.accepted = true;
        }
        self
    }

    /// Goes on with a message that an earlier server was about to type, or more. The count of writes that the keeper has
    /// done says how far that came; where it does not count, only the screen does.
    #[must_use]
    pub fn resume(mut self, begun: Begun, guarded: Option<u64>, now: Time) -> Self {
        let progress = begun.progress(guarded);
        if progress == Progress::Nothing {
            return self.that_waits();
        }
        let typed =
            Typed { hands: begun.typed, left: Vec::new(), at: now, shown: None, found: true };
        if progress == Progress::Enter {
            let pressed =
                Pressed { at: now, count: 1, was_busy: false, draft: Composer::Hidden, end: 0 };
            self.stage = Stage::Pressed(typed, pressed);
            self.note("the server was restarted after Enter was pressed");
        } else {
            self.stage = Stage::Typed(typed);
            self.note("the server was restarted while the text was being typed");
        }
        self
    }

    /// What must be remembered if the write that is asked for is the first of the text. `guarded` is how many writes the
    /// keeper has done before it.
    #[must_use]
    pub fn begins(&self, guarded: Option<u64>) -> Option<Begun> {
        match (&self.stage, &self.then) {
            (Stage::Before(_), Some(Stage::Typed(typed))) => {
                Some(Begun { typed: typed.hands, guarded, pieces: 1 + typed.left.len() as u64 })
            }
            _ => None,
        }
    }

    /// Whether nothing of it was typed.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        matches!(self.stage, Stage::Before(_) | Stage::Clearing(..))
    }

    /// What to do next, from what is seen now.
    pub fn step(&mut self, sight: &Sight<'_>, now: Time) -> Step {
        let pause = |moved: Moved| if moved.unread { AGAIN_UNREAD } else { AGAIN };
        let again = self.moved.map(|moved| later(moved.last, pause(moved)));
        let again = again.filter(|at| now < *at);
        if again.is_some() {
            return wait(again, "the screen moved");
        }
        match self.stage.clone() {
            Stage::Before(before) => self.before(before, sight, now),
            Stage::Clearing(before, since) => self.clearing(before, since, sight, now),
            Stage::Typed(typed) => self.typed(typed, sight, now),
            Stage::Pressed(typed, pressed) => self.pressed(typed, pressed, sight, now),
        }
    }

    /// How the write went that [`Handover::step`] asked for; answers what became of the message if that ends it.
    pub fn wrote(&mut self, how: &Wrote, now: Time) -> Option<Outcome> {
        let then = self.then.take();
        match how {
            Wrote::Done { refereed } => {
                self.moved = None;
                if !refereed && self.evidence.iter().all(|said| said != UNREFEREED) {
                    self.note(UNREFEREED);
                }
                if let Some(stage) = then {
                    self.enter(stage, now);
                }
                None
            }
            Wrote::Moved | Wrote::Unread => self.again(*how == Wrote::Unread, now),
            Wrote::Refused(why) => Some(self.give_up(why)),
            Wrote::Lost(why) => {
                self.note(why);
                self.stage = then.unwrap_or(self.stage.clone());
                let word = if self.is_untouched() { Delivery::Refused } else { Delivery::Unknown };
                Some(self.outcome(word, None))
            }
        }
    }

    /// A write did not happen, and is tried again for a while.
    fn again(&mut self, unread: bool, now: Time) -> Option<Outcome> {
        let near = self.moved.filter(|moved| now < later(moved.last, APART));
        let since = near.map_or(now, |moved| moved.since);
        self.moved = Some(Moved { since, last: now, unread });
        let (patience, why) = match unread {
            true => (UNREAD, "its program does not read what was typed"),
            false => (RESTLESS, "something moved between every look and the write"),
        };
        (later(since, patience) <= now).then(|| self.give_up(why))
    }

    /// What was asked for was written.
    fn enter(&mut self, mut stage: Stage, now: Time) {
        match &mut stage {
            Stage::Before(_) => {}
            Stage::Clearing(_, at) => *at = now,
            Stage::Typed(typed) => typed.at = now,
            Stage::Pressed(typed, pressed) => {
                pressed.at = now;
                let (after, count) = (now.since(typed.at), pressed.count);
                self.note(&match count {
                    1 => format!("Enter was pressed {after} ms after the text"),
                    _ => format!("Enter was pressed again ({count} times by now)"),
                });
            }
        }
        self.stage = stage;
    }

    fn give_up(&mut self, why: &str) -> Outcome {
        self.note(why);
        let word = match &self.stage {
            Stage::Before(_) | Stage::Clearing(..) => Delivery::Refused,
            Stage::Typed(typed) => there(typed),
            // It may have read the first Enter and nothing since.
            Stage::Pressed(..) => Delivery::Unknown,
        };
        self.outcome(word, None)
    }

    fn write(&mut self, act: Act, then: Stage, sight: &Sight<'_>) -> Step {
        self.then = Some(then);
        Step::Write(act, sight.guard())
    }

    fn end(&mut self, word: Delivery, why: &str) -> Step {
        self.note(why);
        Step::Finished(self.outcome(word, None))
    }

    fn note(&mut self, sentence: &str) {
        self.evidence.push(sentence.to_owned());
    }

    fn outcome(&self, word: Delivery, asked: Option<&Sight<'_>>) -> Outcome {
        let hands = match &self.stage {
            Stage::Before(_) | Stage::Clearing(..) => None,
            Stage::Typed(typed) | Stage::Pressed(typed, _) => Some(typed.hands),
        };
        let may_stand = matches!(word, Delivery::Drafted | Delivery::Unknown);
        let text = || self.prepared.text.clone();
        Outcome {
            word,
            evidence: self.evidence.clone(),
            dialog: asked.and_then(|sight| sight.dialog.cloned()),
            leftover: hands.filter(|_| may_stand).map(|typed| Leftover { text: text(), typed }),
        }
    }
}

/// What to call a text that was typed and is not to be submitted.
fn there(typed: &Typed) -> Delivery {
    match typed.shown {
        Some((Shown::Other | Shown::Part | Shown::Whole, ..)) => Delivery::Drafted,
        Some((Shown::Nothing, ..)) | None => Delivery::Unknown,
    }
}

fn later(time: Time, ms: u64) -> Time {
    Time(time.0.saturating_add(ms))
}

/// Whether a turn is under way, or cannot be begun.
fn is_busy(state: AgentState) -> bool {
    matches!(state, AgentState::Busy | AgentState::Limited)
}
