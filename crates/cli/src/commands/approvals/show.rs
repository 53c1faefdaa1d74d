//! Approvals as people read them.

use std::io;

use paned_model::{ApprovalInfo, ApprovalStatus, Time};
use serde_json::Value;

use super::ApprovalListReply;
use crate::out::{Out, StyledLine, TableWidth, TextStyle, TextTable, units};

/// Prints what waits, and the answers that hold for panes.
pub(super) fn list(out: Out, width: TableWidth, reply: &ApprovalListReply) -> io::Result<()> {
    if reply.approvals.is_empty() {
        out.note("nothing waits for an answer")?;
    } else {
        out.table_in(&table(&reply.approvals), width)?;
    }
    for answer in &reply.remembered {
        let note = format!(
            "{} allows {}: {} ({}); `paned approvals forget {}` ends that",
            answer.by, answer.pane_id, answer.covers, answer.id, answer.id
        );
        out.note(StyledLine::new(TextStyle::Faint, &note))?;
    }
    Ok(())
}

fn table(approvals: &[ApprovalInfo]) -> TextTable {
    let now = paned_keeper::time::now();
    let has_ended = approvals.iter().any(|approval| approval.status != ApprovalStatus::Open);
    let head = &["ID", "AGE", "EXPIRES", "WHO", "STATUS", "WHAT"];
    let table = TextTable::new(head, approvals, |approval| {
        let status = match (approval.status, approval.waiting) {
            (ApprovalStatus::Open, false) => "open, caller left".to_owned(),
            (status, _) => status.to_string(),
        };
        [
            StyledLine::new(TextStyle::Strong, &approval.id.0),
            units::age(now.since(approval.asked_at)).into(),
            left(approval, now).into(),
            approval.caller.as_str().into(),
            status.into(),
            approval.subject.as_str().into(),
        ]
    });
    if has_ended { table } else { table.dropping(&["STATUS"]) }
}

fn left(approval: &ApprovalInfo, now: Time) -> String {
    match approval.expires_at {
        Some(at) if !approval.status.is_final() => units::age(at.since(now)),
        Some(_) | None => "-".to_owned(),
    }
}

/// Prints one approval with everything that is known.
pub(super) fn approval(out: Out, approval: &ApprovalInfo) -> io::Result<()> {
    let now = paned_keeper::time::now();
    let mut fields: Vec<(&str, StyledLine)> = vec![
        ("id", StyledLine::new(TextStyle::Strong, &approval.id.0)),
        ("what", approval.subject.as_str().into()),
        ("who", approval.caller.as_str().into()),
        ("status", approval.status.as_str().into()),
        ("asked", units::ago(now.since(approval.asked_at)).into()),
    ];
    let mut add = |name, text: Option<&str>| {
        fields.extend(text.map(|text| (name, StyledLine::from(text))));
    };
    let expires = left(approval, now);
    add("expires in", Some(expires.as_str()).filter(|_| approval.expires_at.is_some()));
    add("action", approval.action.as_deref());
    add("rule", approval.rule.as_deref());
    add("allow-pane", approval.covers.as_deref());
    let answer = approval.answer.as_ref();
    add("answered by", answer.map(|answer| answer.by.as_str()));
    add("reason", answer.and_then(|answer| answer.reason.as_deref()));
    out.fields(&fields)?;
    details(out, &approval.details)?;
    for option in &approval.options {
        let number = format!("{:>3}  ", option.number);
        let line = StyledLine::new(TextStyle::Strong, &number);
        out.line(line.then(TextStyle::Plain, &option.label))?;
    }
    Ok(())
}

/// The request: an agent's question as its screen shows it, or the parameters of an action.
fn details(out: Out, details: &Value) -> io::Result<()> {
    if let Some(text) = details.get("text").and_then(Value::as_str) {
        out.line("")?;
        text.lines().try_for_each(|line| out.line(line))?;
        return out.line("");
    }
    let Value::Object(fields) = details else { return Ok(()) };
    for (name, value) in fields {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        out.line(StyledLine::new(TextStyle::Faint, name))?;
        text.lines().try_for_each(|line| out.line(format!("  {line}")))?;
    }
    Ok(())
}
