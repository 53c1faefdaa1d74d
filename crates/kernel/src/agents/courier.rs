//! Carries what is to be typed to one agent. It lives in the agent's task, so that nothing comes between its
//! look and its write.

use std::collections::VecDeque;
use std::time::Duration;

use paned_model::frame::{Guard, Refused};
use paned_model::{Code, PaneId, Refusal, Source, Time};
use paned_policy::agent::{Composer, Engine};
use paned_policy::delivery::{
    Act, Answering, Broken, Choice, Handover, Interrupt, Prepared, Progress, Standing, Step,
    WhenBusy, Wrote, choose,
};
use paned_substrate::Command;
use paned_term::keys::Untypable;
use paned_term::paste::paste;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::greet;
use super::letter::{Fate, Letter, Turn};
use super::recipe;
use super::seen::Turns;
use super::task::Sight;
use crate::Kernel;
use crate::panes::Pane;

/// How long the turn of a message that was submitted may take to show, in milliseconds.
const TO_BEGIN: u64 = 2_000;
/// How soon a message is looked at again that waits for the journal.
const JOURNAL_RETRY_MS: u64 = 1_000;
/// How long a keeper may take to answer.
const ANSWER: Duration = Duration::from_secs(10);

/// To whoever waits for what came of it.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Refusal>>;

/// Something to be typed.
pub(crate) enum Errand {
    /// A message was accepted.
    Message,
    /// Answer the question on the screen.
    Answer(Answer),
    /// Break the turn off.
    Interrupt(Reply<Interrupted>),
}

/// A question to answer.
pub(crate) struct Answer {
    /// Which option.
    pub(crate) choice: Choice,
    /// Only if it is this question.
    pub(crate) dialog: Option<String>,
    /// What came of it.
    pub(crate) reply: Reply<Answered>,
}

/// That a question was answered.
pub(crate) struct Answered {
    /// The keys that were pressed.
    pub(crate) pressed: Vec<String>,
    /// Whether it is gone from the screen.
    pub(crate) is_gone: bool,
}

/// How breaking off a turn went.
pub(crate) struct Interrupted {
    pub(crate) interrupted: bool,
    pub(crate) evidence: Vec<String>,
}

/// What a courier works with: the agent, as it was seen last.
pub(super) struct Scene<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) pane: &'a Pane,
    pub(super) engine: &'a Engine,
    pub(super) sight: &'a Sight,
    pub(super) turns: Turns,
    pub(super) now: Time,
}

/// What a courier has done.
#[derive(Default)]
pub(super) struct Carried {
    /// What it typed.
    pub(super) typed: Vec<u8>,
    /// Whether that submits a prompt.
    pub(super) submits: bool,
    /// Whether it tried to type: the screen that it saw is not to be relied on any more.
    pub(super) is_stale: bool,
}

/// Carries one thing after the other.
pub(super) struct Courier {
    pane: PaneId,
    letter: Option<Carrying>,
    answers: VecDeque<(Answer, Option<Answering>)>,
    interrupts: VecDeque<(Reply<Interrupted>, Option<Interrupt>)>,
    /// When to go on if nothing is seen before.
    wake: Option<Time>,
    /// When somebody last typed.
    typed_at: Option<Time>,
}

/// The message whose turn it is.
struct Carrying {
    letter: Letter,
    handover: Handover,
    /// The turn that it begins, from when Enter was pressed.
    turn: Option<Turn>,
}

/// A write that was asked for, by whom.
enum Job {
    Answer,
    Interrupt,
    Letter,
}

impl Courier {
    pub(super) fn new(pane: &PaneId) -> Self {
        Self {
            pane: pane.clone(),
            letter: None,
            answers: VecDeque::new(),
            interrupts: VecDeque::new(),
            wake: None,
            typed_at: None,
        }
    }

    /// Takes something on.
    pub(super) fn take(&mut self, errand: Errand) {
        match errand {
            // It lies in its tray.
            Errand::Message => {}
            Errand::Answer(answer) => self.answers.push_back((answer, None)),
            Errand::Interrupt(reply) => self.interrupts.push_back((reply, None)),
        }
    }

    /// Somebody typed.
    pub(super) fn saw_typing(&mut self, now: Time) {
        self.typed_at = Some(now);
    }

    /// Goes on with what is under way, as far as the agent as it is now allows.
    pub(super) async fn step(&mut self, scene: Scene<'_>) -> Carried {
        self.wake = None;
        let Some((job, act, guard)) = self.decide(&scene) else { return Carried::default() };
        if let Job::Letter = job
            && let Some(carrying) = &self.letter
            && let Some(begun) = carrying.handover.begins(scene.pane.guarded())
        {
            let (post, number) = (scene.kernel.agents().post(), carrying.letter.number);
            let ticket = post.begin(scene.kernel, &self.pane, number, Some(begun));
            if let Some(ticket) = ticket
                && let Err(error) = scene.kernel.journal().committed(ticket).await
            {
                tracing::error!(%error, "a message is typed before that is in the journal");
            }
        }
        let (bytes, wrote) = match encode(&act, &scene) {
            Ok(bytes) => (bytes.clone(), write(scene.pane, bytes, guard).await),
            Err(refused) => (Vec::new(), Wrote::Refused(refused.to_string())),
        };
        let done = matches!(wrote, Wrote::Done { .. });
        let submits = done && matches!((&job, &act), (Job::Letter, Act::Press(_)));
        self.wrote(&job, &act, &wrote, &scene);
        Carried { typed: if done { bytes } else { Vec::new() }, submits, is_stale: true }
    }

    /// What to write next, if anything.
    fn decide(&mut self, scene: &Scene<'_>) -> Option<(Job, Act, Guard)> {
        let composer = scene.sight.look.composer(scene.engine.profile());
        let sight = self.sight(scene, &composer);
        while let Some((answer, under_way)) = self.answers.pop_front() {
            if let Some(write) = self.answer(answer, under_way, &sight, scene.now) {
                return write.map(|(act, guard)| (Job::Answer, act, guard));
            }
        }
        while let Some((reply, under_way)) = self.interrupts.pop_front() {
            if let Some(write) = self.interrupt(reply, under_way, &sight, scene) {
                return write.map(|(act, guard)| (Job::Interrupt, act, guard));
            }
        }
        self.message(&sight, scene).map(|(act, guard)| (Job::Letter, act, guard))
    }

    fn sight<'a>(
        &self,
        scene: &'a Scene<'_>,
        composer: &'a Composer,
    ) -> paned_policy::delivery::Sight<'a> {
        let judged = scene.engine.judgement();
        let draft = match composer {
            Composer::Draft(draft) => Some(draft),
            Composer::Hidden | Composer::Empty => None,
        };
        paned_policy::delivery::Sight {
            state: judged.state,
            surmised: judged.source == Source::Input,
            dialog: judged.dialog.as_ref(),
            composer,
            placeholder: draft
                .is_some_and(|draft| recipe::stands_in(scene.engine.profile(), draft)),
            view: &scene.sight.look.view,
            end: scene.sight.end,
            typed: scene.sight.typed,
            typed_at: self.typed_at,
            recorded: false,
        }
    }

    /// Goes on with an answer. Nothing means that it is over; a write or a wait is inside.
    fn answer(
        &mut self,
        answer: Answer,
        under_way: Option<Answering>,
        sight: &paned_policy::delivery::Sight<'_>,
        now: Time,
    ) -> Option<Option<(Act, Guard)>> {
        let begun = under_way.map_or_else(|| begin_answer(&answer, sight), Ok);
        let mut answering = match begun {
            Ok(answering) => answering,
            Err(refusal) => {
                let _ = answer.reply.send(Err(refusal));
                return None;
            }
        };
        let result = match answering.step(sight, now) {
            Progress::Go(step) => {
                self.answers.push_front((answer, Some(answering)));
                return Some(self.go(step));
            }
            Progress::Gone(0) => Err(not_there("another question, or none, is on the screen now")),
            Progress::Gone(count) => {
                Err(not_there(&format!("the question went away after {count} keys")))
            }
            Progress::Unselected(count) => Err(not_there(&format!(
                "the option was not selected after {count} keys, and Enter was not pressed"
            ))),
            Progress::Answered => Ok(true),
            Progress::Stays => Ok(false),
        };
        let pressed = answering.pressed().to_vec();
        let _ = answer.reply.send(result.map(|is_gone| Answered { pressed, is_gone }));
        None
    }

    fn interrupt(
        &mut self,
        reply: Reply<Interrupted>,
        under_way: Option<Interrupt>,
        sight: &paned_policy::delivery::Sight<'_>,
        scene: &Scene<'_>,
    ) -> Option<Option<(Act, Guard)>> {
        let begin = || Interrupt::new(&recipe::of(scene.engine.profile()), scene.now);
        let mut interrupt = under_way.unwrap_or_else(begin);
        match interrupt.step(sight, scene.now) {
            Broken::Go(step) => {
                self.interrupts.push_front((reply, Some(interrupt)));
                Some(self.go(step))
            }
            Broken::Over { interrupted, evidence } => {
                let _ = reply.send(Ok(Interrupted { interrupted, evidence }));
                None
            }
        }
    }

    /// A write, or nothing until something is seen or it is time.
    fn go(&mut self, step: Step) -> Option<(Act, Guard)> {
        match step {
            Step::Write(act, guard) => Some((act, guard)),
            Step::Wait(until, _) => {
                self.wake = until;
                None
            }
            Step::Finished(_) => None,
        }
    }

    /// Goes on with the messages that wait.
    fn message(
        &mut self,
        sight: &paned_policy::delivery::Sight<'_>,
        scene: &Scene<'_>,
    ) -> Option<(Act, Guard)> {
        let post = scene.kernel.agents().post();
        loop {
            if self.letter.is_none() {
                let letter = post.next(&self.pane)?;
                if scene.kernel.journal().trouble().is_some() {
                    // That it was typed could not be recorded: after a restart it would be typed again.
                    self.wake = Some(Time(scene.now.0 + JOURNAL_RETRY_MS));
                    return None;
                }
                if let Some(until) = settling(&letter, scene) {
                    self.wake = Some(until);
                    let why = "the prompt before it was submitted a moment ago".to_owned();
                    let word = paned_model::Delivery::Queued;
                    post.stand(&self.pane, letter.number, Standing { word, why, passing: true });
                    return None;
                }
                self.letter = self.open(letter, scene);
                continue;
            }
            let carrying = self.letter.as_mut()?;
            match carrying.handover.step(sight, scene.now) {
                Step::Write(act, guard) => {
                    if matches!(act, Act::Press(_)) && carrying.turn.is_none() {
                        carrying.turn = Some(turn(scene));
                    }
                    return Some((act, guard));
                }
                Step::Wait(until, standing) => {
                    self.wake = until;
                    self.stand(standing, scene.kernel);
                    return None;
                }
                Step::Finished(outcome) => {
                    let fate = Fate::of(outcome, scene.now);
                    self.finish(fate, scene.kernel);
                }
            }
        }
    }

    /// Begins with a message; one that its program would not take any more is over at once.
    fn open(&self, letter: Letter, scene: &Scene<'_>) -> Option<Carrying> {
        let profile = scene.engine.profile();
        let post = scene.kernel.agents().post();
        let recipe = recipe::of(profile);
        let prepared = match Prepared::new(&letter.text, |text| recipe::dress(profile, text)) {
            Ok(prepared) => prepared,
            Err(why) => {
                let fate = Fate::because(paned_model::Delivery::Refused, &why, scene.now);
                post.finish(scene.kernel, &self.pane, letter.number, fate, None);
                return None;
            }
        };
        let leftover = post.leftover(&self.pane);
        let mut handover = Handover::new(prepared, recipe, letter.when_busy, leftover);
        if post.has_waited(&self.pane, letter.number) {
            handover = handover.that_waits();
        }
        if let Some(begun) = letter.begun {
            handover = handover.resume(begun, scene.pane.guarded(), scene.now);
        }
        Some(Carrying { letter, handover, turn: None })
    }

    fn stand(&mut self, standing: Standing, kernel: &Kernel) {
        let Some(carrying) = &self.letter else { return };
        let (post, number) = (kernel.agents().post(), carrying.letter.number);
        if carrying.handover.is_untouched() && !standing.passing {
            // Nothing was typed after all.
            post.begin(kernel, &self.pane, number, None);
        }
        post.stand(&self.pane, number, standing);
    }

    fn finish(&mut self, fate: Fate, kernel: &Kernel) {
        let Some(carrying) = self.letter.take() else { return };
        let post = kernel.agents().post();
        post.finish(kernel, &self.pane, carrying.letter.number, fate, carrying.turn);
    }

    fn wrote(&mut self, job: &Job, act: &Act, wrote: &Wrote, scene: &Scene<'_>) {
        let now = scene.kernel.now();
        tracing::debug!(pane = %self.pane, ?act, ?wrote, "typed to an agent");
        let refusal = |why: String| Refusal::new(Code::Unavailable, why);
        match job {
            Job::Answer => {
                let under_way =
                    self.answers.front_mut().and_then(|(_, answering)| answering.as_mut());
                let ended = under_way.and_then(|answering| answering.wrote(wrote, now));
                if let Some(why) = ended
                    && let Some((answer, _)) = self.answers.pop_front()
                {
                    let _ = answer.reply.send(Err(refusal(why)));
                }
            }
            Job::Interrupt => {
                let under_way =
                    self.interrupts.front_mut().and_then(|(_, under_way)| under_way.as_mut());
                let ended = under_way.and_then(|interrupt| interrupt.wrote(wrote, now));
                if let Some(why) = ended
                    && let Some((reply, _)) = self.interrupts.pop_front()
                {
                    let _ = reply.send(Err(refusal(why)));
                }
            }
            Job::Letter => {
                let ended = self.letter.as_mut().and_then(|it| it.handover.wrote(wrote, now));
                if let Some(outcome) = ended {
                    self.finish(Fate::of(outcome, now), scene.kernel);
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
        self.letter = None;
        kernel.agents().post().close(kernel, &self.pane);
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
    answer: &Answer,
    sight: &paned_policy::delivery::Sight<'_>,
) -> Result<Answering, Refusal> {
    let dialog = sight.dialog.ok_or_else(|| not_there("no question is on the screen"))?;
    if answer.dialog.as_ref().is_some_and(|wanted| *wanted != dialog.id) {
        return Err(not_there("another question is on the screen now"));
    }
    let invalid =
        |refused: paned_policy::delivery::NoSuchOption| Refusal::invalid(refused.to_string());
    let option = choose(dialog, &answer.choice).map_err(invalid)?;
    let answering = Answering::new(dialog, option).map_err(invalid)?;
    // Whoever names a question has read its words, and answers no others.
    Ok(if answer.dialog.is_none() { answering.while_it_is_drawn() } else { answering })
}

fn not_there(why: &str) -> Refusal {
    Refusal::new(Code::Conflict, format!("{why}; `agent:state` shows what it asks"))
}

/// Until when a message waits because the one before it was only just submitted: its turn may not show yet.
fn settling(letter: &Letter, scene: &Scene<'_>) -> Option<Time> {
    let expected = scene.turns.expected.filter(|_| letter.when_busy != WhenBusy::Send)?;
    Some(Time(expected.0 + TO_BEGIN)).filter(|until| scene.now < *until)
}

/// The turn that a message begins that is submitted now.
fn turn(scene: &Scene<'_>) -> Turn {
    let under_way = scene.turns.is_under_way();
    Turn { ends: scene.turns.begun + u64::from(!under_way), since: scene.now }
}

/// What is typed for it in the modes that the terminal is in.
fn encode(act: &Act, scene: &Scene<'_>) -> Result<Vec<u8>, Untypable> {
    let modes = &scene.sight.look.view.modes;
    match act {
        // It was checked when it was accepted.
        Act::Paste(text) => Ok(paste(text, true).unwrap_or_default()),
        Act::Type(text) => Ok(text.clone().into_bytes()),
        Act::Press(keys) => greet::encode(scene.pane, keys, modes),
    }
}

/// Writes behind a guard.
pub(super) async fn write(pane: &Pane, bytes: Vec<u8>, guard: Guard) -> Wrote {
    let Ok(commands) = pane.commands() else {
        return Wrote::Refused("its program is out of reach".to_owned());
    };
    let (reply, answer) = oneshot::channel();
    if commands.send(Command::Guarded(bytes, guard, reply)).await.is_err() {
        return Wrote::Refused("its program is out of reach".to_owned());
    }
    match timeout(ANSWER, answer).await {
        Ok(Ok(Ok(typed))) => Wrote::Done { refereed: typed.refereed },
        Ok(Ok(Err(Refused::Moved))) => Wrote::Moved,
        Ok(Ok(Err(Refused::Unread))) => Wrote::Unread,
        Ok(Ok(Err(Refused::Full))) => {
            Wrote::Refused("its program does not read; 1 MiB waits for it already".to_owned())
        }
        Ok(Ok(Err(Refused::Gone))) => Wrote::Refused("its program has ended".to_owned()),
        Ok(Ok(Err(Refused::TakenBack))) => Wrote::Refused("its keeper does not answer".to_owned()),
        Ok(Ok(Err(Refused::Late))) => {
            Wrote::Lost("its keeper does not answer, and may still type it".to_owned())
        }
        Ok(Ok(Err(Refused::Failed | Refused::Held))) => {
            Wrote::Lost("its terminal did not take it".to_owned())
        }
        Ok(Err(_)) => Wrote::Lost("its keeper went away in the middle".to_owned()),
        Err(_) => Wrote::Lost("its keeper does not answer".to_owned()),
    }
}
