//! The task of one running agent: it reads the output and the screen of the pane, runs the engine
//! that judges the state, and publishes changes.

mod learned;
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

/// How long output is collected before the screen is read.
const LOOK_DELAY: Duration = Duration::from_millis(30);
/// How long a synchronized update may hold the screen back before it is read all the same.
const UPDATE_TIMEOUT: Duration = Duration::from_millis(200);
/// After a screen read, the next one waits for this many times its duration.
const REST_FACTOR: u32 = 10;
/// How soon after a write the screen is read again if there is no output.
const SOON: Duration = Duration::from_millis(20);
/// The shortest time to a deadline.
const TICK: Duration = Duration::from_millis(10);
/// How many bytes of output are scanned for titles and marks after one screen read; of more output,
/// the last ones.
const PIECE: u64 = 1 << 20;

/// The fields in which hooks report an agent's answer.
const ANSWER_FIELDS: [&str; 3] =
    ["last_assistant_message", "last-assistant-message", "prompt_response"];

/// A request to an agent's task.
pub(crate) enum AgentRequest {
    /// Read the screen now, and return everything that is known.
    Inspect(oneshot::Sender<AgentInspection>),
    /// A report of its hook, or of a client on its behalf. Answered when the engine has used it.
    Report(HookReport, oneshot::Sender<()>),
    /// A client types this: the agent is expected to react.
    Typing(TypedInput),
    /// This was typed: it goes into the history, for recordings.
    Typed(TypedInput),
    /// Use this profile from now on.
    Profile(Arc<Profile>),
    /// Return the history since this time.
    History(Time, oneshot::Sender<HistorySlice>),
    /// Type something.
    Type(TypingRequest),
}

/// Input that a client typed.
#[derive(Clone)]
pub(crate) struct TypedInput {
    pub(crate) bytes: Vec<u8>,
    /// When it was typed.
    pub(crate) at: Time,
    /// The end of the output at that time, as an offset.
    pub(crate) end: u64,
}

/// Everything that is known about an agent.
pub(crate) struct AgentInspection {
    pub(crate) seen: AgentStatus,
    pub(crate) reasons: Vec<EvidenceItem>,
    /// What makes the judgement doubtful, in sentences.
    pub(crate) warnings: Vec<String>,
    pub(crate) composer: Composer,
    /// The beginning of the last prompt that was submitted.
    pub(crate) prompt: Option<String>,
    /// The last answer that its hook reported.
    pub(crate) said: Option<TranscriptAnswer>,
}

/// A screen, and the offset of the output that it shows.
pub(crate) struct ScreenAtOffset {
    /// The content of the screen.
    pub(crate) look: ScreenSnapshot,
    /// All output before this offset is on the screen.
    pub(crate) end: u64,
    /// How many inputs the pane had received before.
    pub(crate) typed: Option<u64>,
}

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
    last_screen: Option<ScreenAtOffset>,
    /// The last known state of its terminal, if the profile needs it.
    terminal: Option<TerminalState>,
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
        let soon = (Instant::now() + LOOK_DELAY).max(self.next_look);
        self.look_due = Some(self.look_due.map_or(soon, |due| due.min(soon)));
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
            AgentRequest::Type(typing) => self.typist.take(typing),
        }
        self.type_next().await;
    }

    /// A deadline has passed.
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

    /// Answers a dialog at startup, if that is allowed and there was no output since the last
    /// screen read.
    async fn answer_startup(&mut self) {
        let Some(screen) =
            self.last_screen.as_ref().filter(|screen| screen.end == self.output.end())
        else {
            return;
        };
        let answer = self.startup.keys(self.engine.judgement(), self.engine.profile());
        let Some((question, keys)) = answer else { return };
        let guard = InputGuard { end: Some(screen.end), typed: screen.typed };
        let result = match startup::encode(&self.pane, &keys, &screen.look.view.modes) {
            Ok(bytes) => typist::write(&self.pane, bytes, guard).await,
            Err(refused) => WriteResult::Refused(refused.to_string()),
        };
        self.startup.pressed(question, &result);
    }

    async fn type_next(&mut self) {
        let Some(last_screen) = &self.last_screen else { return };
        let now = self.kernel.now();
        let end = self.output.end();
        let context = TypingContext {
            kernel: &self.kernel,
            pane: self.pane.as_ref(),
            engine: &self.engine,
            last_screen,
            terminal: self.terminal,
            turns: self.turns,
            now,
        };
        let outcome = self.typist.step(context).await;
        if outcome.submits {
            // The time before the write: an answer may come before the write is confirmed.
            self.turns.expect(now);
        }
        if !outcome.typed.is_empty() {
            self.history.record_input(now, end, &outcome.typed);
            self.observe(&EngineInput::Typed(outcome.typed));
        }
        if outcome.is_stale {
            let soon = Instant::now() + SOON;
            self.look_due = Some(self.look_due.map_or(soon, |due| due.min(soon)));
        }
        self.publish(None);
    }

    /// Reads the screen, scans the output that it shows, and gives both to the engine.
    async fn look(&mut self) {
        let began = Instant::now();
        self.measure_terminal();
        // Read before the screen, so that input and output during the read count as later.
        let typed = self.pane.typed();
        let end = self.output.end();
        let seen = self
            .kernel
            .look(&self.pane, |screen| (screen.is_update_held(), ScreenSnapshot::of(screen)))
            .await;
        let (is_held, look) = match seen {
            Ok(seen) => seen,
            Err(refusal) => {
                tracing::warn!(pane = %self.pane.id, %refusal, "an agent's screen cannot be read");
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
        self.held_since = None;
        self.look_due = None;
        self.recall_learned();
        self.observe(&EngineInput::Screen(look.clone()));
        self.last_screen = Some(ScreenAtOffset { look, end, typed });
        self.next_look = Instant::now() + began.elapsed() * REST_FACTOR;
    }

    /// Gives the output up to an offset to the engine, for titles and marks.
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

    fn observe(&mut self, input: &EngineInput) {
        let change = self.engine.observe(input, self.kernel.now());
        self.publish(change);
    }

    /// Switches to another profile if it fits better.
    async fn recognise(&mut self) {
        let look = self.last_screen.as_ref().map(|screen| &screen.look);
        let library = || self.kernel.agents().profiles().library;
        if let Some(profile) = self.recognition.step(&self.engine, look, library) {
            self.switch_profile(profile).await;
        }
    }

    /// Continues with another profile, from the present screen.
    async fn switch_profile(&mut self, profile: Arc<Profile>) {
        self.engine = self.engine.with_profile(profile, self.kernel.now());
        self.look().await;
    }

    /// Publishes the present status if it differs from the last one.
    fn publish(&mut self, change: Option<StateChange>) {
        self.learn();
        let mut judged = self.engine.judgement().clone();
        if let Some(before) = self.restored_state {
            if judged.state == AgentState::Starting {
                // A new engine cannot know that the agent was started long ago.
                judged.state = before;
                judged.since = self.status.borrow().info.since;
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
        let new_status = AgentStatus { info, turns: self.turns };
        if *self.status.borrow() != new_status {
            publish::publish(
                &self.kernel,
                &self.pane,
                &new_status.info,
                change.map_or(0, |change| change.age_ms),
            );
            self.status.send_replace(new_status);
        }
    }

    fn inspection(&self) -> AgentInspection {
        let composer =
            self.last_screen.as_ref().map(|screen| screen.look.composer(self.engine.profile()));
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
