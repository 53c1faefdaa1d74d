//! `layout:hide`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::{EmptyOutput, PaneIdParams};
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::ViewRequest;

pub(in crate::actions) struct LayoutHide;

impl Action for LayoutHide {
    const NAME: &'static str = "layout:hide";
    const DOC: &'static str = "Hide a pane in tmux; its program keeps running.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = PaneIdParams;
    type Answer = EmptyOutput;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<EmptyOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&pane_id)?;
        let view = pane.lock().record.view.clone();
        let Some(view) = view else {
            let sentence = format!("pane `{pane_id}` is not shown in tmux");
            return Err(Refusal::not_found(sentence));
        };
        let ask = |answer| ViewRequest::Hide(pane_id, answer);
        kernel.tmux_views().ask_at(kernel, &view.location, ask).await?;
        pane.lock().record.view = None;
        kernel.journal().record(Vec::new(), vec![pane.lock().record.put()]);
        Ok(EmptyOutput {})
    }
}
