//! Answers that hold for a pane: stored in the journal, so that a restart of the server keeps them,
//! and deleted when the pane's program ends.

use paned_model::{ApprovalId, Instance, PaneId, PaneRef, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decision::Allowance;
use super::request::Coverage;
use crate::journal::RecordChange;

/// The kind of such an answer's record in the journal.
pub(crate) const REMEMBERED: &str = "approval-for-pane";
/// How many are kept for one pane.
pub(super) const MAX_PER_PANE: usize = 100;

/// An answer that holds for a pane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RememberedAnswer {
    /// The approval that was answered; `approval:forget` takes this id.
    pub(crate) id: ApprovalId,
    /// The pane.
    pub(crate) pane_id: PaneId,
    /// Which of the panes of that name it is.
    pub(crate) instance: Instance,
    /// What is allowed.
    pub(crate) covers: String,
    /// What requests are compared by.
    pub(crate) key: String,
    /// Who answered.
    pub(crate) by: String,
    /// When.
    pub(crate) at: Time,
}

impl RememberedAnswer {
    pub(super) fn new(
        id: &ApprovalId,
        pane: PaneRef,
        coverage: &Coverage,
        (by, at): (&str, Time),
    ) -> Self {
        Self {
            id: id.clone(),
            pane_id: pane.id,
            instance: pane.instance,
            covers: coverage.sentence.clone(),
            key: coverage.key.clone(),
            by: by.to_owned(),
            at,
        }
    }

    /// The pane.
    pub(super) fn pane(&self) -> PaneRef {
        PaneRef { id: self.pane_id.clone(), instance: self.instance.clone() }
    }

    /// Whether it covers a request of this pane.
    pub(super) fn is_for(&self, pane: &PaneRef, coverage: &Coverage) -> bool {
        self.instance == pane.instance && self.key == coverage.key
    }

    pub(super) fn allowance(&self) -> Allowance {
        Allowance { approval: self.id.clone(), by: self.by.clone(), remembered: true }
    }

    pub(super) fn put(&self) -> RecordChange {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        RecordChange::Put { kind: REMEMBERED, key: self.id.to_string(), value }
    }

    pub(super) fn delete(&self) -> RecordChange {
        RecordChange::Delete { kind: REMEMBERED, key: self.id.to_string() }
    }
}
