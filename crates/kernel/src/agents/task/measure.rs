//! Reads the state of an agent's processes and of its terminal from the operating system.

use paned_model::AgentState;
use paned_policy::agent::EngineInput;
use tokio::time::Instant;

use super::AgentTask;

impl AgentTask {
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
            self.terminal = Some(terminal);
            self.observe(&EngineInput::Terminal(terminal));
        }
    }
}
