//! One message to an agent, as it is remembered.

use paned_model::{Delivery, Dialog, PaneId, PaneRef, Time};
use paned_policy::delivery::{AttemptStart, DeliveryOutcome, DeliveryWait, Leftover, WhenBusy};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::journal::RecordChange;

/// The kind of a message's record in the journal.
pub(crate) const MESSAGE: &str = "message";

/// One message to an agent. That it is there means that it was accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OutboxMessage {
    /// Its number; they rise in the order in which messages were accepted.
    pub(crate) number: u64,
    /// To whom.
    pub(crate) pane: PaneId,
    /// What; empty once nothing can become of it any more.
    #[serde(default)]
    pub(crate) text: String,
    /// By what the text is known again.
    pub(crate) hash: String,
    /// By what whoever sent it knows it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) when_busy: WhenBusy,
    /// Who is to get the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) notify: Option<PaneRef>,
    pub(crate) accepted_at: Time,
    /// That it was about to be typed, or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<AttemptStart>,
    /// What became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<MessageOutcome>,
}

/// What became of a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MessageOutcome {
    pub(crate) delivery: Delivery,
    pub(crate) evidence: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dialog: Option<Dialog>,
    pub(crate) at: Time,
}

/// How a message stands, for whoever waits for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DeliveryStatus {
    pub(crate) delivery: Delivery,
    pub(crate) evidence: Vec<String>,
    pub(crate) dialog: Option<Dialog>,
    /// Whether it is worth waiting for the next word.
    pub(crate) is_transient: bool,
    /// The turn that it began.
    pub(crate) turn: Option<MessageTurn>,
}

/// The turn that a message began, by the agent's count of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageTurn {
    /// How many turns must have ended for it to be over.
    pub(crate) ends: u64,
    /// When the message was handed over.
    pub(crate) since: Time,
}

impl OutboxMessage {
    /// What everybody calls it.
    pub(crate) fn id(&self) -> String {
        format!("m{}", self.number)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.outcome.is_none()
    }

    /// The change that remembers it.
    pub(crate) fn put(&self) -> RecordChange {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        RecordChange::Put { kind: MESSAGE, key: self.id(), value }
    }

    /// The change that forgets it.
    pub(crate) fn delete(&self) -> RecordChange {
        RecordChange::Delete { kind: MESSAGE, key: self.id() }
    }

    /// What it may have left in the composer.
    pub(crate) fn leftover(&self) -> Option<Leftover> {
        let fate = self.outcome.as_ref()?;
        let may_stand = matches!(fate.delivery, Delivery::Drafted | Delivery::Unknown);
        let begun = self.begun.filter(|_| may_stand)?;
        Some(Leftover { text: self.text.clone(), typed: begun.typed })
    }

    /// How it stands before anybody has looked at it, or after everything.
    pub(crate) fn told(&self) -> DeliveryStatus {
        match &self.outcome {
            Some(fate) => DeliveryStatus {
                delivery: fate.delivery,
                evidence: fate.evidence.clone(),
                dialog: fate.dialog.clone(),
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

    /// For this reason alone.
    pub(crate) fn with_reason(delivery: Delivery, why: &str, at: Time) -> Self {
        Self { delivery, evidence: vec![why.to_owned()], dialog: None, at }
    }
}

impl From<DeliveryWait> for DeliveryStatus {
    fn from(standing: DeliveryWait) -> Self {
        let DeliveryWait { delivery: word, why, transient: passing } = standing;
        Self {
            delivery: word,
            evidence: vec![why],
            dialog: None,
            is_transient: passing,
            turn: None,
        }
    }
}

/// By what a text is known again.
pub(crate) fn hash(text: &str) -> String {
    use std::fmt::Write;
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}
