//! What follows an agent's end: it is started again if that was asked for and it failed; else its worktree
//! goes if nothing in it would be lost.

use std::sync::Arc;
use std::time::Duration;

use paned_model::{Exit, PaneStatus};
use serde_json::json;

use super::record::{AgentLaunch, RestartPolicy};
use super::worktree::{Worktree, WorktreeCleanup};
use crate::panes::Pane;
use crate::panes::record::PaneExit;
use crate::{Kernel, actions};

/// How often an agent is started again, one failure after the other.
const MAX_ATTEMPTS: u32 = 5;
/// One that ran for so long did not fail at once.
const STABLE_AFTER_MS: u64 = 60_000;

/// Does what follows the end of the agent in a pane, unless that was done.
pub(crate) fn ended(kernel: &Kernel, pane: &Arc<Pane>) {
    let (end, made, created) = {
        let mut state = pane.lock();
        let made = state.record.agent.as_ref().and_then(|agent| agent.made.clone());
        let (Some(end), Some(made)) = (state.record.end, made) else { return };
        let wants = made.restart == RestartPolicy::OnFailure || made.worktree.is_some();
        if made.exit_handled || !wants || std::mem::replace(&mut state.is_exit_handled, true) {
            return;
        }
        (end, made, pane.created_at)
    };
    let lasted = STABLE_AFTER_MS <= end.at.since(created);
    let attempt = if lasted { 1 } else { made.attempt + 1 };
    let (house, pane) = (kernel.clone(), pane.clone());
    if made.restart == RestartPolicy::OnFailure && has_failed(end) {
        tokio::spawn(async move { restart(&house, &pane, made, attempt).await });
        return;
    }
    // A server that is stopped waits for this: nobody looks for the worktree of a pane that is forgotten.
    kernel.background().spawn(async move {
        remove_worktree(&house, &pane, made.worktree).await;
        mark_handled(&house, &pane);
    });
}

/// Whether a program failed by itself. How one ended whose keeper died is not known.
fn has_failed(end: PaneExit) -> bool {
    end.status == PaneStatus::Exited
        && !end.timed_out
        && end.exit.is_some_and(|exit| exit != Exit::Code(0))
}

/// Starts it again after a while, in a new pane.
async fn restart(kernel: &Kernel, pane: &Arc<Pane>, made: AgentLaunch, attempt: u32) {
    if MAX_ATTEMPTS < attempt {
        kernel.emit("agent:gave-up", &pane.event_payload(json!({ "attempts": attempt - 1 })));
        remove_worktree(kernel, pane, made.worktree).await;
        return mark_handled(kernel, pane);
    }
    tokio::time::sleep(Duration::from_secs(1 << (attempt - 1))).await;
    // Whoever has removed it meanwhile does not want it back.
    let is_there = kernel.panes().get(&pane.id).is_ok_and(|found| Arc::ptr_eq(&found, pane));
    if !is_there {
        return remove_worktree(kernel, pane, made.worktree).await;
    }
    mark_handled(kernel, pane);
    match actions::restart_failed(kernel, pane, attempt).await {
        Ok(new) => {
            let told = new.event_payload(json!({ "oldId": pane.id, "attempt": attempt }));
            kernel.emit("agent:restarted", &told);
        }
        Err(refusal) => {
            tracing::warn!(pane = %pane.id, %refusal, "an agent that failed cannot be started again");
            let told =
                pane.event_payload(json!({ "attempts": attempt, "error": refusal.sentence }));
            kernel.emit("agent:gave-up", &told);
            remove_worktree(kernel, pane, made.worktree).await;
        }
    }
}

/// Removes its worktree, unless something would be lost, and tells which.
async fn remove_worktree(kernel: &Kernel, pane: &Pane, worktree: Option<Worktree>) {
    let Some(worktree) = worktree else { return };
    let left = worktree.cleanup(kernel).await;
    let mut told = pane.event_payload(json!({ "path": worktree.path, "branch": worktree.branch }));
    let (name, more) = match left {
        WorktreeCleanup::Removed { keeps_branch } => {
            ("agent:worktree-removed", json!({ "keepsBranch": keeps_branch }))
        }
        WorktreeCleanup::Kept(why) => ("agent:worktree-kept", json!({ "why": why })),
    };
    if let (Some(told), Some(more)) = (told.as_object_mut(), more.as_object()) {
        told.extend(more.clone());
    }
    kernel.emit(name, &told);
}

/// Notes that what follows its end has been done.
fn mark_handled(kernel: &Kernel, pane: &Arc<Pane>) {
    if !kernel.panes().get(&pane.id).is_ok_and(|found| Arc::ptr_eq(&found, pane)) {
        return;
    }
    let mut state = pane.lock();
    if let Some(made) = state.record.agent.as_mut().and_then(|agent| agent.made.as_mut()) {
        made.exit_handled = true;
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }
}
