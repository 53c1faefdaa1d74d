//! Starts a program in the place of a pane that has ended: under its name, as another instance with
//! a tape of its own. The pane that had the name is moved aside first, and gets its name back if
//! the program cannot be started, so that no output is lost.
//!
//! The two steps are journaled before they are done. A server that is killed between them finds the
//! pane aside, marked as pending, and starts the program.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::BoxedFuture;
use paned_model::{Code, Instance, PaneId, Refusal, Size, ViewState};
use paned_policy::agent::LaunchOptions;
use serde_json::json;
use tokio::time::timeout;

use super::respawn::respawn_params;
use crate::Kernel;
use crate::actions::agent::start::as_parent;
use crate::actions::pane::new::{self, PREVIOUS, PaneSpawnPlan};
use crate::agents::{AgentRecord, NewAgent};
use crate::journal::{EventDraft, draft};
use crate::panes::close::{forget, kill_for_restart};
use crate::panes::pane::KeeperConnection;
use crate::panes::restart::{PreviousRun, RestartCause, settle_previous};
use crate::panes::{Pane, PaneChange, PaneRecord};
use crate::permissions::PermittedCommands;
use crate::registry::ActionContext;
use crate::tmux_view::{ViewRequest, ViewSpec};
use crate::undo::Undo;

/// How many earlier runs of a pane are recorded: the first one and the latest ones.
const MAX_EARLIER: usize = 64;
/// How long a keeper may take to finish after its program was ended.
const FINISH_TIMEOUT: Duration = Duration::from_secs(10);

/// Refuses what would be refused after the end of the program, so that it is not ended in vain.
///
/// # Errors
/// When the caller may not start it, or its parameters are invalid.
pub(in crate::actions) async fn check_run_again(
    context: &ActionContext,
    old: &Pane,
) -> Result<(), Refusal> {
    if old.is_adopted() {
        return Ok(());
    }
    let params = respawn_params(&context.kernel, old).await?;
    check_run(&as_parent(context, old), params)
}

/// The same for another program in the place of a pane.
///
/// # Errors
/// As [`check_run_again`].
pub(in crate::actions) fn check_run(
    context: &ActionContext,
    params: new::Params,
) -> Result<(), Refusal> {
    PaneSpawnPlan::new(&context.kernel, &context.caller, params, None).map(drop)
}

/// Ends what still runs in a pane that is started again, and waits until its keeper is gone.
///
/// # Errors
/// As [`end_run`].
pub(in crate::actions) async fn end_for_next_run(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    grace: Duration,
    force: bool,
) -> Result<(), Refusal> {
    keep_worktree(pane);
    end_run(kernel, pane, grace, force).await
}

/// Ends what still runs in a pane, and waits until its keeper is gone.
///
/// # Errors
/// When a process of it survives, or its keeper does not answer.
pub(in crate::actions) async fn end_run(
    kernel: &Kernel,
    pane: &Arc<Pane>,
    grace: Duration,
    force: bool,
) -> Result<(), Refusal> {
    if pane.is_adopted() {
        let sentence = format!(
            "`{}` is a pane of your own tmux; paned watches it, and cannot start it again",
            pane.id
        );
        return Err(Refusal::new(Code::Conflict, sentence));
    }
    let view = pane.lock().record.view.clone();
    let (_, survivors) = kill_for_restart(kernel, pane, grace, force).await?;
    if !survivors.is_empty() {
        let sentence = format!(
            "`{}` was not started again: {} of its processes could not be ended",
            pane.id,
            survivors.len()
        );
        let details = json!({ "survivors": survivors });
        return Err(Refusal::new(Code::Busy, sentence).with_details(details));
    }
    if let Some(view) = view.filter(|view| view.state != ViewState::Hidden) {
        close_view(kernel, pane, view).await;
    }
    let mut changes = pane.watch();
    let is_detached =
        || matches!(pane.lock().connection, KeeperConnection::Detached { .. }) && !has_keeper(pane);
    let finished = async { while !is_detached() && changes.changed().await.is_ok() {} };
    timeout(FINISH_TIMEOUT, finished).await.map_err(|_| {
        let sentence = format!("the keeper of pane `{}` has not finished; try again", pane.id);
        Refusal::new(Code::Timeout, sentence)
    })
}

/// Has tmux close its view of a pane that has ended, and waits for that: the end of this view must
/// not be taken for the end of the next one, which has the same name. Errors do not matter: without
/// tmux there is no view.
async fn close_view(kernel: &Kernel, pane: &Pane, view: ViewSpec) {
    let ask = |answer| ViewRequest::Hide(pane.id.clone(), answer);
    if let Err(refusal) = kernel.tmux_views().ask_at(kernel, &view.location, ask).await {
        tracing::debug!(pane = %pane.id, %refusal, "the view of a pane that is started again was gone");
    }
    pane.lock().record.view = Some(ViewSpec { shown_until_exit: true, ..view });
}

fn has_keeper(pane: &Pane) -> bool {
    pane.output().is_some_and(|output| output.has_live_keeper())
}

/// The program of a pane, to be started again in its place. Its parameters are those of its start.
pub(in crate::actions) async fn run_again(
    context: &ActionContext,
    old: &Arc<Pane>,
    cause: RestartCause,
) -> Result<Arc<Pane>, Refusal> {
    let kernel = &context.kernel;
    let context = as_parent(context, old);
    let previous = old.lock().record.previous_run.clone();
    let id = previous.filter(|it| it.is_pending).map_or_else(|| old.id.clone(), |it| it.of);
    let mut params = respawn_params(kernel, old).await?;
    params.id = Some(id.clone());
    params.agent = agent_record(kernel, old);
    if let Some(argv) = agent_argv(kernel, params.agent.as_ref())? {
        params.argv = Some(argv);
    }
    let slot = match &params.agent {
        Some(_) => {
            let caller = &context.caller;
            let again = NewAgent { id: &id, caller, replaced: Some(&old.id) };
            Some(kernel.agents().admit(kernel, again).await?)
        }
        None => None,
    };
    let place = PanePlace::of(&context, old, params).await?;
    let new = place.start(&context, Some(cause)).await?;
    drop(slot);
    Ok(new)
}

/// Starts another program in the place of a pane, which is forgotten then.
pub(in crate::actions) async fn run_instead(
    context: &ActionContext,
    old: &Arc<Pane>,
    params: new::Params,
) -> Result<Arc<Pane>, Refusal> {
    let place = PanePlace::of(context, old, params).await?;
    let aside = place.aside.clone();
    let new = place.start(context, None).await?;
    forget(&context.kernel, &aside).await?;
    Ok(new)
}

/// The record of an agent whose program is started again.
fn agent_record(kernel: &Kernel, old: &Pane) -> Option<AgentRecord> {
    let agent = old.lock().record.agent.clone()?;
    let made = agent.made.map(|made| crate::agents::AgentLaunch { exit_handled: false, ..made });
    Some(AgentRecord { made, ..AgentRecord::new(&agent.profile, kernel.now()) })
}

/// The command line of an agent that `agent:create` has started, without its first prompt: that was
/// for the first run.
fn agent_argv(
    kernel: &Kernel,
    agent: Option<&AgentRecord>,
) -> Result<Option<Vec<String>>, Refusal> {
    let Some((agent, made)) = agent.and_then(|agent| Some((agent, agent.made.clone()?))) else {
        return Ok(None);
    };
    let profile = kernel.agents().profile(&agent.profile)?;
    let options = LaunchOptions {
        argv: made.argv,
        model: made.model,
        permissions: made.permissions,
        prompt: None,
    };
    profile.command_line(&options).map(Some).map_err(Refusal::invalid)
}

/// The work that follows the exit of an agent is for its last run only: its worktree stays.
fn keep_worktree(pane: &Pane) {
    let mut state = pane.lock();
    let made = state.record.agent.as_mut().and_then(|agent| agent.made.as_mut());
    made.into_iter().for_each(|made| made.exit_handled = true);
}

/// A pane that makes room for another one of its name.
struct PanePlace {
    old: Arc<Pane>,
    /// The same pane under another name.
    aside: Arc<Pane>,
    /// What is to be started.
    plan: PaneSpawnPlan,
    is_view_required: bool,
    view_size: Size,
}

impl PanePlace {
    /// Checks what is to be started; nothing has changed when that is refused.
    async fn of(
        context: &ActionContext,
        old: &Arc<Pane>,
        params: new::Params,
    ) -> Result<Self, Refusal> {
        let kernel = &context.kernel;
        let (plan, mut is_view_required, view_size) = new::plan(context, params).await?;
        let record = old.lock().record.clone();
        let is_pending = record.previous_run.as_ref().is_some_and(|it| it.is_pending);
        let aside = if is_pending { old.clone() } else { aside(kernel, old, plan.id()).await? };
        // A view that cannot be had again does not end the program.
        is_view_required &= record.view.is_none();
        Ok(Self { old: old.clone(), aside, plan, is_view_required, view_size })
    }

    /// Moves the old pane aside and starts the new one; the old one gets its name back if that
    /// fails. Without a cause it is another program than before.
    async fn start(
        mut self,
        context: &ActionContext,
        cause: Option<RestartCause>,
    ) -> Result<Arc<Pane>, Refusal> {
        let kernel = &context.kernel;
        let is_aside = Arc::ptr_eq(&self.old, &self.aside);
        // Nothing else can remove the old pane now, or move it.
        let mut is_removed = self.old.is_removed.lock().await;
        if *is_removed && !is_aside {
            return Err(Refusal::not_found(format!("the pane `{}` is gone", self.old.id)));
        }
        if let Some(cause) = cause {
            continue_record(&mut self.plan.record, &self.old.lock().record, cause);
        }
        let new = self.plan.pane();
        let id = new.id.clone();
        match is_aside {
            true => kernel.panes().insert(new.clone(), usize::MAX)?,
            false => {
                self.move_aside(kernel, &new, cause.is_some()).await?;
                *is_removed = true;
            }
        }
        drop(is_removed);
        let restarted = cause.map(|cause| self.restarted_event(&new, cause));
        let events = restarted.into_iter().collect();
        let spec = self.plan.spawn_spec();
        if let Err(refusal) = new::start(kernel, &new, spec, events).await {
            if !is_aside {
                move_back(kernel, &self.aside, &id).await;
            }
            let sentence =
                format!("{}; the output of `{id}` so far is still there", refusal.sentence);
            return Err(Refusal { sentence, ..refusal });
        }
        // Its program has ended.
        kernel.grants().remove(&self.aside.lock().record.grant.grant.id);
        settle_previous(kernel, &self.aside);
        let view = crate::actions::support::visibility::show(
            context,
            &new,
            false,
            self.is_view_required,
            self.view_size,
        );
        view.await?;
        Ok(new)
    }

    /// What is recorded with the start of the next run.
    fn restarted_event(&self, new: &Pane, cause: RestartCause) -> EventDraft {
        let payload = json!({
            "reason": cause.text(),
            "previousInstance": self.old.instance(),
            "previousId": self.aside.id,
            "restarts": new.lock().record.restart.map_or(0, |restart| restart.count),
        });
        draft("pane:restarted", &new.event_payload(payload))
    }

    /// Gives the old pane its other name, and the name to the new one.
    async fn move_aside(
        &self,
        kernel: &Kernel,
        new: &Arc<Pane>,
        is_pending: bool,
    ) -> Result<(), Refusal> {
        if let Some(previous) = &mut self.aside.lock().record.previous_run {
            previous.is_pending = is_pending;
        }
        if !kernel.panes().replace(&self.old, &[new, &self.aside]) {
            let sentence = format!("the pane `{}` has changed; try again", self.old.id);
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        kernel.panes().report(kernel, &self.old, &PaneChange::Removed);
        let moved = json!({ "newId": self.aside.id });
        let event = draft("pane:moved", &self.old.event_payload(moved));
        let changes = vec![PaneRecord::delete(&self.old.id), self.aside.lock().record.put()];
        let ticket = kernel.journal().record(vec![event], changes);
        // Before the files are moved, so that the next server finds them by this name. If it cannot
        // be written, the records beside the tapes are used.
        let _ = kernel.journal().committed(ticket).await;
        let renamed = kernel.backend().rename(self.old.id.clone(), self.aside.id.clone()).await;
        let Err(error) = renamed else { return Ok(()) };
        restore(kernel, &[new, &self.aside], &self.old);
        Err(error.into())
    }
}

/// Continues the record of a pane with its next run.
fn continue_record(next: &mut PaneRecord, old: &PaneRecord, cause: RestartCause) {
    next.ancestors.clone_from(&old.ancestors);
    next.agents_above = old.agents_above;
    next.earlier = earlier(&old.instance, &old.earlier);
    next.restart = old.restart.map(|restart| restart.next_run(cause));
}

/// The instances before the next run, newest first. The first one of all is never left out: that is
/// the one that grants are given for.
fn earlier(last: &Instance, before: &[Instance]) -> Vec<Instance> {
    let mut all: Vec<_> = std::iter::once(last).chain(before).cloned().collect();
    if MAX_EARLIER < all.len() {
        all.remove(MAX_EARLIER - 1);
    }
    all
}

/// The old pane under the name that it gets: `web.previous` for `web`. The one that has this name
/// is forgotten if it holds an earlier run, too.
async fn aside(kernel: &Kernel, old: &Arc<Pane>, id: &PaneId) -> Result<Arc<Pane>, Refusal> {
    let name = format!("{id}{PREVIOUS}").parse().unwrap_or_else(|_| new::fresh_id(kernel));
    let found = kernel.panes().get(&name).ok();
    let is_earlier = |pane: &Arc<Pane>| pane.lock().record.is_previous_run_of(id);
    let name = match found {
        Some(pane) if is_earlier(&pane) => {
            forget(kernel, &pane).await?;
            name
        }
        Some(_) => new::fresh_id(kernel),
        None => name,
    };
    let state = old.lock();
    let previous_run = Some(PreviousRun { of: id.clone(), is_pending: false });
    let record = PaneRecord { id: name, previous_run, view: None, ..state.record.clone() };
    let connection = KeeperConnection::Detached { output: state.output() };
    Ok(Arc::new(Pane::new(record, state.size, connection)))
}

/// Gives a pane its name back.
async fn move_back(kernel: &Kernel, aside: &Arc<Pane>, id: &PaneId) {
    let renamed = kernel.backend().rename(aside.id.clone(), id.clone()).await;
    if let Err(error) = renamed {
        tracing::warn!(pane = %aside.id, %error, "a pane keeps the name that it was given for a restart");
        return settle_previous(kernel, aside);
    }
    let old = {
        let state = aside.lock();
        let record = PaneRecord { id: id.clone(), previous_run: None, ..state.record.clone() };
        let connection = KeeperConnection::Detached { output: state.output() };
        Arc::new(Pane::new(record, state.size, connection))
    };
    restore(kernel, &[aside], &old);
}

/// Puts a pane in the place of these, in the table and in the journal.
fn restore(kernel: &Kernel, others: &[&Arc<Pane>], old: &Arc<Pane>) {
    others.iter().for_each(|other| kernel.panes().remove(other));
    if kernel.panes().insert(old.clone(), usize::MAX).is_err() {
        return;
    }
    let moved =
        |aside: &Pane| draft("pane:moved", &aside.event_payload(json!({ "newId": old.id })));
    let aside = others.iter().filter(|other| other.instance() == old.instance());
    let events = aside.map(|aside| moved(aside)).collect();
    let changes = others.iter().map(|other| PaneRecord::delete(&other.id));
    let changes = changes.chain([old.lock().record.put()]).collect();
    kernel.journal().record(events, changes);
}

/// Starts the program of a pane again for its restart policy, or to finish what a server that was
/// killed has begun.
pub(crate) fn restart_pane(
    kernel: Kernel,
    pane: Arc<Pane>,
    cause: RestartCause,
) -> BoxedFuture<'static, Result<Arc<Pane>, Refusal>> {
    Box::pin(async move {
        let caller = kernel.owner(None);
        let grace = kernel.limits().kill_grace;
        let context = ActionContext {
            kernel,
            caller,
            undo: Undo::default(),
            permitted: PermittedCommands::default(),
        };
        end_for_next_run(&context.kernel, &pane, grace, false).await?;
        run_again(&context, &pane, cause).await
    })
}
