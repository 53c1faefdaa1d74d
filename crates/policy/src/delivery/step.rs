//! The next step of a delivery, and the result of a write.

use paned_model::frame::InputGuard;
use paned_model::{Delivery, Dialog, Time};
use paned_term::keys::Key;
use serde::{Deserialize, Serialize};

use super::Leftover;

/// The next step of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// Write this if the guard still holds, and report the result.
    Write(InputAction, InputGuard),
    /// Wait for the next observation, at most until then.
    Wait(Option<Time>, DeliveryWait),
    /// The delivery has ended with this outcome.
    Finished(DeliveryOutcome),
}

/// Input to type. The caller encodes keys and pastes for the terminal's modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputAction {
    /// A text, as one bracketed paste.
    Paste(String),
    /// A text, as single characters.
    Type(String),
    /// Keys.
    Press(Vec<Key>),
}

/// The state of a message that is not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryWait {
    /// Queued or held.
    pub delivery: Delivery,
    /// Why, as a sentence.
    pub why: String,
    /// Whether the reason passes by itself in a moment, so that the caller may wait for it.
    pub transient: bool,
}

/// Waits for something that passes by itself.
pub(super) fn wait_briefly(until: Option<Time>, why: &str) -> DeliveryStep {
    let wait = DeliveryWait { delivery: Delivery::Queued, why: why.to_owned(), transient: true };
    DeliveryStep::Wait(until, wait)
}

/// The outcome of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryOutcome {
    /// The outcome as one value.
    pub delivery: Delivery,
    /// The evidence for it, in sentences.
    pub evidence: Vec<String>,
    /// The question that prevented the delivery.
    pub dialog: Option<Dialog>,
    /// What may be left of the message in the composer.
    pub leftover: Option<Leftover>,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// It was written.
    Done {
        /// Whether the keeper itself checked the guard.
        refereed: bool,
    },
    /// Nothing was written: the screen or the input changed after the observation.
    Stale,
    /// Nothing was written: the program has not read its earlier input yet.
    Unread,
    /// Nothing was written, for this reason.
    Refused(String),
    /// It is unknown whether it was written, for this reason.
    Unknown(String),
}

/// What to do with a message while the agent is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenBusy {
    /// It waits until the agent is ready.
    #[default]
    Queue,
    /// It is refused.
    Refuse,
    /// It is typed anyway; the agent treats it like any input that it gets while busy.
    Send,
}
