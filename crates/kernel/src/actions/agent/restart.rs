//! `agent:restart`

use paned_model::{Code, PaneId, PaneInfo, Refusal, Scope};
use paned_policy::agent::{LaunchOptions, Permissions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::create::PermissionMode;
use super::start;
use super::start::{as_parent, restart_request};
use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{ModelName, ProgramText};
use crate::actions::support::wait_limit::wait_limit;
use crate::agents::AgentLaunch;
use crate::panes::Pane;
use crate::panes::close::close;
use crate::panes::environment::EnvironmentSpec;
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind};

/// How long the new agent may take until it accepts a prompt.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
const MAX_TIMEOUT_MS: u64 = 600_000;

pub(in crate::actions) struct AgentRestart;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The agent's pane.
    pane_id: PaneId,
    /// The id of the new pane; generated when omitted.
    new_id: Option<PaneId>,
    /// Another model for the new agent.
    #[schemars(with = "Option<ModelName>")]
    model: Option<String>,
    /// Whether the new agent asks before it acts.
    permissions: Option<PermissionMode>,
    /// A first prompt for the new agent.
    #[schemars(with = "Option<ProgramText>")]
    prompt: Option<String>,
    /// How long to wait until it accepts a prompt, in milliseconds: defaults to 60000, up to
    /// 600000.
    #[schemars(range(max = 600_000))]
    timeout_ms: Option<u64>,
    /// Confirms that the caller may stop the agent it runs in.
    #[serde(default, rename = "self")]
    itself: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::actions) struct AgentRestartOutput {
    /// The pane that was closed.
    old: PaneId,
    /// The pane that replaces it.
    new: PaneInfo,
}

impl Params {
    /// Whether the new agent is started with another command line.
    fn is_changed(&self) -> bool {
        self.model.is_some() || self.permissions.is_some() || self.prompt.is_some()
    }
}

/// The command line of the new agent.
fn next_command(kernel: &Kernel, params: &Params) -> Option<CommandToJudge> {
    let old = kernel.panes().get(&params.pane_id).ok()?;
    let (agent, argv, cwd) = {
        let state = old.lock();
        let record = &state.record;
        (record.agent.clone()?, record.argv.clone(), record.cwd.clone())
    };
    let profile = kernel.agents().profile(&agent.profile).ok()?;
    let usual = || AgentLaunch { argv: Some(argv), ..AgentLaunch::default() };
    let launch = agent.made.unwrap_or_else(usual);
    let options = LaunchOptions {
        argv: launch.argv,
        model: params.model.clone().or(launch.model),
        permissions: params.permissions.map(Permissions::from).or(launch.permissions),
        prompt: params.prompt.clone(),
    };
    let argv = profile.command_line(&options).ok()?;
    let command = CommandToJudge::new(argv, Some(cwd), &EnvironmentSpec::default());
    Some(CommandToJudge { is_trusted: !params.is_changed(), ..command })
}

impl Action for AgentRestart {
    const NAME: &'static str = "agent:restart";
    const DOC: &'static str = "Restart an agent in a new pane. The old pane is closed once the \
                              new agent accepts a prompt, and is left running if it does not.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] =
        &["prompt", "new.argv", "new.agent.dialog", "new.lastLine"];
    type Params = Params;
    type Answer = AgentRestartOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id).ending(params.itself)
    }

    fn commands(context: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        // What is not valid is refused when it runs.
        next_command(&context.kernel, params).into_iter().collect()
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentRestartOutput, Refusal> {
        let kernel = &context.kernel;
        let old = kernel.panes().get(&params.pane_id)?;
        let mut request = restart_request(kernel, &old).await?;
        let is_changed = params.is_changed();
        request.launch.attempt = 0;
        request.launch.model = params.model.or(request.launch.model);
        request.launch.permissions =
            params.permissions.map(Permissions::from).or(request.launch.permissions);
        request.pane.is_trusted = !is_changed;
        request.prompt = params.prompt;
        request.pane.id = params.new_id;
        let timeout = wait_limit(params.timeout_ms, DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)?;
        let new = start::start(&as_parent(&context, &old), request).await?;
        start::wait_ready(kernel, &new, timeout).await;
        check(kernel, &new).await?;
        // The new agent takes over the worktree, if there is one.
        mark_exit_handled(&old);
        close(kernel, &old).await?;
        let payload = new.event_payload(json!({ "oldId": old.id }));
        kernel.emit("agent:restarted", &payload);
        Ok(AgentRestartOutput { old: old.id.clone(), new: new.info() })
    }
}

/// Checks that the new agent accepts prompts; closes it otherwise.
async fn check(kernel: &Kernel, new: &std::sync::Arc<Pane>) -> Result<(), Refusal> {
    let agent = new.lock().agent.clone();
    let Some(agent) = agent.filter(|agent| !agent.state.takes_prompts()) else { return Ok(()) };
    mark_exit_handled(new);
    close(kernel, new).await?;
    let kind = agent.kind.map(|kind| format!(" ({kind})")).unwrap_or_default();
    let sentence = format!(
        "the new agent did not become ready (it was {}{kind}); the old one was left running",
        agent.state
    );
    Err(Refusal::new(Code::Timeout, sentence).with_details(json!({ "agent": agent })))
}

/// Skips the follow-up of this agent's exit: another agent takes over what it had.
fn mark_exit_handled(pane: &Pane) {
    if let Some(launch) = pane.lock().record.agent.as_mut().and_then(|agent| agent.made.as_mut()) {
        launch.exit_handled = true;
    }
}
