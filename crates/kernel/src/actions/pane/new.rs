//! `pane:new`

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use paned_backend::{PaneHandle, PathOwner, SpawnSpec};
use paned_model::{
    BackendKind, Code, Grant, GrantId, Instance, Meta, PaneId, PaneInfo, PaneRef, PaneSet, Refusal,
    Scope, Size,
};
use paned_policy::permit;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::access::AccessRequest;
use crate::actions::support::visibility::{LocationParams, Visibility, VisibilityParams};
use crate::actions::support::{meta, visibility};
use crate::agents::{AgentOrigin, AgentRecord};
use crate::grants::{StoredGrant, Token, random_name};
use crate::journal::draft;
use crate::panes::environment::{self, EnvironmentSpec, PaneIdentity};
use crate::panes::exit_notice::ExitNoticeFormat;
use crate::panes::launch_record::LaunchRecord;
use crate::panes::pane::KeeperConnection;
use crate::panes::record::PaneTitle;
use crate::panes::{Pane, PaneRecord, task};
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{DEFAULT_SIZE, OnViewClosed, ViewSpec};
use crate::{Caller, Kernel};

pub(in crate::actions) const LONGEST_TITLE: usize = 256;
/// How many ancestors of a pane are recorded.
const MAX_ANCESTORS: usize = 64;

pub(in crate::actions) struct PaneNew;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Its id; generated when omitted.
    pub(in crate::actions) id: Option<PaneId>,
    /// The program and its arguments; defaults to the user's login shell.
    #[schemars(length(min = 1))]
    pub(in crate::actions) argv: Option<Vec<String>>,
    /// The absolute path of its working directory; defaults to the user's home.
    pub(in crate::actions) cwd: Option<String>,
    /// Variables to add to the server's environment, or the whole environment if `inheritEnv` is
    /// false.
    #[serde(default)]
    pub(in crate::actions) env: BTreeMap<String, String>,
    /// Whether it inherits the server's environment; defaults to true.
    pub(in crate::actions) inherit_env: Option<bool>,
    /// Its file mode creation mask in octal, as in `022`; defaults to the server's.
    pub(in crate::actions) umask: Option<String>,
    /// The size of its terminal; defaults to 80 columns and 24 rows.
    pub(in crate::actions) size: Option<Size>,
    /// Its title; defaults to the title that the program sets, or the command.
    pub(in crate::actions) title: Option<String>,
    /// Custom data.
    #[serde(default)]
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
    #[serde(default)]
    pub(in crate::actions) notice: ExitNoticeFormat,
    /// What it runs on: `tmux` is the same as `pty`, and shown in tmux.
    #[serde(default)]
    pub(in crate::actions) substrate: BackendKind,
    /// Whether it is shown in tmux. By default it is if `session` or `beside` is set, or if a
    /// session follows new panes.
    pub(in crate::actions) visible: Option<Visibility>,
    /// The session to show it in; defaults to the one that follows new panes, or `main`. It is
    /// started if it does not exist.
    pub(in crate::actions) session: Option<String>,
    /// An existing tmux pane to show it beside: `$TMUX_PANE`, as in `%3`.
    pub(in crate::actions) beside: Option<String>,
    /// The tmux server of that pane: `$TMUX`, or the path of its socket.
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
    /// Stop it after this many seconds.
    pub(in crate::actions) timeout_seconds: Option<NonZeroU32>,
    /// What the token of its program permits besides reading and typing into this pane and those
    /// started from it; defaults to nothing, or to what an agent's profile specifies.
    pub(in crate::actions) can: Option<BTreeSet<PaneCapability>>,
    /// Its agent record, if already known.
    #[serde(skip)]
    pub(in crate::actions) agent: Option<AgentRecord>,
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
    fn scopes(self) -> &'static [Scope] {
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
    const SECRETS: &'static [&'static str] = &["env", "agent.dialog"];
    type Params = Params;
    type Answer = PaneInfo;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::reachable().with_tmux_server(params.tmux.as_deref())
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneInfo, Refusal> {
        create(&context, params).await.map(|pane| pane.info())
    }
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
    mut params: Params,
    is_first: bool,
) -> Result<Arc<Pane>, Refusal> {
    let kernel = &context.kernel;
    let wanted =
        visibility::view_spec(context, params.visibility_params(), params.argv.as_deref()).await?;
    let is_required = wanted.as_ref().is_some_and(|wanted| wanted.is_required);
    let view = wanted.map(|wanted| wanted.spec);
    let size = params.size.unwrap_or(DEFAULT_SIZE);
    let plan = PaneSpawnPlan::new(kernel, &context.caller, params, view)?;
    let pane = Arc::new(Pane::new(plan.record.clone(), plan.size, KeeperConnection::Starting));
    kernel.panes().insert(pane.clone(), kernel.limits().panes)?;
    start(kernel, &pane, plan.spawn_spec()).await?;
    visibility::show(context, &pane, is_first, is_required, size).await?;
    Ok(pane)
}

async fn start(kernel: &Kernel, pane: &Arc<Pane>, spec: SpawnSpec) -> Result<(), Refusal> {
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
    let created = draft("pane:created", &pane.event_payload(json!({})));
    kernel.journal().record(vec![created], vec![pane.lock().record.put()]);
    task::spawn_task(kernel, pane, handle);
    kernel.agents().spawn_task(kernel, pane, origin);
}

impl Params {
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

/// A pane whose parameters are all valid, except for program and folder, which the backend checks.
struct PaneSpawnPlan {
    record: PaneRecord,
    /// The requested folder.
    cwd: Option<String>,
    /// What is stored to start it again.
    launch: LaunchRecord,
    env: Vec<(String, String)>,
    umask: Option<u32>,
    path_owner: PathOwner,
    size: Size,
    timeout: Option<Duration>,
    capacity: u64,
    grace: Duration,
    followed: bool,
    piped_input: bool,
}

impl PaneSpawnPlan {
    fn new(
        kernel: &Kernel,
        caller: &Caller,
        params: Params,
        view: Option<ViewSpec>,
    ) -> Result<Self, Refusal> {
        let size = params.size.unwrap_or_default().check().map_err(Refusal::invalid)?;
        meta::check_new_meta(&params.meta, kernel.limits().meta)?;
        meta::check_tags(&params.tags, kernel.limits().meta)?;
        let id = params.id.unwrap_or_else(|| fresh_id(kernel));
        let environment = EnvironmentSpec {
            env: params.env,
            inherit_env: params.inherit_env,
            umask: params.umask,
        };
        environment.check()?;
        let umask = environment.mask()?;
        let this = PaneRef { id, instance: fresh_instance() };
        let (mut grant, token) = grant(kernel, &this);
        let PaneRef { id, instance } = this;
        let setup = kernel.setup();
        let program_folder = setup.program_folder.as_deref();
        let identity =
            PaneIdentity { id: &id, address: &setup.address, token: &token, program_folder };
        let env = environment.resolve(&setup.env, &identity);
        let variable =
            |name: &str| env.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let argv = argv(params.argv, variable("SHELL"))?;
        // What is listed until the backend has checked it.
        let home = || variable("HOME").unwrap_or("/").to_owned();
        let cwd = params.cwd.clone().unwrap_or_else(home);
        let recognise = || kernel.agents().recognise(kernel, &argv, &params.meta, AgentOrigin::New);
        let agent = params.agent.or_else(recognise);
        let capabilities = match params.can {
            Some(capabilities) => capabilities,
            None => default_capabilities(kernel, agent.as_ref()),
        };
        check_capabilities(kernel, caller, &capabilities)?;
        grant.grant.scopes.extend(capabilities.iter().flat_map(|capability| capability.scopes()));
        let record = PaneRecord {
            agent,
            title: title(params.title, &redacted_argv(&argv, params.hidden.as_deref()))?,
            id,
            instance,
            argv,
            cwd,
            meta: params.meta,
            tags: params.tags,
            persist: params.persist,
            notify_on_exit: params.notify_on_exit,
            notice: params.notice,
            timeout_seconds: params.timeout_seconds.map(NonZeroU32::get),
            ancestors: ancestors(kernel, caller),
            pid: None,
            modes: String::new(),
            view,
            origin: None,
            created_at: kernel.now(),
            grant,
            end: None,
        };
        let timeout =
            params.timeout_seconds.map(|seconds| Duration::from_secs(seconds.get().into()));
        let capacity = kernel.limits().tape_bytes;
        let grace = kernel.limits().kill_grace;
        let followed = params.followed;
        let piped_input = params.piped_input;
        let path_owner = environment.path_owner();
        let launch =
            LaunchRecord { argv: record.argv.clone(), cwd: params.cwd.clone(), environment };
        let cwd = params.cwd;
        Ok(Self {
            record,
            launch,
            cwd,
            env,
            umask,
            path_owner,
            size,
            timeout,
            capacity,
            grace,
            followed,
            piped_input,
        })
    }

    fn spawn_spec(self) -> SpawnSpec {
        SpawnSpec {
            record: self.record.json(),
            launch_record: Some(self.launch.json()),
            id: self.record.id,
            program: self.record.argv.first().cloned().unwrap_or_default(),
            argv: self.record.argv,
            env: self.env,
            cwd: self.cwd,
            size: self.size,
            capacity: self.capacity,
            timeout: self.timeout,
            grace: self.grace,
            followed: self.followed,
            piped_input: self.piped_input,
            umask: self.umask,
            path_owner: self.path_owner,
        }
    }
}

pub(in crate::actions) fn fresh_id(kernel: &Kernel) -> PaneId {
    let ids = std::iter::repeat_with(|| format!("p-{}", random_name(6)));
    let mut ids = ids.filter_map(|id| id.parse().ok());
    ids.find(|id| !kernel.panes().contains(id)).expect("random names do not run out")
}

/// An id that distinguishes a new pane from all others that ever had its name.
pub(in crate::actions) fn fresh_instance() -> Instance {
    Instance(random_name(12))
}

/// The pane that a caller runs in, that pane's parent, and so on: the ancestors of a new pane.
pub(in crate::actions) fn ancestors(kernel: &Kernel, caller: &Caller) -> Vec<PaneRef> {
    let parent = caller.pane.as_ref().and_then(|pane| kernel.panes().find(pane));
    let Some(parent) = parent else { return Vec::new() };
    let above = parent.lock().record.ancestors.clone();
    std::iter::once(parent.pane_ref()).chain(above).take(MAX_ANCESTORS).collect()
}

/// The default capabilities of a pane's token: none, or what the agent's profile says.
fn default_capabilities(kernel: &Kernel, agent: Option<&AgentRecord>) -> BTreeSet<PaneCapability> {
    let profile = agent.and_then(|agent| kernel.agents().profile(&agent.profile).ok());
    profile.filter(|profile| profile.spawn).map(|_| PaneCapability::Spawn).into_iter().collect()
}

/// Refuses to give a capability that the caller does not have itself. For a caller in a pane the
/// pane's own grant counts, too, also over the unix socket.
fn check_capabilities(
    kernel: &Kernel,
    caller: &Caller,
    capabilities: &BTreeSet<PaneCapability>,
) -> Result<(), Refusal> {
    if !capabilities.contains(&PaneCapability::Approve) {
        return Ok(());
    }
    let own = caller.pane.as_ref().and_then(|pane| kernel.panes().find(pane));
    let holds = |grant: &Grant| permit::scope(grant, Scope::Approve).is_ok();
    let own_holds = own.is_none_or(|pane| holds(&pane.lock().record.grant.grant));
    if holds(&caller.grant) && own_holds {
        return Ok(());
    }
    let sentence = "`can` must not include `approve`, because the token or pane of this request \
                   does not have it";
    Err(Refusal::new(Code::Forbidden, sentence))
}

/// A narrow grant for the pane's own program: itself and what it starts.
fn grant(kernel: &Kernel, pane: &PaneRef) -> (StoredGrant, Token) {
    StoredGrant::new(Grant {
        id: GrantId(random_name(10)),
        label: format!("pane {}", pane.id),
        scopes: BTreeSet::from([Scope::Read, Scope::Input]),
        panes: PaneSet::Only(BTreeSet::from([pane.clone()])),
        pane: Some(pane.clone()),
        created_at: kernel.now(),
        expires_at: None,
    })
}

fn argv(requested: Option<Vec<String>>, shell: Option<&str>) -> Result<Vec<String>, Refusal> {
    let login = || vec![shell.unwrap_or("/bin/sh").to_owned(), "-l".to_owned()];
    let argv = requested.unwrap_or_else(login);
    if argv.is_empty() {
        return Err(Refusal::invalid("`argv` must not be empty; omit it for a login shell"));
    }
    argv.iter().try_for_each(|arg| environment::check_text("argv", arg))?;
    Ok(argv)
}

/// A text of up to this length may be part of a word by accident.
const SHORT_SECRET: usize = 8;

/// A command line without the words that contain the hidden text. The program is always named, and
/// a short text hides only a word that equals it: it may be part of any word.
fn redacted_argv(argv: &[String], hidden: Option<&str>) -> Vec<String> {
    let Some(hidden) = hidden else { return argv.to_vec() };
    let is_hidden =
        |word: &str| word == hidden || SHORT_SECRET < hidden.len() && word.contains(hidden);
    let Some((program, words)) = argv.split_first() else { return Vec::new() };
    let words = words.iter().filter(|word| !is_hidden(word));
    let mut shown: Vec<String> = std::iter::once(program).chain(words).cloned().collect();
    if shown.len() < argv.len() && shown.last().is_some_and(|word| word.starts_with('-')) {
        shown.pop();
    }
    shown
}

fn title(requested: Option<String>, argv: &[String]) -> Result<PaneTitle, Refusal> {
    let Some(title) = requested else {
        let command = argv.join(" ").replace(char::is_control, " ");
        return Ok(PaneTitle::Command(command.chars().take(LONGEST_TITLE).collect()));
    };
    check_title(title).map(PaneTitle::Given)
}

/// Refuses a title that is too long or not one line.
pub(in crate::actions) fn check_title(title: String) -> Result<String, Refusal> {
    if title.trim().is_empty() {
        return Err(Refusal::invalid("the title is empty; a title has at least one character"));
    }
    if title.chars().any(char::is_control) || LONGEST_TITLE < title.chars().count() {
        let sentence = format!(
            "`title` must be a single line of at most {LONGEST_TITLE} \
                               characters"
        );
        return Err(Refusal::invalid(sentence));
    }
    Ok(title)
}
