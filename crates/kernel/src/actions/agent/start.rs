//! Starts agents: for `agent:create`, and restarts from a pane's record.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use paned_backend::BoxedFuture;
use paned_model::{AgentState, PaneId, PaneSet, Refusal, StateSource};
use paned_policy::agent::{LaunchOptions, Profile};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::actions::pane::new;
use crate::actions::support::respawn::respawn_params;
use crate::agents::{AgentLaunch, AgentRecord, AgentStatus, NewAgent, Worktree, WorktreeRequest};
use crate::panes::Pane;
use crate::panes::environment::check_text;
use crate::permissions::PermittedCommands;
use crate::registry::ActionContext;
use crate::undo::Undo;
use crate::{Caller, Kernel};

/// How long the screen of a new agent must not change before its composer counts. codex 0.169 shows
/// its composer 0.2 to 0.4 s before it asks whether the folder is trusted.
const QUIET_TIME: Duration = Duration::from_millis(500);
/// How long to wait for a screen that keeps changing.
const MAX_QUIET_WAIT: Duration = Duration::from_secs(3);

/// An agent to start.
pub(in crate::actions) struct AgentStartRequest {
    /// The profile that its screens are read by.
    pub(in crate::actions) profile: Arc<Profile>,
    /// How its program is started.
    pub(in crate::actions) launch: AgentLaunch,
    /// Its first prompt, where the command line takes one.
    pub(in crate::actions) prompt: Option<String>,
    /// A worktree to create for it.
    pub(in crate::actions) worktree: Option<WorktreeRequest>,
    /// The pane whose agent it replaces, which still runs.
    pub(in crate::actions) replaced: Option<PaneId>,
    /// Its pane, without the command line.
    pub(in crate::actions) pane: new::Params,
}

/// Starts an agent, or leaves nothing behind.
pub(in crate::actions) async fn start(
    context: &ActionContext,
    start: AgentStartRequest,
) -> Result<Arc<Pane>, Refusal> {
    let kernel = &context.kernel;
    let AgentStartRequest { profile, mut launch, prompt, worktree, replaced, mut pane } = start;
    if let Some(prompt) = &prompt {
        check_text("prompt", prompt)?;
    }
    let options = LaunchOptions {
        argv: launch.argv.clone(),
        model: launch.model.clone(),
        permissions: launch.permissions,
        prompt,
    };
    pane.argv = Some(profile.command_line(&options).map_err(Refusal::invalid)?);
    // Events contain titles, and must not contain prompts.
    pane.hidden = options.prompt.clone();
    let id = pane.id.clone().unwrap_or_else(|| new::fresh_id(kernel));
    let newcomer = NewAgent { id: &id, caller: &context.caller, replaced: replaced.as_ref() };
    let slot = kernel.agents().admit(kernel, newcomer).await?;
    let mut fresh = None;
    if let Some(wanted) = worktree {
        let (worktree, cwd) = make_worktree(kernel, &id, pane.cwd.as_deref(), wanted).await?;
        pane.cwd = Some(cwd.to_string_lossy().into_owned());
        launch.worktree = Some(worktree.clone());
        fresh = Some(worktree);
    }
    pane.meta.insert("agent.runtime".into(), json!(profile.name));
    pane.meta.insert("agent.status".into(), json!("running"));
    let agent = AgentRecord { made: Some(launch), ..AgentRecord::new(&profile.name, kernel.now()) };
    pane.id = Some(id);
    pane.agent = Some(agent);
    let created = new::create(context, pane).await;
    drop(slot);
    match (created, fresh) {
        (Ok(pane), _) => {
            kernel.emit("agent:created", &pane.event_payload(json!({ "profile": profile.name })));
            Ok(pane)
        }
        (Err(refusal), Some(worktree)) => {
            worktree.cleanup(kernel).await;
            Err(refusal)
        }
        (Err(refusal), None) => Err(refusal),
    }
}

async fn make_worktree(
    kernel: &Kernel,
    id: &PaneId,
    cwd: Option<&str>,
    wanted: WorktreeRequest,
) -> Result<(Worktree, PathBuf), Refusal> {
    if kernel.panes().contains(id) {
        let sentence = format!(
            "pane `{id}` already exists; choose another id, or delete it with \
                               `pane:close`"
        );
        return Err(Refusal::new(paned_model::Code::Conflict, sentence));
    }
    let home = kernel.setup().env.iter().find(|(name, _)| name == "HOME");
    let folder = paned_backend::find_folder(cwd, home.map(|(_, home)| home.as_str()))?;
    Worktree::add(kernel, id, Path::new(&folder), wanted).await
}

/// Waits until an agent accepts a prompt, asks the user a question, or has exited.
pub(in crate::actions) async fn wait_ready(kernel: &Kernel, pane: &Pane, limit: Duration) {
    let Some(agent) = kernel.agents().find(&pane.id) else { return };
    let Ok(profile) = kernel.agents().profile_of(pane) else { return };
    let launch = pane.lock().record.agent.as_ref().and_then(|agent| agent.made.clone());
    let is_trusted = launch.is_some_and(|launch| launch.trust);
    let is_answered_by_us = |status: &AgentStatus| {
        let dialog = status.info.dialog.as_ref().filter(|_| is_trusted);
        dialog.is_some_and(|dialog| profile.startup_answer(dialog).is_some())
    };
    // A program that no profile describes may never show that it accepts a prompt.
    let is_starting = |state| match state {
        AgentState::Unknown => !profile.is_generic(),
        state => state == AgentState::Starting,
    };
    let is_up =
        |status: &AgentStatus| !is_starting(status.info.state) && !is_answered_by_us(status);
    let mut status = agent.seen();
    let deadline = Instant::now() + limit;
    let mut settled = None;
    loop {
        let is_sure = match timeout_at(deadline, status.wait_for(is_up)).await {
            Ok(Ok(now)) => !may_still_ask(&now, &profile),
            Ok(Err(_)) | Err(_) => return,
        };
        let until = *settled.get_or_insert(deadline.min(Instant::now() + MAX_QUIET_WAIT));
        if is_sure || wait_quiet(pane, &mut status, until).await {
            return;
        }
    }
}

/// Whether a question may follow although an agent seems to be ready. Some programs show their
/// composer, an empty title and the status `idle` before their first question; only a hook, or a
/// title whose text means ready, is exact.
fn may_still_ask(status: &AgentStatus, profile: &Profile) -> bool {
    let is_exact = match status.info.source {
        StateSource::Hook => true,
        StateSource::Title => profile.title.ready.is_some(),
        StateSource::Osc
        | StateSource::Screen
        | StateSource::Input
        | StateSource::Process
        | StateSource::Quiet => false,
    };
    status.info.state == AgentState::Ready && !is_exact
}

/// Waits until a pane has printed nothing for [`QUIET_TIME`], or until a deadline; false as soon as
/// its agent's status changes.
async fn wait_quiet(
    pane: &Pane,
    status: &mut watch::Receiver<AgentStatus>,
    until: Instant,
) -> bool {
    let mut printed = pane.watch();
    loop {
        let quiet = (Instant::now() + QUIET_TIME).min(until);
        tokio::select! {
            changed = status.changed() => return changed.is_err() || until <= Instant::now(),
            changed = printed.changed() => if changed.is_err() || until <= Instant::now() {
                return true;
            },
            () = sleep_until(quiet) => return true,
        }
    }
}

/// The request that starts the agent of a pane again, in another pane.
pub(in crate::actions) async fn restart_request(
    kernel: &Kernel,
    pane: &Pane,
) -> Result<AgentStartRequest, Refusal> {
    let agent = pane.lock().record.agent.clone();
    let agent = agent.ok_or_else(|| crate::actions::support::agents::no_agent(&pane.id))?;
    let profile = kernel.agents().profile(&agent.profile)?;
    let mut params = respawn_params(kernel, pane).await?;
    let argv = params.argv.take();
    let launch = agent.made.unwrap_or_else(|| AgentLaunch { argv, ..AgentLaunch::default() });
    let launch = AgentLaunch { exit_handled: false, ..launch };
    params.meta.retain(|key, _| !key.starts_with("agent."));
    params.meta.insert("agent.replaces".into(), json!(pane.id));
    let replaced = Some(pane.id.clone());
    Ok(AgentStartRequest { profile, launch, prompt: None, worktree: None, replaced, pane: params })
}

/// A context with the caller's rights whose calling pane is the parent of `pane`.
pub(in crate::actions) fn as_parent(context: &ActionContext, pane: &Pane) -> ActionContext {
    let parent = pane.lock().record.parent().cloned();
    let caller = Caller { pane: parent, pane_token: None, ..context.caller.clone() };
    ActionContext { caller, ..context.clone() }
}

/// Restarts a failed agent in a new pane.
pub(crate) fn restart_failed(
    kernel: Kernel,
    pane: Arc<Pane>,
    attempt: u32,
) -> BoxedFuture<'static, Result<Arc<Pane>, Refusal>> {
    Box::pin(async move {
        let mut request = restart_request(&kernel, &pane).await?;
        request.launch.attempt = attempt;
        // Started on behalf of no caller, so no other pane is evicted for it.
        let mut caller = kernel.owner(None);
        Arc::make_mut(&mut caller.grant).panes = PaneSet::Only(BTreeSet::new());
        let context = ActionContext {
            kernel,
            caller,
            undo: Undo::default(),
            permitted: PermittedCommands::default(),
        };
        start(&as_parent(&context, &pane), request).await
    })
}
