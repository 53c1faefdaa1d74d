//! Sessions: what is stored of one, what everyone sees of it, and who may stop it.

use std::path::PathBuf;
use std::sync::Arc;

use paned_model::{Code, Grant, PaneId, PaneRef, PaneSet, Refusal, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::records::OnViewClosed;
use crate::Kernel;
use crate::journal::RecordChange;
use crate::panes::Pane;

/// The kind of a session's record in the journal.
pub(crate) const SESSION: &str = "session";

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
        RecordChange::Put { kind: SESSION, key: self.name.clone(), value }
    }

    /// The change that deletes it.
    pub(crate) fn delete(name: &str) -> RecordChange {
        RecordChange::Delete { kind: SESSION, key: name.to_owned() }
    }
}

/// A session to be stopped.
#[derive(Clone, Debug)]
pub(crate) struct SessionStopRequest {
    /// Its name.
    pub(crate) name: String,
    /// The grant of the request, which must reach everything in the session.
    pub(crate) grant: Arc<Grant>,
    /// The pane that must not be ended by it.
    pub(crate) spared: Option<PaneRef>,
}

impl SessionStopRequest {
    /// Refuses to stop a session that shows more than the grant reaches, or the pane to be spared.
    /// A tmux pane that shows none of ours is `None`.
    pub(super) fn check(&self, kernel: &Kernel, shown: &[Option<PaneId>]) -> Result<(), Refusal> {
        let reaches = |pane: &PaneId| kernel.grant_reaches(pane, &self.grant);
        let reached = shown.iter().filter(|pane| pane.as_ref().is_some_and(reaches)).count();
        match reached {
            // A tmux pane that shows none of ours is reached only by such grants.
            _ if self.grant.panes == PaneSet::All => self.check_spared(kernel, shown),
            // The same message as for one that does not exist.
            0 => Err(self.missing()),
            all if all == shown.len() => self.check_spared(kernel, shown),
            _ => {
                let sentence =
                    format!("the session `{}` shows more than this grant reaches", self.name);
                Err(Refusal::new(Code::Forbidden, sentence))
            }
        }
    }

    pub(super) fn missing(&self) -> Refusal {
        Refusal::not_found(format!("no session `{}`; `session:list` shows them", self.name))
    }

    fn check_spared(&self, kernel: &Kernel, shown: &[Option<PaneId>]) -> Result<(), Refusal> {
        let Some(spared) = &self.spared else { return Ok(()) };
        let is_here = shown.iter().flatten().any(|pane| *pane == spared.id);
        let is_ended = |pane: &Pane| {
            let state = pane.lock();
            state.record.view.as_ref().is_some_and(|spec| spec.on_closed == OnViewClosed::Close)
        };
        let own = kernel.panes().find(spared).filter(|pane| is_here && is_ended(pane));
        let Some(own) = own else { return Ok(()) };
        let sentence = format!(
            "this would end the pane `{}`, which it comes from; say `self` (`--self`) if that is meant, or keep the panes",
            own.id
        );
        Err(Refusal::new(Code::Conflict, sentence))
    }
}
