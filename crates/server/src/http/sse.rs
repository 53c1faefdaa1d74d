//! Encodes events as the frames of a server-sent event stream. Pure.

use std::fmt::Write;

use bytes::Bytes;
use paned_kernel::journal::{EventBatch, JournalEntry};
use paned_model::EventId;

/// The first bytes of a stream, so that its client sees at once that it is open.
pub(crate) const GREETING: &str = ": paned\n\n";
/// The heartbeat of an idle stream.
pub(crate) const HEARTBEAT: &str = ": alive\n\n";

/// Events as frames, one after the other.
pub(crate) fn events(batch: &EventBatch) -> Bytes {
    let length = |entry: &JournalEntry| 96 + entry.name.len() + entry.payload.len();
    let mut out = String::with_capacity(batch.iter().map(|entry| length(entry)).sum());
    batch.iter().for_each(|entry| add(&mut out, entry));
    Bytes::from(out)
}

/// Appends an event. `time` is our own field; the format has clients ignore unknown fields.
fn add(out: &mut String, entry: &JournalEntry) {
    // Writing to a string cannot fail.
    let _ = write!(out, "id: {}\nevent: {}\ntime: {}\n", entry.id, line(&entry.name), entry.time);
    data(out, &entry.payload);
}

/// Appends a gap: these events are missing. It has no id, so a client that reconnects resumes after
/// the last event that it saw.
pub(crate) fn gap(out: &mut String, first: EventId, last: EventId) {
    let _ = write!(out, "event: gap\ndata: {{\"first\":{first},\"last\":{last}}}\n\n");
}

/// Appends data and ends the frame. Each line is a field of its own, as the format requires.
fn data(out: &mut String, text: &str) {
    for line in text.split(['\n', '\r']) {
        out.push_str("data: ");
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
}

/// The first line of a text, so that a name cannot inject another field.
fn line(text: &str) -> &str {
    text.split(['\n', '\r']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use paned_model::Time;

    use super::*;

    #[track_caller]
    fn check(name: &str, payload: &str, expect: &str) {
        let (name, payload) = (name.to_owned(), payload.to_owned());
        let entry = JournalEntry::new(EventId(7), Time(0), name, payload);
        let batch = EventBatch::new(vec![entry.into()]);
        assert_eq!(events(&batch), format!("id: 7\n{expect}\n\n"));
    }

    #[test]
    fn an_event_is_one_frame() {
        let expect = "event: pane:exited\ntime: 1970-01-01T00:00:00.000Z\ndata: {\"a\":1}";
        check("pane:exited", "{\"a\":1}", expect);
    }

    #[test]
    fn no_name_and_no_payload_can_make_a_second_frame() {
        let expect = "event: a\ntime: 1970-01-01T00:00:00.000Z\ndata: {\ndata: \ndata: }";
        check("a\n\ndata: x", "{\n\r}", expect);
    }

    #[test]
    fn a_gap_has_no_id() {
        let mut out = String::new();
        gap(&mut out, EventId(5), EventId(9));
        assert_eq!(out, "event: gap\ndata: {\"first\":5,\"last\":9}\n\n");
    }
}
