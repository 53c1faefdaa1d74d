//! `session:stop`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::actions::support::param_rules::SessionNameText;
use crate::actions::support::visibility::{check_session_name, usual};
use crate::panes::close::close;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{SessionStopRequest, ViewRequest, ViewSpec};

pub(in crate::actions) struct SessionStop;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The session.
    #[serde(default = "usual")]
    #[schemars(with = "SessionNameText")]
    name: String,
    /// Whether the programs of its panes keep running hidden.
    #[serde(default)]
    keep_panes: bool,
    /// Confirms that the caller may stop the pane it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct SessionStopOutput {
    /// The panes that were closed with it.
    closed: Vec<PaneId>,
    /// The panes that keep running hidden.
    kept: Vec<PaneId>,
}

impl Action for SessionStop {
    const NAME: &'static str = "session:stop";
    const DOC: &'static str = "Stop a tmux session and the panes that were created for it.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = SessionStopOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, params: Params) -> Result<SessionStopOutput, Refusal> {
        check_session_name(&params.name)?;
        let kernel = &context.kernel;
        let is_ending = !params.keep_panes && !params.itself;
        let request = SessionStopRequest {
            name: params.name,
            grant: context.caller.grant.clone(),
            spared: context.caller.pane.clone().filter(|_| is_ending),
        };
        let shown = kernel
            .tmux_views()
            .ask_own(kernel, |answer| ViewRequest::Stop(request, answer))
            .await?;
        let mut stopped = SessionStopOutput { closed: Vec::new(), kept: Vec::new() };
        for id in shown {
            let Ok(pane) = kernel.panes().get(&id) else { continue };
            let view = pane.lock().record.view.clone();
            if params.keep_panes || !view.as_ref().is_some_and(ViewSpec::ends_with_session) {
                stopped.kept.push(id);
                continue;
            }
            close(kernel, &pane).await?;
            stopped.closed.push(id);
        }
        Ok(stopped)
    }
}
