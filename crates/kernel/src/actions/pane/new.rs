//! `pane:new`

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use paned_backend::{PaneHandle, SpawnSpec};
use paned_model::{
    BackendKind, Code, Grant, Meta, PaneId, PaneInfo, PaneRestartPolicy, Refusal, Scope, Size,
};
use paned_policy::permit;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::support::param_rules::{
    Argv, Environment, Folder, MetaEntries, SessionNameText, Title, TmuxPaneName, TmuxServer,
    Umask, tmux_location,
};
use crate::actions::support::visibility::{LocationParams, Visibility, VisibilityParams};
use crate::actions::support::{next_run, visibility};
use crate::agents::{AgentOrigin, AgentRecord};
use crate::journal::draft;
use crate::panes::environment::EnvironmentSpec;
use crate::panes::exit_notice::ExitNoticeFormat;
use crate::panes::restart::cancel;
use crate::panes::table::name_taken;
use crate::panes::{Pane, task};
use crate::permissions::CommandToJudge;
use crate::registry::{Action, ActionContext, ActionKind, deserialize_object};
use crate::tmux_view::{DEFAULT_SIZE, OnViewClosed};

pub(in crate::actions) use super::spawn_plan::{
    LONGEST_TITLE, PREVIOUS, PaneSpawnPlan, ancestors, check_argv, check_new_id, check_title,
    fresh_id, fresh_instance, login_shell,
};

pub(in crate::actions) struct PaneNew;

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = tmux_location)]
pub(in crate::actions) struct Params {
    /// Its id; generated when omitted.
    pub(in crate::actions) id: Option<PaneId>,
    /// Whether it replaces a pane of the same id, which is stopped and deleted. If the new one
    /// cannot be started, the old one keeps its id and its output.
    #[serde(default)]
    pub(in crate::actions) replace: bool,
    /// Confirms that `replace` may stop the pane that the caller runs in.
    #[serde(default, rename = "self")]
    pub(in crate::actions) itself: bool,
    /// Whether its program is restarted when it exits: `no`, `on-failure`, `on-failure:5` (at most
    /// five times in a row) or `always`. The delay grows from one second to one minute.
    #[serde(default)]
    pub(in crate::actions) restart: PaneRestartPolicy,
    /// The program and its arguments; defaults to the user's login shell.
    #[schemars(with = "Option<Argv>")]
    pub(in crate::actions) argv: Option<Vec<String>>,
    /// The absolute path of its working directory; defaults to the user's home.
    #[schemars(with = "Option<Folder>")]
    pub(in crate::actions) cwd: Option<String>,
    /// Variables to add to the server's environment, or the whole environment if `inheritEnv` is
    /// false.
    #[serde(default)]
    #[schemars(with = "Environment")]
    pub(in crate::actions) env: BTreeMap<String, String>,
    /// Whether it inherits the server's environment; defaults to true.
    pub(in crate::actions) inherit_env: Option<bool>,
    /// Its file mode creation mask in octal, as in `022`; defaults to the server's.
    #[schemars(with = "Option<Umask>")]
    pub(in crate::actions) umask: Option<String>,
    /// The size of its terminal; defaults to 80 columns and 24 rows.
    pub(in crate::actions) size: Option<Size>,
    /// Its title; defaults to the title that the program sets, or the command.
    #[schemars(with = "Option<Title>")]
    pub(in crate::actions) title: Option<String>,
    /// Custom data.
    #[serde(default)]
    #[schemars(with = "MetaEntries")]
    pub(in crate::actions) meta: Meta,
    /// Custom labels.
    #[serde(default)]
    pub(in crate::actions) tags: Vec<String>,
    /// Whether it is excluded from automatic clean-up.
    #[serde(default)]
    pub(in crate::actions) persist: bool,
    /// Whether its exit is reported by one `pane:notice` event, with a text for the pane that
    /// started it.
    #[serde(default)]
    pub(in crate::actions) notify_on_exit: bool,
    /// The format of that notice.
    #[serde(default, deserialize_with = "deserialize_object")]
    pub(in crate::actions) notice: ExitNoticeFormat,
    /// What it runs on: `tmux` is the same as `pty`, and shown in tmux.
    #[serde(default)]
    pub(in crate::actions) substrate: BackendKind,
    /// Whether it is shown in tmux. By default it is if `session` or `beside` is set, or if a
    /// session follows new panes.
    pub(in crate::actions) visible: Option<Visibility>,
    /// The session to show it in; defaults to the one that follows new panes, or `main`. It is
    /// started if it does not exist.
    #[schemars(with = "Option<SessionNameText>")]
    pub(in crate::actions) session: Option<String>,
    /// An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`.
    #[schemars(with = "Option<TmuxPaneName>")]
    pub(in crate::actions) beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
    #[schemars(with = "Option<TmuxServer>")]
    pub(in crate::actions) tmux: Option<String>,
    /// What happens when a user closes the tmux pane; defaults to `close`.
    pub(in crate::actions) on_view_closed: Option<OnViewClosed>,
    /// Whether it waits when the window has no room for it; with `false` it stays hidden. By
    /// default it waits if the request comes from an agent, and gets its own tmux window otherwise.
    pub(in crate::actions) wait: Option<bool>,
    /// Whether a client will read its output directly from its keeper, as `paned run` does: the
    /// program is then paused while that client is slow, so that no output is dropped.
    #[serde(default)]
    pub(in crate::actions) followed: bool,
    /// Whether the client pipes input into it, as `paned run` does: its terminal then has no echo,
    /// and only `^D` and `^V` in the input have a meaning.
    #[serde(default)]
    pub(in crate::actions) piped_input: bool,
    /// How many of its last lines of output are kept, of those that fit into the server's limit of
    /// bytes; defaults to the server's limit of lines.
    pub(in crate::actions) max_lines: Option<NonZeroU32>,
    /// Stop it after this many seconds.
    pub(in crate::actions) timeout_seconds: Option<NonZeroU32>,
    /// What the token of its program permits besides reading and typing into this pane and those
    /// started from it; defaults to nothing, or to what an agent's profile specifies.
    pub(in crate::actions) can: Option<BTreeSet<PaneCapability>>,
    /// Its agent record, if already known.
    #[serde(skip)]
    pub(in crate::actions) agent: Option<AgentRecord>,
    /// Whether its command was permitted before, or is set by the configuration.
    #[serde(skip)]
    pub(in crate::actions) is_trusted: bool,
    /// A text that must not be in its title.
    #[serde(skip)]
    pub(in crate::actions) hidden: Option<String>,
}

/// What a pane's own token permits besides reading and typing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::actions) enum PaneCapability {
    /// Start panes, and stop those that were started from it.
    Spawn,
    /// Answer the questions of agents, including its own. A caller can grant this only if it has
    /// it.
    Approve,
}

impl PaneCapability {
    /// The scopes that it stands for.
    pub(super) fn scopes(self) -> &'static [Scope] {
        match self {
            Self::Spawn => &[Scope::Spawn, Scope::Kill],
            Self::Approve => &[Scope::Approve],
        }
    }

    /// The capabilities that a grant holds.
    pub(in crate::actions) fn of(grant: &Grant) -> BTreeSet<Self> {
        let all = [Self::Spawn, Self::Approve].into_iter();
        all.filter(|capability| capability.scopes().iter().all(|it| grant.scopes.contains(it)))
            .collect()
    }
}

impl Action for PaneNew {
    const NAME: &'static str = "pane:new";
    const DOC: &'static str = "Start a program in a new pane.";
    const SCOPE: Scope = Scope::Spawn;
    const KIND: ActionKind = ActionKind::Change;
    const SECRETS: &'static [&'static str] = &["env", "agent.dialog", "lastLine"];
    type Params = Params;
    type Answer = PaneInfo;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::reachable().with_tmux_server(params.tmux.as_deref())
    }

    fn commands(context: &ActionContext, params: &Params) -> Vec<CommandToJudge> {
        vec![params.command(&context.kernel)]
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneInfo, Refusal> {
        let kernel = &context.kernel;
        let id = params.id.clone();
        let pane = match id.filter(|id| kernel.panes().contains(id)) {
            Some(id) if params.replace => replace(&context, &id, params).await?,
            Some(id) => return Err(Refusal::new(Code::Conflict, name_taken(&id))),
            None => create(&context, params).await?,
        };
        Ok(pane.info())
    }
}

/// Ends the pane of a name, and starts a program under that name.
async fn replace(
    context: &ActionContext,
    id: &PaneId,
    params: Params,
) -> Result<Arc<Pane>, Refusal> {
    let kernel = &context.kernel;
    let access = AccessRequest::pane(id).ending(params.itself);
    kernel.permit(&access, &context.caller)?;
    permit::scope(&context.caller.grant, Scope::Kill)
        .map_err(|denial| Refusal::new(Code::Forbidden, denial.to_string()))?;
    let old = kernel.panes().get(id)?;
    next_run::check_run(context, params.clone())?;
    cancel(kernel, &old);
    next_run::end_run(kernel, &old, kernel.limits().kill_grace, false).await?;
    next_run::run_instead(context, &old, params).await
}

/// Starts a program in a new pane, or leaves nothing behind.
pub(in crate::actions) async fn create(
    context: &ActionContext,
    params: Params,
) -> Result<Arc<Pane>, Refusal> {
    create_in(context, params, false).await
}

/// Starts a program in a new pane that is the first of its session, or leaves nothing behind.
pub(in crate::actions) async fn create_first(
    context: &ActionContext,
    params: Params,
) -> Result<Arc<Pane>, Refusal> {
    create_in(context, params, true).await
}

async fn create_in(
    context: &ActionContext,
    params: Params,
    is_first: bool,
) -> Result<Arc<Pane>, Refusal> {
    check_new_id(params.id.as_ref())?;
    let kernel = &context.kernel;
    let (plan, is_required, size) = plan(context, params).await?;
    let pane = plan.pane();
    kernel.panes().insert(pane.clone(), kernel.limits().panes)?;
    start(kernel, &pane, plan.spawn_spec()).await?;
    visibility::show(context, &pane, is_first, is_required, size).await?;
    Ok(pane)
}

/// What is to be started, whether it must be shown, and the size of a session that is made for it.
pub(in crate::actions) async fn plan(
    context: &ActionContext,
    mut params: Params,
) -> Result<(PaneSpawnPlan, bool, Size), Refusal> {
    let wanted =
        visibility::view_spec(context, params.visibility_params(), params.argv.as_deref()).await?;
    let is_required = wanted.as_ref().is_some_and(|wanted| wanted.is_required);
    let view = wanted.map(|wanted| wanted.spec);
    let size = params.size.unwrap_or(DEFAULT_SIZE);
    if context.kernel.judges_commands_of(&context.caller) {
        let command = params.command(&context.kernel);
        context.kernel.check_judged(&context.caller, &context.permitted, command).await?;
    }
    let plan = PaneSpawnPlan::new(&context.kernel, &context.caller, params, view)?;
    Ok((plan, is_required, size))
}

/// Starts the program of a pane that is in the table; takes the pane out when that fails.
pub(in crate::actions) async fn start(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    spec: SpawnSpec,
) -> Result<(), Refusal> {
    // Before the program runs: it may connect with its token at once.
    let record = pane.lock().record.clone();
    kernel.grants().insert(record.grant.clone());
    let mut handle = match kernel.backend().spawn(spec).await {
        Ok(handle) => handle,
        Err(error) => {
            kernel.grants().remove(&record.grant.grant.id);
            kernel.panes().remove(pane);
            // Wakes callers that wait for its start.
            pane.notify();
            return Err(error.into());
        }
    };
    if let Some(cwd) = handle.cwd.take() {
        pane.lock().record.cwd = cwd;
    }
    register(kernel, pane, handle, AgentOrigin::New);
    Ok(())
}

/// Registers a running pane: records `pane:created`, and starts its tasks.
pub(in crate::actions) fn register(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    handle: PaneHandle,
    origin: AgentOrigin,
) {
    pane.connect(&handle);
    let earlier = pane.lock().record.earlier.first().cloned();
    let payload = earlier.map_or_else(|| json!({}), |it| json!({ "restartedFrom": it }));
    let created = draft("pane:created", &pane.event_payload(payload));
    kernel.journal().record(vec![created], vec![pane.lock().record.put()]);
    task::spawn_task(kernel, pane, handle);
    kernel.agents().spawn_task(kernel, pane, origin);
}

impl Params {
    /// The command that it starts, for the permission rules.
    pub(in crate::actions) fn command(&self, kernel: &Kernel) -> CommandToJudge {
        let environment =
            EnvironmentSpec { env: self.env.clone(), inherit_env: self.inherit_env, umask: None };
        let shell = self.env.get("SHELL").cloned().or_else(|| {
            let variables = environment.inherits().then_some(&kernel.setup().env)?;
            variables.iter().find(|(name, _)| name == "SHELL").map(|(_, shell)| shell.clone())
        });
        let argv = self.argv.clone().unwrap_or_else(|| login_shell(shell.as_deref()));
        let command = CommandToJudge::new(argv, self.cwd.clone(), &environment);
        CommandToJudge { is_trusted: self.is_trusted, ..command }
    }

    /// The parameters about visibility.
    fn visibility_params(&mut self) -> VisibilityParams {
        let location = LocationParams {
            session: self.session.take(),
            beside: self.beside.take(),
            tmux: self.tmux.take(),
        };
        VisibilityParams {
            visible: self.visible,
            substrate: self.substrate,
            location,
            on_view_closed: self.on_view_closed,
            wait: self.wait,
            is_background: self.followed || self.notify_on_exit,
        }
    }
}
