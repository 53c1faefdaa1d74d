//! What one look at an agent found: the result of the engine, for the delivery of messages.

use paned_model::frame::InputGuard;
use paned_model::{AgentState, Dialog, Time};
use paned_term::ScreenView;

use super::Composer;

/// What one look at an agent found, all from one snapshot of its screen.
#[derive(Clone, Debug)]
pub struct Observation {
    /// What it does.
    pub state: AgentState,
    /// Whether that is only inferred from what was typed.
    pub inferred: bool,
    /// The question on its screen.
    pub dialog: Option<Dialog>,
    /// What the composer holds.
    pub composer: Composer,
    /// Whether that is the program's placeholder for a paste.
    pub placeholder: bool,
    /// The whole screen.
    pub view: ScreenView,
    /// The offset in the output at which this screen was taken.
    pub end: u64,
    /// The count of typed inputs before the snapshot; `None` if they are not counted.
    pub typed: Option<u64>,
    /// When a user or a client last typed.
    pub typed_at: Option<Time>,
    /// Whether the kernel holds a typed line that the program has not read: what the screen shows
    /// of it is the kernel's echo.
    pub has_unread_line: bool,
}

impl Observation {
    /// Whether a question is on the screen, or may be.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.asks() || matches!(self.state, AgentState::Unknown | AgentState::Starting)
    }

    /// Whether a question is on the screen.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.dialog.is_some() || self.state == AgentState::Blocked
    }

    /// The guard that holds while nothing has happened since this snapshot.
    #[must_use]
    pub fn guard(&self) -> InputGuard {
        InputGuard { end: Some(self.end), typed: self.typed }
    }
}
