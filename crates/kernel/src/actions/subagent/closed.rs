//! `subagent:closed`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::opened::check;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::SubagentId;
use crate::panes::close::close;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct SubagentClosed;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The sub-agent's session id.
    #[schemars(with = "SubagentId")]
    id: String,
    /// Confirms that the caller may stop the pane it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct SubagentClosedOutput {
    /// The panes that showed it; they are deleted.
    closed: Vec<PaneId>,
}

impl Action for SubagentClosed {
    const NAME: &'static str = "subagent:closed";
    const DOC: &'static str = "Close the pane that shows a sub-agent whose session was deleted.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = SubagentClosedOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(
        context: ActionContext,
        Params { id, itself }: Params,
    ) -> Result<SubagentClosedOutput, Refusal> {
        check(&id)?;
        let ActionContext { kernel, caller, .. } = &context;
        let mut closed = Vec::new();
        let all = kernel.panes().list().into_iter();
        for pane in all.filter(|pane| kernel.reaches(&pane.id, caller)) {
            let shown = pane.lock().meta().get("subagent.id").and_then(Value::as_str) == Some(&id);
            if shown {
                kernel.check_self_end(&pane.id, caller, itself)?;
                close(kernel, &pane).await?;
                closed.push(pane.id.clone());
            }
        }
        Ok(SubagentClosedOutput { closed })
    }
}
