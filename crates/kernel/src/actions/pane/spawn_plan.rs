//! What `pane:new` starts: the record of a pane and all that its program needs, from parameters
//! that are checked here.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;
use std::time::Duration;

use paned_backend::{PathOwner, SpawnSpec};
use paned_model::{Code, Grant, GrantId, Instance, PaneId, PaneRef, PaneSet, Refusal, Scope, Size};
use paned_policy::permit;

use super::new::{PaneCapability, Params};
use crate::actions::support::meta;
use crate::agents::{AgentOrigin, AgentRecord};
use crate::grants::{StoredGrant, Token, random_name};
use crate::panes::environment::{self, EnvironmentSpec, PaneIdentity};
use crate::panes::launch_record::LaunchRecord;
use crate::panes::pane::KeeperConnection;
use crate::panes::record::PaneTitle;
use crate::panes::restart::RestartRecord;
use crate::panes::{Pane, PaneRecord};
use crate::tmux_view::ViewSpec;
use crate::{Caller, Kernel, KernelLimits};

pub(in crate::actions) const LONGEST_TITLE: usize = 256;
/// What a restart appends to the id of a pane for its previous run.
pub(in crate::actions) const PREVIOUS: &str = ".previous";

/// A pane whose parameters are all valid, except for program and folder, which the backend checks.
pub(in crate::actions) struct PaneSpawnPlan {
    pub(in crate::actions) record: PaneRecord,
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
    pub(in crate::actions) fn new(
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
            max_lines: params.max_lines.map(NonZeroU64::from).or(kernel.limits().lines),
            ancestors: ancestors(kernel, caller),
            agents_above: kernel.agents_above(caller),
            earlier: Vec::new(),
            restart: RestartRecord::new(params.restart),
            previous_run: None,
            pid: None,
            modes: String::new(),
            view,
            origin: None,
            created_at: kernel.now(),
            grant,
            end: None,
        };
        let timeout = params.timeout_seconds.map(|it| Duration::from_secs(it.get().into()));
        let KernelLimits { tape_bytes: capacity, kill_grace: grace, .. } = *kernel.limits();
        let followed = params.followed;
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
            piped_input: params.piped_input,
        })
    }

    /// The name of the pane.
    pub(in crate::actions) fn id(&self) -> &PaneId {
        &self.record.id
    }

    /// The pane before its program runs.
    pub(in crate::actions) fn pane(&self) -> Arc<Pane> {
        Arc::new(Pane::new(self.record.clone(), self.size, KeeperConnection::Starting))
    }

    pub(in crate::actions) fn spawn_spec(self) -> SpawnSpec {
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
            max_lines: self.record.max_lines,
            timeout: self.timeout,
            grace: self.grace,
            followed: self.followed,
            piped_input: self.piped_input,
            umask: self.umask,
            path_owner: self.path_owner,
        }
    }
}

/// Refuses an id that a restart gives to the previous run of a pane: output of another program must
/// not be read as that run's.
pub(in crate::actions) fn check_new_id(id: Option<&PaneId>) -> Result<(), Refusal> {
    let Some(of) = id.and_then(|id| id.as_str().strip_suffix(PREVIOUS)) else { return Ok(()) };
    let sentence = format!(
        "`{of}{PREVIOUS}` is reserved for the previous run of pane `{of}`; choose another id"
    );
    Err(Refusal::invalid(sentence))
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
    std::iter::once(parent.pane_ref()).chain(above).take(PaneRecord::MAX_ANCESTORS).collect()
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
        device: false,
        created_with: Vec::new(),
        created_at: kernel.now(),
        expires_at: None,
    })
}

fn argv(requested: Option<Vec<String>>, shell: Option<&str>) -> Result<Vec<String>, Refusal> {
    let argv = requested.unwrap_or_else(|| login_shell(shell));
    check_argv(&argv)?;
    Ok(argv)
}

/// The command line of the user's login shell.
pub(in crate::actions) fn login_shell(shell: Option<&str>) -> Vec<String> {
    vec![shell.unwrap_or("/bin/sh").to_owned(), "-l".to_owned()]
}

/// Refuses what cannot be a program and its arguments.
pub(in crate::actions) fn check_argv(argv: &[String]) -> Result<(), Refusal> {
    if argv.is_empty() {
        return Err(Refusal::invalid("`argv` must not be empty; omit it for a login shell"));
    }
    argv.iter().try_for_each(|arg| environment::check_text("argv", arg))
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
        let sentence =
            format!("`title` must be a single line of at most {LONGEST_TITLE} characters");
        return Err(Refusal::invalid(sentence));
    }
    Ok(title)
}
