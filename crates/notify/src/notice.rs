//! One notification.

use paned_kernel::notifications::NotifyRecord;
use paned_model::{EventId, Time};
use paned_policy::notify::{NotifyChannel, NotifyOccurrence, NotifySubject};
use serde_json::{Value, json};

/// A notification to be delivered.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    /// Identifies the delivery. A delivery that is repeated after a crash has the same.
    pub(crate) delivery: String,
    /// The rule.
    pub(crate) rule: String,
    pub(crate) occurrence: NotifyOccurrence,
    pub(crate) subject: NotifySubject,
    /// The fields `paneId` and `instance` of the event.
    pub(crate) reference: Value,
    /// The event that caused it; none for a line of output.
    pub(crate) event: Option<EventId>,
    pub(crate) time: Time,
    /// How many before it were left out.
    pub(crate) left_out: u32,
}

impl Notice {
    /// A notification that says only that notifications work.
    pub(crate) fn test(rule: &str, delivery: String, time: Time) -> Self {
        Self {
            delivery,
            rule: rule.to_owned(),
            occurrence: NotifyOccurrence::Test,
            subject: NotifySubject::default(),
            reference: Value::Null,
            event: None,
            time,
            left_out: 0,
        }
    }

    /// What became of it, for the journal.
    pub(crate) fn record(&self, channel: NotifyChannel, error: Option<String>) -> NotifyRecord {
        NotifyRecord {
            rule: self.rule.clone(),
            channel: channel.as_str().to_owned(),
            about: self.occurrence.unquoted(),
            event: self.event,
            delivery: self.delivery.clone(),
            subject: self.reference.clone(),
            left_out: self.left_out,
            error,
        }
    }

    /// A line for the title.
    pub(crate) fn title(&self) -> String {
        match self.subject.pane.as_str() {
            "" => "paned".to_owned(),
            pane => format!("paned: {pane}"),
        }
    }

    /// What happened, with what the terminal shows about it.
    pub(crate) fn text(&self) -> String {
        let sentence = self.occurrence.sentence();
        let mut text = match self.subject.pane.as_str() {
            "" => sentence,
            pane => format!("{pane} {sentence}"),
        };
        if 0 < self.left_out {
            text.push_str(&format!(" (and {} more before)", self.left_out));
        }
        clean(&text)
    }

    /// The notification as JSON, for commands and webhooks.
    pub(crate) fn to_json(&self) -> Value {
        let mut body = json!({
            "delivery": self.delivery,
            "rule": self.rule,
            "trigger": self.occurrence.trigger().map(|trigger| trigger.as_str()),
            "text": self.text(),
            "time": self.time,
            "leftOut": self.left_out,
        });
        if !self.subject.pane.is_empty() {
            body["pane"] = json!({
                "id": self.subject.pane,
                "instance": self.reference["instance"],
                "title": clean(&self.subject.title),
                "tags": self.subject.tags,
            });
        }
        if let Some(event) = self.event {
            body["event"] = json!(event);
        }
        body
    }
}

/// A text without control characters and without characters that reorder others: part of it may
/// come from a program.
pub(crate) fn clean(text: &str) -> String {
    let reorders = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !reorders(*c)).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(occurrence: NotifyOccurrence) -> Notice {
        let subject = NotifySubject { pane: "web".into(), ..NotifySubject::default() };
        Notice { occurrence, subject, ..Notice::test("me", "d".into(), Time(0)) }
    }

    #[test]
    fn what_a_program_printed_cannot_steer_a_terminal() {
        let line = "a\u{1b}]0;x\u{7}b\u{202e}c".to_owned();
        let text = notice(NotifyOccurrence::Pattern { line }).text();
        assert_eq!(text, "web printed: a ]0;x bc");
    }

    #[test]
    fn those_that_were_left_out_are_counted() {
        let notice = Notice { left_out: 2, ..notice(NotifyOccurrence::Error) };
        assert_eq!(notice.text(), "web stopped with an error (and 2 more before)");
        assert_eq!(notice.to_json()["pane"]["id"], "web");
    }
}
