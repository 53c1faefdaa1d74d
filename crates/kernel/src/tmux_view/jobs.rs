//! The panes to be shown: requests that are new or wait for space, and their answers.

use std::collections::VecDeque;

use paned_backend::tmux::{Error, TmuxPane};
use paned_model::{Code, PaneId, PaneSet, Refusal, Time, ViewState};
use paned_policy::layout::{
    Decision, DesiredPane, DesiredView, LayoutQueue, LayoutRequest, NotShownReason,
};

use super::ViewLocation;
use super::records::ViewRecords;
use super::snapshot::WindowSnapshot;
use super::{ShowOutcome, ShowRequest, ViewReply};
use crate::Kernel;

/// A target that vanished between the query and the command is worth one more try.
const TRIES: usize = 2;

/// The panes to be shown on one tmux server.
pub(super) struct ShowJobs {
    /// Those that were not decided yet.
    new: VecDeque<ShowJob>,
    /// Those that wait for space.
    pub(super) queue: LayoutQueue<ShowRequest>,
}

/// A pane to be shown.
pub(super) struct ShowJob {
    pub(super) request: ShowRequest,
    /// Where the answer goes; `None` for a pane that waited, or is shown again.
    pub(super) answer: Option<ViewReply<ShowOutcome>>,
    tries: usize,
}

impl ShowJobs {
    pub(super) fn new(queue: LayoutQueue<ShowRequest>) -> Self {
        Self { new: VecDeque::new(), queue }
    }

    pub(super) fn push(&mut self, request: ShowRequest, answer: ViewReply<ShowOutcome>) {
        self.new.push_back(ShowJob { request, answer: Some(answer), tries: 0 });
    }

    /// Adds a pane to be shown again, before all others.
    pub(super) fn push_restored(&mut self, request: ShowRequest) {
        if !self.is_new(&request.pane) {
            self.new.push_front(ShowJob { request, answer: None, tries: 0 });
        }
    }

    /// Forgets panes to be shown again that are shown.
    pub(super) fn drop_restored(&mut self, is_shown: impl Fn(&PaneId) -> bool) {
        self.new.retain(|job| job.answer.is_some() || !is_shown(&job.request.pane));
    }

    pub(super) fn put_back(&mut self, job: ShowJob) {
        self.new.push_front(job);
    }

    pub(super) fn is_new(&self, pane: &PaneId) -> bool {
        self.new.iter().any(|job| job.request.pane == *pane)
    }

    /// The requests for a location: new ones, then those that wait.
    pub(super) fn requests(&self, location: &ViewLocation) -> impl Iterator<Item = &ShowRequest> {
        self.all().filter(move |request| request.location == *location)
    }

    /// Every request: new ones, then those that wait.
    pub(super) fn all(&self) -> impl Iterator<Item = &ShowRequest> {
        let waiting = self.queue.entries().filter(|entry| !self.is_new(&entry.pane));
        let new = self.new.iter().map(|job| &job.request);
        new.chain(waiting.map(|entry| &entry.request))
    }

    /// What a window is to show of them.
    pub(super) fn desired(
        &self,
        kernel: &Kernel,
        location: &ViewLocation,
        shot: &WindowSnapshot,
    ) -> DesiredView {
        let pane = |request: &ShowRequest| DesiredPane {
            request: LayoutRequest {
                pane: request.pane.clone(),
                replace_ok: request.replace_ok,
                no_room: request.no_room,
            },
            spared: shot.unreachable(kernel, &request.grant),
        };
        let panes = self.requests(location).map(pane).collect();
        DesiredView { panes, ..DesiredView::default() }
    }

    /// Takes out the request for a pane.
    pub(super) fn take(&mut self, pane: &PaneId) -> Option<ShowJob> {
        if let Some(at) = self.new.iter().position(|job| job.request.pane == *pane) {
            return self.new.remove(at);
        }
        let request = self.queue.remove(pane)?.request;
        Some(ShowJob { request, answer: None, tries: 0 })
    }

    /// Puts a job back whose commands have failed, or answers it.
    pub(super) fn retry(&mut self, records: &ViewRecords, mut job: ShowJob, error: Error) {
        job.tries += 1;
        match error {
            Error::SessionNotFound(_) | Error::PaneLimit(_) if job.tries < TRIES => {
                self.put_back(job);
            }
            // What was shown before is shown again as soon as tmux is back.
            Error::Gone(_) | Error::NoServer(_) if job.answer.is_none() => self.put_back(job),
            error => settle(records, job, Err(error.into())),
        }
    }

    /// Refuses the new ones that fulfil a condition.
    pub(super) fn refuse(
        &mut self,
        records: &ViewRecords,
        refusal: &Refusal,
        applies: impl Fn(&ShowJob) -> bool,
    ) {
        for job in std::mem::take(&mut self.new) {
            if applies(&job) {
                settle(records, job, Err(refusal.clone()));
            } else {
                self.new.push_back(job);
            }
        }
    }

    /// Answers a request that needs no command.
    pub(super) fn settle_decision(
        &mut self,
        records: &ViewRecords,
        pane: &PaneId,
        decision: Decision,
        now: Time,
    ) {
        if matches!(decision, Decision::Defer { .. }) && !self.is_new(pane) {
            // It goes on waiting.
            return;
        }
        let Some(job) = self.take(pane) else { return };
        let outcome = match decision {
            Decision::Skip { reason: NotShownReason::AlreadyShown(id) } => {
                Ok(ShowOutcome::Shown(TmuxPane(id.0)))
            }
            Decision::Skip { reason } => {
                Ok(ShowOutcome::Skipped(reason_for(&job.request, &reason)))
            }
            Decision::Defer { reason } => {
                let says = reason_for(&job.request, &reason);
                let queued = self.queue.push(pane.clone(), job.request.clone(), reason, now);
                if queued.is_ok() {
                    records.mark_deferred(pane, &says);
                }
                queued.map(|()| ShowOutcome::Waiting(says)).map_err(Refusal::from)
            }
            Decision::Spawn { .. } | Decision::Replace { .. } | Decision::Window { .. } => return,
        };
        settle(records, job, outcome);
    }
}

/// Answers a request.
pub(super) fn settle(records: &ViewRecords, job: ShowJob, outcome: Result<ShowOutcome, Refusal>) {
    let pane = &job.request.pane;
    match &outcome {
        Ok(ShowOutcome::Shown(_)) => records.set_state(pane, ViewState::Shown),
        Ok(ShowOutcome::Waiting(_)) => {}
        Ok(ShowOutcome::Skipped(_)) | Err(_) => records.set_state(pane, ViewState::Hidden),
    }
    match (job.answer, outcome) {
        (Some(answer), outcome) => drop(answer.send(outcome)),
        (None, Ok(ShowOutcome::Skipped(reason))) => records.mark_expired(pane, &reason),
        (None, Err(refusal)) => records.mark_expired(pane, &refusal.sentence),
        (None, Ok(ShowOutcome::Shown(_) | ShowOutcome::Waiting(_))) => {}
    }
}

/// The refusal for a pane whose tmux pane is gone as soon as it was opened: its program has exited,
/// or a user has closed it.
pub(super) fn closed_at_once(pane: &PaneId) -> Refusal {
    let sentence = format!("pane `{pane}` was shown, but its view was closed right away");
    Refusal::new(Code::Gone, sentence)
}

/// Why a pane is not shown, as far as the grant of the request may know: the counts are of all
/// panes in the window.
fn reason_for(request: &ShowRequest, reason: &NotShownReason) -> String {
    match request.grant.panes {
        PaneSet::All => reason.to_string(),
        PaneSet::Only(_) => "the window has no room for it".to_owned(),
    }
}
