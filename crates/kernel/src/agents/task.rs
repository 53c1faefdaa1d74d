//! The task that follows one living agent: it looks at what its pane prints, has it judged, and tells.

mod measure;

use std::sync::Arc;
use std::time::Duration;

use paned_backend::Output;
use paned_model::frame::InputGuard;
use paned_model::{AgentState, Exit, TerminalState, Time};
use paned_policy::agent::{
    Composer, Engine, EngineInput, EvidenceItem, HookReport, Profile, ScreenSnapshot, StateChange,
};
use paned_policy::delivery::WriteResult;
use paned_policy::transcript::TranscriptAnswer;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::history::{AgentHistory, HistorySlice};
use super::publish;
use super::recognition::Recognition;
use super::startup::{self, StartupAnswerer};
use super::status::{self, AgentStatus, Turns};
use super::typist::{self, AgentTypist, TypingContext, TypingRequest};
use crate::Kernel;
use crate::panes::Pane;

/// How long what is printed is gathered before the screen is looked at.
const LOOK_DELAY: Duration = Duration::from_millis(30);
/// How long a synchronized update may hold a screen back before it is looked at all the same.
const UPDATE_TIMEOUT: Duration = Duration::from_millis(200);
/// A look that took long is not repeated for so many times as long.
const REST_FACTOR: u32 = 10;
/// How soon after a write the screen is looked at again, should nothing be printed.
const SOON: Duration = Duration::from_millis(20);
/// The least time between two calls at a deadline.
const TICK: Duration = Duration::from_millis(10);
/// The most that is read for titles and marks after one look; of more, the last.
const PIECE: u64 = 1 << 20;

/// The fields in which hooks tell an agent's answer.
const ANSWER_FIELDS: [&str; 3] =
    ["last_assistant_message", "last-assistant-message", "prompt_response"];

/// What can be asked of an agent's task.
pub(crate) enum AgentRequest {
    /// Look now, and say everything.
    Inspect(oneshot::Sender<AgentInspection>),
    /// Its hook, or somebody in its name, said something. Answered once it was weighed.
    Report(HookReport, oneshot::Sender<()>),
    /// Somebody types this: the agent is expected to do something.
    Typing(TypedInput),
    /// This was typed: recordings have it.
    Typed(TypedInput),
    /// It is judged by another profile from now on.
    Profile(Arc<Profile>),
    /// What happened since then.
    History(Time, oneshot::Sender<HistorySlice>),
    /// Something is to be typed.
    Type(TypingRequest),
}

/// What somebody typed.
#[derive(Clone)]
pub(crate) struct TypedInput {
    pub(crate) bytes: Vec<u8>,
    /// When.
    pub(crate) at: Time,
    /// Up to where the agent had printed then.
    pub(crate) end: u64,
}

/// Everything that is known of an agent.
pub(crate) struct AgentInspection {
    pub(crate) seen: AgentStatus,
    pub(crate) reasons: Vec<EvidenceItem>,
    /// What makes the judgement doubtful, in sentences.
    pub(crate) warnings: Vec<String>,
    pub(crate) composer: Composer,
    /// The last answer that its hook told.
    pub(crate) said: Option<TranscriptAnswer>,
}

/// A screen that was looked at.
pub(crate) struct ScreenAtOffset {
    /// What it showed.
    pub(crate) look: ScreenSnapshot,
    /// The offset up to which everything printed was in it.
    pub(crate) end: u64,
    /// How often somebody had typed before.
    pub(crate) typed: Option<u64>,
}

/// Whether an agent was just started, or found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentOrigin {
    /// It was just started.
    New,
    /// It was there before us.
    Recovered,
}

pub(super) struct AgentTask {
    kernel: Kernel,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    engine: Engine,
    typist: AgentTypist,
    startup: StartupAnswerer,
    turns: Turns,
    history: AgentHistory,
    hook_answer: Option<TranscriptAnswer>,
    status: watch::Sender<AgentStatus>,
    last_screen: Option<ScreenAtOffset>,
    /// What the system told last of its terminal, where that was asked for.
    terminal: Option<TerminalState>,
    /// Everything printed before this was heard.
    scanned: u64,
    /// When the screen is to be looked at.
    look_due: Option<Instant>,
    /// Since when a synchronized update holds the screen back.
    held_since: Option<Instant>,
    /// No look before this.
    next_look: Instant,
    /// What it was last told to do before we were here, until it is judged anew.
    restored_state: Option<AgentState>,
    recognition: Recognition,
    /// How much of what the engine has learned is kept.
    learned_count: usize,
}

enum AgentTaskEvent {
    Changed,
    Request(Option<AgentRequest>),
    /// Somebody typed.
    Typing,
    Deadline,
}

impl AgentTask {
    pub(super) fn new(
        kernel: Kernel,
        pane: Arc<Pane>,
        output: Arc<dyn Output>,
        profile: Arc<Profile>,
        (status, life): (watch::Sender<AgentStatus>, AgentOrigin),
    ) -> Self {
        let restored_state =
            Some(status.borrow().info.state).filter(|_| life == AgentOrigin::Recovered);
        let now = Instant::now();
        let recognition = Recognition::new(pane.lock().record.pid);
        Self {
            engine: Engine::new(profile, kernel.now()),
            typist: AgentTypist::new(&pane.id),
            startup: StartupAnswerer::new(&pane),
            turns: Turns::default(),
            history: AgentHistory::default(),
            hook_answer: None,
            scanned: output.end().saturating_sub(PIECE).max(output.first()),
            look_due: Some(now + LOOK_DELAY),
            held_since: None,
            next_look: now,
            last_screen: None,
            terminal: None,
            restored_state,
            recognition,
            learned_count: 0,
            kernel,
            pane,
            output,
            status,
        }
    }

    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<AgentRequest>) {
        let (mut stirred, mut hands) = (self.pane.watch(), self.pane.watch_typing());
        while self.pane.lock().status().is_live() {
            let event = tokio::select! {
                changed = stirred.changed() => match changed {
                    Ok(()) => AgentTaskEvent::Changed,
                    Err(_) => break,
                },
                ask = asks.recv() => AgentTaskEvent::Request(ask),
                () = until_typing(&mut hands) => AgentTaskEvent::Typing,
                () = sleep_until(self.deadline()) => AgentTaskEvent::Deadline,
            };
            match event {
                AgentTaskEvent::Changed => self.schedule_look(),
                AgentTaskEvent::Typing => {
                    self.typist.saw_typing(self.kernel.now());
                    self.schedule_look();
                }
                AgentTaskEvent::Request(Some(ask)) => self.handle_request(ask).await,
                // The pane is forgotten.
                AgentTaskEvent::Request(None) => return,
                AgentTaskEvent::Deadline => self.on_deadline().await,
            }
        }
        self.finish();
    }

    /// When something is to be done although nothing happens.
    fn deadline(&self) -> Option<Instant> {
        let (now, moment) = (self.kernel.now(), Instant::now());
        let soon = |at: Time| moment + Duration::from_millis(at.since(now)).max(TICK);
        let judge = [self.engine.deadline(), self.typist.deadline()].into_iter().flatten();
        let recognition = self.recognition.deadline(&self.engine);
        judge.map(soon).chain(self.look_due).chain(recognition).min()
    }

    /// It printed, or has another size: the screen is looked at soon.
    fn schedule_look(&mut self) {
        self.history.record_output(self.kernel.now(), self.output.end(), self.output.size());
        let soon = (Instant::now() + LOOK_DELAY).max(self.next_look);
        self.look_due = Some(self.look_due.map_or(soon, |due| due.min(soon)));
    }

    async fn handle_request(&mut self, ask: AgentRequest) {
        match ask {
            AgentRequest::Inspect(reply) => {
                self.look().await;
                let _ = reply.send(self.inspection());
            }
            AgentRequest::Report(report, heard) => {
                self.note_answer(&report);
                self.observe(&EngineInput::Report(report));
                let _ = heard.send(());
            }
            AgentRequest::Typing(typed) => self.on_typing(typed),
            AgentRequest::Typed(TypedInput { bytes, at, end }) => {
                self.history.record_input(at, end, &bytes)
            }
            AgentRequest::Profile(profile) => {
                self.recognition.reset();
                self.switch_profile(profile).await;
            }
            AgentRequest::History(since, reply) => {
                let _ = reply.send(self.history.since(since));
            }
            AgentRequest::Type(errand) => self.typist.take(errand),
        }
        self.type_next().await;
    }

    /// Time has passed.
    async fn on_deadline(&mut self) {
        if self.look_due.is_some_and(|due| due <= Instant::now()) {
            self.look().await;
        }
        self.measure_processes();
        self.measure_terminal();
        let change = self.engine.tick(self.kernel.now());
        self.publish(change);
        self.recognise().await;
        self.answer_startup().await;
        self.type_next().await;
    }

    /// Answers a question at its start, if that is allowed and nothing happened since the look.
    async fn answer_startup(&mut self) {
        let Some(sight) = self.last_screen.as_ref().filter(|sight| sight.end == self.output.end())
        else {
            return;
        };
        let answer = self.startup.keys(self.engine.judgement(), self.engine.profile());
        let Some((question, keys)) = answer else { return };
        let guard = InputGuard { end: Some(sight.end), typed: sight.typed };
        let wrote = match startup::encode(&self.pane, &keys, &sight.look.view.modes) {
            Ok(bytes) => typist::write(&self.pane, bytes, guard).await,
            Err(refused) => WriteResult::Refused(refused.to_string()),
        };
        self.startup.pressed(question, &wrote);
    }

    async fn type_next(&mut self) {
        let Some(sight) = &self.last_screen else { return };
        let (now, end) = (self.kernel.now(), self.output.end());
        let (kernel, pane, engine) = (&self.kernel, self.pane.as_ref(), &self.engine);
        let turns = self.turns;
        let terminal = self.terminal;
        let scene =
            TypingContext { kernel, pane, engine, last_screen: sight, terminal, turns, now };
        let carried = self.typist.step(scene).await;
        if carried.submits {
            // The moment before the write: an answer may come before the write is confirmed.
            self.turns.expect(now);
        }
        if !carried.typed.is_empty() {
            self.history.record_input(now, end, &carried.typed);
            self.observe(&EngineInput::Typed(carried.typed));
        }
        if carried.is_stale {
            let soon = Instant::now() + SOON;
            self.look_due = Some(self.look_due.map_or(soon, |due| due.min(soon)));
        }
        self.publish(None);
    }

    /// Hears what was printed, then looks at the screen that it made.
    async fn look(&mut self) {
        let began = Instant::now();
        self.measure_terminal();
        // Before the look, so that whatever is typed or printed during it counts as later.
        let (typed, end) = (self.pane.typed(), self.output.end());
        let seen = self
            .kernel
            .look(&self.pane, |screen| (screen.is_update_held(), ScreenSnapshot::of(screen)))
            .await;
        let (is_held, look) = match seen {
            Ok(seen) => seen,
            Err(refusal) => {
                tracing::warn!(pane = %self.pane.id, %refusal, "an agent's screen cannot be seen");
                self.look_due = None;
                return;
            }
        };
        self.scan_output(end);
        let stale = *self.held_since.get_or_insert(began) + UPDATE_TIMEOUT;
        if is_held && began < stale {
            self.look_due = Some(stale);
            return;
        }
        (self.held_since, self.look_due) = (None, None);
        self.recall_learned();
        self.observe(&EngineInput::Screen(look.clone()));
        self.last_screen = Some(ScreenAtOffset { look, end, typed });
        self.next_look = Instant::now() + began.elapsed() * REST_FACTOR;
    }

    /// Hands on what was printed up to an offset, for titles and marks.
    fn scan_output(&mut self, end: u64) {
        self.scanned = self.scanned.max(end.saturating_sub(PIECE)).max(self.output.first());
        while self.scanned < end {
            let wanted = usize::try_from(end - self.scanned).unwrap_or_default();
            let mut bytes = vec![0; wanted];
            match self.output.read(self.scanned, &mut bytes) {
                Ok(Ok(0)) => return,
                Ok(Ok(read)) => {
                    bytes.truncate(read);
                    self.scanned += read as u64;
                    self.observe(&EngineInput::Output(bytes));
                }
                Ok(Err(gap)) => self.scanned = gap.first,
                Err(error) => {
                    tracing::warn!(pane = %self.pane.id, %error, "an agent's output cannot be read");
                    return;
                }
            }
        }
    }

    fn on_typing(&mut self, TypedInput { bytes, at, .. }: TypedInput) {
        if bytes.contains(&b'\r') {
            self.turns.expect(at);
        }
        self.measure_terminal();
        self.observe(&EngineInput::Typed(bytes));
    }

    /// Tells the engine what was learned of a program while it starts. A wrapper may become another program meanwhile.
    fn recall_learned(&mut self) {
        let is_starting = self.engine.judgement().state == AgentState::Starting;
        if !is_starting || !self.engine.profile().is_generic() {
            return;
        }
        let program = self.recognition.processes.program();
        let known = program.and_then(|program| self.kernel.agents().learned().get(&program));
        let (signs, at) = known.unwrap_or_default();
        self.engine.restore_learned(signs, at);
    }

    /// Keeps what is new in what the engine has learned.
    fn learn(&mut self) {
        let signs = self.engine.learned();
        if signs.len() == self.learned_count || !self.engine.profile().is_generic() {
            return;
        }
        self.learned_count = signs.len();
        if let Some(program) = self.recognition.processes.program() {
            self.kernel.agents().learned().keep(program, signs, self.kernel.now());
        }
    }

    fn observe(&mut self, seen: &EngineInput) {
        let change = self.engine.observe(seen, self.kernel.now());
        self.publish(change);
    }

    /// Changes the profile where another one fits better.
    async fn recognise(&mut self) {
        let look = self.last_screen.as_ref().map(|sight| &sight.look);
        let library = || self.kernel.agents().profiles().library;
        if let Some(profile) = self.recognition.step(&self.engine, look, library) {
            self.switch_profile(profile).await;
        }
    }

    /// Goes on with another profile, from the screen as it is.
    async fn switch_profile(&mut self, profile: Arc<Profile>) {
        self.engine = self.engine.with_profile(profile, self.kernel.now());
        self.look().await;
    }

    /// Tells everybody what is known now, if that is news.
    fn publish(&mut self, change: Option<StateChange>) {
        self.learn();
        let mut judged = self.engine.judgement().clone();
        if let Some(before) = self.restored_state {
            if judged.state == AgentState::Starting {
                // It was started long ago; a fresh engine cannot know that.
                let told = self.status.borrow().info.clone();
                (judged.state, judged.since) = (before, told.since);
            } else {
                self.restored_state = None;
            }
        }
        let profile = &self.engine.profile().name;
        let queued = self.kernel.agents().outbox().waiting(&self.pane.id);
        let info = status::info(profile, &judged, self.engine.kind(), queued);
        let begun = self.turns.begun;
        self.turns.note(info.state, info.kind, self.kernel.now());
        if begun < self.turns.begun {
            self.hook_answer = None;
        }
        self.history.record_state(self.kernel.now(), info.state, info.kind);
        let news = AgentStatus { info, turns: self.turns };
        if *self.status.borrow() != news {
            publish::publish(
                &self.kernel,
                &self.pane,
                &news.info,
                change.map_or(0, |change| change.age_ms),
            );
            self.status.send_replace(news);
        }
    }

    fn inspection(&self) -> AgentInspection {
        let composer =
            self.last_screen.as_ref().map(|sight| sight.look.composer(self.engine.profile()));
        AgentInspection {
            seen: self.status.borrow().clone(),
            reasons: self.engine.explain(self.kernel.now()),
            warnings: self.recognition.warnings(&self.engine),
            composer: composer.unwrap_or(Composer::Hidden),
            said: self.hook_answer.clone(),
        }
    }

    /// Keeps the answer that a hook tells at the end of a turn; what comes next makes it old.
    fn note_answer(&mut self, report: &HookReport) {
        let told = report.fields.iter().find(|(key, _)| ANSWER_FIELDS.contains(&key.as_str()));
        if let Some((_, text)) = told.filter(|(_, text)| !text.trim().is_empty()) {
            self.hook_answer =
                Some(TranscriptAnswer { text: text.clone(), at: Some(self.kernel.now().into()) });
        }
    }

    /// Its program has ended.
    fn finish(&mut self) {
        let exit = self.pane.lock().record.end.and_then(|end| end.exit);
        let code = exit.and_then(Exit::code).map(i32::from);
        self.scan_output(self.output.end());
        self.restored_state = None;
        self.observe(&EngineInput::Exited { code });
        self.typist.close(&self.kernel);
        self.kernel.agents().forget_ended(&self.pane.id, &self.status);
    }
}

/// Waits until somebody types; for ever where nobody counts.
async fn until_typing(hands: &mut Option<watch::Receiver<Option<u64>>>) {
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
