//! `pane:activate`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::{EmptyOutput, PaneIdParams};
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::ViewRequest;

pub(in crate::actions) struct PaneActivate;

impl Action for PaneActivate {
    const NAME: &'static str = "pane:activate";
    const DOC: &'static str = "Focus a pane in tmux, if it is shown there.";
    const SCOPE: Scope = Scope::Input;
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
        let location = pane.lock().record.view.as_ref().map(|view| view.location.clone());
        let location = location.ok_or_else(|| {
            let sentence =
                format!("pane `{pane_id}` is not shown in tmux; show it with `layout:place`");
            Refusal::not_found(sentence)
        })?;
        kernel
            .tmux_views()
            .ask_at(kernel, &location, |answer| ViewRequest::Activate(pane_id, answer))
            .await?;
        Ok(EmptyOutput {})
    }
}
