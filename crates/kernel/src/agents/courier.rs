//! Carries what is to be typed to one agent. It lives in the agent's task, so that nothing comes between its
//! look and its write.

use paned_model::Time;
use paned_policy::agent::Engine;

use super::task::Sight;
use crate::Kernel;
use crate::panes::Pane;

/// Something to be typed.
pub(crate) enum Errand {}

#[expect(dead_code, reason = "nothing is carried yet")]
/// What a courier works with: the agent, as it was seen last.
pub(super) struct Scene<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) pane: &'a Pane,
    pub(super) engine: &'a Engine,
    pub(super) sight: &'a Sight,
    pub(super) now: Time,
}

/// Carries one thing after the other.
#[derive(Default)]
pub(super) struct Courier {}

impl Courier {
    /// Takes something on.
    pub(super) fn take(&mut self, errand: Errand) {
        match errand {}
    }

    /// Goes on with what is under way, as far as the agent as it is now allows.
    pub(super) async fn step(&mut self, _scene: Scene<'_>) {}

    /// When to go on if nothing is seen before.
    pub(super) fn deadline(&self) -> Option<Time> {
        None
    }

    /// How many messages wait.
    pub(super) fn queued(&self) -> usize {
        0
    }

    /// The agent's program has ended: whoever waits is told.
    pub(super) fn close(&mut self) {}
}
