//! What follows an agent's end: it is started again if that was asked for and it failed; else its worktree
//! goes if nothing in it would be lost.

use std::sync::Arc;
use std::time::Duration;

use paned_model::{Exit, Status};
use serde_json::json;

use super::record::{Made, Restart};
use super::worktree::{Left, Worktree};
use crate::panes::Pane;
use crate::panes::record::End;
use crate::{Kernel, actions};

/// How often an agent is started again, one failure after the other.
const ATTEMPTS: u32 = 5;
/// One that ran for so long did not fail at once.
const LASTING: u64 = 60_000;

/// Does what follows the end of the agent in a pane, unless that was done.
pub(crate) fn ended(kernel: &Kernel, pane: &Arc<Pane>) {
    let (end, made, created) = {
        let mut state = pane.lock();
        let made = state.record.agent.as_ref().and_then(|agent| agent.made.clone());
        let (Some(end), Some(made)) = (state.record.end, made) else { return };
        let wants = made.restart == Restart::OnFailure || made.worktree.is_some();
        if made.settled || !wants || std::mem::replace(&mut state.is_followed_up, true) {
            return;
        }
        (end, made, pane.created_at)
    };
    let lasted = LASTING <= end.at.since(created);
    let attempt = if lasted { 1 } else { made.attempt + 1 };
    let (house, pane) = (kernel.clone(), pane.clone());
    if made.restart == Restart::OnFailure && has_failed(end) {
        tokio::spawn(async move { again(&house, &pane, made, attempt).await });
        return;
    }
    // A server that is stopped waits for this: nobody looks for the worktree of a pane that is forgotten.
    kernel.errands().spawn(async move {
        leave(&house, &pane, made.worktree).await;
        settle(&house, &pane);
    });
}

/// Whether a program failed by itself. How one ended whose keeper died is not known.
fn has_failed(end: End) -> bool {
    end.status == Status::Exited
        && !end.timed_out
        && end.exit.is_some_and(|exit| exit != Exit::Code(0))
}

/// Starts it again after a while, in a new pane.
async fn again(kernel: &Kernel, pane: &Arc<Pane>, made: Made, attempt: u32) {
    if ATTEMPTS < attempt {
        kernel.emit("agent:gave-up", &pane.about(json!({ "attempts": attempt - 1 })));
        leave(kernel, pane, made.worktree).await;
        return settle(kernel, pane);
    }
    tokio::time::sleep(Duration::from_secs(1 << (attempt - 1))).await;
    // Whoever has removed it meanwhile does not want it back.
    let is_there = kernel.panes().get(&pane.id).is_ok_and(|found| Arc::ptr_eq(&found, pane));
    if !is_there {
        return leave(kernel, pane, made.worktree).await;
    }
    settle(kernel, pane);
    match actions::start_again(kernel, pane, attempt).await {
        Ok(new) => {
            let told = new.about(json!({ "oldId": pane.id, "attempt": attempt }));
            kernel.emit("agent:restarted", &told);
        }
        Err(refusal) => {
            tracing::warn!(pane = %pane.id, %refusal, "an agent that failed cannot be started again");
            let told = pane.about(json!({ "attempts": attempt, "error": refusal.sentence }));
            kernel.emit("agent:gave-up", &told);
            leave(kernel, pane, made.worktree).await;
        }
    }
}

/// Removes its worktree, unless something would be lost, and tells which.
async fn leave(kernel: &Kernel, pane: &Pane, worktree: Option<Worktree>) {
    let Some(worktree) = worktree else { return };
    let left = worktree.leave(kernel).await;
    let mut told = pane.about(json!({ "path": worktree.path, "branch": worktree.branch }));
    let (name, more) = match left {
        Left::Removed { keeps_branch } => {
            ("agent:worktree-removed", json!({ "keepsBranch": keeps_branch }))
        }
        Left::Kept(why) => ("agent:worktree-kept", json!({ "why": why })),
    };
    if let (Some(told), Some(more)) = (told.as_object_mut(), more.as_object()) {
        told.extend(more.clone());
    }
    kernel.emit(name, &told);
}

/// Notes that what follows its end has been done.
fn settle(kernel: &Kernel, pane: &Arc<Pane>) {
    if !kernel.panes().get(&pane.id).is_ok_and(|found| Arc::ptr_eq(&found, pane)) {
        return;
    }
    let mut state = pane.lock();
    if let Some(made) = state.record.agent.as_mut().and_then(|agent| agent.made.as_mut()) {
        made.settled = true;
        kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }
}
