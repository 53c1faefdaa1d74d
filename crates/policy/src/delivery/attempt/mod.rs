//! Delivers one message: types it into an agent's composer and submits it.

mod after_typing;
mod before_typing;

use std::sync::Arc;

use paned_model::{AgentState, Delivery, Time};
use serde::{Deserialize, Serialize};

use super::text_match::TextVisibility;
use super::{DeliveryStep, InputAction, Outcome, PreparedText, WhenBusy, WriteResult};
use crate::agent::{Composer, Observation, Profile};

/// How long after a skipped write the next one is tried, in milliseconds.
const RETRY_DELAY: u64 = 15;
/// The same for a program that does not read its input.
const RETRY_DELAY_UNREAD: u64 = 150;
/// How long a program may take to read what was typed.
const UNREAD_TIMEOUT: u64 = 10_000;
/// How long every write may be skipped because the screen changed after the observation.
const UNSTABLE_TIMEOUT: u64 = 30_000;
/// Skipped writes belong to one series if no more than this is between them.
const RETRY_GROUP_GAP: u64 = 2_000;

const UNGUARDED_WRITE: &str = "another writer may have typed between the observation and the write";

/// One attempt to deliver a message. Its owner calls [`Attempt::step`] with each
/// observation, and [`Attempt::write_finished`] after each write that a step requested.
#[derive(Clone, Debug)]
pub struct Attempt {
    prepared: PreparedText,
    profile: Arc<Profile>,
    when_busy: WhenBusy,
    leftover: Option<Leftover>,
    /// Whether the message was already queued; then a question does not refuse it.
    was_queued: bool,
    /// Since when it is unclear whether the text can be typed.
    unclear_since: Option<Time>,
    /// How often the keys that clear the composer were pressed for it.
    cleared: u32,
    stage: AttemptStage,
    /// The stage after the requested write.
    next_stage: Option<AttemptStage>,
    skipped_writes: Option<SkippedWrites>,
    evidence: Vec<String>,
}

/// What an earlier message may have left in the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// Its text.
    pub text: String,
    /// The count of typed inputs at that time; if it has grown, the draft is no longer ours alone.
    pub typed: Option<u64>,
}

/// What must be stored before the first write of a message's text, so that a restarted server can
/// resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptStart {
    /// The count of typed inputs at that time.
    pub typed: Option<u64>,
    /// How many guarded writes the keeper had done by then, if it counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<u64>,
    /// How many writes the text takes; the next one is Enter.
    #[serde(default)]
    pub pieces: u64,
}

impl AttemptStart {
    /// What a text may have left in the composer, given what became of it since.
    #[must_use]
    pub fn leftover(self, text: &str, delivery: Delivery) -> Option<Leftover> {
        let may_remain = matches!(delivery, Delivery::Drafted | Delivery::Unknown);
        may_remain.then(|| Leftover { text: text.to_owned(), typed: self.typed })
    }

    /// What was written since, if the keeper has done this many writes by now. Keys that
    /// interrupted a turn meanwhile count, too: the result may claim more than was written, never
    /// less.
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
    Before,
    /// The keys were pressed that clear an earlier message from the composer.
    Clearing(Time),
    /// The text is being typed, or is in the composer.
    Typed(TypedText),
    /// Enter was pressed.
    Submitted(TypedText, SubmitState),
}

#[derive(Clone, Debug)]
struct TypedText {
    /// The count of inputs typed before it.
    typed_before: Option<u64>,
    /// What is still to be typed, in reverse order.
    remaining: Vec<InputAction>,
    /// When the last of it was typed.
    at: Time,
    /// How much of it the composer shows, the composer's content, and since when.
    shown: Option<(TextVisibility, Composer, Time)>,
    /// Whether an earlier server typed it.
    was_resumed: bool,
}

#[derive(Clone, Debug)]
struct SubmitState {
    at: Time,
    count: u32,
    /// Whether the agent was busy then.
    was_busy: bool,
    /// What the composer held then.
    draft: Composer,
    /// Where the output ended then.
    end: u64,
}

/// A series of skipped writes.
#[derive(Clone, Copy, Debug)]
struct SkippedWrites {
    since: Time,
    last: Time,
    /// Whether the program had not read its earlier input yet.
    unread: bool,
}

impl Attempt {
    /// A message that was accepted.
    #[must_use]
    pub fn new(
        prepared: PreparedText,
        profile: Arc<Profile>,
        when_busy: WhenBusy,
        leftover: Option<Leftover>,
    ) -> Self {
        let evidence = prepared.changes.clone();
        Self {
            prepared,
            profile,
            when_busy,
            leftover,
            was_queued: false,
            unclear_since: None,
            cleared: 0,
            stage: AttemptStage::Before,
            next_stage: None,
            skipped_writes: None,
            evidence,
        }
    }

    /// The same for a message whose sender knows that it is queued: a question does not refuse it
    /// any more, it waits for the answer.
    #[must_use]
    pub fn already_queued(mut self) -> Self {
        self.was_queued = true;
        self
    }

    /// Resumes a message that an earlier server was about to type, or had begun to type. The
    /// keeper's count of writes shows how far that server came. If the keeper does not count, only
    /// the screen shows it.
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
            let pressed = SubmitState {
                at: now,
                count: 1,
                // It was typed into an agent that was ready, unless it was to be typed anyway.
                was_busy: self.when_busy == WhenBusy::Send,
                draft: Composer::Hidden,
                end: 0,
            };
            self.stage = AttemptStage::Submitted(typed, pressed);
            self.note("the server was restarted after Enter was pressed");
        } else {
            self.stage = AttemptStage::Typed(typed);
            self.note("the server was restarted while the text was being typed");
        }
        self
    }

    /// What must be stored if the requested write is the first of the text. `guarded` is how many
    /// writes the keeper has done before it.
    #[must_use]
    pub fn attempt_start(&self, guarded: Option<u64>) -> Option<AttemptStart> {
        match (&self.stage, &self.next_stage) {
            (AttemptStage::Before, Some(AttemptStage::Typed(typed))) => Some(AttemptStart {
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
        matches!(self.stage, AttemptStage::Before | AttemptStage::Clearing(_))
    }

    /// The next step, given the current observation.
    pub fn step(&mut self, observation: &Observation, now: Time) -> DeliveryStep {
        let pause =
            |skipped: SkippedWrites| if skipped.unread { RETRY_DELAY_UNREAD } else { RETRY_DELAY };
        let again = self.skipped_writes.map(|skipped| later(skipped.last, pause(skipped)));
        let again = again.filter(|at| now < *at);
        if again.is_some() {
            return wait(again, "the screen moved");
        }
        match self.stage.clone() {
            AttemptStage::Before => self.step_before(observation, now),
            AttemptStage::Clearing(since) => self.step_clearing(since, observation, now),
            AttemptStage::Typed(typed) => self.step_typed(typed, observation, now),
            AttemptStage::Submitted(typed, pressed) => {
                self.step_submitted(typed, pressed, observation, now)
            }
        }
    }

    /// Takes the result of the write that [`Attempt::step`] requested; returns the outcome
    /// if it ends the attempt.
    pub fn write_finished(&mut self, how: &WriteResult, now: Time) -> Option<Outcome> {
        let next_stage = self.next_stage.take();
        match how {
            WriteResult::Done { refereed } => {
                self.skipped_writes = None;
                if !refereed && self.evidence.iter().all(|sentence| sentence != UNGUARDED_WRITE) {
                    self.note(UNGUARDED_WRITE);
                }
                if let Some(stage) = next_stage {
                    self.enter_stage(stage, now);
                }
                None
            }
            WriteResult::Stale | WriteResult::Unread => {
                self.retry_write(*how == WriteResult::Unread, now)
            }
            WriteResult::Refused(why) => Some(self.give_up(why)),
            WriteResult::Unknown(why) => {
                self.stage = next_stage.unwrap_or(self.stage.clone());
                let delivery =
                    if self.is_untouched() { Delivery::Refused } else { Delivery::Unknown };
                Some(self.outcome(delivery, why))
            }
        }
    }

    /// Retries a skipped write until a time-out.
    fn retry_write(&mut self, unread: bool, now: Time) -> Option<Outcome> {
        let near = self.skipped_writes.filter(|skipped| now < later(skipped.last, RETRY_GROUP_GAP));
        let since = near.map_or(now, |skipped| skipped.since);
        self.skipped_writes = Some(SkippedWrites { since, last: now, unread });
        let (timeout, why) = match unread {
            true => (UNREAD_TIMEOUT, "its program does not read its input"),
            false => (UNSTABLE_TIMEOUT, "the screen kept changing, so nothing was typed"),
        };
        (later(since, timeout) <= now).then(|| self.give_up(why))
    }

    /// Enters the stage after a write that was done.
    fn enter_stage(&mut self, mut stage: AttemptStage, now: Time) {
        match &mut stage {
            AttemptStage::Before => {}
            AttemptStage::Clearing(at) => {
                *at = now;
                self.cleared += 1;
            }
            AttemptStage::Typed(typed) => typed.at = now,
            AttemptStage::Submitted(typed, pressed) => {
                pressed.at = now;
                let after = now.since(typed.at);
                let count = pressed.count;
                self.note(&match count {
                    1 => format!("Enter was pressed {after} ms after the text"),
                    _ => format!("Enter was pressed again ({count} times in total)"),
                });
            }
        }
        self.stage = stage;
    }

    fn give_up(&mut self, why: &str) -> Outcome {
        let delivery = match &self.stage {
            AttemptStage::Before | AttemptStage::Clearing(_) => Delivery::Refused,
            AttemptStage::Typed(typed) => unsubmitted_delivery(typed),
            // The program may have read the first Enter and nothing since.
            AttemptStage::Submitted(..) => Delivery::Unknown,
        };
        self.outcome(delivery, why)
    }

    fn write(
        &mut self,
        act: InputAction,
        next_stage: AttemptStage,
        observation: &Observation,
    ) -> DeliveryStep {
        self.next_stage = Some(next_stage);
        DeliveryStep::Write(act, observation.guard())
    }

    fn end(&mut self, delivery: Delivery, why: &str) -> DeliveryStep {
        DeliveryStep::Finished(self.outcome(delivery, why))
    }

    /// Ends with the question on the screen, if there is one, as a part of the outcome.
    fn end_at(&mut self, observation: &Observation, delivery: Delivery, why: &str) -> DeliveryStep {
        let dialog = observation.dialog.clone();
        DeliveryStep::Finished(Outcome { dialog, ..self.outcome(delivery, why) })
    }

    fn note(&mut self, sentence: &str) {
        self.evidence.push(sentence.to_owned());
    }

    /// The outcome with all evidence, of which this is the last.
    fn outcome(&mut self, delivery: Delivery, why: &str) -> Outcome {
        self.note(why);
        Outcome { evidence: self.evidence.clone(), ..Outcome::new(delivery, why) }
    }
}

/// Waits for something that passes by itself.
fn wait(until: Option<Time>, why: &str) -> DeliveryStep {
    DeliveryStep::Wait(until, Outcome::transient(why))
}

/// The outcome of a text that was typed and will not be submitted.
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

/// Whether a turn is running, or no turn can start.
fn is_busy(state: AgentState) -> bool {
    matches!(state, AgentState::Busy | AgentState::Limited)
}
