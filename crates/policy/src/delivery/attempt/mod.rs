//! One message on its way into an agent's composer and out of it.

mod after_typing;
mod before_typing;

use paned_model::{AgentState, Delivery, Time};
use serde::{Deserialize, Serialize};

use super::observation::TextVisibility;
use super::step::wait_briefly as wait;
use super::{
    AgentObservation, DeliveryOutcome, DeliveryStep, InputAction, PreparedText, Recipe, WhenBusy,
    WriteResult,
};
use crate::agent::Composer;

/// How long after a write that did not happen the next one is tried, in milliseconds.
const RETRY_DELAY: u64 = 15;
/// The same for a program that does not read.
const RETRY_DELAY_UNREAD: u64 = 150;
/// How long a program may take to read what was typed.
const UNREAD_TIMEOUT: u64 = 10_000;
/// How long a screen may keep moving between every look and the write after it.
const UNSTABLE_TIMEOUT: u64 = 30_000;
/// Writes that did not happen belong together when no more than this lies between them.
const RETRY_GROUP_GAP: u64 = 2_000;

const UNGUARDED_WRITE: &str =
    "nobody but us made sure that nothing happened between the look and the write";

/// One message on its way. Whoever owns it calls [`DeliveryAttempt::step`] with each look, and [`DeliveryAttempt::write_finished`] after
/// each write that it asked for.
#[derive(Clone, Debug)]
pub struct DeliveryAttempt {
    prepared: PreparedText,
    recipe: Recipe,
    when_busy: WhenBusy,
    leftover: Option<Leftover>,
    stage: AttemptStage,
    /// What comes after the write that was asked for.
    next_stage: Option<AttemptStage>,
    skipped_writes: Option<SkippedWrites>,
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
pub struct AttemptStart {
    /// How often somebody had typed by then.
    pub typed: Option<u64>,
    /// How many writes behind a guard the keeper had done by then, where it counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<u64>,
    /// How many writes the text takes; the next one is Enter.
    #[serde(default)]
    pub pieces: u64,
}

impl AttemptStart {
    /// What was written since, if the keeper has done this many writes by now. Keys that broke off a turn meanwhile count,
    /// too: more may seem written than was, never less.
    fn progress(self, guarded: Option<u64>) -> ResumeProgress {
        match guarded.zip(self.guarded).map(|(now, then)| now.saturating_sub(then)) {
            Some(0) => ResumeProgress::Nothing,
            Some(writes) if 0 < self.pieces && self.pieces < writes => ResumeProgress::Enter,
            Some(_) | None => ResumeProgress::Text,
        }
    }
}

/// How far a message had come before the server was restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResumeProgress {
    /// Nothing of it was written.
    Nothing,
    /// Some of the text may have been written, or all of it, and perhaps Enter.
    Text,
    /// Enter was written.
    Enter,
}

#[derive(Clone, Debug)]
enum AttemptStage {
    /// Nothing was typed.
    Before(BeforeTyping),
    /// The keys that empty the composer of what an earlier message left were pressed.
    Clearing(BeforeTyping, Time),
    /// It is being typed, or stands there.
    Typed(TypedText),
    /// Enter was pressed.
    Submitted(TypedText, SubmitState),
}

#[derive(Clone, Copy, Debug, Default)]
struct BeforeTyping {
    /// Since when it cannot be made out whether it could be typed.
    unclear: Option<Time>,
    /// Whether it was seen to wait its turn; then a question does not refuse it.
    accepted: bool,
    /// How often the keys that empty the composer were pressed for it.
    cleared: u32,
}

#[derive(Clone, Debug)]
struct TypedText {
    /// How often somebody had typed before it.
    typed_before: Option<u64>,
    /// What is still to be typed, last first.
    remaining: Vec<InputAction>,
    /// When the last of it was typed.
    at: Time,
    /// How far it shows, in which words, and since when.
    shown: Option<(TextVisibility, Composer, Time)>,
    /// Whether this was typed before we came.
    was_resumed: bool,
}

#[derive(Clone, Debug)]
struct SubmitState {
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
struct SkippedWrites {
    since: Time,
    last: Time,
    /// Whether the program had not read yet what was typed before.
    unread: bool,
}

impl DeliveryAttempt {
    /// A message that was accepted.
    #[must_use]
    pub fn new(
        prepared: PreparedText,
        recipe: Recipe,
        when_busy: WhenBusy,
        leftover: Option<Leftover>,
    ) -> Self {
        let (stage, evidence) =
            (AttemptStage::Before(BeforeTyping::default()), prepared.changes.clone());
        let (next_stage, skipped_writes) = (None, None);
        Self { prepared, recipe, when_busy, leftover, stage, next_stage, skipped_writes, evidence }
    }

    /// The same, when its sender was told that it waits: a question does not refuse it any more, it waits for the answer.
    #[must_use]
    pub fn already_queued(mut self) -> Self {
        if let AttemptStage::Before(before) = &mut self.stage {
            before.accepted = true;
        }
        self
    }

    /// Goes on with a message that an earlier server was about to type, or more. The count of writes that the keeper has
    /// done says how far that came; where it does not count, only the screen does.
    #[must_use]
    pub fn resume(mut self, begun: AttemptStart, guarded: Option<u64>, now: Time) -> Self {
        let progress = begun.progress(guarded);
        if progress == ResumeProgress::Nothing {
            return self.already_queued();
        }
        let typed = TypedText {
            typed_before: begun.typed,
            remaining: Vec::new(),
            at: now,
            shown: None,
            was_resumed: true,
        };
        if progress == ResumeProgress::Enter {
            let pressed =
                SubmitState { at: now, count: 1, was_busy: false, draft: Composer::Hidden, end: 0 };
            self.stage = AttemptStage::Submitted(typed, pressed);
            self.note("the server was restarted after Enter was pressed");
        } else {
            self.stage = AttemptStage::Typed(typed);
            self.note("the server was restarted while the text was being typed");
        }
        self
    }

    /// What must be remembered if the write that is asked for is the first of the text. `guarded` is how many writes the
    /// keeper has done before it.
    #[must_use]
    pub fn attempt_start(&self, guarded: Option<u64>) -> Option<AttemptStart> {
        match (&self.stage, &self.next_stage) {
            (AttemptStage::Before(_), Some(AttemptStage::Typed(typed))) => Some(AttemptStart {
                typed: typed.typed_before,
                guarded,
                pieces: 1 + typed.remaining.len() as u64,
            }),
            _ => None,
        }
    }

    /// Whether nothing of it was typed.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        matches!(self.stage, AttemptStage::Before(_) | AttemptStage::Clearing(..))
    }

    /// What to do next, from what is seen now.
    pub fn step(&mut self, sight: &AgentObservation<'_>, now: Time) -> DeliveryStep {
        let pause =
            |moved: SkippedWrites| if moved.unread { RETRY_DELAY_UNREAD } else { RETRY_DELAY };
        let again = self.skipped_writes.map(|moved| later(moved.last, pause(moved)));
        let again = again.filter(|at| now < *at);
        if again.is_some() {
            return wait(again, "the screen moved");
        }
        match self.stage.clone() {
            AttemptStage::Before(before) => self.step_before(before, sight, now),
            AttemptStage::Clearing(before, since) => self.step_clearing(before, since, sight, now),
            AttemptStage::Typed(typed) => self.step_typed(typed, sight, now),
            AttemptStage::Submitted(typed, pressed) => {
                self.step_submitted(typed, pressed, sight, now)
            }
        }
    }

    /// How the write went that [`DeliveryAttempt::step`] asked for; answers what became of the message if that ends it.
    pub fn write_finished(&mut self, how: &WriteResult, now: Time) -> Option<DeliveryOutcome> {
        let then = self.next_stage.take();
        match how {
            WriteResult::Done { refereed } => {
                self.skipped_writes = None;
                if !refereed && self.evidence.iter().all(|said| said != UNGUARDED_WRITE) {
                    self.note(UNGUARDED_WRITE);
                }
                if let Some(stage) = then {
                    self.enter_stage(stage, now);
                }
                None
            }
            WriteResult::Stale | WriteResult::Unread => {
                self.retry_write(*how == WriteResult::Unread, now)
            }
            WriteResult::Refused(why) => Some(self.give_up(why)),
            WriteResult::Unknown(why) => {
                self.note(why);
                self.stage = then.unwrap_or(self.stage.clone());
                let word = if self.is_untouched() { Delivery::Refused } else { Delivery::Unknown };
                Some(self.outcome(word, None))
            }
        }
    }

    /// A write did not happen, and is tried again for a while.
    fn retry_write(&mut self, unread: bool, now: Time) -> Option<DeliveryOutcome> {
        let near = self.skipped_writes.filter(|moved| now < later(moved.last, RETRY_GROUP_GAP));
        let since = near.map_or(now, |moved| moved.since);
        self.skipped_writes = Some(SkippedWrites { since, last: now, unread });
        let (patience, why) = match unread {
            true => (UNREAD_TIMEOUT, "its program does not read what was typed"),
            false => (UNSTABLE_TIMEOUT, "something moved between every look and the write"),
        };
        (later(since, patience) <= now).then(|| self.give_up(why))
    }

    /// What was asked for was written.
    fn enter_stage(&mut self, mut stage: AttemptStage, now: Time) {
        match &mut stage {
            AttemptStage::Before(_) => {}
            AttemptStage::Clearing(_, at) => *at = now,
            AttemptStage::Typed(typed) => typed.at = now,
            AttemptStage::Submitted(typed, pressed) => {
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

    fn give_up(&mut self, why: &str) -> DeliveryOutcome {
        self.note(why);
        let word = match &self.stage {
            AttemptStage::Before(_) | AttemptStage::Clearing(..) => Delivery::Refused,
            AttemptStage::Typed(typed) => unsubmitted_delivery(typed),
            // It may have read the first Enter and nothing since.
            AttemptStage::Submitted(..) => Delivery::Unknown,
        };
        self.outcome(word, None)
    }

    fn write(
        &mut self,
        act: InputAction,
        then: AttemptStage,
        sight: &AgentObservation<'_>,
    ) -> DeliveryStep {
        self.next_stage = Some(then);
        DeliveryStep::Write(act, sight.guard())
    }

    fn end(&mut self, word: Delivery, why: &str) -> DeliveryStep {
        self.note(why);
        DeliveryStep::Finished(self.outcome(word, None))
    }

    fn note(&mut self, sentence: &str) {
        self.evidence.push(sentence.to_owned());
    }

    fn outcome(&self, word: Delivery, asked: Option<&AgentObservation<'_>>) -> DeliveryOutcome {
        let hands = match &self.stage {
            AttemptStage::Before(_) | AttemptStage::Clearing(..) => None,
            AttemptStage::Typed(typed) | AttemptStage::Submitted(typed, _) => {
                Some(typed.typed_before)
            }
        };
        let may_stand = matches!(word, Delivery::Drafted | Delivery::Unknown);
        let text = || self.prepared.text.clone();
        DeliveryOutcome {
            delivery: word,
            evidence: self.evidence.clone(),
            dialog: asked.and_then(|sight| sight.dialog.cloned()),
            leftover: hands.filter(|_| may_stand).map(|typed| Leftover { text: text(), typed }),
        }
    }
}

/// What to call a text that was typed and is not to be submitted.
fn unsubmitted_delivery(typed: &TypedText) -> Delivery {
    match typed.shown {
        Some((TextVisibility::Other | TextVisibility::Part | TextVisibility::Whole, ..)) => {
            Delivery::Drafted
        }
        Some((TextVisibility::Nothing, ..)) | None => Delivery::Unknown,
    }
}

fn later(time: Time, ms: u64) -> Time {
    Time(time.0.saturating_add(ms))
}

/// Whether a turn is under way, or cannot be begun.
fn is_busy(state: AgentState) -> bool {
    matches!(state, AgentState::Busy | AgentState::Limited)
}
