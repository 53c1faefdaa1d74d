//! Approvals: requests that wait for the answer of a person.
//!
//! [`Kernel::ask_approval`] opens one and waits; `approval:answer` answers it. An approval is for
//! one request of one caller: its action, its parameters and the very panes that these name. It is
//! used once. A caller that leaves gets the answer when it sends the same request again, until the
//! approval expires; nothing is run for a caller that is not there.
//!
//! Approvals are in memory. What waited for one ends with the server, so its approval does, too;
//! only an answer that holds for a pane is durable.

mod decision;
mod dialogs;
mod entry;
mod events;
mod gate;
mod memory;
mod observer;
mod request;
mod table;
mod views;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use paned_model::{ApprovalAnswer, ApprovalId, ApprovalInfo, ApprovalStatus, Code, Refusal, Time};
use paned_policy::approval::Verdict;
use tokio::sync::{oneshot, watch};
use tokio::time::sleep;

pub(crate) use self::decision::Decision;
use self::entry::{OpenApproval, OpenRequest};
pub(crate) use self::events::{OPEN, OpenRecord};
pub(crate) use self::gate::{AllowedBy, GatedCall};
pub(crate) use self::memory::{REMEMBERED, RememberedAnswer};
pub(crate) use self::observer::ApprovalPaneObserver;
pub(crate) use self::request::NewApproval;
use self::request::{RequestKey, asker, bounded, one_line};
use self::table::ApprovalTable;
use crate::grants::random_name;
use crate::{Kernel, KernelInner};

/// How callers are named that answer in place of a person: approvals that end by themselves.
const PANED: &str = "paned";
/// The longest reason of a denial, in characters.
const LONGEST_REASON: usize = 500;

/// Every approval, behind a cheap handle of the kernel's.
pub(crate) struct Approvals {
    table: Mutex<ApprovalTable>,
    /// Increases whenever the next deadline may have changed.
    changed: watch::Sender<u64>,
}

impl Default for Approvals {
    fn default() -> Self {
        Self { table: Mutex::default(), changed: watch::Sender::new(0) }
    }
}

/// How a request for approval begins.
enum Opened {
    /// The decision is there already.
    Decided(Decision),
    /// The caller waits for it.
    Waiting { id: ApprovalId, expires_at: Option<Time>, decision: oneshot::Receiver<Decision> },
}

/// A caller that waits. Dropping it says that the caller no longer does.
struct WaitingCaller<'a> {
    approvals: &'a Approvals,
    id: ApprovalId,
}

impl Drop for WaitingCaller<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.approvals.lock().find(&self.id) {
            open.caller_left();
        }
    }
}

impl Approvals {
    fn lock(&self) -> MutexGuard<'_, ApprovalTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        self.changed.send_modify(|count| *count += 1);
    }
}

impl Kernel {
    /// Asks a person whether a request may run, and waits for the answer, for as long as the
    /// configuration says. Returns at once if an earlier answer covers it. Dropping the future
    /// leaves the approval open for the same request of the same caller.
    ///
    /// # Errors
    /// When too many requests wait already.
    pub(crate) async fn ask_approval(&self, new: NewApproval) -> Result<Decision, Refusal> {
        let wait_limit = self.setup().approvals.wait_limit;
        let opened = self.open_approval(new)?;
        let (id, expires_at, decision) = match opened {
            Opened::Decided(decision) => return Ok(decision),
            Opened::Waiting { id, expires_at, decision } => (id, expires_at, decision),
        };
        let caller = WaitingCaller { approvals: self.approvals(), id };
        tokio::select! {
            biased;
            Ok(decision) = decision => Ok(decision),
            () = sleep(wait_limit) => {
                Ok(Decision::Unanswered { approval: caller.id.clone(), expires_at })
            }
        }
    }

    /// Continues the approval of a caller that comes back, or opens one.
    fn open_approval(&self, new: NewApproval) -> Result<Opened, Refusal> {
        let now = self.now();
        let key = RequestKey::new(&new.caller, new.request.clone());
        let family = self.family(&new.caller);
        let mut table = self.approvals().lock();
        table.expire(self, now);
        let pane = new.caller.pane.as_ref();
        if let Some(found) = table.remembered_for(pane, new.coverage.as_ref()) {
            return Ok(Opened::Decided(Decision::Allowed(found.allowance())));
        }
        if let Some(resumed) = table.resume(&key, now) {
            return Ok(resumed);
        }
        table.check_limits(&key, &family)?;
        let info = self.approval_info(&new, now);
        let asker = asker(&new.caller);
        let request = OpenRequest::new(key, &new.caller, family, new.coverage);
        let mut open = OpenApproval::of_request(info, asker, request);
        let decision = open.wait();
        let (id, expires_at) = (open.id().clone(), open.expires_at());
        events::record_asked(self, &open.info());
        table.open.push(open);
        drop(table);
        self.approvals().wake();
        Ok(Opened::Waiting { id, expires_at, decision })
    }

    /// A new approval, as the API shows it.
    fn approval_info(&self, new: &NewApproval, now: Time) -> ApprovalInfo {
        let lives_for = new.expires_after.unwrap_or(self.setup().approvals.expires_after);
        let pane = new.caller.pane.as_ref();
        ApprovalInfo {
            id: new_id(),
            kind: new.kind,
            status: ApprovalStatus::Open,
            subject: one_line(&new.subject),
            action: Some(new.action.to_string()),
            caller: new.caller.label(),
            pane_id: pane.map(|pane| pane.id.clone()),
            instance: pane.map(|pane| pane.instance.clone()),
            rule: new.rule.clone(),
            // Without a pane there is none that an answer could hold for.
            covers: pane.and(new.coverage.as_ref()).map(|coverage| coverage.sentence.clone()),
            details: bounded(new.details.clone()),
            options: Vec::new(),
            asked_at: now,
            expires_at: Some(Time(now.0.saturating_add(millis(lives_for)))),
            waiting: true,
            answer: None,
        }
    }

    /// Answers the approval of a request. The caller was found to be permitted to.
    ///
    /// # Errors
    /// When it is not open, or offers no such answer.
    pub(crate) fn answer_approval(
        &self,
        id: &ApprovalId,
        verdict: &Verdict,
        by: &str,
    ) -> Result<ApprovalInfo, Refusal> {
        let now = self.now();
        let mut table = self.approvals().lock();
        table.expire(self, now);
        let at = table.position(id).ok_or_else(|| table.not_open(id))?;
        let asks = table.open[at].request.as_ref().map(|request| request.caller.clone());
        if asks.is_some_and(|caller| !self.is_authorized(&caller)) {
            let reason = "the token that asked was revoked or has expired";
            table.end(self, at, ApprovalStatus::Withdrawn, Some(reason));
            return Err(table.not_open(id));
        }
        let answer = |reason: Option<&String>, remembered| ApprovalAnswer {
            by: by.to_owned(),
            at: now,
            reason: reason.map(|reason| one_line(&cut_reason(reason))),
            remembered,
        };
        match verdict {
            Verdict::Allow => table.settle(self, at, (answer(None, false), true), Vec::new()),
            Verdict::Deny(reason) => {
                table.settle(self, at, (answer(reason.as_ref(), false), false), Vec::new())
            }
            Verdict::AllowForPane => {
                let remembered = remembered(&table.open[at], by, now)?;
                let put = vec![remembered.put()];
                let info = table.settle(self, at, (answer(None, true), true), put)?;
                table.remember(self, remembered.clone());
                table.settle_covered(self, &remembered);
                Ok(info)
            }
        }
    }

    /// Ends the approvals that were asked for by this pane, and the answers that hold for it.
    fn forget_approvals_of(&self, instance: &paned_model::Instance, reason: &str) {
        let mut table = self.approvals().lock();
        let mut at = 0;
        while at < table.open.len() {
            match table.open[at].is_of_pane(instance) {
                true => table.end(self, at, ApprovalStatus::Withdrawn, Some(reason)),
                false => at += 1,
            }
        }
        let gone = |answer: &mut RememberedAnswer| answer.instance == *instance;
        let changes: Vec<_> =
            table.remembered.extract_if(.., gone).map(|answer| answer.delete()).collect();
        if !changes.is_empty() {
            self.journal().record(Vec::new(), changes);
        }
    }

    /// Restores the answers that hold for panes, and says of the approvals that were open when the
    /// server stopped that they have ended. Called after the panes were recovered.
    pub(crate) fn restore_approvals(
        &self,
        open: impl Iterator<Item = OpenRecord>,
        remembered: impl Iterator<Item = RememberedAnswer>,
    ) {
        open.for_each(|record| events::record_orphan(self, &record));
        let is_live = |answer: &RememberedAnswer| {
            let pane = self.panes().find(&answer.pane());
            pane.is_some_and(|pane| pane.lock().status().is_live())
        };
        let (live, gone): (Vec<_>, Vec<_>) = remembered.partition(is_live);
        let deleted: Vec<_> = gone.iter().map(RememberedAnswer::delete).collect();
        if !deleted.is_empty() {
            self.journal().record(Vec::new(), deleted);
        }
        self.approvals().lock().remembered = live;
        tokio::spawn(expire_in_time(
            Arc::downgrade(&self.inner),
            self.approvals().changed.subscribe(),
        ));
    }
}

/// Ends approvals when their time has passed, and when the token that asked is revoked.
async fn expire_in_time(kernel: Weak<KernelInner>, mut changed: watch::Receiver<u64>) {
    loop {
        let (left, mut revoked) = {
            let Some(inner) = kernel.upgrade() else { return };
            let kernel = Kernel { inner };
            let revoked = kernel.grants().watch();
            (kernel.expire_approvals(), revoked)
        };
        let deadline = async {
            match left {
                // Not less than a moment, should the clock go another way than the timer.
                Some(left) => sleep(left.max(Duration::from_millis(10))).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = deadline => {}
            _ = revoked.changed() => {}
            woken = changed.changed() => if woken.is_err() { return },
        }
    }
}

impl Kernel {
    /// Ends the approvals whose time has passed or whose asker has lost its token. Returns how long
    /// it is until the next one expires.
    fn expire_approvals(&self) -> Option<Duration> {
        let now = self.now();
        let mut table = self.approvals().lock();
        table.expire(self, now);
        let mut at = 0;
        while at < table.open.len() {
            let caller = table.open[at].request.as_ref().map(|request| &request.caller);
            match caller.is_some_and(|caller| !self.is_authorized(caller)) {
                true => {
                    let reason = "the token that asked was revoked or has expired";
                    table.end(self, at, ApprovalStatus::Withdrawn, Some(reason));
                }
                false => at += 1,
            }
        }
        let next = table.open.iter().filter_map(OpenApproval::deadline).min()?;
        Some(Duration::from_millis(next.since(now)))
    }
}

/// A new id: short, because people type it.
fn new_id() -> ApprovalId {
    ApprovalId(random_name(8))
}

fn remembered(open: &OpenApproval, by: &str, at: Time) -> Result<RememberedAnswer, Refusal> {
    let coverage = open.request.as_ref().and_then(|request| request.coverage.as_ref());
    let Some((pane, coverage)) = open.pane().zip(coverage) else {
        let sentence = format!(
            "approval {} can be allowed once only: no pane asks for it, or its answer covers \
            nothing but this request",
            open.id()
        );
        return Err(Refusal::new(Code::Invalid, sentence));
    };
    Ok(RememberedAnswer::new(open.id(), pane, coverage, (by, at)))
}

fn cut_reason(reason: &str) -> String {
    reason.chars().take(LONGEST_REASON).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
