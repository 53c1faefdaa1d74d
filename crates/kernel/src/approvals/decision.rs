//! What came of a request for approval, and the refusals that it can become.

use std::fmt::Write as _;

use paned_model::{ApprovalId, Code, Refusal, Time};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What came of a request for approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It may run.
    Allowed(Allowance),
    /// A person has denied it.
    Denied {
        /// The approval.
        approval: ApprovalId,
        /// Who denied it.
        by: String,
        /// Why, if that was said.
        reason: Option<String>,
    },
    /// The approval expired without an answer, which counts as a denial.
    Expired(ApprovalId),
    /// The approval was withdrawn, for this reason.
    Withdrawn(ApprovalId, String),
    /// The caller has waited for as long as it may. The approval stays open.
    Unanswered {
        /// The approval.
        approval: ApprovalId,
        /// When it expires.
        expires_at: Option<Time>,
    },
}

/// Who allowed a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Allowance {
    /// The approval.
    pub(crate) approval: ApprovalId,
    /// Who answered it, as events name callers.
    pub(crate) by: String,
    /// Whether that was an earlier answer, which holds for the pane.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) remembered: bool,
}

impl Decision {
    /// The allowance; otherwise the refusal of the action.
    ///
    /// # Errors
    /// With `denied` when a person or the expiry has denied it, `timeout` when there is no answer
    /// yet.
    pub(crate) fn allowance(self, action: &str) -> Result<Allowance, Refusal> {
        match self {
            Self::Allowed(allowance) => Ok(allowance),
            Self::Denied { approval, by, reason } => {
                let mut sentence = format!("`{action}` was denied by {by}");
                if let Some(reason) = &reason {
                    let _ = write!(sentence, ": {reason}");
                }
                let details = json!({ "approval": approval, "by": by, "reason": reason });
                Err(Refusal::new(Code::Denied, sentence).with_details(details))
            }
            Self::Expired(approval) => {
                let sentence = format!(
                    "`{action}` needs the approval of a person, and approval {approval} expired \
                    without an answer, which counts as a denial"
                );
                let details = json!({ "approval": approval, "expired": true });
                Err(Refusal::new(Code::Denied, sentence).with_details(details))
            }
            Self::Withdrawn(approval, reason) => {
                let sentence =
                    format!("approval {approval} for `{action}` was withdrawn: {reason}");
                let details = json!({ "approval": approval, "withdrawn": true });
                Err(Refusal::new(Code::Denied, sentence).with_details(details))
            }
            Self::Unanswered { approval, expires_at } => {
                let until = expires_at.map(|at| format!(" until {at}")).unwrap_or_default();
                let sentence = format!(
                    "`{action}` needs the approval of a person, and there is no answer yet; \
                    nothing was done. Approval {approval} stays open{until}: send the same request again \
                    to continue waiting, or follow it with `approval:get`"
                );
                let details = json!({ "approval": approval, "expiresAt": expires_at });
                Err(Refusal::new(Code::Timeout, sentence).with_details(details))
            }
        }
    }
}
