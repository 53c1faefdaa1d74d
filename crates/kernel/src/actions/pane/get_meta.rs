//! `pane:get-meta`

use paned_model::{Meta, PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::AccessRequest;
use crate::actions::PaneIdParams;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneGetMeta;

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PaneGetMetaOutput {
    /// The pane.
    id: PaneId,
    /// Its meta.
    meta: Meta,
}

impl Action for PaneGetMeta {
    const NAME: &'static str = "pane:get-meta";
    const DOC: &'static str = "Show a pane's meta.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = PaneIdParams;
    type Answer = PaneGetMetaOutput;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<PaneGetMetaOutput, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        let meta = pane.lock().meta().clone();
        Ok(PaneGetMetaOutput { id: pane_id, meta })
    }
}
