//! What is remembered of a pane: in the journal's records, and beside its tape as it was first.

use paned_model::{Exit, Instance, Meta, PaneId, PaneRef, PaneStatus, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::agents::AgentRecord;
use crate::grants::StoredGrant;
use crate::journal::RecordChange;
use crate::tmux_view::ViewSpec;

use super::adopted_from::AdoptedOrigin;
use super::exit_notice::ExitNoticeFormat;

/// The payload of an event about a pane: these fields, the pane's name and its instance. Which grants are shown the event
/// is decided by the instance, for a name may be another pane's by then.
pub(crate) fn event_payload(pane: &PaneRef, mut payload: Value) -> Value {
    payload["paneId"] = json!(pane.id);
    payload["instance"] = json!(pane.instance);
    payload
}

/// The kind of a pane's record in the journal.
pub(crate) const KIND: &str = "pane";

/// What is remembered of a pane. That it is there means that `pane:created` was told; that it has an end
/// means that the end was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaneRecord {
    pub(crate) id: PaneId,
    /// Tells it from all others that ever had its name.
    pub(crate) instance: Instance,
    pub(crate) title: PaneTitle,
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) meta: Meta,
    pub(crate) tags: Vec<String>,
    pub(crate) persist: bool,
    /// Whether its end is told to whoever started it.
    #[serde(default)]
    pub(crate) notify_on_exit: bool,
    /// How it is told then.
    #[serde(default, skip_serializing_if = "ExitNoticeFormat::is_default")]
    pub(crate) notice: ExitNoticeFormat,
    /// After how many seconds it is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_seconds: Option<u32>,
    /// The pane it was started from, the one that was started from, and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ancestors: Vec<PaneRef>,
    /// Its program's process, which may be another program's once it has ended.
    #[serde(default)]
    pub(crate) pid: Option<u32>,
    /// The escape bytes that make a fresh terminal what its program has made of it, but for what it shows: modes, title
    /// and more. For when what it printed then is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) modes: String,
    /// Where it is to be seen in tmux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<ViewSpec>,
    /// Where it came from, when it was adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<AdoptedOrigin>,
    /// What it is as an agent, when its program is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<AgentRecord>,
    pub(crate) created_at: Time,
    /// The grant its program was given.
    pub(crate) grant: StoredGrant,
    pub(crate) end: Option<PaneExit>,
}

/// What a pane is called, and by whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PaneTitle {
    /// After its command.
    Command(String),
    /// By its program.
    Program(String),
    /// By whoever started it; the program does not change that.
    Given(String),
}

impl PaneTitle {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Command(text) | Self::Program(text) | Self::Given(text) => text,
        }
    }
}

/// How a pane ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaneExit {
    pub(crate) status: PaneStatus,
    pub(crate) exit: Option<Exit>,
    pub(crate) timed_out: bool,
    pub(crate) at: Time,
}

impl PaneRecord {
    /// This very pane.
    pub(crate) fn pane_ref(&self) -> PaneRef {
        PaneRef { id: self.id.clone(), instance: self.instance.clone() }
    }

    /// The pane it was started from.
    pub(crate) fn parent(&self) -> Option<&PaneRef> {
        self.ancestors.first()
    }

    /// The payload of an event about it: these fields, its name and its instance.
    pub(crate) fn event_payload(&self, payload: Value) -> Value {
        event_payload(&self.pane_ref(), payload)
    }

    /// The record as JSON.
    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).expect("our own types always become JSON")
    }

    /// The change that remembers it.
    pub(crate) fn put(&self) -> RecordChange {
        RecordChange::Put { kind: KIND, key: self.id.to_string(), value: self.json() }
    }

    /// The change that forgets it.
    pub(crate) fn delete(id: &PaneId) -> RecordChange {
        RecordChange::Delete { kind: KIND, key: id.to_string() }
    }
}
