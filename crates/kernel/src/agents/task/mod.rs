//! The task of one running agent: it reads the output and the screen of the pane (`look`), runs the
//! engine that judges the state, types what is asked for, and publishes changes.

mod look;

use std::sync::Arc;
use std::time::Duration;

use paned_backend::Output;
use paned_model::frame::InputGuard;
use paned_model::{AgentInfo, AgentState, Exit, Time};
use paned_policy::agent::{Composer, Engine, EngineInput, HookReport, Profile};
use paned_policy::delivery::{InputAction, WriteResult};
use paned_policy::transcript::TranscriptAnswer;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::handle::{AgentInspection, AgentRequest, AgentStatus, Turns};
use super::profiles::Recognition;
use super::publish::publish;
use super::recording::AgentHistory;
use super::typist::{self, AgentTypist, StartupAnswerer, TypingContext, TypingOutcome};
use crate::Kernel;
use crate::panes::{Pane, TypedInput};

/// How long output is collected before the screen is read.
const LOOK_DELAY: Duration = Duration::from_millis(30);
/// How soon after a write the screen is read again if there is no output.
const SOON: Duration = Duration::from_millis(20);
/// The shortest time to a deadline.
const TICK: Duration = Duration::from_millis(10);

/// The fields in which hooks report an agent's answer.
const ANSWER_FIELDS: [&str; 3] =
    ["last_assistant_message", "last-assistant-message", "prompt_response"];

/// Whether an agent was just started, or recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AgentOrigin {
    /// It was just started.
    New,
    /// It was started before this server.
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
    /// All output before this offset was scanned.
    scanned: u64,
    /// When the screen is to be read.
    look_due: Option<Instant>,
    /// Since when a synchronized update holds the screen back.
    held_since: Option<Instant>,
    /// The screen is not read before this.
    next_look: Instant,
    /// The last published state of a recovered agent, until the engine has judged a new one.
    restored_state: Option<AgentState>,
    recognition: Recognition,
    /// How many of the signs that the engine has learned are saved.
    learned_count: usize,
}

enum AgentTaskEvent {
    Changed,
    Request(Option<AgentRequest>),
    /// A client typed.
    Typing,
    Deadline,
}

impl AgentTask {
    pub(super) fn new(
        kernel: Kernel,
        pane: Arc<Pane>,
        output: Arc<dyn Output>,
        profile: Arc<Profile>,
        status: watch::Sender<AgentStatus>,
        origin: AgentOrigin,
    ) -> Self {
        let restored_state =
            Some(status.borrow().info.state).filter(|_| origin == AgentOrigin::Recovered);
        let now = Instant::now();
        let recognition = Recognition::new(pane.lock().record.pid);
        Self {
            engine: Engine::new(profile, kernel.now()),
            typist: AgentTypist::new(&pane.id),
            startup: StartupAnswerer::new(&pane),
            turns: Turns::default(),
            history: AgentHistory::default(),
            hook_answer: None,
            scanned: output.end().saturating_sub(look::PIECE).max(output.first()),
            look_due: Some(now + LOOK_DELAY),
            held_since: None,
            next_look: now,
            restored_state,
            recognition,
            learned_count: 0,
            kernel,
            pane,
            output,
            status,
        }
    }

    pub(super) async fn run(mut self, mut requests: mpsc::Receiver<AgentRequest>) {
        let mut pane_changes = self.pane.watch();
        let mut typing = self.pane.watch_typing();
        while self.pane.lock().status().is_live() {
            let event = tokio::select! {
                changed = pane_changes.changed() => match changed {
                    Ok(()) => AgentTaskEvent::Changed,
                    Err(_) => break,
                },
                request = requests.recv() => AgentTaskEvent::Request(request),
                () = until_typing(&mut typing) => AgentTaskEvent::Typing,
                () = sleep_until(self.deadline()) => AgentTaskEvent::Deadline,
            };
            match event {
                AgentTaskEvent::Changed => self.schedule_look(),
                AgentTaskEvent::Typing => {
                    self.typist.saw_typing(self.kernel.now());
                    self.schedule_look();
                }
                AgentTaskEvent::Request(Some(request)) => self.handle_request(request).await,
                // The pane was removed.
                AgentTaskEvent::Request(None) => return,
                AgentTaskEvent::Deadline => self.on_deadline().await,
            }
            self.learn().await;
        }
        self.finish();
    }

    /// When to wake up if no event comes before.
    fn deadline(&self) -> Option<Instant> {
        let now = self.kernel.now();
        let now_instant = Instant::now();
        let instant_of = |at: Time| now_instant + Duration::from_millis(at.since(now)).max(TICK);
        let deadlines = [self.engine.deadline(), self.typist.deadline()].into_iter().flatten();
        let recognition = self.recognition.deadline(&self.engine);
        deadlines.map(instant_of).chain(self.look_due).chain(recognition).min()
    }

    /// There is new output, or a new size: the screen is read soon.
    fn schedule_look(&mut self) {
        self.history.record_output(self.kernel.now(), self.output.end(), self.output.size());
        self.look_at((Instant::now() + LOOK_DELAY).max(self.next_look));
    }

    /// The screen is read at this time, if not before.
    fn look_at(&mut self, at: Instant) {
        self.look_due = Some(self.look_due.map_or(at, |due| due.min(at)));
    }

    async fn handle_request(&mut self, request: AgentRequest) {
        match request {
            AgentRequest::Inspect(reply) => {
                self.look().await;
                let _ = reply.send(self.inspection());
            }
            AgentRequest::Report(report, reply) => {
                self.note_answer(&report);
                self.observe(&EngineInput::Report(report));
                let _ = reply.send(());
            }
            AgentRequest::Typing(typed) => self.on_typing(typed).await,
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
            // It is in the outbox.
            AgentRequest::Message => {}
            AgentRequest::Cancel(number, reply) => {
                let _ = reply.send(self.typist.cancel(&self.kernel, number));
            }
            AgentRequest::Answer(answer) => self.typist.queue_answer(answer),
            AgentRequest::Interrupt(reply) => self.typist.queue_interrupt(reply),
        }
        self.type_next().await;
    }

    /// A deadline has passed.
    async fn on_deadline(&mut self) {
        if self.look_due.is_some_and(|due| due <= Instant::now()) {
            self.look().await;
        }
        self.measure_processes().await;
        self.measure_terminal().await;
        let change = self.engine.tick(self.kernel.now());
        self.publish(change);
        self.recognise().await;
        self.answer_startup().await;
        self.type_next().await;
    }

    /// Answers a dialog at startup, if that is allowed and there was no output since the last
    /// screen read.
    async fn answer_startup(&mut self) {
        let screen = self.engine.screen().filter(|screen| screen.end == self.output.end());
        let Some(screen) = screen else { return };
        let answer = self.startup.keys(self.engine.judgement(), self.engine.profile());
        let Some((question, keys)) = answer else { return };
        let guard = InputGuard { end: Some(screen.end), typed: screen.typed };
        let keys = InputAction::Press(keys);
        let result = match typist::encode(&self.pane, &keys, &screen.view.modes) {
            Ok(bytes) => typist::write(&self.pane, bytes, guard).await,
            Err(refused) => WriteResult::Refused(refused.to_string()),
        };
        self.startup.pressed(question, &result);
    }

    async fn type_next(&mut self) {
        if self.engine.screen().is_none() {
            return;
        }
        let now = self.kernel.now();
        let end = self.output.end();
        let context = TypingContext {
            kernel: &self.kernel,
            pane: self.pane.as_ref(),
            engine: &self.engine,
            turns: self.turns,
            now,
        };
        if let Some(TypingOutcome { typed, submits }) = self.typist.step(context).await {
            if submits {
                // The time before the write: an answer may come before the write is confirmed.
                self.turns.expect(now);
            }
            if !typed.is_empty() {
                self.history.record_input(now, end, &typed);
                self.observe(&EngineInput::Typed(typed));
            }
            self.look_at(Instant::now() + SOON);
        }
        self.publish(None);
    }

    async fn on_typing(&mut self, TypedInput { bytes, at, .. }: TypedInput) {
        if bytes.contains(&b'\r') {
            self.turns.expect(at);
        }
        self.measure_terminal().await;
        self.observe(&EngineInput::Typed(bytes));
    }

    fn observe(&mut self, input: &EngineInput) {
        let change = self.engine.observe(input, self.kernel.now());
        self.publish(change);
    }

    /// Switches to another profile if it fits better.
    async fn recognise(&mut self) {
        let library = || self.kernel.agents().profiles().library;
        if let Some(profile) = self.recognition.step(&self.engine, library).await {
            self.switch_profile(profile).await;
        }
    }

    /// Continues with another profile, from the present screen.
    async fn switch_profile(&mut self, profile: Arc<Profile>) {
        self.engine = self.engine.with_profile(profile, self.kernel.now());
        self.look().await;
    }

    /// Publishes the present status if it differs from the last one. `age_ms` is the age of the
    /// evidence for a new state.
    fn publish(&mut self, age_ms: Option<u64>) {
        let queued = self.kernel.agents().outbox().waiting(&self.pane.id);
        let mut info = AgentInfo { queued, ..self.engine.judgement().clone() };
        if let Some(before) = self.restored_state {
            if info.state == AgentState::Starting {
                // A new engine cannot know that the agent was started long ago.
                info.state = before;
                info.since = self.status.borrow().info.since;
            } else {
                self.restored_state = None;
            }
        }
        let begun = self.turns.begun;
        self.turns.note(info.state, info.kind, self.kernel.now());
        if begun < self.turns.begun {
            self.hook_answer = None;
        }
        self.history.record_state(self.kernel.now(), info.state, info.kind);
        let new_status = AgentStatus { info, turns: self.turns };
        if *self.status.borrow() != new_status {
            publish(&self.kernel, &self.pane, &new_status.info, age_ms.unwrap_or_default());
            self.status.send_replace(new_status);
        }
    }

    fn inspection(&self) -> AgentInspection {
        let screen = self.engine.screen();
        let composer = screen.map(|screen| screen.composer(self.engine.profile()));
        AgentInspection {
            seen: self.status.borrow().clone(),
            reasons: self.engine.explain(self.kernel.now()),
            warnings: self.recognition.warnings(&self.engine),
            composer: composer.unwrap_or(Composer::Hidden),
            prompt: self.engine.prompt().map(str::to_owned),
            said: self.hook_answer.clone(),
        }
    }

    /// Keeps the answer that a hook reports at the end of a turn, until the next turn begins.
    fn note_answer(&mut self, report: &HookReport) {
        let answer = report.fields.iter().find(|(key, _)| ANSWER_FIELDS.contains(&key.as_str()));
        if let Some((_, text)) = answer.filter(|(_, text)| !text.trim().is_empty()) {
            self.hook_answer =
                Some(TranscriptAnswer { text: text.clone(), at: Some(self.kernel.now().into()) });
        }
    }

    /// The program has ended.
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

/// Waits until a client types; forever if the pane does not count inputs.
async fn until_typing(typing: &mut Option<watch::Receiver<Option<u64>>>) {
    if let Some(counted) = typing
        && counted.changed().await.is_ok()
    {
        return;
    }
    *typing = None;
    std::future::pending().await
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
