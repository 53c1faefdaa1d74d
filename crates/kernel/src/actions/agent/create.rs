//! `agent:create`

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use paned_model::{Meta, PaneId, PaneInfo, Refusal, Scope, Size};
use paned_policy::agent::{LaunchOptions, Permissions, Profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::start;
use super::start::AgentStartRequest;
use crate::access::AccessRequest;
use crate::actions::pane::new;
use crate::actions::pane::new::PaneCapability;
use crate::actions::support::param_rules::{
    Argv, Environment, Folder, GitName, MetaEntries, ModelName, ProgramText, SessionNameText,
    Title, TmuxPaneName, TmuxServer, Umask, at_least_one, tmux_location,
};
use crate::actions::support::visibility::Visibility;
use crate::actions::support::wait_limit::wait_limit;
use crate::agents::{AgentLaunch, GENERIC, RestartPolicy, WorktreeRequest};
use crate::panes::Pane;
use crate::panes::environment::EnvironmentSpec;
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::OnViewClosed;
use crate::{Caller, Kernel};

/// How long an agent may take until it accepts a prompt.
const DEFAULT_TIMEOUT_MS: u64 = 60_000;
const MAX_TIMEOUT_MS: u64 = 600_000;

pub(in crate::actions) struct AgentCreate;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
#[schemars(transform = at_least_one(&["profile", "argv"]))]
pub(in crate::actions) struct Params {
    /// The agent program and how to read its screen: `codex`, `opencode`, … `agent:profiles` lists
    /// all profiles.
    profile: Option<String>,
    /// The program and its arguments, instead of those of the profile. Without a matching profile,
    /// only the program's hooks report its state.
    #[schemars(with = "Option<Argv>")]
    argv: Option<Vec<String>>,
    /// The model: a name or alias that the program accepts.
    #[schemars(with = "Option<ModelName>")]
    model: Option<String>,
    /// Whether it asks before it acts; defaults to `ask`, or to what `argv` specifies.
    permissions: Option<PermissionMode>,
    /// The first prompt.
    #[schemars(with = "Option<ProgramText>")]
    prompt: Option<String>,
    /// Whether to wait until it accepts a prompt, or asks a question.
    #[serde(default = "yes")]
    wait_ready: bool,
    /// The time limit of that wait in milliseconds: defaults to 60000, up to 600000.
    #[schemars(range(max = 600_000))]
    timeout_ms: Option<u64>,
    /// Whether questions at its start (is this folder trusted?) are answered as its profile
    /// specifies.
    #[serde(default)]
    trust: bool,
    /// Whether it is restarted, in a new pane, when it fails.
    #[serde(default)]
    restart: RestartPolicy,
    /// A git worktree to work in. It is removed when the agent exits, if no work would be lost.
    worktree: Option<WorktreeChoice>,
    /// The id of its pane; generated when omitted.
    id: Option<PaneId>,
    /// The absolute path of its working directory; defaults to the user's home.
    #[schemars(with = "Option<Folder>")]
    cwd: Option<String>,
    /// Variables to add to the server's environment, or the whole environment if `inheritEnv` is
    /// false.
    #[serde(default)]
    #[schemars(with = "Environment")]
    env: BTreeMap<String, String>,
    /// Whether it inherits the server's environment; defaults to true.
    inherit_env: Option<bool>,
    /// Its file mode creation mask in octal, as in `022`; defaults to the server's.
    #[schemars(with = "Option<Umask>")]
    umask: Option<String>,
    /// The size of its terminal; defaults to 120 columns and 40 rows.
    size: Option<Size>,
    /// Its title; defaults to the title that the program sets, or the command.
    #[schemars(with = "Option<Title>")]
    title: Option<String>,
    /// Custom data.
    #[serde(default)]
    #[schemars(with = "MetaEntries")]
    meta: Meta,
    /// Custom labels.
    #[serde(default)]
    tags: Vec<String>,
    /// Whether it is excluded from automatic clean-up.
    #[serde(default)]
    persist: bool,
    /// Whether its exit is reported by one `pane:notice` event, with a text for the pane that
    /// started it.
    #[serde(default)]
    notify_on_exit: bool,
    /// How many of its last lines of output are kept, of those that fit into the server's limit of
    /// bytes; defaults to the server's limit of lines.
    max_lines: Option<NonZeroU32>,
    /// What the token of its program permits besides reading and typing; defaults to what its
    /// profile specifies, usually starting panes.
    can: Option<BTreeSet<PaneCapability>>,
    /// Whether it is shown in tmux. By default it is if `session` or `beside` is set, or if a
    /// session follows new panes.
    visible: Option<Visibility>,
    /// The session to show it in; defaults to the one that follows new panes, or `main`. It is
    /// started if it does not exist.
    #[schemars(with = "Option<SessionNameText>")]
    session: Option<String>,
    /// An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "Option<TmuxPaneName>")]
    beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    tmux: Option<String>,
    /// What happens when a user closes the tmux pane; defaults to `close`.
    on_view_closed: Option<OnViewClosed>,
}

/// A git worktree for an agent.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum WorktreeChoice {
    /// A worktree on a new branch, or none.
    Enabled(bool),
    /// A worktree with these options.
    Options(WorktreeOptions),
}

/// Options of a worktree.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WorktreeOptions {
    /// The branch, which is created if it does not exist; defaults to a new name.
    #[schemars(with = "Option<GitName>")]
    branch: Option<String>,
    /// The start point of a new branch; defaults to the commit that is checked out in `cwd`.
    #[schemars(with = "Option<GitName>")]
    base: Option<String>,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::actions) enum PermissionMode {
    /// It asks.
    Ask,
    /// It acts without asking.
    Auto,
}

impl From<PermissionMode> for Permissions {
    fn from(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Ask => Self::Ask,
            PermissionMode::Auto => Self::Auto,
        }
    }
}

fn yes() -> bool {
    true
}

/// The default size of an agent's terminal.
const DEFAULT_SIZE: Size = Size { cols: 120, rows: 40 };

impl Action for AgentCreate {
    const NAME: &'static str = "agent:create";
    const DOC: &'static str = "Start an agent in a new pane and wait until it accepts a prompt.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["env", "prompt", "argv", "agent.dialog", "lastLine"];
    type Params = Params;
    type Answer = AgentCreateOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::reachable().with_tmux_server(params.tmux.as_deref())
    }

    fn commands(context: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        // What is not valid is refused when it runs.
        let Ok(profile) = choose_profile(&context.kernel, params) else { return Vec::new() };
        let options = LaunchOptions {
            argv: params.argv.clone(),
            model: params.model.clone(),
            permissions: params.permissions.map(Permissions::from),
            prompt: params.prompt.clone(),
        };
        let environment = EnvironmentSpec {
            env: params.env.clone(),
            inherit_env: params.inherit_env,
            umask: None,
        };
        let command = |argv| CommandToJudge::new(argv, params.cwd.clone(), &environment);
        profile.command_line(&options).map(command).into_iter().collect()
    }

    async fn run(context: ActionContext, params: Params) -> Result<AgentCreateOutput, Refusal> {
        let kernel = &context.kernel;
        let profile = choose_profile(kernel, &params)?;
        let timeout = wait_limit(params.timeout_ms, DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS)?;
        // A profile without a composer never reports that the agent is ready.
        let wait_ready = params.wait_ready && profile.composer.is_some();
        let prompt = params.prompt.clone();
        let prompt = prompt.filter(|_| !profile.takes_prompt());
        let pane = start::start(&context, params.start(profile)).await?;
        if wait_ready {
            start::wait_ready(kernel, &pane, timeout).await;
        }
        let prompt = match prompt {
            Some(prompt) => Some(send_first_prompt(&context, &pane, &prompt, wait_ready).await),
            None => None,
        };
        Ok(AgentCreateOutput { pane: pane.info(), prompt })
    }
}

/// An agent that was started.
#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct AgentCreateOutput {
    /// Its pane.
    #[serde(flatten)]
    pane: PaneInfo,
    /// The outcome of the first prompt, as `agent:message` returns it, if it was not passed as an
    /// argument of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Value>,
}

/// Sends the first prompt as a message. If that is refused, the agent still runs.
async fn send_first_prompt(
    context: &ActionContext,
    pane: &Pane,
    prompt: &str,
    wait: bool,
) -> Value {
    let kernel = &context.kernel;
    let wait = if wait { "submitted" } else { "none" };
    let params = json!({ "paneId": pane.id, "text": prompt, "wait": wait }).to_string();
    // A caller that may start an agent with a prompt may send it that prompt, so this runs as the
    // owner.
    let Caller { pane, extension, .. } = context.caller.clone();
    let caller = Caller { pane, extension, ..kernel.owner(None) };
    match kernel.dispatch("agent:message", params.as_bytes(), &caller).await {
        Ok(answer) => serde_json::from_str(answer.get()).unwrap_or_default(),
        Err(refusal) => json!({ "outcome": "refused", "evidence": [refusal.sentence] }),
    }
}

/// The profile that was named, or that matches the program.
fn choose_profile(kernel: &Kernel, params: &Params) -> Result<Arc<Profile>, Refusal> {
    let library = kernel.agents().profiles_now().library;
    match (&params.profile, &params.argv) {
        (Some(name), _) => kernel.agents().profile(name),
        (None, Some(argv)) => match library.for_command(argv) {
            Some(profile) => Ok(profile.clone()),
            None => kernel.agents().profile(GENERIC),
        },
        (None, None) => Err(Refusal::invalid("pass `profile` or `argv` to specify what to start")),
    }
}

impl Params {
    fn start(self, profile: Arc<Profile>) -> AgentStartRequest {
        let permissions = self.permissions.map(Permissions::from);
        let worktree = self.worktree.and_then(|tree| match tree {
            WorktreeChoice::Enabled(wanted) => wanted.then(WorktreeRequest::default),
            WorktreeChoice::Options(WorktreeOptions { branch, base }) => {
                Some(WorktreeRequest { branch, base })
            }
        });
        let launch = AgentLaunch {
            argv: self.argv,
            model: self.model,
            permissions,
            restart: self.restart,
            trust: self.trust,
            ..AgentLaunch::default()
        };
        let pane = new::Params {
            id: self.id,
            cwd: self.cwd,
            env: self.env,
            inherit_env: self.inherit_env,
            umask: self.umask,
            size: Some(self.size.unwrap_or(DEFAULT_SIZE)),
            title: self.title,
            meta: self.meta,
            tags: self.tags,
            persist: self.persist,
            notify_on_exit: self.notify_on_exit,
            max_lines: self.max_lines,
            can: self.can,
            visible: self.visible,
            session: self.session,
            beside: self.beside,
            tmux: self.tmux,
            on_view_closed: self.on_view_closed,
            ..new::Params::default()
        };
        AgentStartRequest { profile, launch, prompt: self.prompt, worktree, replaced: None, pane }
    }
}
