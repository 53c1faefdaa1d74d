//! What is recorded of approvals: two events each, and a record while it waits for an answer, so
//! that the next start of the server can say what became of it.

use paned_model::{ApprovalAnswer, ApprovalId, ApprovalInfo, ApprovalKind, PaneId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::PANED;
use crate::Kernel;
use crate::journal::{RecordChange, draft};

/// The kind of an open approval's record in the journal.
pub(crate) const OPEN: &str = "approval";

/// How an approval was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Allowed,
    Denied,
    Expired,
    Withdrawn,
    /// An agent's question was answered.
    Answered,
}

/// What is stored of an open approval: what its last event needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OpenRecord {
    id: ApprovalId,
    kind: ApprovalKind,
    subject: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    caller: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pane_id: Option<PaneId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instance: Option<paned_model::Instance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
}

impl OpenRecord {
    fn of(info: &ApprovalInfo) -> Self {
        Self {
            id: info.id.clone(),
            kind: info.kind,
            subject: info.subject.clone(),
            action: info.action.clone(),
            caller: info.caller.clone(),
            pane_id: info.pane_id.clone(),
            instance: info.instance.clone(),
            rule: info.rule.clone(),
        }
    }

    fn put(&self) -> RecordChange {
        let value = serde_json::to_string(self).expect("our own types always become JSON");
        RecordChange::Put { kind: OPEN, key: self.id.to_string(), value }
    }

    fn answered(&self, outcome: Outcome, answer: &ApprovalAnswer, delivered: bool) -> Value {
        let mut payload = json!(self);
        payload["outcome"] = json!(outcome);
        payload["by"] = json!(answer.by);
        if let Some(reason) = &answer.reason {
            payload["reason"] = json!(reason);
        }
        payload["remembered"] = json!(answer.remembered);
        payload["delivered"] = json!(delivered);
        payload
    }
}

/// Records `approval:asked`. What an agent's screen shows is not repeated: `agent:state` has it.
pub(super) fn record_asked(kernel: &Kernel, info: &ApprovalInfo) {
    let mut payload = match json!(info) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    payload.retain(|name, _| !matches!(name.as_str(), "status" | "waiting" | "answer"));
    if info.kind == ApprovalKind::Dialog {
        payload.retain(|name, _| !matches!(name.as_str(), "details" | "options"));
    }
    let event = draft("approval:asked", &payload);
    kernel.journal().record(vec![event], vec![OpenRecord::of(info).put()]);
}

/// Records `approval:answered`.
pub(super) fn record_answered(
    kernel: &Kernel,
    info: &ApprovalInfo,
    (outcome, delivered): (Outcome, bool),
    more: Vec<RecordChange>,
) {
    let Some(answer) = &info.answer else { return };
    let payload = OpenRecord::of(info).answered(outcome, answer, delivered);
    let delete = RecordChange::Delete { kind: OPEN, key: info.id.to_string() };
    let changes = std::iter::once(delete).chain(more).collect();
    kernel.journal().record(vec![draft("approval:answered", &payload)], changes);
}

/// Records that an approval of the previous server has ended with it: its caller is gone.
pub(super) fn record_orphan(kernel: &Kernel, record: &OpenRecord) {
    let reason = match record.kind {
        ApprovalKind::Dialog => {
            "the server was restarted; the question is asked anew if it is \
                                 still on the screen"
        }
        ApprovalKind::Rule | ApprovalKind::Action => {
            "the server was restarted, and the request that waited ended with it"
        }
    };
    let answer = ApprovalAnswer {
        by: PANED.to_owned(),
        at: kernel.now(),
        reason: Some(reason.to_owned()),
        remembered: false,
    };
    let payload = record.answered(Outcome::Withdrawn, &answer, false);
    let delete = RecordChange::Delete { kind: OPEN, key: record.id.to_string() };
    kernel.journal().record(vec![draft("approval:answered", &payload)], vec![delete]);
}
