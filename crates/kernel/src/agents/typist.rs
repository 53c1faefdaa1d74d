//! Carries what is to be typed to one agent. It lives in the agent's task, so that nothing comes between its
//! look and its write.

use std::collections::VecDeque;
use std::time::Duration;

use paned_backend::PaneCommand;
use paned_model::frame::{InputGuard, RefusalReason};
use paned_model::{Code, PaneId, Refusal, StateSource, TerminalState, Time};
use paned_policy::agent::{Composer, Engine};
use paned_policy::delivery::{
    AnswerAttempt, AnswerProgress, DeliveryAttempt, DeliveryStep, DeliveryWait, InputAction,
    InterruptAttempt, InterruptProgress, OptionChoice, PreparedText, WhenBusy, WriteResult, choose,
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

/// How long the turn of a message that was submitted may take to show, in milliseconds.
const TO_BEGIN: u64 = 2_000;
/// How soon a message is looked at again that waits for the journal.
const JOURNAL_RETRY_MS: u64 = 1_000;
/// How long a keeper may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// To whoever waits for what came of it.
pub(crate) type TypingReply<T> = oneshot::Sender<Result<T, Refusal>>;

/// Something to be typed.
pub(crate) enum TypingRequest {
    /// A message was accepted.
    Message,
    /// Answer the question on the screen.
    Answer(DialogAnswer),
    /// Break the turn off.
    Interrupt(TypingReply<InterruptOutcome>),
}

/// A question to answer.
pub(crate) struct DialogAnswer {
    /// Which option.
    pub(crate) choice: OptionChoice,
    /// Only if it is this question.
    pub(crate) dialog: Option<String>,
    /// What came of it.
    pub(crate) reply: TypingReply<DialogAnswerOutcome>,
}

/// That a question was answered.
pub(crate) struct DialogAnswerOutcome {
    /// The keys that were pressed.
    pub(crate) pressed: Vec<String>,
    /// Whether it is gone from the screen.
    pub(crate) is_gone: bool,
}

/// How breaking off a turn went.
pub(crate) struct InterruptOutcome {
    pub(crate) interrupted: bool,
    pub(crate) evidence: Vec<String>,
}

/// What a courier works with: the agent, as it was seen last.
pub(super) struct TypingContext<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) pane: &'a Pane,
    pub(super) engine: &'a Engine,
    pub(super) last_screen: &'a ScreenAtOffset,
    /// What the system told last of the terminal, where that was asked for.
    pub(super) terminal: Option<TerminalState>,
    pub(super) turns: Turns,
    pub(super) now: Time,
}

/// What a courier has done.
#[derive(Default)]
pub(super) struct TypingOutcome {
    /// What it typed.
    pub(super) typed: Vec<u8>,
    /// Whether that submits a prompt.
    pub(super) submits: bool,
    /// Whether it tried to type: the screen that it saw is not to be relied on any more.
    pub(super) is_stale: bool,
}

/// Carries one thing after the other.
pub(super) struct AgentTypist {
    pane: PaneId,
    current: Option<CurrentMessage>,
    answers: VecDeque<(DialogAnswer, Option<AnswerAttempt>)>,
    interrupts: VecDeque<(TypingReply<InterruptOutcome>, Option<InterruptAttempt>)>,
    /// When to go on if nothing is seen before.
    wake: Option<Time>,
    /// When somebody last typed.
    typed_at: Option<Time>,
}

/// The message whose turn it is.
struct CurrentMessage {
    message: OutboxMessage,
    attempt: DeliveryAttempt,
    /// The turn that it begins, from when Enter was pressed.
    turn: Option<MessageTurn>,
}

/// A write that was asked for, by whom.
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

    /// Takes something on.
    pub(super) fn take(&mut self, errand: TypingRequest) {
        match errand {
            // It lies in its tray.
            TypingRequest::Message => {}
            TypingRequest::Answer(answer) => self.answers.push_back((answer, None)),
            TypingRequest::Interrupt(reply) => self.interrupts.push_back((reply, None)),
        }
    }

    /// Somebody typed.
    pub(super) fn saw_typing(&mut self, now: Time) {
        self.typed_at = Some(now);
    }

    /// Goes on with what is under way, as far as the agent as it is now allows.
    pub(super) async fn step(&mut self, scene: TypingContext<'_>) -> TypingOutcome {
        self.wake = None;
        let Some((job, act, guard)) = self.decide(&scene) else { return TypingOutcome::default() };
        if let TypingJob::Message = job
            && let Some(carrying) = &self.current
            && let Some(begun) = carrying.attempt.attempt_start(scene.pane.guarded_writes())
        {
            let (post, number) = (scene.kernel.agents().outbox(), carrying.message.number);
            let ticket = post.begin(scene.kernel, &self.pane, number, Some(begun));
            if let Some(ticket) = ticket
                && let Err(error) = scene.kernel.journal().committed(ticket).await
            {
                tracing::error!(%error, "a message is typed before that is in the journal");
            }
        }
        let (bytes, wrote) = match encode(&act, &scene) {
            Ok(bytes) => (bytes.clone(), write(scene.pane, bytes, guard).await),
            Err(refused) => (Vec::new(), WriteResult::Refused(refused.to_string())),
        };
        let done = matches!(wrote, WriteResult::Done { .. });
        let submits = done && matches!((&job, &act), (TypingJob::Message, InputAction::Press(_)));
        self.wrote(&job, &act, &wrote, &scene);
        TypingOutcome { typed: if done { bytes } else { Vec::new() }, submits, is_stale: true }
    }

    /// What to write next, if anything.
    fn decide(
        &mut self,
        scene: &TypingContext<'_>,
    ) -> Option<(TypingJob, InputAction, InputGuard)> {
        let composer = scene.last_screen.look.composer(scene.engine.profile());
        let sight = self.observation(scene, &composer);
        while let Some((answer, under_way)) = self.answers.pop_front() {
            if let Some(write) = self.answer(answer, under_way, &sight, scene) {
                return write.map(|(act, guard)| (TypingJob::Answer, act, guard));
            }
        }
        while let Some((reply, under_way)) = self.interrupts.pop_front() {
            if let Some(write) = self.interrupt(reply, under_way, &sight, scene) {
                return write.map(|(act, guard)| (TypingJob::Interrupt, act, guard));
            }
        }
        self.message(&sight, scene).map(|(act, guard)| (TypingJob::Message, act, guard))
    }

    fn observation<'a>(
        &self,
        scene: &'a TypingContext<'_>,
        composer: &'a Composer,
    ) -> paned_policy::delivery::AgentObservation<'a> {
        let judged = scene.engine.judgement();
        let draft = match composer {
            Composer::Draft(draft) => Some(draft),
            Composer::Hidden | Composer::Empty => None,
        };
        paned_policy::delivery::AgentObservation {
            state: judged.state,
            inferred: judged.source == StateSource::Input,
            dialog: judged.dialog.as_ref(),
            composer,
            placeholder: draft
                .is_some_and(|draft| recipe::is_paste_placeholder(scene.engine.profile(), draft)),
            view: &scene.last_screen.look.view,
            end: scene.last_screen.end,
            typed: scene.last_screen.typed,
            typed_at: self.typed_at,
            recorded: false,
            has_unread_line: scene.terminal.is_some_and(|terminal| terminal.has_unread_line),
        }
    }

    /// Goes on with an answer. Nothing means that it is over; a write or a wait is inside.
    fn answer(
        &mut self,
        answer: DialogAnswer,
        under_way: Option<AnswerAttempt>,
        sight: &paned_policy::delivery::AgentObservation<'_>,
        scene: &TypingContext<'_>,
    ) -> Option<Option<(InputAction, InputGuard)>> {
        let now = scene.now;
        let reads_line = scene.terminal.is_some_and(|terminal| terminal.is_canonical());
        let begun = under_way.map_or_else(|| begin_answer(&answer, sight, reads_line), Ok);
        let mut answering = match begun {
            Ok(answering) => answering,
            Err(refusal) => {
                let _ = answer.reply.send(Err(refusal));
                return None;
            }
        };
        let result = match answering.step(sight, now) {
            AnswerProgress::Next(step) => {
                self.answers.push_front((answer, Some(answering)));
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
        let pressed = answering.pressed().to_vec();
        let _ = answer.reply.send(result.map(|is_gone| DialogAnswerOutcome { pressed, is_gone }));
        None
    }

    fn interrupt(
        &mut self,
        reply: TypingReply<InterruptOutcome>,
        under_way: Option<InterruptAttempt>,
        sight: &paned_policy::delivery::AgentObservation<'_>,
        scene: &TypingContext<'_>,
    ) -> Option<Option<(InputAction, InputGuard)>> {
        let begin = || {
            let mut recipe = recipe::recipe_for(scene.engine.profile());
            if scene.terminal.is_some_and(|terminal| terminal.interrupts_by_signal()) {
                recipe::interrupt_by_signal(&mut recipe);
            }
            InterruptAttempt::new(&recipe, scene.now)
        };
        let mut interrupt = under_way.unwrap_or_else(begin);
        match interrupt.step(sight, scene.now) {
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

    /// A write, or nothing until something is seen or it is time.
    fn next_write(&mut self, step: DeliveryStep) -> Option<(InputAction, InputGuard)> {
        match step {
            DeliveryStep::Write(act, guard) => Some((act, guard)),
            DeliveryStep::Wait(until, _) => {
                self.wake = until;
                None
            }
            DeliveryStep::Finished(_) => None,
        }
    }

    /// Goes on with the messages that wait.
    fn message(
        &mut self,
        sight: &paned_policy::delivery::AgentObservation<'_>,
        scene: &TypingContext<'_>,
    ) -> Option<(InputAction, InputGuard)> {
        let post = scene.kernel.agents().outbox();
        loop {
            if self.current.is_none() {
                let letter = post.next(&self.pane)?;
                if scene.kernel.journal().write_error().is_some() {
                    // That it was typed could not be recorded: after a restart it would be typed again.
                    self.wake = Some(Time(scene.now.0 + JOURNAL_RETRY_MS));
                    return None;
                }
                if let Some(until) = previous_turn_deadline(&letter, scene) {
                    self.wake = Some(until);
                    let why = "the prompt before it was submitted a moment ago".to_owned();
                    let word = paned_model::Delivery::Queued;
                    post.update_status(
                        &self.pane,
                        letter.number,
                        DeliveryWait { delivery: word, why, transient: true },
                    );
                    return None;
                }
                self.current = self.begin_message(letter, scene);
                continue;
            }
            let carrying = self.current.as_mut()?;
            match carrying.attempt.step(sight, scene.now) {
                DeliveryStep::Write(act, guard) => {
                    if matches!(act, InputAction::Press(_)) && carrying.turn.is_none() {
                        carrying.turn = Some(turn_of_message(scene));
                    }
                    return Some((act, guard));
                }
                DeliveryStep::Wait(until, standing) => {
                    self.wake = until;
                    self.update_status(standing, scene.kernel);
                    return None;
                }
                DeliveryStep::Finished(outcome) => {
                    let fate = MessageOutcome::of(outcome, scene.now);
                    self.finish(fate, scene.kernel);
                }
            }
        }
    }

    /// Begins with a message; one that its program would not take any more is over at once.
    fn begin_message(
        &self,
        letter: OutboxMessage,
        scene: &TypingContext<'_>,
    ) -> Option<CurrentMessage> {
        let profile = scene.engine.profile();
        let post = scene.kernel.agents().outbox();
        let recipe = recipe::recipe_for(profile);
        let prepared = match PreparedText::new(&letter.text, |text| {
            recipe::format_prompt(profile, text)
        }) {
            Ok(prepared) => prepared,
            Err(why) => {
                let fate =
                    MessageOutcome::with_reason(paned_model::Delivery::Refused, &why, scene.now);
                post.finish(scene.kernel, &self.pane, letter.number, fate, None);
                return None;
            }
        };
        let leftover = post.leftover(&self.pane);
        let mut handover = DeliveryAttempt::new(prepared, recipe, letter.when_busy, leftover);
        if post.has_waited(&self.pane, letter.number) {
            handover = handover.already_queued();
        }
        if let Some(begun) = letter.begun {
            handover = handover.resume(begun, scene.pane.guarded_writes(), scene.now);
        }
        Some(CurrentMessage { message: letter, attempt: handover, turn: None })
    }

    fn update_status(&mut self, standing: DeliveryWait, kernel: &Kernel) {
        let Some(carrying) = &self.current else { return };
        let (post, number) = (kernel.agents().outbox(), carrying.message.number);
        if carrying.attempt.is_untouched() && !standing.transient {
            // Nothing was typed after all.
            post.begin(kernel, &self.pane, number, None);
        }
        post.update_status(&self.pane, number, standing);
    }

    fn finish(&mut self, fate: MessageOutcome, kernel: &Kernel) {
        let Some(carrying) = self.current.take() else { return };
        let post = kernel.agents().outbox();
        post.finish(kernel, &self.pane, carrying.message.number, fate, carrying.turn);
    }

    fn wrote(
        &mut self,
        job: &TypingJob,
        act: &InputAction,
        wrote: &WriteResult,
        scene: &TypingContext<'_>,
    ) {
        let now = scene.kernel.now();
        tracing::debug!(pane = %self.pane, ?act, ?wrote, "typed to an agent");
        let refusal = |why: String| Refusal::new(Code::Unavailable, why);
        match job {
            TypingJob::Answer => {
                let under_way =
                    self.answers.front_mut().and_then(|(_, answering)| answering.as_mut());
                let ended = under_way.and_then(|answering| answering.write_finished(wrote, now));
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
                    self.finish(MessageOutcome::of(outcome, now), scene.kernel);
                }
            }
        }
    }

    /// When to go on if nothing is seen before.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.wake
    }

    /// The agent's program has ended: whoever waits is told.
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
    sight: &paned_policy::delivery::AgentObservation<'_>,
    reads_line: bool,
) -> Result<AnswerAttempt, Refusal> {
    let dialog = sight.dialog.ok_or_else(|| not_there("no question is on the screen"))?;
    if answer.dialog.as_ref().is_some_and(|wanted| *wanted != dialog.id) {
        return Err(not_there("another question is on the screen now"));
    }
    let invalid =
        |refused: paned_policy::delivery::NoSuchOption| Refusal::invalid(refused.to_string());
    let option = choose(dialog, &answer.choice).map_err(invalid)?;
    let answering = AnswerAttempt::new(dialog, option).map_err(invalid)?;
    // Where the kernel edits lines, the program gets no key before Enter.
    let answering = if reads_line { answering.end_with_enter() } else { answering };
    // Whoever names a question has read its words, and answers no others.
    Ok(if answer.dialog.is_none() { answering.allow_redraw() } else { answering })
}

fn not_there(why: &str) -> Refusal {
    Refusal::new(Code::Conflict, format!("{why}; `agent:state` shows what it asks"))
}

/// Until when a message waits because the one before it was only just submitted: its turn may not show yet.
fn previous_turn_deadline(letter: &OutboxMessage, scene: &TypingContext<'_>) -> Option<Time> {
    let expected = scene.turns.expected.filter(|_| letter.when_busy != WhenBusy::Send)?;
    Some(Time(expected.0 + TO_BEGIN)).filter(|until| scene.now < *until)
}

/// The turn that a message begins that is submitted now.
fn turn_of_message(scene: &TypingContext<'_>) -> MessageTurn {
    let under_way = scene.turns.is_under_way();
    MessageTurn { ends: scene.turns.begun + u64::from(!under_way), since: scene.now }
}

/// What is typed for it in the modes that the terminal is in.
fn encode(act: &InputAction, scene: &TypingContext<'_>) -> Result<Vec<u8>, UnencodableKey> {
    let modes = &scene.last_screen.look.view.modes;
    match act {
        // It was checked when it was accepted.
        InputAction::Paste(text) => Ok(paste(text, true).unwrap_or_default()),
        InputAction::Type(text) => Ok(text.clone().into_bytes()),
        InputAction::Press(keys) => startup::encode(scene.pane, keys, modes),
    }
}

/// Writes behind a guard.
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
