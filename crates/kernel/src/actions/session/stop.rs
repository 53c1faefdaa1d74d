//! `session:stop`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::actions::support::param_rules::SessionNameText;
use crate::actions::support::visibility::check_session_name;
use crate::panes::close::close;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{SessionStopRequest, ViewRequest, ViewSpec};

pub(in crate::actions) struct SessionStop;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The session; defaults to `main`, or to the setting `tmux.session`.
    #[schemars(with = "Option<SessionNameText>")]
    name: Option<String>,
    /// Whether the programs of its panes keep running hidden.
    #[serde(default)]
    keep_panes: bool,
    /// Confirms that the caller may stop the pane it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct SessionStopOutput {
    /// The session.
    name: String,
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
        params.name.as_deref().map_or(Ok(()), check_session_name)?;
        let kernel = &context.kernel;
        let is_ending = !params.keep_panes && !params.itself;
        let name = params.name.unwrap_or_else(|| kernel.default_session());
        let request = SessionStopRequest {
            name: name.clone(),
            grant: context.caller.grant.clone(),
            spared: context.caller.pane.clone().filter(|_| is_ending),
        };
        let shown = kernel
            .tmux_views()
            .ask_own(kernel, |answer| ViewRequest::Stop(request, answer))
            .await?;
        let mut stopped = SessionStopOutput { name, closed: Vec::new(), kept: Vec::new() };
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
