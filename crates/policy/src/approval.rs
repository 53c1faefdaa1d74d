//! The life of an approval, and who may answer one. Pure: the time is an argument.
//!
//! An approval is for one request and is used once. Its caller may wait for the answer, leave and
//! come back with the same request; the answer is kept for it until the approval expires. Expiry
//! without an answer is a denial.

use std::fmt;

use paned_model::{ApprovalStatus, GrantId, Instance, Time};

/// How a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request may run, once.
    Allow,
    /// It may run, and so may later ones of the same pane that the approval covers.
    AllowForPane,
    /// It may not run, for this reason, if there is one.
    Deny(Option<String>),
}

/// Why an answer is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unanswerable {
    /// It was answered before, or has ended.
    Ended(ApprovalStatus),
    /// Its time has passed.
    Expired,
}

/// The life of one approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalLife {
    stage: Stage,
    expires_at: Option<Time>,
    is_awaited: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Open,
    /// Answered while its caller did not wait: kept for that caller.
    Kept {
        allowed: bool,
    },
    Ended(ApprovalStatus),
}

/// What a caller that comes back with the same request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumption {
    /// There is no answer yet: it waits on.
    Wait,
    /// It was allowed meanwhile, and this uses it up.
    Allowed,
    /// It was denied meanwhile. The next request asks anew.
    Denied,
    /// Another request has its place: it needs an approval of its own.
    New,
}

impl ApprovalLife {
    /// An approval whose caller waits; without a time it does not expire.
    #[must_use]
    pub fn awaited(expires_at: Option<Time>) -> Self {
        Self { stage: Stage::Open, expires_at, is_awaited: true }
    }

    /// One that has no caller which waits: an agent's question.
    #[must_use]
    pub fn unattended() -> Self {
        Self { stage: Stage::Open, expires_at: None, is_awaited: false }
    }

    /// What has become of it.
    #[must_use]
    pub fn status(&self) -> ApprovalStatus {
        match self.stage {
            Stage::Open => ApprovalStatus::Open,
            Stage::Kept { allowed: true } => ApprovalStatus::Allowed,
            Stage::Kept { allowed: false } => ApprovalStatus::Denied,
            Stage::Ended(status) => status,
        }
    }

    /// Whether nothing can come of it any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    /// Whether its caller waits.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    /// When [`Self::expire`] has something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.expires_at.filter(|_| !self.has_ended())
    }

    fn is_over(&self, now: Time) -> bool {
        self.deadline().is_some_and(|at| at <= now)
    }

    /// Time passed. Returns how it ended, if it ended by that.
    pub fn expire(&mut self, now: Time) -> Option<ApprovalStatus> {
        if !self.is_over(now) {
            return None;
        }
        let status = match self.stage {
            // The denial stands, although its caller never came back for it.
            Stage::Kept { allowed: false } => ApprovalStatus::Denied,
            _ => ApprovalStatus::Expired,
        };
        self.end(status);
        Some(status)
    }

    /// A person answers. The answer goes to the caller that waits, or is kept for it.
    ///
    /// # Errors
    /// When it was answered before or has ended.
    pub fn answer(&mut self, allowed: bool, now: Time) -> Result<(), Unanswerable> {
        match self.stage {
            Stage::Open if self.is_over(now) => Err(Unanswerable::Expired),
            Stage::Open if self.is_awaited => {
                let used = ApprovalStatus::Used;
                self.end(if allowed { used } else { ApprovalStatus::Denied });
                Ok(())
            }
            Stage::Open => {
                self.stage = Stage::Kept { allowed };
                Ok(())
            }
            Stage::Kept { .. } | Stage::Ended(_) => Err(Unanswerable::Ended(self.status())),
        }
    }

    /// Its caller no longer waits.
    pub fn caller_left(&mut self) {
        self.is_awaited = false;
    }

    /// The same caller sends the same request again.
    pub fn resume(&mut self, now: Time) -> Resumption {
        match self.stage {
            _ if self.is_over(now) || self.is_awaited => Resumption::New,
            Stage::Open => {
                self.is_awaited = true;
                Resumption::Wait
            }
            Stage::Kept { allowed } => {
                let used = ApprovalStatus::Used;
                self.end(if allowed { used } else { ApprovalStatus::Denied });
                if allowed { Resumption::Allowed } else { Resumption::Denied }
            }
            Stage::Ended(_) => Resumption::New,
        }
    }

    /// It ends for another reason. Returns whether it had not ended before.
    pub fn end(&mut self, status: ApprovalStatus) -> bool {
        let was_open = !self.has_ended();
        if was_open {
            self.stage = Stage::Ended(status);
            self.is_awaited = false;
        }
        was_open
    }
}

/// The caller that asks, as far as it matters for who may answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asker {
    /// The grants that it acts with: its own, and that of the pane it runs in.
    pub grants: Vec<GrantId>,
    /// The pane that it runs in.
    pub pane: Option<Instance>,
    /// Whether it is the owner outside of panes and extensions: a person at a terminal.
    pub is_person: bool,
}

/// The caller that answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answerer {
    /// The grants that it acts with: its own, that of the pane it runs in, and those that these
    /// were created with.
    pub grants: Vec<GrantId>,
    /// The pane that it runs in, that pane's parent, and so on.
    pub lineage: Vec<Instance>,
    /// Whether that is all of the lineage: of a very long one only the start is known.
    pub is_whole_lineage: bool,
    /// Whether it runs in the pane of an agent, or in one that an agent has started.
    pub is_agent: bool,
    /// Whether the pane that it runs in was started with the right to approve.
    pub pane_may_approve: bool,
    /// Whether its grant reaches the pane that asks; for an asker outside of panes, all panes.
    pub reaches: bool,
}

/// Why a caller may not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerDenial {
    /// The approval is about a pane that its grant does not reach.
    Unreachable,
    /// It asked itself.
    OwnRequest,
    /// It runs in the pane that asked, or in one that was started from there.
    Descendant,
    /// It runs in an agent's pane without the right to approve.
    Agent,
}

impl fmt::Display for AnswerDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreachable => "this token does not cover the pane that asks",
            Self::OwnRequest => {
                "an approval cannot be answered with the token that asked for it, nor with one \
                 created with that token"
            }
            Self::Descendant => {
                "an approval cannot be answered from the pane that asked for it, nor from a pane \
                 started there"
            }
            Self::Agent => {
                "an agent cannot answer approvals, unless its pane was started with the \
                 capability `approve`"
            }
        })
    }
}

/// Whether a caller may answer an approval.
///
/// # Errors
/// When it may not.
pub fn may_answer(asker: &Asker, answerer: &Answerer) -> Result<(), AnswerDenial> {
    if !answerer.reaches {
        return Err(AnswerDenial::Unreachable);
    }
    // A person who asks confirms: nobody else could answer on a machine with one user.
    let is_same = |grant: &GrantId| answerer.grants.contains(grant);
    if !asker.is_person && asker.grants.iter().any(is_same) {
        return Err(AnswerDenial::OwnRequest);
    }
    if let Some(pane) = &asker.pane {
        let may_descend = !answerer.lineage.is_empty() && !answerer.is_whole_lineage;
        if may_descend || answerer.lineage.contains(pane) {
            return Err(AnswerDenial::Descendant);
        }
    }
    if answerer.is_agent && !answerer.pane_may_approve {
        return Err(AnswerDenial::Agent);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
