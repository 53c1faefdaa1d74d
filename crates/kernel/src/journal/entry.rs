//! One event as it is stored and served.

use std::sync::OnceLock;

use bytes::Bytes;
use paned_model::{EventId, Time};
use serde_json::{Map, Value};

/// One event as it is stored and served. The payload is JSON text already, so that a thousand
/// readers cost one serialisation.
#[derive(Clone, Debug)]
pub struct JournalEntry {
    /// Increases by one, never reused.
    pub id: EventId,
    /// When it was recorded.
    pub time: Time,
    /// `noun:past`, as in `pane:created`.
    pub name: String,
    /// JSON text.
    pub payload: String,
    encoded: [OnceLock<Bytes>; EventEncoding::COUNT],
}

/// The transport that an event is encoded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventEncoding {
    /// A server-sent event stream.
    Sse,
    /// A WebSocket.
    WebSocket,
}

impl EventEncoding {
    pub(super) const COUNT: usize = 2;
}

impl JournalEntry {
    /// An event.
    #[must_use]
    pub fn new(id: EventId, time: Time, name: String, payload: String) -> Self {
        Self { id, time, name, payload, encoded: Default::default() }
    }

    /// Its approximate size in bytes, in memory and on the wire.
    pub(super) fn weight(&self) -> usize {
        /// What an entry costs besides its text.
        const OVERHEAD: usize = 96;
        self.name.len() + self.payload.len() + OVERHEAD
    }

    /// The same without these fields of its payload, if it is about this pane and has one of them.
    pub(super) fn without(&self, fields: &[&str], pane: &str) -> Option<Self> {
        let mut payload: Map<String, Value> = serde_json::from_str(&self.payload).ok()?;
        if payload.get("paneId").and_then(Value::as_str) != Some(pane) {
            return None;
        }
        let before = payload.len();
        payload.retain(|name, _| !fields.contains(&name.as_str()));
        let text = serde_json::to_string(&payload).ok()?;
        let is_changed = payload.len() != before;
        is_changed.then(|| Self::new(self.id, self.time, self.name.clone(), text))
    }

    /// Its encoding for a transport: made by the first reader that needs it, and cached for the
    /// others while the event is in memory.
    pub fn encoded(&self, encoding: EventEncoding, encode: impl FnOnce(&Self) -> Bytes) -> &Bytes {
        self.encoded[encoding as usize].get_or_init(|| encode(self))
    }
}

/// Ignores the cached encodings.
impl PartialEq for JournalEntry {
    fn eq(&self, other: &Self) -> bool {
        let parts = |entry: &Self| (entry.id, entry.time);
        parts(self) == parts(other) && self.name == other.name && self.payload == other.payload
    }
}

impl Eq for JournalEntry {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_shown_once_at_each_door() {
        let entry = JournalEntry::new(EventId(1), Time(2), "a:b".to_owned(), "{}".to_owned());
        let show = |text: &'static str| move |_: &JournalEntry| Bytes::from_static(text.as_bytes());
        assert_eq!(entry.encoded(EventEncoding::Sse, show("first")), "first");
        assert_eq!(entry.encoded(EventEncoding::Sse, show("second")), "first");
        assert_eq!(entry.encoded(EventEncoding::WebSocket, show("third")), "third");
        assert_eq!(
            entry,
            JournalEntry::new(EventId(1), Time(2), "a:b".to_owned(), "{}".to_owned())
        );
    }
}
