//! One message to an agent, from its acceptance to its outcome.

use std::fmt::Write;

use paned_model::{Delivery, PaneId, PaneRef, Time};
use paned_policy::delivery::{AttemptStart, Leftover, Outcome, WhenBusy};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::notify;
use crate::Kernel;
use crate::journal::draft;
use crate::journal::{EventDraft, RecordChange};

/// The kind of a message's record in the journal.
pub(crate) const MESSAGE: &str = "message";

/// A message to accept.
pub(crate) struct NewMessage {
    /// The pane of the agent.
    pub(crate) pane: PaneId,
    /// The prompt.
    pub(crate) text: String,
    /// The idempotency key of the sender.
    pub(crate) key: Option<String>,
    /// What to do if the agent is busy.
    pub(crate) when_busy: WhenBusy,
    /// The pane that gets the answer.
    pub(crate) notify: Option<PaneRef>,
}

/// An accepted message, as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Message {
    /// Its number; numbers increase in the order of acceptance.
    pub(crate) number: u64,
    /// The pane of the agent.
    pub(crate) pane: PaneId,
    /// The text; empty when it is not needed any more.
    #[serde(default)]
    pub(crate) text: String,
    /// The SHA-256 of the text, to compare a repeated message with this one.
    pub(crate) hash: String,
    /// The idempotency key of the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) when_busy: WhenBusy,
    /// The pane that gets the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) notify: Option<PaneRef>,
    pub(crate) accepted_at: Time,
    /// Set before typing starts: the text may be in the composer from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<AttemptStart>,
    /// The outcome, when it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<Outcome>,
    /// Whether its sender was told that it waits, or was a client of an earlier server. A dialog
    /// that appears after that must not refuse it: its sender does not read the receipt any more.
    #[serde(skip)]
    pub(crate) has_waited: bool,
}

/// What became of a message so far, for the callers that wait for it.
#[derive(Clone, Debug)]
pub(crate) struct Receipt {
    /// The id of the message in the API.
    pub(crate) id: String,
    pub(crate) outcome: Outcome,
    /// The turn that it began.
    pub(crate) turn: Option<MessageTurn>,
}

/// The turn that a message began, by the agent's count of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageTurn {
    /// How many turns must have ended for it to be over.
    pub(crate) ends: u64,
    /// When the message was submitted.
    pub(crate) since: Time,
}

impl Message {
    pub(super) fn new(number: u64, message: NewMessage, now: Time) -> Self {
        let NewMessage { pane, text, key, when_busy, notify } = message;
        Self {
            number,
            pane,
            hash: hash(&text),
            text,
            key,
            when_busy,
            notify,
            accepted_at: now,
            begun: None,
            outcome: None,
            has_waited: false,
        }
    }

    /// Its id in the API.
    pub(crate) fn id(&self) -> String {
        format!("m{}", self.number)
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.outcome.is_none()
    }

    /// Sets the outcome. The text is kept only as long as it may be in the composer.
    pub(super) fn finish(&mut self, outcome: Outcome, now: Time) {
        self.outcome = Some(Outcome { at: Some(now), ..outcome });
        if self.leftover().is_none() {
            self.text = String::new();
        }
    }

    /// What it may have left in the composer.
    pub(super) fn leftover(&self) -> Option<Leftover> {
        self.begun?.leftover(&self.text, self.outcome.as_ref()?.delivery)
    }

    /// Its present receipt.
    fn receipt(&self, turn: Option<MessageTurn>) -> Receipt {
        let accepted = || Outcome::transient("it was accepted");
        Receipt { id: self.id(), outcome: self.outcome.clone().unwrap_or_else(accepted), turn }
    }

    /// Whether a pane waits for the answer to it.
    pub(super) fn wants_answer(&self) -> bool {
        let submitted = |outcome: &Outcome| outcome.delivery == Delivery::Submitted;
        self.notify.is_some() && self.outcome.as_ref().is_some_and(submitted)
    }

    /// The event that reports the outcome.
    pub(super) fn delivered_event(&self, kernel: &Kernel) -> EventDraft {
        let outcome = self.outcome.as_ref();
        let payload = json!({
            "messageId": self.id(),
            "outcome": outcome.map(|outcome| outcome.delivery),
            "evidence": outcome.map(|outcome| &outcome.evidence),
        });
        draft("agent:delivered", &kernel.event_payload(&self.pane, payload))
    }

    /// The change that stores it.
    pub(super) fn put(&self) -> RecordChange {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        RecordChange::Put { kind: MESSAGE, key: self.id(), value }
    }

    /// The change that deletes it.
    pub(super) fn delete(&self) -> RecordChange {
        RecordChange::Delete { kind: MESSAGE, key: self.id() }
    }
}

/// A message in the outbox, and its receipt.
pub(super) struct OutboxEntry {
    pub(super) message: Message,
    pub(super) receipt: watch::Sender<Receipt>,
}

impl OutboxEntry {
    pub(super) fn new(message: Message) -> Self {
        let receipt = watch::Sender::new(message.receipt(None));
        Self { message, receipt }
    }

    /// Sets the outcome, and reports it.
    pub(super) fn finish(&mut self, kernel: &Kernel, outcome: Outcome, turn: Option<MessageTurn>) {
        self.message.finish(outcome, kernel.now());
        let drafts = vec![self.message.delivered_event(kernel)];
        kernel.journal().record(drafts, vec![self.message.put()]);
        self.receipt.send_replace(self.message.receipt(turn));
        if self.message.wants_answer() {
            notify::return_answer(kernel, &self.message, turn);
        }
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub(super) fn hash(text: &str) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
