//! The table of all approvals: those that are open, the last ones that have ended, and the answers
//! that hold for a pane.

use std::collections::VecDeque;

use paned_model::{
    ApprovalAnswer, ApprovalId, ApprovalInfo, ApprovalStatus, Code, PaneRef, Refusal, Time,
};
use paned_policy::approval::{Asker, Resumption, Unanswerable};

use super::decision::Decision;
use super::entry::{OpenApproval, OpenRequest};
use super::events::{Outcome, record_answered};
use super::memory::{MAX_PER_PANE, RememberedAnswer};
use super::request::{Coverage, RequestKey};
use super::{Opened, PANED};
use crate::Kernel;
use crate::journal::RecordChange;

/// How many approvals one pane or token may have open.
pub(super) const MAX_PER_ASKER: usize = 16;
/// How many the panes that were all started from one pane may have open together.
pub(super) const MAX_PER_FAMILY: usize = 64;
/// How many may be open in all. Agents' questions are not counted: each pane has at most one.
pub(super) const MAX_OPEN: usize = 256;
/// How many that have ended can still be read.
const MAX_ENDED: usize = 200;

/// Every approval.
#[derive(Default)]
pub(super) struct ApprovalTable {
    pub(super) open: Vec<OpenApproval>,
    pub(super) ended: VecDeque<EndedApproval>,
    pub(super) remembered: Vec<RememberedAnswer>,
}

/// An approval that has ended.
pub(super) struct EndedApproval {
    pub(super) info: ApprovalInfo,
    pub(super) asker: Asker,
}

impl ApprovalTable {
    pub(super) fn find(&mut self, id: &ApprovalId) -> Option<&mut OpenApproval> {
        self.open.iter_mut().find(|open| open.id() == id)
    }

    pub(super) fn position(&self, id: &ApprovalId) -> Option<usize> {
        self.open.iter().position(|open| open.id() == id)
    }

    /// An answer that holds for this pane.
    pub(super) fn remembered_for(
        &self,
        pane: Option<&PaneRef>,
        coverage: Option<&Coverage>,
    ) -> Option<&RememberedAnswer> {
        let (pane, coverage) = pane.zip(coverage)?;
        self.remembered.iter().find(|answer| answer.is_for(pane, coverage))
    }

    /// The approval that this caller has for this request already, if there is one.
    pub(super) fn resume(&mut self, key: &RequestKey, now: Time) -> Option<Opened> {
        let is_same = |open: &OpenApproval| open.request.as_ref().is_some_and(|it| it.key == *key);
        for at in 0..self.open.len() {
            if !is_same(&self.open[at]) {
                continue;
            }
            match self.open[at].life().resume(now) {
                Resumption::New => {}
                Resumption::Wait => {
                    let open = &mut self.open[at];
                    let decision = open.wait();
                    let (id, expires_at) = (open.id().clone(), open.expires_at());
                    return Some(Opened::Waiting { id, expires_at, decision });
                }
                resumption @ (Resumption::Allowed | Resumption::Denied) => {
                    let kept = self.open[at].kept_decision(resumption == Resumption::Allowed);
                    self.retire(at);
                    return kept.map(Opened::Decided);
                }
            }
        }
        None
    }

    /// Refuses a request for which there is no room.
    pub(super) fn check_limits(&self, key: &RequestKey, family: &str) -> Result<(), Refusal> {
        let requests = || self.open.iter().filter_map(|open| open.request.as_ref());
        let is_own = |request: &&OpenRequest| request.key.is_of_same_asker(key);
        let is_related = |request: &&OpenRequest| *request.family == *family;
        let what = if MAX_PER_ASKER <= requests().filter(is_own).count() {
            format!("{MAX_PER_ASKER} requests of this caller")
        } else if MAX_PER_FAMILY <= requests().filter(is_related).count() {
            format!("{MAX_PER_FAMILY} requests of this pane and those it belongs with")
        } else if MAX_OPEN <= requests().count() {
            format!("{MAX_OPEN} requests")
        } else {
            return Ok(());
        };
        let sentence = format!(
            "{what} already wait for the approval of a person; try again when some are answered \
            (`paned approvals` lists them)"
        );
        Err(Refusal::new(Code::Limit, sentence))
    }

    /// Answers an open approval. The answer goes to its caller, or is kept for it.
    pub(super) fn settle(
        &mut self,
        kernel: &Kernel,
        at: usize,
        (answer, allowed): (ApprovalAnswer, bool),
        more: Vec<RecordChange>,
    ) -> Result<ApprovalInfo, Refusal> {
        let now = answer.at;
        let open = &mut self.open[at];
        let delivered = match open.answer(answer, allowed, now) {
            Ok(delivered) => delivered,
            Err(unanswerable) => return Err(refusal(&open.info(), unanswerable)),
        };
        let info = open.info();
        let outcome = if allowed { Outcome::Allowed } else { Outcome::Denied };
        record_answered(kernel, &info, (outcome, delivered), more);
        if open.life().has_ended() {
            self.retire(at);
        }
        Ok(info)
    }

    /// Allows the other requests that an answer for a pane covers.
    pub(super) fn settle_covered(&mut self, kernel: &Kernel, remembered: &RememberedAnswer) {
        let mut at = 0;
        while at < self.open.len() {
            let open = &self.open[at];
            let coverage = open.request.as_ref().and_then(|request| request.coverage.as_ref());
            let covered = open.pane().zip(coverage);
            let is_covered = covered.is_some_and(|(pane, it)| remembered.is_for(&pane, it));
            let count = self.open.len();
            if is_covered && open.is_unanswered() {
                let answer = ApprovalAnswer {
                    by: remembered.by.clone(),
                    at: remembered.at,
                    reason: None,
                    remembered: true,
                };
                let _ = self.settle(kernel, at, (answer, true), Vec::new());
            }
            if self.open.len() == count {
                at += 1;
            }
        }
    }

    /// Keeps an answer for a pane, in place of the oldest one if there are too many.
    pub(super) fn remember(&mut self, kernel: &Kernel, remembered: RememberedAnswer) {
        let of_pane = |it: &&RememberedAnswer| it.instance == remembered.instance;
        if MAX_PER_PANE <= self.remembered.iter().filter(of_pane).count()
            && let Some(oldest) =
                self.remembered.iter().position(|it| it.instance == remembered.instance)
        {
            let oldest = self.remembered.remove(oldest);
            kernel.journal().record(Vec::new(), vec![oldest.delete()]);
        }
        self.remembered.push(remembered);
    }

    /// Ends an approval without an answer of a person.
    pub(super) fn end(
        &mut self,
        kernel: &Kernel,
        at: usize,
        status: ApprovalStatus,
        reason: Option<&str>,
    ) {
        let open = &mut self.open[at];
        let was_unanswered = open.is_unanswered();
        open.life().end(status);
        let id = open.id().clone();
        let (outcome, decision) = match status {
            ApprovalStatus::Expired => (Outcome::Expired, Decision::Expired(id)),
            _ => {
                let reason = reason.unwrap_or_default().to_owned();
                (Outcome::Withdrawn, Decision::Withdrawn(id, reason))
            }
        };
        let answer = ApprovalAnswer {
            by: PANED.to_owned(),
            at: kernel.now(),
            reason: reason.map(str::to_owned),
            remembered: false,
        };
        let delivered = open.end(answer, decision);
        if was_unanswered {
            record_answered(kernel, &open.info(), (outcome, delivered), Vec::new());
        }
        self.retire(at);
    }

    /// An agent's question was answered, here or at its screen.
    pub(super) fn end_dialog(&mut self, kernel: &Kernel, at: usize, by: String) {
        let open = &mut self.open[at];
        let answer = ApprovalAnswer { by, at: kernel.now(), reason: None, remembered: false };
        open.life().end(ApprovalStatus::Used);
        open.end(answer, Decision::Expired(open.id().clone()));
        record_answered(kernel, &open.info(), (Outcome::Answered, true), Vec::new());
        self.retire(at);
    }

    /// Ends those whose time has passed.
    pub(super) fn expire(&mut self, kernel: &Kernel, now: Time) {
        let mut at = 0;
        while at < self.open.len() {
            let is_over = self.open[at].deadline().is_some_and(|deadline| deadline <= now);
            match is_over {
                false => at += 1,
                true => {
                    let status = self.open[at].life().clone().expire(now);
                    self.end(kernel, at, status.unwrap_or(ApprovalStatus::Expired), None);
                }
            }
        }
    }

    /// Moves an approval that has ended to the others.
    fn retire(&mut self, at: usize) {
        let open = self.open.remove(at);
        let info = open.info();
        self.ended.truncate(MAX_ENDED - 1);
        self.ended.push_front(EndedApproval { info, asker: open.asker });
    }

    /// The refusal to answer an approval that is not open.
    pub(super) fn not_open(&self, id: &ApprovalId) -> Refusal {
        match self.ended.iter().find(|ended| ended.info.id == *id) {
            Some(ended) => refusal(&ended.info, Unanswerable::Ended(ended.info.status)),
            None => missing(id),
        }
    }
}

/// The refusal of an id that no approval has, or none that the caller may see.
pub(super) fn missing(id: &ApprovalId) -> Refusal {
    let shown = id.0.escape_debug();
    Refusal::not_found(format!("no approval `{shown}`; `approval:list` lists those that are open"))
}

fn refusal(info: &ApprovalInfo, unanswerable: Unanswerable) -> Refusal {
    let id = &info.id;
    let status = match unanswerable {
        Unanswerable::Expired => ApprovalStatus::Expired,
        Unanswerable::Ended(status) => status,
    };
    let sentence = match (status, &info.answer) {
        (ApprovalStatus::Expired, _) => {
            format!(
                "approval {id} has expired, which counts as a denial; it can no longer be answered"
            )
        }
        (ApprovalStatus::Withdrawn, Some(answer)) => {
            let reason = answer.reason.as_deref().unwrap_or("no reason is known");
            format!("approval {id} was withdrawn: {reason}")
        }
        (_, Some(answer)) => {
            let what = match status {
                ApprovalStatus::Denied => "denied",
                _ if info.kind == paned_model::ApprovalKind::Dialog => "answered",
                _ => "allowed",
            };
            format!("approval {id} was already {what} by {}", answer.by)
        }
        (_, None) => format!("approval {id} was already answered"),
    };
    let details = serde_json::json!({ "approval": id, "status": status });
    let code = if status == ApprovalStatus::Expired || status == ApprovalStatus::Withdrawn {
        Code::Gone
    } else {
        Code::Conflict
    };
    Refusal::new(code, sentence).with_details(details)
}
