//! Loads and saves what the engine has learned of a program without a profile.

use paned_model::AgentState;

use super::AgentTask;

impl AgentTask {
    /// Gives the signs that were learned of the program to the engine while it starts. Done at each
    /// screen read, because a wrapper may become another program by `exec`.
    pub(super) async fn recall_learned(&mut self) {
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
