//! The task that follows one living agent: it looks at what its pane prints, has it judged, and tells.

use std::sync::Arc;
use std::time::Duration;

use paned_model::frame::Guard;
use paned_model::{AgentState, Exit, Time};
use paned_policy::agent::{Change, Composer, Engine, Look, Observation, Profile, Reason, Report};
use paned_policy::delivery::Wrote;
use paned_policy::transcript::Answer;
use paned_substrate::Output;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::courier::{self, Courier, Errand, Scene};
use super::greet::{self, Greeter};
use super::log::{Log, Recalled};
use super::recognition::Recognition;
use super::seen::{self, Seen, Turns};
use super::tell;
use crate::Kernel;
use crate::panes::Pane;

/// How long what is printed is gathered before the screen is looked at.
const GATHER: Duration = Duration::from_millis(30);
/// How long a synchronized update may hold a screen back before it is looked at all the same.
const STALE: Duration = Duration::from_millis(200);
/// A look that took long is not repeated for so many times as long.
const REST: u32 = 10;
/// How soon after a write the screen is looked at again, should nothing be printed.
const SOON: Duration = Duration::from_millis(20);
/// The least time between two calls at a deadline.
const TICK: Duration = Duration::from_millis(10);
/// The most that is read for titles and marks after one look; of more, the last.
const PIECE: u64 = 1 << 20;

/// The fields in which hooks tell an agent's answer.
const ANSWERS: [&str; 3] = ["last_assistant_message", "last-assistant-message", "prompt_response"];

/// What can be asked of an agent's task.
pub(crate) enum Ask {
    /// Look now, and say everything.
    Look(oneshot::Sender<Looked>),
    /// Its hook, or somebody in its name, said something. Answered once it was weighed.
    Report(Report, oneshot::Sender<()>),
    /// Somebody types this: the agent is expected to do something.
    Typing(Typed),
    /// This was typed: recordings have it.
    Typed(Typed),
    /// It is judged by another profile from now on.
    Profile(Arc<Profile>),
    /// What happened since then.
    Recall(Time, oneshot::Sender<Recalled>),
    /// Something is to be typed.
    Carry(Errand),
}

/// What somebody typed.
#[derive(Clone)]
pub(crate) struct Typed {
    pub(crate) bytes: Vec<u8>,
    /// When.
    pub(crate) at: Time,
    /// Up to where the agent had printed then.
    pub(crate) end: u64,
}

/// Everything that is known of an agent.
pub(crate) struct Looked {
    pub(crate) seen: Seen,
    pub(crate) reasons: Vec<Reason>,
    /// What makes the judgement doubtful, in sentences.
    pub(crate) warnings: Vec<String>,
    pub(crate) composer: Composer,
    /// The last answer that its hook told.
    pub(crate) said: Option<Answer>,
}

/// A screen that was looked at.
pub(crate) struct Sight {
    /// What it showed.
    pub(crate) look: Look,
    /// The offset up to which everything printed was in it.
    pub(crate) end: u64,
    /// How often somebody had typed before.
    pub(crate) typed: Option<u64>,
}

/// Whether an agent was just started, or found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It was just started.
    New,
    /// It was there before us.
    Found,
}

pub(super) struct Task {
    kernel: Kernel,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    engine: Engine,
    courier: Courier,
    greeter: Greeter,
    turns: Turns,
    log: Log,
    said: Option<Answer>,
    seen: watch::Sender<Seen>,
    sight: Option<Sight>,
    /// Everything printed before this was heard.
    heard: u64,
    /// When the screen is to be looked at.
    due: Option<Instant>,
    /// Since when a synchronized update holds the screen back.
    held: Option<Instant>,
    /// No look before this.
    rested: Instant,
    /// What it was last told to do before we were here, until it is judged anew.
    before: Option<AgentState>,
    recognition: Recognition,
    /// How much of what the engine has learned is kept.
    learned: usize,
}

enum Event {
    Stirred,
    Asked(Option<Ask>),
    /// Somebody typed.
    Typing,
    Deadline,
}

impl Task {
    pub(super) fn new(
        kernel: Kernel,
        pane: Arc<Pane>,
        output: Arc<dyn Output>,
        profile: Arc<Profile>,
        (seen, life): (watch::Sender<Seen>, Life),
    ) -> Self {
        let before = Some(seen.borrow().info.state).filter(|_| life == Life::Found);
        let now = Instant::now();
        let recognition = Recognition::new(pane.lock().record.pid);
        Self {
            engine: Engine::new(profile, kernel.now()),
            courier: Courier::new(&pane.id),
            greeter: Greeter::new(&pane),
            turns: Turns::default(),
            log: Log::default(),
            said: None,
            heard: output.end().saturating_sub(PIECE).max(output.first()),
            due: Some(now + GATHER),
            held: None,
            rested: now,
            sight: None,
            before,
            recognition,
            learned: 0,
            kernel,
            pane,
            output,
            seen,
        }
    }

    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) {
        let (mut stirred, mut hands) = (self.pane.watch(), self.pane.hands());
        while self.pane.lock().status().is_live() {
            let event = tokio::select! {
                changed = stirred.changed() => match changed {
                    Ok(()) => Event::Stirred,
                    Err(_) => break,
                },
                ask = asks.recv() => Event::Asked(ask),
                () = typing(&mut hands) => Event::Typing,
                () = sleep_until(self.deadline()) => Event::Deadline,
            };
            match event {
                Event::Stirred => self.stir(),
                Event::Typing => {
                    self.courier.saw_typing(self.kernel.now());
                    self.stir();
                }
                Event::Asked(Some(ask)) => self.answer(ask).await,
                // The pane is forgotten.
                Event::Asked(None) => return,
                Event::Deadline => self.pass().await,
            }
        }
        self.finish();
    }

    /// When something is to be done although nothing happens.
    fn deadline(&self) -> Option<Instant> {
        let (now, moment) = (self.kernel.now(), Instant::now());
        let soon = |at: Time| moment + Duration::from_millis(at.since(now)).max(TICK);
        let judge = [self.engine.deadline(), self.courier.deadline()].into_iter().flatten();
        let recognition = self.recognition.deadline(&self.engine);
        judge.map(soon).chain(self.due).chain(recognition).min()
    }

    /// It printed, or has another size: the screen is looked at soon.
    fn stir(&mut self) {
        self.log.printed(self.kernel.now(), self.output.end(), self.output.size());
        let soon = (Instant::now() + GATHER).max(self.rested);
        self.due = Some(self.due.map_or(soon, |due| due.min(soon)));
    }

    async fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Look(reply) => {
                self.look().await;
                let _ = reply.send(self.everything());
            }
            Ask::Report(report, heard) => {
                self.note_answer(&report);
                self.observe(&Observation::Report(report));
                let _ = heard.send(());
            }
            Ask::Typing(typed) => self.expect(typed),
            Ask::Typed(Typed { bytes, at, end }) => self.log.typed(at, end, &bytes),
            Ask::Profile(profile) => {
                self.recognition.start_over();
                self.judge_by(profile).await;
            }
            Ask::Recall(since, reply) => {
                let _ = reply.send(self.log.since(since));
            }
            Ask::Carry(errand) => self.courier.take(errand),
        }
        self.carry().await;
    }

    /// Time has passed.
    async fn pass(&mut self) {
        if self.due.is_some_and(|due| due <= Instant::now()) {
            self.look().await;
        }
        self.measure();
        let change = self.engine.tick(self.kernel.now());
        self.publish(change);
        self.recognise().await;
        self.greet().await;
        self.carry().await;
    }

    /// Answers a question at its start, if that is allowed and nothing happened since the look.
    async fn greet(&mut self) {
        let Some(sight) = self.sight.as_ref().filter(|sight| sight.end == self.output.end()) else {
            return;
        };
        let answer = self.greeter.keys(self.engine.judgement(), self.engine.profile());
        let Some((question, keys)) = answer else { return };
        let guard = Guard { end: Some(sight.end), typed: sight.typed };
        let wrote = match greet::encode(&self.pane, &keys, &sight.look.view.modes) {
            Ok(bytes) => courier::write(&self.pane, bytes, guard).await,
            Err(refused) => Wrote::Refused(refused.to_string()),
        };
        self.greeter.pressed(question, &wrote);
    }

    async fn carry(&mut self) {
        let Some(sight) = &self.sight else { return };
        let (now, end) = (self.kernel.now(), self.output.end());
        let (kernel, pane, engine) = (&self.kernel, self.pane.as_ref(), &self.engine);
        let scene = Scene { kernel, pane, engine, sight, turns: self.turns, now };
        let carried = self.courier.step(scene).await;
        if carried.submits {
            // The moment before the write: an answer may come before the write is confirmed.
            self.turns.expect(now);
        }
        if !carried.typed.is_empty() {
            self.log.typed(now, end, &carried.typed);
            self.observe(&Observation::Typed(carried.typed));
        }
        if carried.is_stale {
            let soon = Instant::now() + SOON;
            self.due = Some(self.due.map_or(soon, |due| due.min(soon)));
        }
        self.publish(None);
    }

    /// Hears what was printed, then looks at the screen that it made.
    async fn look(&mut self) {
        let began = Instant::now();
        // Before the look, so that whatever is typed or printed during it counts as later.
        let (typed, end) = (self.pane.typed(), self.output.end());
        let seen =
            self.kernel.look(&self.pane, |screen| (screen.is_held(), Look::of(screen))).await;
        let (is_held, look) = match seen {
            Ok(seen) => seen,
            Err(refusal) => {
                tracing::warn!(pane = %self.pane.id, %refusal, "an agent's screen cannot be seen");
                self.due = None;
                return;
            }
        };
        self.hear(end);
        let stale = *self.held.get_or_insert(began) + STALE;
        if is_held && began < stale {
            self.due = Some(stale);
            return;
        }
        (self.held, self.due) = (None, None);
        self.recall();
        self.observe(&Observation::Screen(look.clone()));
        self.sight = Some(Sight { look, end, typed });
        self.rested = Instant::now() + began.elapsed() * REST;
    }

    /// Hands on what was printed up to an offset, for titles and marks.
    fn hear(&mut self, end: u64) {
        self.heard = self.heard.max(end.saturating_sub(PIECE)).max(self.output.first());
        while self.heard < end {
            let wanted = usize::try_from(end - self.heard).unwrap_or_default();
            let mut bytes = vec![0; wanted];
            match self.output.read(self.heard, &mut bytes) {
                Ok(Ok(0)) => return,
                Ok(Ok(read)) => {
                    bytes.truncate(read);
                    self.heard += read as u64;
                    self.observe(&Observation::Output(bytes));
                }
                Ok(Err(gap)) => self.heard = gap.first,
                Err(error) => {
                    tracing::warn!(pane = %self.pane.id, %error, "an agent's output cannot be read");
                    return;
                }
            }
        }
    }

    fn expect(&mut self, Typed { bytes, at, .. }: Typed) {
        if bytes.contains(&b'\r') {
            self.turns.expect(at);
        }
        self.observe(&Observation::Typed(bytes));
    }

    /// Tells the engine what was learned of a program while it starts. A wrapper may become another program meanwhile.
    fn recall(&mut self) {
        let is_starting = self.engine.judgement().state == AgentState::Starting;
        if !is_starting || !self.engine.profile().is_generic() {
            return;
        }
        let program = self.recognition.processes.program();
        let known = program.and_then(|program| self.kernel.agents().learned().get(&program));
        let (signs, at) = known.unwrap_or_default();
        self.engine.recall(signs, at);
    }

    /// Keeps what is new in what the engine has learned.
    fn learn(&mut self) {
        let signs = self.engine.learned();
        if signs.len() == self.learned || !self.engine.profile().is_generic() {
            return;
        }
        self.learned = signs.len();
        if let Some(program) = self.recognition.processes.program() {
            self.kernel.agents().learned().keep(program, signs, self.kernel.now());
        }
    }

    fn observe(&mut self, seen: &Observation) {
        let change = self.engine.observe(seen, self.kernel.now());
        self.publish(change);
    }

    /// Asks the system whether the processes of a program that no profile describes compute.
    fn measure(&mut self) {
        let is_settled = self.engine.judgement().state == AgentState::Ready;
        if is_settled || !self.engine.profile().is_generic() {
            return;
        }
        let waits = self.recognition.processes.wait_for_input();
        let computes = self.recognition.processes.compute(Instant::now());
        if waits || computes.is_some() {
            let computes = computes.unwrap_or(false);
            self.observe(&Observation::Process { alive: true, computes, waits });
        }
    }

    /// Changes the profile where another one fits better.
    async fn recognise(&mut self) {
        let look = self.sight.as_ref().map(|sight| &sight.look);
        let library = || self.kernel.agents().profiles().library;
        if let Some(profile) = self.recognition.step(&self.engine, look, library) {
            self.judge_by(profile).await;
        }
    }

    /// Goes on with another profile, from the screen as it is.
    async fn judge_by(&mut self, profile: Arc<Profile>) {
        self.engine = self.engine.with_profile(profile, self.kernel.now());
        self.look().await;
    }

    /// Tells everybody what is known now, if that is news.
    fn publish(&mut self, change: Option<Change>) {
        self.learn();
        let mut judged = self.engine.judgement().clone();
        if let Some(before) = self.before {
            if judged.state == AgentState::Starting {
                // It was started long ago; a fresh engine cannot know that.
                let told = self.seen.borrow().info.clone();
                (judged.state, judged.since) = (before, told.since);
            } else {
                self.before = None;
            }
        }
        let profile = &self.engine.profile().name;
        let queued = self.kernel.agents().post().waiting(&self.pane.id);
        let info = seen::info(profile, &judged, self.engine.kind(), queued);
        let begun = self.turns.begun;
        self.turns.note(info.state, info.kind, self.kernel.now());
        if begun < self.turns.begun {
            self.said = None;
        }
        self.log.does(self.kernel.now(), info.state, info.kind);
        let news = Seen { info, turns: self.turns };
        if *self.seen.borrow() != news {
            tell::tell(
                &self.kernel,
                &self.pane,
                &news.info,
                change.map_or(0, |change| change.age_ms),
            );
            self.seen.send_replace(news);
        }
    }

    fn everything(&self) -> Looked {
        let composer = self.sight.as_ref().map(|sight| sight.look.composer(self.engine.profile()));
        Looked {
            seen: self.seen.borrow().clone(),
            reasons: self.engine.explain(self.kernel.now()),
            warnings: self.recognition.warnings(&self.engine),
            composer: composer.unwrap_or(Composer::Hidden),
            said: self.said.clone(),
        }
    }

    /// Keeps the answer that a hook tells at the end of a turn; what comes next makes it old.
    fn note_answer(&mut self, report: &Report) {
        let told = report.fields.iter().find(|(key, _)| ANSWERS.contains(&key.as_str()));
        if let Some((_, text)) = told.filter(|(_, text)| !text.trim().is_empty()) {
            self.said = Some(Answer { text: text.clone(), at: Some(self.kernel.now().into()) });
        }
    }

    /// Its program has ended.
    fn finish(&mut self) {
        let exit = self.pane.lock().record.end.and_then(|end| end.exit);
        let code = exit.and_then(Exit::code).map(i32::from);
        self.hear(self.output.end());
        self.before = None;
        self.observe(&Observation::Exited { code });
        self.courier.close(&self.kernel);
        self.kernel.agents().forget_ended(&self.pane.id, &self.seen);
    }
}

/// Waits until somebody types; for ever where nobody counts.
async fn typing(hands: &mut Option<watch::Receiver<Option<u64>>>) {
    if let Some(counted) = hands
        && counted.changed().await.is_ok()
    {
        return;
    }
    *hands = None;
    std::future::pending().await
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
