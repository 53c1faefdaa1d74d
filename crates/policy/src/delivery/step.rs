//! What is to be done next, and how it went.

use paned_model::frame::InputGuard;
use paned_model::{Delivery, Dialog, Time};
use paned_term::keys::Key;
use serde::{Deserialize, Serialize};

use super::Leftover;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// Write this if that still holds, and tell how it went.
    Write(InputAction, InputGuard),
    /// Wait for news, at most until then.
    Wait(Option<Time>, DeliveryWait),
    /// Nothing more: this became of it.
    Finished(DeliveryOutcome),
}

/// Something to type. Whoever types it knows how keys and pastes are written for the terminal's modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputAction {
    /// A text, as one paste that is marked as such.
    Paste(String),
    /// A text, as if by hand.
    Type(String),
    /// Keys.
    Press(Vec<Key>),
}

/// How a message stands while it is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryWait {
    /// Queued or held.
    pub delivery: Delivery,
    /// Why, as a sentence.
    pub why: String,
    /// Whether that passes by itself in a moment, so that it is worth waiting for.
    pub transient: bool,
}

/// Waits for something that passes by itself.
pub(super) fn wait_briefly(until: Option<Time>, why: &str) -> DeliveryStep {
    let standing =
        DeliveryWait { delivery: Delivery::Queued, why: why.to_owned(), transient: true };
    DeliveryStep::Wait(until, standing)
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryOutcome {
    /// In a word.
    pub delivery: Delivery,
    /// What that rests on, in sentences.
    pub evidence: Vec<String>,
    /// The question that was in its way.
    pub dialog: Option<Dialog>,
    /// What may be left of it in the composer.
    pub leftover: Option<Leftover>,
}

/// How a write went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteResult {
    /// It was written.
    Done {
        /// Whether the keeper itself made sure of the guard.
        refereed: bool,
    },
    /// Nothing was written: something had happened since the look.
    Stale,
    /// Nothing was written: the program has not read yet what was typed before.
    Unread,
    /// Nothing was written, for this reason.
    Refused(String),
    /// Whether it was written is not known, for this reason.
    Unknown(String),
}

/// What is done with a message to an agent that is busy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WhenBusy {
    /// It waits until the agent is ready.
    #[default]
    Queue,
    /// It is refused.
    Refuse,
    /// It is typed all the same; the agent does with it what it does with what people type then.
    Send,
}
