//! `approval:list`

use paned_model::{ApprovalInfo, Instance, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::approvals::RememberedAnswer;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ApprovalList;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Only those that this pane asks for.
    pane_id: Option<PaneId>,
    /// Whether to list the last ones that have ended, too.
    #[serde(default)]
    ended: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct ApprovalListOutput {
    /// The approvals, oldest first.
    approvals: Vec<ApprovalInfo>,
    /// The answers that hold for a pane until its program ends.
    remembered: Vec<PaneAnswer>,
}

/// An answer that holds for a pane.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct PaneAnswer {
    /// The approval that was answered; `approval:forget` takes this id.
    id: paned_model::ApprovalId,
    /// The pane.
    pane_id: PaneId,
    /// Which of the panes of that name it is.
    instance: Instance,
    /// What is allowed.
    covers: String,
    /// Who answered.
    by: String,
    /// When.
    at: Time,
}

impl From<RememberedAnswer> for PaneAnswer {
    fn from(answer: RememberedAnswer) -> Self {
        let RememberedAnswer { id, pane_id, instance, covers, by, at, key: _ } = answer;
        Self { id, pane_id, instance, covers, by, at }
    }
}

impl Action for ApprovalList {
    const NAME: &'static str = "approval:list";
    const DOC: &'static str = "List the approvals that wait for an answer, agents' questions \
                              included.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = ApprovalListOutput;

    fn access(params: &Params) -> AccessRequest {
        params.pane_id.as_ref().map_or_else(AccessRequest::reachable, AccessRequest::pane)
    }

    async fn run(context: ActionContext, params: Params) -> Result<ApprovalListOutput, Refusal> {
        let ActionContext { kernel, caller, .. } = &context;
        let mut approvals = kernel.visible_approvals(params.ended, caller);
        let mut remembered = kernel.visible_remembered(caller);
        if let Some(pane) = &params.pane_id {
            approvals.retain(|approval| approval.pane_id.as_ref() == Some(pane));
            remembered.retain(|answer| answer.pane_id == *pane);
        }
        let remembered = remembered.into_iter().map(PaneAnswer::from).collect();
        Ok(ApprovalListOutput { approvals, remembered })
    }
}
