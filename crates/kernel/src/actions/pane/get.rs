//! `pane:get`

use paned_model::{PaneInfo, Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::PaneIdParams;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneGet;

impl Action for PaneGet {
    const NAME: &'static str = "pane:get";
    const DOC: &'static str = "Show one pane.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = PaneIdParams;
    type Answer = PaneInfo;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<PaneInfo, Refusal> {
        Ok(context.kernel.panes().get(&pane_id)?.info_with_tail())
    }
}
