//! What is stored of a pane: its record in the journal, and the first version of that beside its
//! tape.

use std::num::NonZeroU64;

use paned_model::{Exit, Instance, Meta, PaneId, PaneRef, PaneStatus, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::grants::StoredGrant;
use crate::journal::RecordChange;

use super::adopted_from::AdoptedOrigin;
use super::agent_record::AgentRecord;
use super::exit_notice::ExitNoticeFormat;
use super::restart::{PreviousRun, RestartRecord};
use super::view_spec::ViewSpec;

/// The payload of an event about a pane: these fields, the pane's name and its instance. The
/// instance decides which grants see the event, because the name may be another pane's by then.
pub(crate) fn event_payload(pane: &PaneRef, mut payload: Value) -> Value {
    payload["paneId"] = json!(pane.id);
    payload["instance"] = json!(pane.instance);
    payload
}

/// The kind of a pane's record in the journal.
pub(crate) const KIND: &str = "pane";

/// What is stored of a pane. A record means that `pane:created` was published; an `end` in it means
/// that the exit was published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaneRecord {
    pub(crate) id: PaneId,
    /// Distinguishes it from every other pane that ever had its name.
    pub(crate) instance: Instance,
    pub(crate) title: PaneTitle,
    pub(crate) argv: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) meta: Meta,
    pub(crate) tags: Vec<String>,
    pub(crate) persist: bool,
    /// Whether the client that started it gets a notice of its exit.
    #[serde(default)]
    pub(crate) notify_on_exit: bool,
    /// How that notice is written.
    #[serde(default, skip_serializing_if = "ExitNoticeFormat::is_default")]
    pub(crate) notice: ExitNoticeFormat,
    /// After how many seconds it is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_seconds: Option<u32>,
    /// How many of its last lines can be read; all that are kept when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_lines: Option<NonZeroU64>,
    /// The pane it was started from, the one that was started from, and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ancestors: Vec<PaneRef>,
    /// How many of them were agents when it was started: also when their panes are gone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) agents_above: usize,
    /// The instances of its earlier runs, newest first: grants that reach one of them reach it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<Instance>,
    /// Its restart policy, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restart: Option<RestartRecord>,
    /// The pane whose earlier run it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous_run: Option<PreviousRun>,
    /// The process id of its program, which may be another program's once it has ended.
    #[serde(default)]
    pub(crate) pid: Option<u32>,
    /// The escape bytes that bring a new terminal into the state that its program has set, except
    /// for the text on it: modes, title and more. For when that output is no longer kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) modes: String,
    /// Where tmux is to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) view: Option<ViewSpec>,
    /// Where it came from, when it was adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<AdoptedOrigin>,
    /// What is stored of the agent, when its program is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<AgentRecord>,
    pub(crate) created_at: Time,
    /// The grant its program was given.
    pub(crate) grant: StoredGrant,
    pub(crate) end: Option<PaneExit>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A pane's title, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PaneTitle {
    /// Its command.
    Command(String),
    /// Set by its program.
    Program(String),
    /// Set by the client that started it; the program does not change that.
    Given(String),
    /// Given by a client that runs in the pane: it does not change either, but it is not a name of
    /// the pane, because otherwise a program could take the name of another pane.
    Own(String),
}

impl PaneTitle {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Command(text) | Self::Program(text) | Self::Given(text) | Self::Own(text) => text,
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
    /// How many ancestors of a pane are recorded.
    pub(crate) const MAX_ANCESTORS: usize = 64;

    /// Whether all its ancestors are known.
    pub(crate) fn has_all_ancestors(&self) -> bool {
        self.ancestors.len() < Self::MAX_ANCESTORS
    }

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

    /// The change that stores it.
    pub(crate) fn put(&self) -> RecordChange {
        RecordChange::Put { kind: KIND, key: self.id.to_string(), value: self.json() }
    }

    /// The change that deletes it.
    pub(crate) fn delete(id: &PaneId) -> RecordChange {
        RecordChange::Delete { kind: KIND, key: id.to_string() }
    }
}
