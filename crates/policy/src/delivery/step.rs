//! What is to be done next, and how it went.

use paned_model::frame::Guard;
use paned_model::{Delivery, Dialog, Time};
use paned_term::keys::Key;
use serde::{Deserialize, Serialize};

use super::Leftover;

/// What is to be done next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Write this if that still holds, and tell how it went.
    Write(Act, Guard),
    /// Wait for news, at most until then.
    Wait(Option<Time>, Standing),
    /// Nothing more: this became of it.
    Finished(Outcome),
}

/// Something to type. Whoever types it knows how keys and pastes are written for the terminal's modes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A text, as one paste that is marked as such.
    Paste(String),
    /// A text, as if by hand.
    Type(String),
    /// Keys.
    Press(Vec<Key>),
}

/// How a message stands while it is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Queued or held.
    pub word: Delivery,
    /// Why, as a sentence.
    pub why: String,
    /// Whether that passes by itself in a moment, so that it is worth waiting for.
    pub passing: bool,
}

/// Waits for something that passes by itself.
pub(super) fn passing(until: Option<Time>, why: &str) -> Step {
    let standing = Standing { word: Delivery::Queued, why: why.to_owned(), passing: true };
    Step::Wait(until, standing)
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// In a word.
    pub word: Delivery,
    /// What that rests on, in sentences.
    pub evidence: Vec<String>,
    /// The question that was in its way.
    pub dialog: Option<Dialog>,
    /// What may be left of it in the composer.
    pub leftover: Option<Leftover>,
}

/// How a write went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// It was written.
    Done {
        /// Whether the keeper itself made sure of the guard.
        refereed: bool,
    },
    /// Nothing was written: something had happened since the look.
    Moved,
    /// Nothing was written: the program has not read yet what was typed before.
    Unread,
    /// Nothing was written, for this reason.
    Refused(String),
    /// Whether it was written is not known, for this reason.
    Lost(String),
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
