//! One message to an agent, as it is remembered.

use paned_model::{Delivery, Dialog, PaneId, PaneRef, Time};
use paned_policy::delivery::{Begun, Leftover, Outcome, Standing, WhenBusy};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::journal::Change;

/// The kind of a message's record in the journal.
pub(crate) const LETTER: &str = "message";

/// One message to an agent. That it is there means that it was accepted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Letter {
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
    pub(crate) begun: Option<Begun>,
    /// What became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fate: Option<Fate>,
}

/// What became of a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fate {
    pub(crate) word: Delivery,
    pub(crate) evidence: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dialog: Option<Dialog>,
    pub(crate) at: Time,
}

/// How a message stands, for whoever waits for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) word: Delivery,
    pub(crate) evidence: Vec<String>,
    pub(crate) dialog: Option<Dialog>,
    /// Whether it is worth waiting for the next word.
    pub(crate) passing: bool,
    /// The turn that it began.
    pub(crate) turn: Option<Turn>,
}

/// The turn that a message began, by the agent's count of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// How many turns must have ended for it to be over.
    pub(crate) ends: u64,
    /// When the message was handed over.
    pub(crate) since: Time,
}

impl Letter {
    /// What everybody calls it.
    pub(crate) fn id(&self) -> String {
        format!("m{}", self.number)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.fate.is_none()
    }

    /// The change that remembers it.
    pub(crate) fn put(&self) -> Change {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        Change::Put { kind: LETTER, key: self.id(), value }
    }

    /// The change that forgets it.
    pub(crate) fn delete(&self) -> Change {
        Change::Delete { kind: LETTER, key: self.id() }
    }

    /// What it may have left in the composer.
    pub(crate) fn leftover(&self) -> Option<Leftover> {
        let fate = self.fate.as_ref()?;
        let may_stand = matches!(fate.word, Delivery::Drafted | Delivery::Unknown);
        let begun = self.begun.filter(|_| may_stand)?;
        Some(Leftover { text: self.text.clone(), typed: begun.typed })
    }

    /// How it stands before anybody has looked at it, or after everything.
    pub(crate) fn told(&self) -> Told {
        match &self.fate {
            Some(fate) => Told {
                word: fate.word,
                evidence: fate.evidence.clone(),
                dialog: fate.dialog.clone(),
                passing: false,
                turn: None,
            },
            None => Told::from(Standing {
                word: Delivery::Queued,
                why: "it was accepted".to_owned(),
                passing: true,
            }),
        }
    }
}

impl Fate {
    pub(crate) fn of(outcome: Outcome, at: Time) -> Self {
        let Outcome { word, evidence, dialog, leftover: _ } = outcome;
        Self { word, evidence, dialog, at }
    }

    /// For this reason alone.
    pub(crate) fn because(word: Delivery, why: &str, at: Time) -> Self {
        Self { word, evidence: vec![why.to_owned()], dialog: None, at }
    }
}

impl From<Standing> for Told {
    fn from(standing: Standing) -> Self {
        let Standing { word, why, passing } = standing;
        Self { word, evidence: vec![why], dialog: None, passing, turn: None }
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
