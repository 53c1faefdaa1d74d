//! `agent:cleanup`

use paned_model::{PaneId, Refusal, Scope};
use paned_policy::evict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::agents;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct AgentCleanup;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Only agents that have been idle for this many milliseconds; defaults to all idle agents.
    #[serde(default)]
    idle_ms: u64,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct AgentCleanupOutput {
    /// The panes that were closed.
    closed: Vec<PaneId>,
    /// The agents that were not closed.
    kept: Vec<SkippedAgent>,
}

/// An agent that was not closed.
#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct SkippedAgent {
    /// Its pane.
    id: PaneId,
    /// Why it was not closed.
    why: String,
}

impl Action for AgentCleanup {
    const NAME: &'static str = "agent:cleanup";
    const DOC: &'static str = "Close idle agents that no client is watching. Busy, blocked and \
                              persistent agents are never closed.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = AgentCleanupOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentCleanupOutput, Refusal> {
        let ActionContext { kernel, caller, .. } = context;
        let mut output = AgentCleanupOutput { closed: Vec::new(), kept: Vec::new() };
        for pane in kernel.panes().list() {
            if !kernel.reaches(&pane.id, &caller) {
                continue;
            }
            let Some(agent) = agents::candidate(&kernel, &pane) else { continue };
            let is_own = caller.pane.as_ref() == Some(&pane.pane_ref());
            let own = || Err("the request comes from it".to_owned());
            let may_go = evict::may_evict(&agent, params.idle_ms, kernel.now());
            match if is_own { own() } else { may_go } {
                Err(why) => output.kept.push(SkippedAgent { id: agent.pane, why }),
                Ok(()) => match agents::evict(&kernel, &pane).await? {
                    true => output.closed.push(agent.pane),
                    false => {
                        let why = "it became busy, or could not be stopped".to_owned();
                        output.kept.push(SkippedAgent { id: agent.pane, why });
                    }
                },
            }
        }
        Ok(output)
    }
}
