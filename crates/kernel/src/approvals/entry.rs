//! One approval that has not ended.

use std::sync::Arc;

use paned_model::{ApprovalAnswer, ApprovalId, ApprovalInfo, Instance, PaneRef, Time};
use paned_policy::approval::{ApprovalLife, Asker, Unanswerable};
use tokio::sync::oneshot;

use super::decision::{Allowance, Decision};
use super::request::{Coverage, RequestKey};
use crate::Caller;

/// An approval that has not ended.
pub(super) struct OpenApproval {
    info: ApprovalInfo,
    life: ApprovalLife,
    pub(super) asker: Asker,
    /// The request that waits for it; none for an agent's question.
    pub(super) request: Option<OpenRequest>,
    /// The question on an agent's screen.
    pub(super) dialog: Option<OpenDialog>,
}

/// The request that an approval is for.
pub(super) struct OpenRequest {
    pub(super) key: RequestKey,
    pub(super) caller: Caller,
    /// What open approvals are counted by.
    pub(super) family: Arc<str>,
    pub(super) coverage: Option<Coverage>,
    /// Takes the decision, while the caller waits.
    waiter: Option<oneshot::Sender<Decision>>,
}

/// The question that an approval is about.
pub(super) struct OpenDialog {
    pub(super) pane: PaneRef,
    /// Its id in the agent's state.
    pub(super) id: String,
    /// The caller that answers it at present.
    pub(super) answering: Option<String>,
}

impl OpenRequest {
    pub(super) fn new(
        key: RequestKey,
        caller: &Caller,
        family: Arc<str>,
        coverage: Option<Coverage>,
    ) -> Self {
        // The connection is not held: it ends when its client leaves.
        let caller = Caller { client: None, ..caller.clone() };
        Self { key, caller, family, coverage, waiter: None }
    }
}

impl OpenApproval {
    /// The approval of a request, whose caller waits for the answer.
    pub(super) fn of_request(info: ApprovalInfo, asker: Asker, request: OpenRequest) -> Self {
        let life = ApprovalLife::awaited(info.expires_at);
        Self { info, life, asker, request: Some(request), dialog: None }
    }

    /// The approval of an agent's question.
    pub(super) fn of_dialog(info: ApprovalInfo, asker: Asker, dialog: OpenDialog) -> Self {
        Self { info, life: ApprovalLife::unattended(), asker, request: None, dialog: Some(dialog) }
    }

    pub(super) fn id(&self) -> &ApprovalId {
        &self.info.id
    }

    pub(super) fn life(&mut self) -> &mut ApprovalLife {
        &mut self.life
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.life.deadline()
    }

    /// Whether it waits for an answer.
    pub(super) fn is_unanswered(&self) -> bool {
        self.info.answer.is_none()
    }

    /// It as the API shows it.
    pub(super) fn info(&self) -> ApprovalInfo {
        let waiting = self.life.is_awaited();
        ApprovalInfo { status: self.life.status(), waiting, ..self.info.clone() }
    }

    pub(super) fn expires_at(&self) -> Option<Time> {
        self.info.expires_at
    }

    /// The pane that asks.
    pub(super) fn pane(&self) -> Option<PaneRef> {
        pane_of(&self.info)
    }

    pub(super) fn is_of_pane(&self, instance: &Instance) -> bool {
        self.info.instance.as_ref() == Some(instance)
    }

    /// Its caller waits from now on.
    pub(super) fn wait(&mut self) -> oneshot::Receiver<Decision> {
        let (waiter, decision) = oneshot::channel();
        if let Some(request) = &mut self.request {
            request.waiter = Some(waiter);
        }
        decision
    }

    /// Its caller no longer waits.
    pub(super) fn caller_left(&mut self) {
        self.life.caller_left();
        if let Some(request) = &mut self.request {
            request.waiter = None;
        }
    }

    /// A person answers. Returns whether the caller has got the answer; otherwise it is kept.
    ///
    /// # Errors
    /// When it was answered before or has expired.
    pub(super) fn answer(
        &mut self,
        answer: ApprovalAnswer,
        allowed: bool,
        now: Time,
    ) -> Result<bool, Unanswerable> {
        let mut life = self.life.clone();
        life.answer(allowed, now)?;
        let is_delivered = life.has_ended() && self.send(&answer, allowed);
        if life.has_ended() && !is_delivered {
            // The caller leaves at this moment.
            self.caller_left();
            self.life.answer(allowed, now)?;
        } else {
            self.life = life;
        }
        self.info.answer = Some(answer);
        Ok(is_delivered)
    }

    /// It ends by itself. Returns whether its caller has got the decision.
    pub(super) fn end(&mut self, answer: ApprovalAnswer, decision: Decision) -> bool {
        self.info.answer.get_or_insert(answer);
        self.hand_over(decision)
    }

    /// The decision for a caller that comes back after the answer.
    pub(super) fn kept_decision(&self, allowed: bool) -> Option<Decision> {
        let answer = self.info.answer.as_ref()?;
        Some(decision(self.id(), answer, allowed))
    }

    fn send(&mut self, answer: &ApprovalAnswer, allowed: bool) -> bool {
        let decision = decision(self.id(), answer, allowed);
        self.hand_over(decision)
    }

    fn hand_over(&mut self, decision: Decision) -> bool {
        let waiter = self.request.as_mut().and_then(|request| request.waiter.take());
        waiter.is_some_and(|waiter| waiter.send(decision).is_ok())
    }
}

/// The pane that an approval is about.
pub(super) fn pane_of(info: &ApprovalInfo) -> Option<PaneRef> {
    let id = info.pane_id.clone()?;
    Some(PaneRef { id, instance: info.instance.clone()? })
}

fn decision(id: &ApprovalId, answer: &ApprovalAnswer, allowed: bool) -> Decision {
    let ApprovalAnswer { by, reason, remembered, .. } = answer.clone();
    let approval = id.clone();
    match allowed {
        true => Decision::Allowed(Allowance { approval, by, remembered }),
        false => Decision::Denied { approval, by, reason },
    }
}
