//! `audit:list`

use paned_model::{EventId, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::audit::{AuditQuery, AuditRecord, AuditSpan};
use crate::registry::{Action, ActionContext, ActionKind};

/// How many records are listed when the request names no number.
const USUAL: u16 = 100;
/// How many are listed at most.
const MOST: u16 = 1000;

pub(in crate::actions) struct AuditList;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// Records after the one with this id, oldest first; without it, the newest ones.
    after: Option<EventId>,
    /// Records before the one with this id.
    before: Option<EventId>,
    /// Records from this time on.
    since: Option<Time>,
    /// Records of this caller: `owner`, `pane:ID`, `token:ID` or `ext:NAME`.
    caller: Option<String>,
    /// Records about this pane, or of calls from it.
    pane_id: Option<PaneId>,
    /// Records of this action, or of those whose names begin as it does before a `*`.
    action: Option<String>,
    /// How many at most, 1 to 1000; 100 when omitted.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<u16>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct AuditListOutput {
    /// The records, oldest first.
    records: Vec<AuditRecord>,
    /// Everything up to this event was looked at: `after` of the next request.
    seen: EventId,
    /// Whether there may be more records in that direction.
    more: bool,
}

impl Action for AuditList {
    const NAME: &'static str = "audit:list";
    const DOC: &'static str = "List who changed what, and what allowed it: calls of actions and \
                              approvals, without their contents.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = AuditListOutput;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: Params) -> Result<AuditListOutput, Refusal> {
        let limit = params.limit.unwrap_or(USUAL);
        if !(1..=MOST).contains(&limit) {
            return Err(Refusal::invalid(format!("`limit` is a number from 1 to {MOST}")));
        }
        let query = AuditQuery {
            after: params.after,
            before: params.before,
            since: params.since,
            caller: params.caller,
            pane: params.pane_id,
            action: params.action,
            limit: usize::from(limit),
        };
        let AuditSpan { records, seen, more } = context.kernel.audit(&query).await?;
        Ok(AuditListOutput { records, seen, more })
    }
}
