//! One message to an agent, as it is stored.

use paned_model::{Delivery, Dialog, PaneId, PaneRef, Time};
use paned_policy::delivery::{AttemptStart, DeliveryOutcome, DeliveryWait, Leftover, WhenBusy};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::journal::RecordChange;

/// The kind of a message's record in the journal.
pub(crate) const MESSAGE: &str = "message";

/// One accepted message to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutboxMessage {
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
    pub(crate) outcome: Option<MessageOutcome>,
}

/// The outcome of a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageOutcome {
    pub(crate) delivery: Delivery,
    pub(crate) evidence: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dialog: Option<Dialog>,
    pub(crate) at: Time,
}

/// The delivery status of a message, for the callers that wait for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeliveryStatus {
    pub(crate) delivery: Delivery,
    pub(crate) evidence: Vec<String>,
    pub(crate) dialog: Option<Dialog>,
    /// Whether another status is expected soon.
    pub(crate) is_transient: bool,
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

impl OutboxMessage {
    /// Its id in the API.
    pub(crate) fn id(&self) -> String {
        format!("m{}", self.number)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.outcome.is_none()
    }

    /// The change that stores it.
    pub(crate) fn put(&self) -> RecordChange {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        RecordChange::Put { kind: MESSAGE, key: self.id(), value }
    }

    /// The change that deletes it.
    pub(crate) fn delete(&self) -> RecordChange {
        RecordChange::Delete { kind: MESSAGE, key: self.id() }
    }

    /// What it may have left in the composer.
    pub(crate) fn leftover(&self) -> Option<Leftover> {
        let outcome = self.outcome.as_ref()?;
        let may_stand = matches!(outcome.delivery, Delivery::Drafted | Delivery::Unknown);
        let begun = self.begun.filter(|_| may_stand)?;
        Some(Leftover { text: self.text.clone(), typed: begun.typed })
    }

    /// Its status before the first attempt, or after the outcome.
    pub(crate) fn told(&self) -> DeliveryStatus {
        match &self.outcome {
            Some(outcome) => DeliveryStatus {
                delivery: outcome.delivery,
                evidence: outcome.evidence.clone(),
                dialog: outcome.dialog.clone(),
                is_transient: false,
                turn: None,
            },
            None => DeliveryStatus::from(DeliveryWait {
                delivery: Delivery::Queued,
                why: "it was accepted".to_owned(),
                transient: true,
            }),
        }
    }
}

impl MessageOutcome {
    pub(crate) fn of(outcome: DeliveryOutcome, at: Time) -> Self {
        let DeliveryOutcome { delivery, evidence, dialog, leftover: _ } = outcome;
        Self { delivery, evidence, dialog, at }
    }

    /// An outcome with one reason.
    pub(crate) fn with_reason(delivery: Delivery, why: &str, at: Time) -> Self {
        Self { delivery, evidence: vec![why.to_owned()], dialog: None, at }
    }
}

impl From<DeliveryWait> for DeliveryStatus {
    fn from(wait: DeliveryWait) -> Self {
        let DeliveryWait { delivery, why, transient } = wait;
        Self { delivery, evidence: vec![why], dialog: None, is_transient: transient, turn: None }
    }
}

/// The SHA-256 of a text, in hexadecimal.
pub(crate) fn hash(text: &str) -> String {
    use std::fmt::Write;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
