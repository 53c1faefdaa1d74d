//! The next step of an attempt, the result of a write, and the outcome of a message.

use paned_model::frame::InputGuard;
use paned_model::{Delivery, Dialog, Time};
use paned_term::keys::Key;
use serde::{Deserialize, Serialize};

/// The next step of an attempt that ends with a `T`; `W` tells why it waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T, W = ()> {
    /// Write this if the guard still holds, and report the result.
    Write(InputAction, InputGuard),
    /// Wait for the next observation, at most until then.
    Wait(Option<Time>, W),
    /// The attempt has ended.
    Finished(T),
}

/// The next step of the delivery of a message.
pub type DeliveryStep = Step<Outcome, Outcome>;

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

/// What became of a message so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The outcome as one value; queued or held while the message waits.
    pub delivery: Delivery,
    /// The evidence for it, in sentences.
    pub evidence: Vec<String>,
    /// The question that prevented the delivery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog: Option<Dialog>,
    /// When it was stored as final.
    pub at: Option<Time>,
    /// Whether it changes by itself in a moment, so that the caller may wait for that.
    #[serde(skip)]
    pub transient: bool,
}

impl Outcome {
    /// An outcome with one reason.
    #[must_use]
    pub fn new(delivery: Delivery, why: impl Into<String>) -> Self {
        let evidence = vec![why.into()];
        Self { delivery, evidence, dialog: None, at: None, transient: false }
    }

    /// A message that waits for something that passes by itself.
    #[must_use]
    pub fn transient(why: impl Into<String>) -> Self {
        Self { transient: true, ..Self::new(Delivery::Queued, why) }
    }
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
