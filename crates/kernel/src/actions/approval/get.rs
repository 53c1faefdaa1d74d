//! `approval:get`

use paned_model::{ApprovalInfo, Refusal, Scope};

use super::ApprovalIdParams;
use crate::access::AccessRequest;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ApprovalGet;

impl Action for ApprovalGet {
    const NAME: &'static str = "approval:get";
    const DOC: &'static str = "Return an approval: what is asked, by whom, and the outcome.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = ApprovalIdParams;
    type Answer = ApprovalInfo;

    fn access(_: &ApprovalIdParams) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(
        context: ActionContext,
        params: ApprovalIdParams,
    ) -> Result<ApprovalInfo, Refusal> {
        context.kernel.visible_approval(&params.id, &context.caller)
    }
}
