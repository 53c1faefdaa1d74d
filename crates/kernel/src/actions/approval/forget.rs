//! `approval:forget`

use paned_model::{Refusal, Scope};

use super::ApprovalIdParams;
use super::list::PaneAnswer;
use crate::access::AccessRequest;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ApprovalForget;

impl Action for ApprovalForget {
    const NAME: &'static str = "approval:forget";
    const DOC: &'static str =
        "Delete an answer that holds for a pane: its next request asks again.";
    const SCOPE: Scope = Scope::Approve;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = ApprovalIdParams;
    type Answer = PaneAnswer;

    fn access(_: &ApprovalIdParams) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, params: ApprovalIdParams) -> Result<PaneAnswer, Refusal> {
        context.kernel.forget_answer(&params.id, &context.caller).map(PaneAnswer::from)
    }
}
