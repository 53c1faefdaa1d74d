//! `agent:interrupt`

use paned_model::{AgentInfo, PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::access::AccessRequest;
use crate::actions::support::agents::{agent, agent_handle};
use crate::actions::support::wait_limit::wait_limit;
use crate::agents::AgentRequest;
use crate::panes::pane::pane_gone;
use crate::registry::{Action, ActionContext, ActionKind};

/// How long to wait until a turn is seen to stop, in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
const MAX_TIMEOUT_MS: u64 = 600_000;

pub(in crate::actions) struct AgentInterrupt;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// How long to wait for it to stop, in milliseconds: defaults to 30000, up to 600000.
    #[schemars(range(max = 600_000))]
    timeout_ms: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentInterruptOutput {
    /// Whether a turn was interrupted.
    interrupted: bool,
    /// The evidence for that, in sentences.
    evidence: Vec<String>,
    /// The agent's current state.
    agent: AgentInfo,
}

impl Action for AgentInterrupt {
    const NAME: &'static str = "agent:interrupt";
    const DOC: &'static str = "Interrupt an agent's turn and confirm that it has stopped.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    const SECRETS: &'static [&'static str] = &["agent.dialog", "evidence"];
    type Params = Params;
    type Answer = AgentInterruptOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).typing()
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentInterruptOutput, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&params.pane_id)?;
        let agent_task = agent_handle(kernel, &pane)?;
        let limit = wait_limit(params.timeout_ms, DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)?;
        let Ok(outcome) = timeout(limit, agent_task.ask(AgentRequest::Interrupt)).await else {
            let evidence = vec!["the agent did not stop in time".to_owned()];
            return Ok(AgentInterruptOutput { interrupted: false, evidence, agent: agent(&pane)? });
        };
        let outcome = outcome.ok_or_else(|| pane_gone(&pane.id, pane.lock().status()))??;
        Ok(AgentInterruptOutput {
            interrupted: outcome.interrupted,
            evidence: outcome.evidence,
            agent: agent(&pane)?,
        })
    }
}
