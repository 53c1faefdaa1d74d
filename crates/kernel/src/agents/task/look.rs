//! What a task finds out about its agent: it reads the screen, scans the output, measures processes
//! and terminal, and keeps what was learned of a program without a profile.

use std::time::Duration;

use paned_model::AgentState;
use paned_policy::agent::{EngineInput, ScreenSnapshot};
use tokio::time::Instant;

use super::AgentTask;

/// How long a synchronized update may hold the screen back before it is read all the same.
const UPDATE_TIMEOUT: Duration = Duration::from_millis(200);
/// After a screen read, the next one waits for this many times its duration.
const REST_FACTOR: u32 = 10;
/// How many bytes of output are scanned for titles and marks after one screen read; of more output,
/// the last ones.
pub(super) const PIECE: u64 = 1 << 20;

impl AgentTask {
    /// Reads the screen, scans the output that it shows, and gives both to the engine.
    pub(super) async fn look(&mut self) {
        let began = Instant::now();
        self.measure_terminal().await;
        // Read before the screen, so that input and output during the read count as later.
        let typed = self.pane.typed();
        let end = self.output.end();
        let seen = self
            .kernel
            .look(&self.pane, |screen| (screen.is_update_held(), ScreenSnapshot::of(screen)))
            .await;
        let (is_held, mut look) = match seen {
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
        self.recall_learned().await;
        look.end = end;
        look.typed = typed;
        self.observe(&EngineInput::Screen(look));
        self.next_look = Instant::now() + began.elapsed() * REST_FACTOR;
    }

    /// Gives the output up to an offset to the engine, for titles and marks.
    pub(super) fn scan_output(&mut self, end: u64) {
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

    /// Measures whether the processes of a program without a profile compute or wait for input.
    pub(super) async fn measure_processes(&mut self) {
        let is_settled = self.engine.judgement().state == AgentState::Ready;
        if is_settled || !self.engine.profile().is_generic() {
            return;
        }
        let waits = self.recognition.processes.is_waiting_for_input().await;
        let computes = self.recognition.processes.is_computing(Instant::now());
        if waits || computes.is_some() {
            let computes = computes.unwrap_or(false);
            self.observe(&EngineInput::Process { alive: true, computes, waits });
        }
    }

    /// Reads the state of the terminal, for profiles of programs that read lines.
    pub(super) async fn measure_terminal(&mut self) {
        if self.engine.profile().reads_lines() {
            let terminal = self.recognition.processes.terminal_state().await;
            self.observe(&EngineInput::Terminal(terminal));
        }
    }

    /// Gives the signs that were learned of the program to the engine while it starts. Done at each
    /// screen read, because a wrapper may become another program by `exec`.
    async fn recall_learned(&mut self) {
        let is_starting = self.engine.judgement().state == AgentState::Starting;
        if !is_starting || !self.engine.profile().is_generic() {
            return;
        }
        let program = self.recognition.processes.program().await;
        let known = program.and_then(|program| self.kernel.agents().learned().get(&program));
        let (signs, at) = known.unwrap_or_default();
        self.engine.restore_learned(signs, at);
    }

    /// Saves the signs that the engine has newly learned.
    pub(super) async fn learn(&mut self) {
        let signs = self.engine.learned();
        if signs.len() == self.learned_count || !self.engine.profile().is_generic() {
            return;
        }
        self.learned_count = signs.len();
        if let Some(program) = self.recognition.processes.program().await {
            self.kernel.agents().learned().keep(program, signs, self.kernel.now());
        }
    }
}
