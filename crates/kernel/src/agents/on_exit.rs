//! What is done when an agent has ended: it is restarted if it failed and its restart policy says
//! so; else its worktree is removed if no work would be lost.

use std::sync::Arc;
use std::time::Duration;

use paned_model::{Exit, PaneStatus};
use serde_json::json;

use super::record::{AgentLaunch, RestartPolicy, Worktree};
use super::worktree::WorktreeCleanup;
use crate::Kernel;
use crate::panes::Pane;
use crate::panes::record::PaneExit;

/// How many times in a row an agent is restarted after a failure.
const MAX_ATTEMPTS: u32 = 5;
/// After a run of this length the count of attempts starts again.
const STABLE_AFTER_MS: u64 = 60_000;

/// Handles the exit of the agent in a pane, once.
pub(crate) fn ended(kernel: &Kernel, pane: &Arc<Pane>) {
    let (end, launch, created) = {
        let mut state = pane.lock();
        let launch = state.record.agent.as_ref().and_then(|agent| agent.made.clone());
        let (Some(end), Some(launch)) = (state.record.end, launch) else { return };
        let wants = launch.restart == RestartPolicy::OnFailure || launch.worktree.is_some();
        if launch.exit_handled || !wants || std::mem::replace(&mut state.is_exit_handled, true) {
            return;
        }
        (end, launch, pane.created_at)
    };
    let lasted = STABLE_AFTER_MS <= end.at.since(created);
    let attempt = if lasted { 1 } else { launch.attempt + 1 };
    if launch.restart == RestartPolicy::OnFailure && has_failed(end) {
        let kernel = kernel.clone();
        let pane = pane.clone();
        tokio::spawn(async move { restart(&kernel, &pane, launch, attempt).await });
        return;
    }
    // A background task, so that a server that stops waits for it: the worktree of a removed pane
    // is never looked for again.
    let task_kernel = kernel.clone();
    let pane = pane.clone();
    kernel.background().spawn(async move {
        remove_worktree(&task_kernel, &pane, launch.worktree).await;
        mark_handled(&task_kernel, &pane);
    });
}

/// Whether a program failed by itself. If its keeper died, that is not known.
fn has_failed(end: PaneExit) -> bool {
    end.status == PaneStatus::Exited
        && !end.timed_out
        && end.exit.is_some_and(|exit| exit != Exit::Code(0))
}

/// Restarts the agent after a delay, in a new pane.
async fn restart(kernel: &Kernel, pane: &Arc<Pane>, launch: AgentLaunch, attempt: u32) {
    if MAX_ATTEMPTS < attempt {
        kernel.emit("agent:gave-up", &pane.event_payload(json!({ "attempts": attempt - 1 })));
        remove_worktree(kernel, pane, launch.worktree).await;
        return mark_handled(kernel, pane);
    }
    tokio::time::sleep(Duration::from_secs(1 << (attempt - 1))).await;
    // A user who has removed the pane meanwhile does not want it back; one who has started it again
    // has it back, with its worktree.
    let found = kernel.panes().get(&pane.id).ok();
    let is_next_run = |found: &Arc<Pane>| found.lock().record.earlier.contains(pane.instance());
    if found.as_ref().is_some_and(is_next_run) {
        return;
    }
    let is_there = found.is_some_and(|found| Arc::ptr_eq(&found, pane));
    if !is_there {
        return remove_worktree(kernel, pane, launch.worktree).await;
    }
    mark_handled(kernel, pane);
    match (kernel.agents().restart)(kernel.clone(), pane.clone(), attempt).await {
        Ok(new) => {
            let payload = new.event_payload(json!({ "oldId": pane.id, "attempt": attempt }));
            kernel.emit("agent:restarted", &payload);
        }
        Err(refusal) => {
            tracing::warn!(pane = %pane.id, %refusal, "a failed agent cannot be restarted");
            let payload =
                pane.event_payload(json!({ "attempts": attempt, "error": refusal.sentence }));
            kernel.emit("agent:gave-up", &payload);
            remove_worktree(kernel, pane, launch.worktree).await;
        }
    }
}

/// Removes its worktree, unless work would be lost, and emits an event with the result.
async fn remove_worktree(kernel: &Kernel, pane: &Pane, worktree: Option<Worktree>) {
    let Some(worktree) = worktree else { return };
    let cleanup = worktree.cleanup(kernel).await;
    let mut payload =
        pane.event_payload(json!({ "path": worktree.path, "branch": worktree.branch }));
    let (name, more) = match cleanup {
        WorktreeCleanup::Removed { keeps_branch } => {
            ("agent:worktree-removed", json!({ "keepsBranch": keeps_branch }))
        }
        WorktreeCleanup::Kept(why) => ("agent:worktree-kept", json!({ "why": why })),
    };
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    kernel.emit(name, &payload);
}

/// Records that the exit was handled.
fn mark_handled(kernel: &Kernel, pane: &Arc<Pane>) {
    if !kernel.panes().get(&pane.id).is_ok_and(|found| Arc::ptr_eq(&found, pane)) {
        return;
    }
    let mut state = pane.lock();
    if let Some(launch) = state.record.agent.as_mut().and_then(|agent| agent.made.as_mut()) {
        launch.exit_handled = true;
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }
}
