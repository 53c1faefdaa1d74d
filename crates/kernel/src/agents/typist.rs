//! Types into one agent: messages, answers to dialogs, interrupts. It runs inside the agent's task,
//! so that no other work of the task comes between reading the screen and the write.

mod messages;

use std::collections::VecDeque;
use std::time::Duration;

use paned_backend::PaneCommand;
use paned_model::frame::{InputGuard, RefusalReason};
use paned_model::{Code, PaneId, Refusal, StateSource, TerminalState, Time};
use paned_policy::agent::{Composer, Engine};
use paned_policy::delivery::{
    AgentObservation, AnswerAttempt, AnswerProgress, DeliveryAttempt, DeliveryStep, InputAction,
    InterruptAttempt, InterruptProgress, OptionChoice, WriteResult, choose,
};
use paned_term::keys::UnencodableKey;
use paned_term::paste::paste;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::message::{MessageOutcome, MessageTurn, OutboxMessage};
use super::recipe;
use super::startup;
use super::status::Turns;
use super::task::ScreenAtOffset;
use crate::Kernel;
use crate::panes::Pane;

/// How long a keeper may take to answer a write.
const ANSWER: Duration = Duration::from_secs(10);

/// The reply to the caller that waits for the result.
pub(crate) type TypingReply<T> = oneshot::Sender<Result<T, Refusal>>;

/// A request to type something.
pub(crate) enum TypingRequest {
    /// A message was accepted; it is in the outbox.
    Message,
    /// Answer the question on the screen.
    Answer(DialogAnswer),
    /// Interrupt the turn.
    Interrupt(TypingReply<InterruptOutcome>),
}

/// The answer to a dialog.
pub(crate) struct DialogAnswer {
    /// Which option.
    pub(crate) choice: OptionChoice,
    /// The dialog to answer; any, if it is left out.
    pub(crate) dialog: Option<String>,
    /// Receives the result.
    pub(crate) reply: TypingReply<DialogAnswerOutcome>,
}

/// The result of an answered dialog.
pub(crate) struct DialogAnswerOutcome {
    /// The keys that were pressed.
    pub(crate) pressed: Vec<String>,
    /// Whether the dialog is gone from the screen.
    pub(crate) is_gone: bool,
}

/// The result of an interrupt.
pub(crate) struct InterruptOutcome {
    pub(crate) interrupted: bool,
    pub(crate) evidence: Vec<String>,
}

/// The input of one step: the agent as it was last seen.
pub(super) struct TypingContext<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) pane: &'a Pane,
    pub(super) engine: &'a Engine,
    pub(super) last_screen: &'a ScreenAtOffset,
    /// The last known state of the terminal, if the profile needs it.
    pub(super) terminal: Option<TerminalState>,
    pub(super) turns: Turns,
    pub(super) now: Time,
}

/// The result of one step.
#[derive(Default)]
pub(super) struct TypingOutcome {
    /// The bytes that were written.
    pub(super) typed: Vec<u8>,
    /// Whether they submit a prompt.
    pub(super) submits: bool,
    /// Whether a write was tried: the last screen is no longer reliable.
    pub(super) is_stale: bool,
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
    message: OutboxMessage,
    attempt: DeliveryAttempt,
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

    /// Queues a request.
    pub(super) fn take(&mut self, request: TypingRequest) {
        match request {
            // It is in the outbox.
            TypingRequest::Message => {}
            TypingRequest::Answer(answer) => self.answers.push_back((answer, None)),
            TypingRequest::Interrupt(reply) => self.interrupts.push_back((reply, None)),
        }
    }

    /// A client typed into the pane.
    pub(super) fn saw_typing(&mut self, now: Time) {
        self.typed_at = Some(now);
    }

    /// Continues the current request as far as the agent's present state allows.
    pub(super) async fn step(&mut self, context: TypingContext<'_>) -> TypingOutcome {
        self.wake = None;
        let Some((job, action, guard)) = self.decide(&context) else {
            return TypingOutcome::default();
        };
        if let TypingJob::Message = job
            && let Some(current) = &self.current
            && let Some(begun) = current.attempt.attempt_start(context.pane.guarded_writes())
        {
            let outbox = context.kernel.agents().outbox();
            let number = current.message.number;
            let ticket = outbox.begin(context.kernel, &self.pane, number, Some(begun));
            if let Some(ticket) = ticket
                && let Err(error) = context.kernel.journal().committed(ticket).await
            {
                tracing::error!(%error, "typing a message that the journal did not record");
            }
        }
        let (bytes, wrote) = match encode(&action, &context) {
            Ok(bytes) => (bytes.clone(), write(context.pane, bytes, guard).await),
            Err(refused) => (Vec::new(), WriteResult::Refused(refused.to_string())),
        };
        let done = matches!(wrote, WriteResult::Done { .. });
        let submits =
            done && matches!((&job, &action), (TypingJob::Message, InputAction::Press(_)));
        self.wrote(&job, &action, &wrote, &context);
        TypingOutcome { typed: if done { bytes } else { Vec::new() }, submits, is_stale: true }
    }

    /// The next write, if there is one.
    fn decide(
        &mut self,
        context: &TypingContext<'_>,
    ) -> Option<(TypingJob, InputAction, InputGuard)> {
        let composer = context.last_screen.look.composer(context.engine.profile());
        let observation = self.observation(context, &composer);
        while let Some((answer, under_way)) = self.answers.pop_front() {
            if let Some(write) = self.answer(answer, under_way, &observation, context) {
                return write.map(|(action, guard)| (TypingJob::Answer, action, guard));
            }
        }
        while let Some((reply, under_way)) = self.interrupts.pop_front() {
            if let Some(write) = self.interrupt(reply, under_way, &observation, context) {
                return write.map(|(action, guard)| (TypingJob::Interrupt, action, guard));
            }
        }
        self.next_message_write(&observation, context)
            .map(|(action, guard)| (TypingJob::Message, action, guard))
    }

    fn observation<'a>(
        &self,
        context: &'a TypingContext<'_>,
        composer: &'a Composer,
    ) -> AgentObservation<'a> {
        let judged = context.engine.judgement();
        let draft = match composer {
            Composer::Draft(draft) => Some(draft),
            Composer::Hidden | Composer::Empty => None,
        };
        AgentObservation {
            state: judged.state,
            inferred: judged.source == StateSource::Input,
            dialog: judged.dialog.as_ref(),
            composer,
            placeholder: draft
                .is_some_and(|draft| recipe::is_paste_placeholder(context.engine.profile(), draft)),
            view: &context.last_screen.look.view,
            end: context.last_screen.end,
            typed: context.last_screen.typed,
            typed_at: self.typed_at,
            recorded: false,
            has_unread_line: context.terminal.is_some_and(|terminal| terminal.has_unread_line),
        }
    }

    /// Continues an answer. `None`: it is finished. `Some(None)`: it waits. Otherwise the next
    /// write.
    fn answer(
        &mut self,
        answer: DialogAnswer,
        under_way: Option<AnswerAttempt>,
        observation: &AgentObservation<'_>,
        context: &TypingContext<'_>,
    ) -> Option<Option<(InputAction, InputGuard)>> {
        let now = context.now;
        let reads_line = context.terminal.is_some_and(|terminal| terminal.is_canonical());
        let begun = under_way.map_or_else(|| begin_answer(&answer, observation, reads_line), Ok);
        let mut attempt = match begun {
            Ok(attempt) => attempt,
            Err(refusal) => {
                let _ = answer.reply.send(Err(refusal));
                return None;
            }
        };
        let result = match attempt.step(observation, now) {
            AnswerProgress::Next(step) => {
                self.answers.push_front((answer, Some(attempt)));
                return Some(self.next_write(step));
            }
            AnswerProgress::QuestionGone(0) => {
                Err(not_there("another question, or none, is on the screen now"))
            }
            AnswerProgress::QuestionGone(count) => {
                Err(not_there(&format!("the question went away after {count} keys")))
            }
            AnswerProgress::NotSelected(count) => Err(not_there(&format!(
                "the option was not selected after {count} keys, and Enter was not pressed"
            ))),
            AnswerProgress::Answered => Ok(true),
            AnswerProgress::StillAsked => Ok(false),
        };
        let pressed = attempt.pressed().to_vec();
        let _ = answer.reply.send(result.map(|is_gone| DialogAnswerOutcome { pressed, is_gone }));
        None
    }

    /// Continues an interrupt; returns the same as `answer`.
    fn interrupt(
        &mut self,
        reply: TypingReply<InterruptOutcome>,
        under_way: Option<InterruptAttempt>,
        observation: &AgentObservation<'_>,
        context: &TypingContext<'_>,
    ) -> Option<Option<(InputAction, InputGuard)>> {
        let begin = || {
            let mut recipe = recipe::recipe_for(context.engine.profile());
            if context.terminal.is_some_and(|terminal| terminal.interrupts_by_signal()) {
                recipe::interrupt_by_signal(&mut recipe);
            }
            InterruptAttempt::new(&recipe, context.now)
        };
        let mut interrupt = under_way.unwrap_or_else(begin);
        match interrupt.step(observation, context.now) {
            InterruptProgress::Next(step) => {
                self.interrupts.push_front((reply, Some(interrupt)));
                Some(self.next_write(step))
            }
            InterruptProgress::Done { interrupted, evidence } => {
                let _ = reply.send(Ok(InterruptOutcome { interrupted, evidence }));
                None
            }
        }
    }

    /// The write of a step. For a wait, `None`, and `wake` is set.
    fn next_write(&mut self, step: DeliveryStep) -> Option<(InputAction, InputGuard)> {
        match step {
            DeliveryStep::Write(action, guard) => Some((action, guard)),
            DeliveryStep::Wait(until, _) => {
                self.wake = until;
                None
            }
            DeliveryStep::Finished(_) => None,
        }
    }

    fn wrote(
        &mut self,
        job: &TypingJob,
        action: &InputAction,
        wrote: &WriteResult,
        context: &TypingContext<'_>,
    ) {
        let now = context.kernel.now();
        tracing::debug!(pane = %self.pane, ?action, ?wrote, "typed to an agent");
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
                let under_way =
                    self.interrupts.front_mut().and_then(|(_, under_way)| under_way.as_mut());
                let ended = under_way.and_then(|interrupt| interrupt.write_finished(wrote, now));
                if let Some(why) = ended
                    && let Some((reply, _)) = self.interrupts.pop_front()
                {
                    let _ = reply.send(Err(refusal(why)));
                }
            }
            TypingJob::Message => {
                let ended =
                    self.current.as_mut().and_then(|it| it.attempt.write_finished(wrote, now));
                if let Some(outcome) = ended {
                    self.finish_message(MessageOutcome::of(outcome, now), context.kernel);
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
        let gone = || Refusal::new(Code::Gone, "the agent's program has ended");
        for (answer, _) in self.answers.drain(..) {
            let _ = answer.reply.send(Err(gone()));
        }
        for (reply, _) in self.interrupts.drain(..) {
            let _ = reply.send(Err(gone()));
        }
    }
}

fn begin_answer(
    answer: &DialogAnswer,
    observation: &AgentObservation<'_>,
    reads_line: bool,
) -> Result<AnswerAttempt, Refusal> {
    let dialog = observation.dialog.ok_or_else(|| not_there("no question is on the screen"))?;
    if answer.dialog.as_ref().is_some_and(|wanted| *wanted != dialog.id) {
        return Err(not_there("another question is on the screen now"));
    }
    let invalid =
        |refused: paned_policy::delivery::NoSuchOption| Refusal::invalid(refused.to_string());
    let option = choose(dialog, &answer.choice).map_err(invalid)?;
    let attempt = AnswerAttempt::new(dialog, option).map_err(invalid)?;
    // In canonical mode the program gets no key before Enter.
    let attempt = if reads_line { attempt.end_with_enter() } else { attempt };
    // A caller that names a dialog has read its text. If the text changes, the answer may not fit.
    Ok(if answer.dialog.is_none() { attempt.allow_redraw() } else { attempt })
}

fn not_there(why: &str) -> Refusal {
    Refusal::new(Code::Conflict, format!("{why}; `agent:state` shows what it asks"))
}

/// The bytes of an action in the present modes of the terminal.
fn encode(action: &InputAction, context: &TypingContext<'_>) -> Result<Vec<u8>, UnencodableKey> {
    let modes = &context.last_screen.look.view.modes;
    match action {
        // The text was checked when the message was accepted.
        InputAction::Paste(text) => Ok(paste(text, true).unwrap_or_default()),
        InputAction::Type(text) => Ok(text.clone().into_bytes()),
        InputAction::Press(keys) => startup::encode(context.pane, keys, modes),
    }
}

/// Writes to a pane if the guard still holds.
pub(super) async fn write(pane: &Pane, bytes: Vec<u8>, guard: InputGuard) -> WriteResult {
    let Ok(commands) = pane.commands() else {
        return WriteResult::Refused("its program is out of reach".to_owned());
    };
    let (reply, answer) = oneshot::channel();
    if commands.send(PaneCommand::GuardedInput(bytes, guard, reply)).await.is_err() {
        return WriteResult::Refused("its program is out of reach".to_owned());
    }
    match timeout(ANSWER, answer).await {
        Ok(Ok(Ok(typed))) => WriteResult::Done { refereed: typed.guard_atomic },
        Ok(Ok(Err(RefusalReason::Stale))) => WriteResult::Stale,
        Ok(Ok(Err(RefusalReason::Unread))) => WriteResult::Unread,
        Ok(Ok(Err(RefusalReason::Full))) => {
            WriteResult::Refused("its program does not read; 1 MiB waits for it already".to_owned())
        }
        Ok(Ok(Err(RefusalReason::Gone))) => {
            WriteResult::Refused("its program has ended".to_owned())
        }
        Ok(Ok(Err(RefusalReason::Cancelled))) => {
            WriteResult::Refused("its keeper does not answer".to_owned())
        }
        Ok(Ok(Err(RefusalReason::TimedOut))) => {
            WriteResult::Unknown("its keeper does not answer, and may still type it".to_owned())
        }
        Ok(Ok(Err(RefusalReason::Failed | RefusalReason::Held))) => {
            WriteResult::Unknown("its terminal did not take it".to_owned())
        }
        Ok(Err(_)) => WriteResult::Unknown("its keeper went away in the middle".to_owned()),
        Err(_) => WriteResult::Unknown("its keeper does not answer".to_owned()),
    }
}
