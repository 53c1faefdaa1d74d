//! Restart policies: when the program of a pane has ended, decides whether it is started again, and
//! starts it when the pause is over. What was decided is in the pane's record, so that a server
//! that was killed carries it out after its next start.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::BoxedFuture;
use paned_model::{Exit, PaneId, PaneRestartInfo, PaneRestartPolicy, PaneStatus, Refusal, Time};
use paned_policy::restart::{RestartDecision, RunEnd, decide};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::observer::{PaneChange, PaneObserver};
use super::record::PaneExit;
use super::{Pane, PaneRecord};
use crate::Kernel;
use crate::journal::draft;

/// Starts the program of a pane again: given at start, because the code that starts panes is above
/// this module.
pub(crate) type RestartPaneFn =
    fn(Kernel, Arc<Pane>, RestartCause) -> BoxedFuture<'static, Result<Arc<Pane>, Refusal>>;

/// Why a program is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RestartCause {
    /// A caller asks for it.
    Request,
    /// Its policy says so, after this end.
    Policy(PaneExit),
    /// A restart was interrupted by the end of the server.
    Interrupted,
}

impl RestartCause {
    /// The cause, for the event.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Request => "request".to_owned(),
            Self::Policy(end) => end_text(end),
            Self::Interrupted => "interrupted".to_owned(),
        }
    }
}

/// What is stored of a pane's restart policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RestartRecord {
    pub(crate) policy: PaneRestartPolicy,
    /// How many times the policy has started it again.
    #[serde(default)]
    pub(crate) count: u32,
    /// How many of these were in a row.
    #[serde(default)]
    pub(crate) attempt: u32,
    #[serde(default)]
    pub(crate) stage: RestartStage,
}

/// What the policy is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RestartStage {
    /// It waits for the end of the program.
    #[default]
    Watching,
    /// It starts the program at this time.
    Due(Time),
    /// The program is not started again.
    Settled,
    /// The program has failed too often.
    GaveUp,
}

/// The pane whose earlier run a pane holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PreviousRun {
    /// That pane.
    pub(crate) of: PaneId,
    /// Whether the program of that pane is still to be started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_pending: bool,
}

impl RestartRecord {
    pub(crate) fn new(policy: PaneRestartPolicy) -> Option<Self> {
        let stage = RestartStage::Watching;
        (policy != PaneRestartPolicy::No).then_some(Self { policy, count: 0, attempt: 0, stage })
    }

    /// The record of the next run.
    pub(crate) fn next_run(self, cause: RestartCause) -> Self {
        let next = Self { stage: RestartStage::Watching, ..self };
        match cause {
            RestartCause::Request => Self { attempt: 0, ..next },
            RestartCause::Policy(_) | RestartCause::Interrupted => {
                Self { count: self.count.saturating_add(1), ..next }
            }
        }
    }

    /// Whether the program has ended and will be started again.
    pub(crate) fn is_due(&self) -> bool {
        matches!(self.stage, RestartStage::Due(_))
    }

    /// As the API shows it.
    pub(crate) fn info(&self) -> PaneRestartInfo {
        let next_at = match self.stage {
            RestartStage::Due(at) => Some(at),
            RestartStage::Watching | RestartStage::Settled | RestartStage::GaveUp => None,
        };
        let gave_up = self.stage == RestartStage::GaveUp;
        PaneRestartInfo { policy: self.policy, count: self.count, next_at, gave_up }
    }
}

/// Follows the ends of programs on behalf of their restart policies.
pub(crate) struct RestartObserver;

impl PaneObserver for RestartObserver {
    fn observe(&self, kernel: &Kernel, _: &Pane, change: &PaneChange<'_>) {
        if let PaneChange::Exited(report) = change
            && let Some(pane) = report.listed
        {
            resume(kernel, pane);
        }
    }
}

/// Continues with what the policy of a pane does: after its end, and at the start of the server.
pub(crate) fn resume(kernel: &Kernel, pane: &Arc<Pane>) {
    let (record, end, is_being_killed) = {
        let state = pane.lock();
        let restart = state.record.restart;
        (restart, state.record.end, 0 < state.kills)
    };
    let (Some(record), Some(end)) = (record, end) else { return };
    match record.stage {
        RestartStage::Settled | RestartStage::GaveUp => {}
        RestartStage::Due(at) => spawn_timer(kernel, pane, at),
        RestartStage::Watching => {
            let run_end = if is_being_killed { RunEnd::Killed } else { run_end(end) };
            let lasted = Duration::from_millis(end.at.since(pane.created_at));
            let decision = decide(record.policy, run_end, record.attempt, lasted);
            apply(kernel, pane, decision, json!({ "reason": end_text(end) }));
        }
    }
}

/// Continues with the restarts that a previous server has begun or scheduled.
pub(crate) fn resume_all(kernel: &Kernel) {
    for pane in kernel.panes().list() {
        let previous = pane.lock().record.previous_run.clone();
        match previous.filter(|previous| previous.is_pending) {
            Some(previous) if kernel.panes().contains(&previous.of) => {
                settle_previous(kernel, &pane)
            }
            Some(_) => {
                let kernel = kernel.clone();
                tokio::spawn(async move { run(&kernel, &pane, RestartCause::Interrupted).await });
            }
            None => resume(kernel, &pane),
        }
    }
}

/// The program of the next run has started: what remains is the output of the previous one.
pub(crate) fn settle_previous(kernel: &Kernel, pane: &Pane) {
    let mut state = pane.lock();
    state.record.restart = None;
    if let Some(previous) = &mut state.record.previous_run {
        previous.is_pending = false;
    }
    kernel.journal().record(Vec::new(), vec![state.record.put()]);
}

/// A user ends the pane, so its policy does not start it again.
pub(crate) fn cancel(kernel: &Kernel, pane: &Pane) {
    let mut state = pane.lock();
    if state.record.end.is_none() {
        return;
    }
    let Some(restart) = &mut state.record.restart else { return };
    let was_due = matches!(restart.stage, RestartStage::Due(_));
    if !was_due && restart.stage != RestartStage::Watching {
        return;
    }
    restart.stage = RestartStage::Settled;
    let event =
        was_due.then(|| draft("pane:restart-cancelled", &state.record.event_payload(json!({}))));
    kernel.journal().record(event.into_iter().collect(), vec![state.record.put()]);
}

/// A program that was to be started again could not be: tries again later, or gives up.
fn retry(kernel: &Kernel, pane: &Arc<Pane>, refusal: &Refusal) {
    let Some(record) = pane.lock().record.restart else { return };
    let decision = decide(record.policy, RunEnd::Failure, record.attempt, Duration::ZERO);
    apply(kernel, pane, decision, json!({ "reason": "start", "error": refusal.sentence }));
}

/// Stores what was decided, publishes it, and starts the timer.
fn apply(kernel: &Kernel, pane: &Arc<Pane>, decision: RestartDecision, mut payload: Value) {
    let mut state = pane.lock();
    let Some(restart) = &mut state.record.restart else { return };
    let event = match decision {
        RestartDecision::Done => {
            restart.stage = RestartStage::Settled;
            None
        }
        RestartDecision::Restart { attempt, delay } => {
            let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
            let at = Time(kernel.now().0.saturating_add(delay_ms));
            restart.attempt = attempt;
            restart.stage = RestartStage::Due(at);
            payload["attempt"] = json!(attempt);
            payload["at"] = json!(at);
            Some("pane:restart-scheduled")
        }
        RestartDecision::GiveUp { attempts } => {
            restart.stage = RestartStage::GaveUp;
            payload["attempts"] = json!(attempts);
            Some("pane:restart-gave-up")
        }
    };
    let stage = restart.stage;
    let event = event.map(|name| draft(name, &state.record.event_payload(payload)));
    kernel.journal().record(event.into_iter().collect(), vec![state.record.put()]);
    drop(state);
    pane.notify();
    if let RestartStage::Due(at) = stage {
        spawn_timer(kernel, pane, at);
    }
}

/// Starts the program again at a time, unless that is no longer wanted by then.
fn spawn_timer(kernel: &Kernel, pane: &Arc<Pane>, at: Time) {
    let kernel = kernel.clone();
    let pane = pane.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(at.since(kernel.now()))).await;
        let is_listed = kernel.panes().get(&pane.id).is_ok_and(|it| Arc::ptr_eq(&it, &pane));
        let (stage, end) = {
            let state = pane.lock();
            (state.record.restart.map(|restart| restart.stage), state.record.end)
        };
        if let Some(end) = end.filter(|_| is_listed && stage == Some(RestartStage::Due(at))) {
            run(&kernel, &pane, RestartCause::Policy(end)).await;
        }
    });
}

async fn run(kernel: &Kernel, pane: &Arc<Pane>, cause: RestartCause) {
    let Err(refusal) = (kernel.restart_pane())(kernel.clone(), pane.clone(), cause).await else {
        return;
    };
    tracing::warn!(pane = %pane.id, %refusal, "a program cannot be started again");
    // After a failed start the pane is back in the table as another value.
    let Ok(pane) = kernel.panes().get(&pane.id) else { return };
    retry(kernel, &pane, &refusal);
}

fn run_end(end: PaneExit) -> RunEnd {
    match (end.status, end.exit) {
        (PaneStatus::Killed, _) => RunEnd::Killed,
        _ if end.timed_out => RunEnd::Killed,
        (_, Some(Exit::Code(0))) => RunEnd::Success,
        _ => RunEnd::Failure,
    }
}

fn end_text(end: PaneExit) -> String {
    match (end.status, end.exit) {
        (PaneStatus::Lost, _) | (_, None) => "lost".to_owned(),
        (_, Some(exit)) => exit.to_string(),
    }
}

impl PaneRecord {
    /// Whether it holds an earlier run of the pane of this name.
    pub(crate) fn is_previous_run_of(&self, id: &PaneId) -> bool {
        self.previous_run.as_ref().is_some_and(|previous| previous.of == *id)
    }
}
