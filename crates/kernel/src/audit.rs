//! The audit: who did what, and what allowed it, as the journal's events say. A record names the
//! caller, its grant, the action and the pane, never parameters or answers: those may hold what was
//! typed.

use std::collections::VecDeque;

use paned_model::{ApprovalId, Code, EventId, PaneId, Refusal, Scope, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Kernel;
use crate::journal::{JournalEntry, JournalRead};

/// How many events one step back reads.
const STEP: u64 = 2048;
/// How many events one read takes.
const BATCH: usize = 512;

/// One thing that a caller did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditRecord {
    /// The event that it comes from.
    pub(crate) id: EventId,
    /// When.
    pub(crate) time: Time,
    /// The caller: `owner`, `pane:ID`, `token:ID`, `ext:NAME` or `anonymous`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) caller: Option<String>,
    /// The grant that it acted with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grant: Option<String>,
    /// The action; none for an agent's question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<String>,
    /// The outcome: `success` or `error` of an action; `asked`, `allowed`, `denied`,
    /// `expired`, `withdrawn` or `answered` of an approval.
    pub(crate) outcome: String,
    /// The code of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) code: Option<Code>,
    /// The pane that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pane_id: Option<PaneId>,
    /// The scope that allowed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scope: Option<Scope>,
    /// The permission rule that applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rule: Option<String>,
    /// The approval that allowed it, or that this is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<ApprovalId>,
    /// Who answered that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answered_by: Option<String>,
    /// Whether that was an answer which holds for the pane.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) remembered: bool,
}

/// Which records are wanted.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditQuery {
    pub(crate) after: Option<EventId>,
    pub(crate) before: Option<EventId>,
    pub(crate) since: Option<Time>,
    pub(crate) caller: Option<String>,
    pub(crate) pane: Option<PaneId>,
    pub(crate) action: Option<String>,
    pub(crate) limit: usize,
}

/// The records that were found.
pub(crate) struct AuditSpan {
    pub(crate) records: Vec<AuditRecord>,
    /// Everything up to here was looked at.
    pub(crate) seen: EventId,
    /// Whether there may be more.
    pub(crate) more: bool,
}

/// The fields of an event that the audit takes, whatever the event is. Everything else in it is
/// left where it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditedEvent {
    action_name: Option<String>,
    action: Option<String>,
    caller: Option<String>,
    grant: Option<String>,
    pane_id: Option<String>,
    params: Option<NamedPane>,
    result: Option<NamedPane>,
    error_info: Option<ErrorCode>,
    allowed_by: Option<AllowedByFields>,
    id: Option<ApprovalId>,
    rule: Option<String>,
    outcome: Option<String>,
    by: Option<String>,
    #[serde(default)]
    remembered: bool,
}

/// The names of a pane in parameters or an answer. Other JSON than an object has none.
#[derive(Default)]
struct NamedPane {
    pane_id: Option<String>,
    id: Option<String>,
}

impl<'de> Deserialize<'de> for NamedPane {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(from)?;
        let text = |field: &str| value.get(field)?.as_str().map(str::to_owned);
        Ok(Self { pane_id: text("paneId"), id: text("id") })
    }
}

#[derive(Deserialize)]
struct ErrorCode {
    code: Code,
}

#[derive(Deserialize)]
struct AllowedByFields {
    scope: Scope,
    rule: Option<String>,
    approval: Option<ApprovalId>,
    by: Option<String>,
    #[serde(default)]
    remembered: bool,
}

impl AuditRecord {
    /// The record of an event, if it says that a caller did something.
    fn of(entry: &JournalEntry) -> Option<Self> {
        let outcome = match entry.name.as_str() {
            "action:success" => "success",
            "action:error" => "error",
            "approval:asked" => "asked",
            "approval:answered" => "",
            _ => return None,
        };
        let event: AuditedEvent = serde_json::from_str(&entry.payload).ok()?;
        let base = Self {
            id: entry.id,
            time: entry.time,
            caller: event.caller,
            grant: event.grant,
            action: event.action_name.or(event.action),
            outcome: outcome.to_owned(),
            code: event.error_info.map(|error| error.code),
            pane_id: None,
            scope: None,
            rule: event.rule,
            approval: None,
            answered_by: None,
            remembered: false,
        };
        if !entry.name.starts_with("action:") {
            let pane_id = event.pane_id.and_then(|id| id.parse().ok());
            let outcome = event.outcome.unwrap_or(base.outcome);
            let remembered = event.remembered;
            let answered_by = event.by;
            return Some(Self {
                pane_id,
                outcome,
                approval: event.id,
                answered_by,
                remembered,
                ..base
            });
        }
        let pane_id = pane_of(base.action.as_deref()?, event.params, event.result);
        let Some(allowed) = event.allowed_by else { return Some(Self { pane_id, ..base }) };
        Some(Self {
            pane_id,
            scope: Some(allowed.scope),
            rule: allowed.rule,
            approval: allowed.approval,
            answered_by: allowed.by,
            remembered: allowed.remembered,
            ..base
        })
    }
}

/// The pane that a call is about: the one that it names, or the one that it has made.
fn pane_of(action: &str, params: Option<NamedPane>, result: Option<NamedPane>) -> Option<PaneId> {
    let named = params.and_then(|params| params.pane_id);
    let makes = ["pane:new", "pane:run", "pane:adopt", "agent:create"].contains(&action);
    let made = || result.filter(|_| makes).and_then(|result| result.pane_id.or(result.id));
    named.or_else(made)?.parse().ok()
}

impl AuditQuery {
    fn wants(&self, record: &AuditRecord) -> bool {
        let is_caller = |caller: &String| record.caller.as_ref() == Some(caller);
        let from = |pane: &PaneId| record.caller.as_deref() == Some(&format!("pane:{pane}"));
        let is_pane = |pane: &PaneId| record.pane_id.as_ref() == Some(pane) || from(pane);
        let is_action = |pattern: &String| {
            let name = record.action.as_deref().unwrap_or_default();
            match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == pattern,
            }
        };
        self.caller.as_ref().is_none_or(is_caller)
            && self.pane.as_ref().is_none_or(is_pane)
            && self.action.as_ref().is_none_or(is_action)
            && self.since.is_none_or(|since| since <= record.time)
    }
}

impl Kernel {
    /// Reads the audit: after an event, oldest first; or else the newest records.
    ///
    /// # Errors
    /// When the journal is closed.
    pub(crate) async fn audit(&self, query: &AuditQuery) -> Result<AuditSpan, Refusal> {
        let last = self.journal().last();
        let end = query.before.map_or(last, |before| EventId(before.0.saturating_sub(1)).min(last));
        match query.after {
            Some(after) => self.audit_forward(query, after, end).await,
            None => self.audit_back(query, end).await,
        }
    }

    async fn audit_forward(
        &self,
        query: &AuditQuery,
        after: EventId,
        end: EventId,
    ) -> Result<AuditSpan, Refusal> {
        let mut records = Vec::new();
        let mut seen = after.min(end);
        while seen < end && records.len() < query.limit {
            let upto = EventId(seen.0 + STEP).min(end);
            for record in self.audit_range(query, seen, upto).await? {
                if records.len() < query.limit {
                    records.push(record);
                }
            }
            seen = match records.last() {
                Some(record) if records.len() == query.limit => record.id,
                _ => upto,
            };
        }
        Ok(AuditSpan { records, seen, more: seen < end })
    }

    async fn audit_back(&self, query: &AuditQuery, end: EventId) -> Result<AuditSpan, Refusal> {
        let mut records = VecDeque::new();
        let mut floor = end;
        while 0 < floor.0 && records.len() < query.limit {
            let from = EventId(floor.0.saturating_sub(STEP));
            let found = self.audit_step(query, from, floor).await?;
            found.records.into_iter().rev().for_each(|record| records.push_front(record));
            floor = from;
            if found.is_oldest {
                floor = EventId(0);
            }
        }
        let surplus = records.len().saturating_sub(query.limit);
        records.drain(..surplus);
        let more = 0 < surplus || 0 < floor.0;
        Ok(AuditSpan { records: records.into(), seen: end, more })
    }

    async fn audit_range(
        &self,
        query: &AuditQuery,
        after: EventId,
        upto: EventId,
    ) -> Result<Vec<AuditRecord>, Refusal> {
        Ok(self.audit_step(query, after, upto).await?.records)
    }

    /// The records of the events in a range, which are all committed.
    async fn audit_step(
        &self,
        query: &AuditQuery,
        after: EventId,
        upto: EventId,
    ) -> Result<AuditStep, Refusal> {
        let mut step = AuditStep { records: Vec::new(), is_oldest: false };
        // Every event is read: a reader with a filter would wait for the next one that passes.
        let mut reader = self.journal().read_past(after);
        while reader.seen() < upto {
            let batch = match reader.next(BATCH).await {
                JournalRead::Entries(batch) => batch,
                // Older events are no longer kept.
                JournalRead::Gap { first, .. } => {
                    step.is_oldest = true;
                    if upto < first {
                        break;
                    }
                    continue;
                }
                JournalRead::Closed => break,
            };
            for entry in batch.iter().filter(|entry| entry.id <= upto) {
                step.is_oldest |= query.since.is_some_and(|since| entry.time < since);
                step.records.extend(AuditRecord::of(entry).filter(|it| query.wants(it)));
            }
        }
        Ok(step)
    }
}

/// The records of one range of events.
struct AuditStep {
    records: Vec<AuditRecord>,
    /// Whether nothing before it is wanted or kept.
    is_oldest: bool,
}
