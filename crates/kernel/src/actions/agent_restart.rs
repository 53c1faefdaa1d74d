//! `agent:restart`

use paned_model::{Code, PaneId, PaneInfo, Refusal, Scope};
use paned_policy::agent::Permissions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::agent_create::PermissionMode;
use super::agent_start::{self, as_parent, restart_request};
use super::close;
use super::wait_limit::wait_limit;
use crate::Kernel;
use crate::access::AccessRequest;
use crate::panes::Pane;
use crate::registry::{Action, ActionContext, ActionKind};

/// How long the new one may take until it takes a prompt.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
const MAX_TIMEOUT_MS: u64 = 600_000;

pub(super) struct AgentRestart;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// The new pane's name; one is made up when left out.
    new_id: Option<PaneId>,
    /// Another model for the new one.
    model: Option<String>,
    /// Whether the new one asks before it acts.
    permissions: Option<PermissionMode>,
    /// A first prompt for the new one.
    prompt: Option<String>,
    /// How long it may take until it takes a prompt, in milliseconds (60000 when left out, up to 600000).
    #[schemars(range(max = 600_000))]
    timeout_ms: Option<u64>,
    /// Whether it is meant although it is the agent that this comes from.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentRestartOutput {
    /// The pane that is gone.
    old: PaneId,
    /// The pane in its place.
    new: PaneInfo,
}

impl Action for AgentRestart {
    const NAME: &'static str = "agent:restart";
    const DOC: &'static str = "Start an agent anew in another pane, and close the old one once the new one takes a prompt. If it never does, \
         the old one stays.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["prompt", "new.argv", "new.agent.dialog"];
    type Params = Params;
    type Answer = AgentRestartOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).ending(params.itself)
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentRestartOutput, Refusal> {
        let kernel = &context.kernel;
        let old = kernel.panes().get(&params.pane_id)?;
        let mut start = restart_request(kernel, &old)?;
        start.launch.attempt = 0;
        start.launch.model = params.model.or(start.launch.model);
        start.launch.permissions =
            params.permissions.map(Permissions::from).or(start.launch.permissions);
        start.prompt = params.prompt;
        start.pane.id = params.new_id;
        let patience = wait_limit(params.timeout_ms, DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)?;
        let new = agent_start::start(&as_parent(&context, &old), start).await?;
        agent_start::wait_ready(kernel, &new, patience).await;
        check(kernel, &new).await?;
        // The worktree, if there is one, is the new one's from now on.
        mark_exit_handled(&old);
        close(kernel, &old).await?;
        let told = new.event_payload(json!({ "oldId": old.id }));
        kernel.emit("agent:restarted", &told);
        Ok(AgentRestartOutput { old: old.id.clone(), new: new.info() })
    }
}

/// Whether the new one can take the place of the old; else it goes.
async fn check(kernel: &Kernel, new: &std::sync::Arc<Pane>) -> Result<(), Refusal> {
    let agent = new.lock().agent.clone();
    let Some(agent) = agent.filter(|agent| !agent.state.takes_prompts()) else { return Ok(()) };
    mark_exit_handled(new);
    close(kernel, new).await?;
    let kind = agent.kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let sentence = format!(
        "the new agent did not come to take a prompt: it was {}{kind}; the old one stays",
        agent.state
    );
    Err(Refusal::new(Code::Timeout, sentence).with_details(json!({ "agent": agent })))
}

/// Nothing follows the end of this one: another goes on with what it had.
fn mark_exit_handled(pane: &Pane) {
    if let Some(made) = pane.lock().record.agent.as_mut().and_then(|agent| agent.made.as_mut()) {
        made.exit_handled = true;
    }
}
