//! Types into one agent: messages, answers to dialogs, interrupts. It runs inside the agent's task,
//! so that no other work of the task comes between reading the screen and the write.
//!
//! | file | what is typed |
//! |---|---|
//! | `messages` | the messages of the outbox |
//! | `requests` | keys: answers to dialogs, also at startup, and interrupts |

mod messages;
mod requests;

use std::collections::VecDeque;
use std::time::Duration;

use paned_backend::PaneCommand;
use paned_model::frame::{InputGuard, RefusalReason};
use paned_model::{Code, PaneId, Refusal, Time};
use paned_policy::agent::{Engine, Observation};
use paned_policy::delivery::{
    AnswerAttempt, Attempt, InputAction, InterruptAttempt, InterruptOutcome, Step, WriteResult,
};
use paned_term::keys::{Key, UnencodableKey};
use paned_term::paste::paste;
use paned_term::screen::view::ScreenModes;
use tokio::sync::oneshot;
use tokio::time::timeout;

pub(crate) use self::requests::DialogAnswer;
pub(super) use self::requests::StartupAnswerer;
use super::handle::Turns;
use super::outbox::MessageTurn;
use crate::Kernel;
use crate::panes::Pane;

/// How long a keeper may take to answer a write.
const ANSWER: Duration = Duration::from_secs(10);

/// The reply to the caller that waits for the result.
pub(crate) type TypingReply<T> = oneshot::Sender<Result<T, Refusal>>;

/// Something to write, if the guard still holds.
type GuardedWrite = (InputAction, InputGuard);

/// The input of one step: the agent as it was last seen.
pub(super) struct TypingContext<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) pane: &'a Pane,
    pub(super) engine: &'a Engine,
    pub(super) turns: Turns,
    pub(super) now: Time,
}

/// A write that was tried: the last screen is no longer reliable.
pub(super) struct TypingOutcome {
    /// The bytes that were written.
    pub(super) typed: Vec<u8>,
    /// Whether they submit a prompt.
    pub(super) submits: bool,
}

/// Works through the requests of one agent, one at a time: answers first, then interrupts, then
/// messages.
pub(super) struct AgentTypist {
    pane: PaneId,
    current: Option<CurrentMessage>,
    answers: VecDeque<(DialogAnswer, Option<AnswerAttempt>)>,
    interrupts: VecDeque<(TypingReply<InterruptOutcome>, Option<InterruptAttempt>)>,
    /// When to continue if the screen does not change before.
    wake: Option<Time>,
    /// When a client last typed into the pane.
    typed_at: Option<Time>,
}

/// The message that is being delivered.
struct CurrentMessage {
    number: u64,
    attempt: Attempt,
    /// The turn that it begins; set when Enter is pressed.
    turn: Option<MessageTurn>,
}

/// The kind of request that a write belongs to.
enum TypingJob {
    Answer,
    Interrupt,
    Message,
}

impl AgentTypist {
    pub(super) fn new(pane: &PaneId) -> Self {
        Self {
            pane: pane.clone(),
            current: None,
            answers: VecDeque::new(),
            interrupts: VecDeque::new(),
            wake: None,
            typed_at: None,
        }
    }

    /// Queues the answer to a dialog.
    pub(super) fn queue_answer(&mut self, answer: DialogAnswer) {
        self.answers.push_back((answer, None));
    }

    /// Queues an interrupt of the turn.
    pub(super) fn queue_interrupt(&mut self, reply: TypingReply<InterruptOutcome>) {
        self.interrupts.push_back((reply, None));
    }

    /// A client typed into the pane.
    pub(super) fn saw_typing(&mut self, now: Time) {
        self.typed_at = Some(now);
    }

    /// Continues the current request as far as the agent's present state allows.
    pub(super) async fn step(&mut self, context: TypingContext<'_>) -> Option<TypingOutcome> {
        self.wake = None;
        if !self.has_work(&context) {
            return None;
        }
        let observation = context.engine.observation()?;
        let observation = Observation { typed_at: self.typed_at, ..observation };
        let (job, (action, guard)) = self.decide(&observation, &context)?;
        if let TypingJob::Message = job {
            self.record_start(&context).await;
        }
        let (bytes, wrote) = match encode(context.pane, &action, &observation.view.modes) {
            Ok(bytes) => (bytes.clone(), write(context.pane, bytes, guard).await),
            Err(refused) => (Vec::new(), WriteResult::Refused(refused.to_string())),
        };
        let done = matches!(wrote, WriteResult::Done { .. });
        let submits =
            done && matches!((&job, &action), (TypingJob::Message, InputAction::Press(_)));
        tracing::debug!(pane = %self.pane, ?action, ?wrote, "typed to an agent");
        self.wrote(&job, &wrote, context.kernel);
        Some(TypingOutcome { typed: if done { bytes } else { Vec::new() }, submits })
    }

    /// Whether there is something to type. An observation copies the screen.
    fn has_work(&self, context: &TypingContext<'_>) -> bool {
        let is_asked = !self.answers.is_empty() || !self.interrupts.is_empty();
        is_asked
            || self.current.is_some()
            || 0 < context.kernel.agents().outbox().waiting(&self.pane)
    }

    /// The next write, if there is one.
    fn decide(
        &mut self,
        observation: &Observation,
        context: &TypingContext<'_>,
    ) -> Option<(TypingJob, GuardedWrite)> {
        while let Some((answer, under_way)) = self.answers.pop_front() {
            if let Some(write) = self.answer(answer, under_way, observation, context) {
                return write.map(|write| (TypingJob::Answer, write));
            }
        }
        while let Some((reply, under_way)) = self.interrupts.pop_front() {
            if let Some(write) = self.interrupt(reply, under_way, observation, context) {
                return write.map(|write| (TypingJob::Interrupt, write));
            }
        }
        self.next_message_write(observation, context).map(|write| (TypingJob::Message, write))
    }

    /// The write of a step. For a wait, `None`, and `wake` is set. As an error, how the attempt
    /// ended.
    fn next_write<T>(&mut self, step: Step<T>) -> Result<Option<GuardedWrite>, T> {
        match step {
            Step::Write(action, guard) => Ok(Some((action, guard))),
            Step::Wait(until, ()) => {
                self.wake = until;
                Ok(None)
            }
            Step::Finished(end) => Err(end),
        }
    }

    /// Gives the result of a write to the attempt that it belongs to.
    fn wrote(&mut self, job: &TypingJob, wrote: &WriteResult, kernel: &Kernel) {
        let now = kernel.now();
        let refusal = |why: String| Refusal::new(Code::Unavailable, why);
        match job {
            TypingJob::Answer => {
                let under_way = self.answers.front_mut().and_then(|(_, attempt)| attempt.as_mut());
                let ended = under_way.and_then(|attempt| attempt.write_finished(wrote, now));
                if let Some(why) = ended
                    && let Some((answer, _)) = self.answers.pop_front()
                {
                    let _ = answer.reply.send(Err(refusal(why)));
                }
            }
            TypingJob::Interrupt => {
                let under_way = self.interrupts.front_mut().and_then(|(_, it)| it.as_mut());
                let ended = under_way.and_then(|interrupt| interrupt.write_finished(wrote, now));
                if let Some(why) = ended
                    && let Some((reply, _)) = self.interrupts.pop_front()
                {
                    let _ = reply.send(Err(refusal(why)));
                }
            }
            TypingJob::Message => {
                let current = self.current.as_mut();
                let ended = current.and_then(|current| current.attempt.write_finished(wrote, now));
                if let Some(outcome) = ended {
                    self.finish_message(outcome, kernel);
                }
            }
        }
    }

    /// When to continue if the screen does not change before.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.wake
    }

    /// The agent's program has ended: all waiting callers get a refusal.
    pub(super) fn close(&mut self, kernel: &Kernel) {
        self.current = None;
        kernel.agents().outbox().close(kernel, &self.pane);
        let gone = || Refusal::new(Code::Gone, "the agent's program has exited");
        for (answer, _) in self.answers.drain(..) {
            let _ = answer.reply.send(Err(gone()));
        }
        for (reply, _) in self.interrupts.drain(..) {
            let _ = reply.send(Err(gone()));
        }
    }
}

/// The bytes of an action in these modes of the terminal; an error if one of its keys has none.
pub(super) fn encode(
    pane: &Pane,
    action: &InputAction,
    modes: &ScreenModes,
) -> Result<Vec<u8>, UnencodableKey> {
    match action {
        // The text was checked when the message was accepted.
        InputAction::Paste(text) => Ok(paste(text, true).unwrap_or_default()),
        InputAction::Type(text) => Ok(text.clone().into_bytes()),
        InputAction::Press(keys) => {
            let encode = if pane.is_adopted() { Key::encode_in_tmux } else { Key::encode };
            let bytes: Result<Vec<_>, _> = keys.iter().map(|key| encode(key, modes)).collect();
            Ok(bytes?.concat())
        }
    }
}

/// Writes to a pane if the guard still holds.
pub(super) async fn write(pane: &Pane, bytes: Vec<u8>, guard: InputGuard) -> WriteResult {
    let refused = |why: &str| WriteResult::Refused(why.to_owned());
    let unknown = |why: &str| WriteResult::Unknown(why.to_owned());
    let Ok(commands) = pane.commands() else { return refused("its program cannot be reached") };
    pane.mark_input();
    let (reply, answer) = oneshot::channel();
    if commands.send(PaneCommand::GuardedInput(bytes, guard, reply)).await.is_err() {
        return refused("its program cannot be reached");
    }
    let reason = match timeout(ANSWER, answer).await {
        Ok(Ok(Ok(typed))) => return WriteResult::Done { refereed: typed.guard_atomic },
        Ok(Ok(Err(reason))) => reason,
        Ok(Err(_)) => return unknown("its keeper disconnected while typing"),
        Err(_) => return unknown("its keeper does not respond"),
    };
    match reason {
        RefusalReason::Stale => WriteResult::Stale,
        RefusalReason::Unread => WriteResult::Unread,
        RefusalReason::Full => refused(
            "its program does not read its input; 1 MiB is already \
                                       pending",
        ),
        RefusalReason::Gone => refused("its program has exited"),
        RefusalReason::Cancelled => refused("its keeper does not respond"),
        RefusalReason::TimedOut => unknown("its keeper does not respond, and may still type it"),
        RefusalReason::Failed | RefusalReason::Held => unknown(
            "its terminal did not accept the \
            input",
        ),
    }
}
