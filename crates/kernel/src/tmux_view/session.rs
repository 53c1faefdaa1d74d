//! What is stored of a session, so that it can be restored after its tmux server was gone.

use std::path::PathBuf;

use paned_model::{PaneId, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::journal::RecordChange;

/// The kind of a session's record in the journal.
pub(crate) const KIND: &str = "session";

/// A session that was started and not stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ViewSessionRecord {
    pub(crate) name: String,
    pub(crate) size: Size,
    pub(crate) created_at: Time,
    /// The process id of the tmux server it was last seen on: what is missing on another one was
    /// not closed by a user.
    pub(crate) tmux: u32,
}

/// A session as everyone sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionInfo {
    /// Its name.
    pub(crate) name: String,
    /// The socket of the tmux server that it is on: `tmux -S <socket> attach -t <target>`.
    pub(crate) socket: PathBuf,
    /// What tmux knows it by.
    pub(crate) target: String,
    /// How many people are attached.
    pub(crate) attached: usize,
    /// The panes that it shows.
    pub(crate) panes: Vec<PaneId>,
    /// How large its window is.
    pub(crate) size: Size,
}

impl ViewSessionRecord {
    /// The change that stores it.
    pub(crate) fn put(&self) -> RecordChange {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        RecordChange::Put { kind: KIND, key: self.name.clone(), value }
    }

    /// The change that deletes it.
    pub(crate) fn delete(name: &str) -> RecordChange {
        RecordChange::Delete { kind: KIND, key: name.to_owned() }
    }
}
