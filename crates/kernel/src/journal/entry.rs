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
    json: OnceLock<Bytes>,
}

impl JournalEntry {
    /// An event.
    #[must_use]
    pub fn new(id: EventId, time: Time, name: String, payload: String) -> Self {
        Self { id, time, name, payload, json: OnceLock::new() }
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

    /// The event as one JSON object of the type `event`: serialised by the first reader that needs
    /// it, and shared with the others while the event is in memory.
    pub fn json(&self) -> Bytes {
        self.json.get_or_init(|| Bytes::from(self.to_json())).clone()
    }

    /// The payload is JSON already.
    fn to_json(&self) -> String {
        let Self { id, time, name, payload, .. } = self;
        let name = serde_json::to_string(name).unwrap_or_default();
        format!(r#"{{"type":"event","id":{id},"time":"{time}","name":{name},"payload":{payload}}}"#)
    }
}

/// Ignores the cached JSON.
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
    fn its_json_is_made_once_and_holds_the_payload_as_it_is() {
        let name = "a:\"b\"".to_owned();
        let entry = JournalEntry::new(EventId(7), Time(0), name, r#"{"x":1}"#.to_owned());
        let expect = r#"{"type":"event","id":7,"time":"1970-01-01T00:00:00.000Z","name":"a:\"b\"","payload":{"x":1}}"#;
        assert_eq!(entry.json(), expect);
        assert_eq!(entry.json().as_ptr(), entry.json().as_ptr());
        assert_eq!(
            entry,
            JournalEntry::new(entry.id, entry.time, entry.name.clone(), entry.payload.clone())
        );
    }
}
