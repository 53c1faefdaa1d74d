//! Messages to a client: text frames of JSON, and binary frames of output. Pure.

use axum::extract::ws::{Message, Utf8Bytes};
use paned_kernel::journal::JournalEntry;
use paned_model::{EventId, Offset, PaneId, PaneInfo, PaneStatus, Refusal, Scope, Size, Time};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A message to a client. `docs/websocket.md` lists all of them.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(super) enum WsMessage<'a> {
    /// The client is authenticated.
    Welcome {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Value>")]
        id: Option<&'a RawValue>,
        version: &'a str,
        protocol: &'a str,
        scopes: Vec<Scope>,
    },
    /// A channel is open. Its bytes begin at this offset.
    Subscribed {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Value>")]
        id: Option<&'a RawValue>,
        channel: u32,
        pane: &'a PaneId,
        offset: Offset,
        size: Size,
        status: PaneStatus,
        created_at: Time,
    },
    /// The bytes between these offsets are no longer kept.
    Gap { channel: u32, from: Offset, to: Offset },
    /// The program ended and all its bytes were sent: the channel is closed.
    Exit {
        channel: u32,
        offset: Offset,
        #[serde(flatten)]
        ending: WsExitInfo<'a>,
    },
    /// The request succeeded.
    Ok {
        #[schemars(with = "Value")]
        id: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Value>")]
        answer: Option<&'a RawValue>,
    },
    /// The request failed; with a channel, that channel is closed.
    Error {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Value>")]
        id: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        channel: Option<u32>,
        #[serde(flatten)]
        refusal: &'a Refusal,
    },
    /// The events from `first` to `last` are missing.
    #[serde(rename = "gap")]
    Missed { first: EventId, last: EventId },
    /// The answer to `ping`.
    Pong {
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<Value>")]
        id: Option<&'a RawValue>,
    },
}

/// How a program ended, with the fields of `pane:get`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WsExitInfo<'a> {
    status: PaneStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_signal: Option<&'a str>,
    timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Time>,
}

impl<'a> WsExitInfo<'a> {
    pub(super) fn of(pane: &'a PaneInfo) -> Self {
        Self {
            status: pane.status,
            exit_code: pane.exit_code,
            exit_signal: pane.exit_signal.as_deref(),
            timed_out: pane.timed_out,
            ended_at: pane.ended_at,
        }
    }
}

impl WsMessage<'_> {
    /// The message as a frame.
    pub(super) fn frame(&self) -> Message {
        Message::text(serde_json::to_string(self).unwrap_or_default())
    }
}

/// An event. All sockets share its text.
pub(super) fn event(entry: &JournalEntry) -> Message {
    Message::Text(Utf8Bytes::try_from(entry.json()).unwrap_or_default())
}

/// What the bytes of a binary frame are.
#[derive(Clone, Copy)]
#[repr(u8)]
pub(super) enum WsFrameKind {
    /// The pane's output from the offset on.
    Output = 1,
    /// The bytes that draw the screen as it was at the offset.
    Screen = 2,
}

/// A binary frame: kind, channel and offset in 1, 4 and 8 bytes, little-endian, then the bytes.
pub(super) fn binary(kind: WsFrameKind, channel: u32, offset: Offset, bytes: &[u8]) -> Message {
    let mut frame = Vec::with_capacity(13 + bytes.len());
    frame.push(kind as u8);
    frame.extend(channel.to_le_bytes());
    frame.extend(offset.0.to_le_bytes());
    frame.extend_from_slice(bytes);
    Message::binary(frame)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use paned_model::Code;
    use schemars::Schema;
    use schemars::generate::SchemaSettings;
    use serde_json::json;

    use crate::ws::request::WsRequest;

    use super::*;

    #[track_caller]
    fn check(message: &Message, expect: &str) {
        assert_eq!(message.to_text().unwrap(), expect);
    }

    #[test]
    fn a_message_says_its_type_first() {
        let id = serde_json::value::to_raw_value("x").unwrap();
        let pong = WsMessage::Pong { id: Some(&id) };
        check(&pong.frame(), r#"{"type":"pong","id":"x"}"#);
        check(&WsMessage::Pong { id: None }.frame(), r#"{"type":"pong"}"#);
        let gap = WsMessage::Gap { channel: 1, from: Offset(2), to: Offset(3) };
        check(&gap.frame(), r#"{"type":"gap","channel":1,"from":2,"to":3}"#);
        let missed = WsMessage::Missed { first: EventId(2), last: EventId(3) };
        check(&missed.frame(), r#"{"type":"gap","first":2,"last":3}"#);
        let answer = serde_json::value::to_raw_value(&json!({ "a": 1 })).unwrap();
        let ok = WsMessage::Ok { id: &id, answer: Some(&answer) };
        check(&ok.frame(), r#"{"type":"ok","id":"x","answer":{"a":1}}"#);
    }

    #[test]
    fn a_refusal_is_told_as_everywhere() {
        let refusal = Refusal::new(Code::Gone, "it is over").with_details(json!({ "a": 1 }));
        let error = WsMessage::Error { id: None, channel: None, refusal: &refusal };
        let expect = r#"{"type":"error","error":"it is over","code":"gone","details":{"a":1}}"#;
        check(&error.frame(), expect);
    }

    #[test]
    fn an_event_is_as_the_journal_has_it() {
        let entry = JournalEntry::new(EventId(7), Time(0), "a".to_owned(), "{}".to_owned());
        assert_eq!(event(&entry).into_data(), entry.json());
    }

    #[test]
    fn a_binary_frame_has_a_head_of_thirteen_bytes() {
        let frame = binary(WsFrameKind::Screen, 0x0102, Offset(0x0304), b"xy");
        let expect = [&[2, 2, 1, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0][..], b"xy"].concat();
        assert_eq!(frame.into_data(), expect);
    }

    /// The messages of a schema, as the page writes them: `ok {id, answer?}`.
    fn messages(schema: &Schema) -> BTreeSet<String> {
        schema.get("oneOf").unwrap().as_array().unwrap().iter().map(message).collect()
    }

    fn message(schema: &Value) -> String {
        let properties = schema["properties"].as_object().unwrap();
        let kind = properties["type"]["const"].as_str().unwrap();
        let required = schema["required"].as_array().unwrap();
        let fields = properties.keys().filter(|name| *name != "type");
        let fields = fields.map(|name| {
            let mark = if required.iter().any(|other| other == name) { "" } else { "?" };
            format!("{name}{mark}")
        });
        match fields.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => kind.to_owned(),
            fields => format!("{kind} {{{fields}}}"),
        }
    }

    /// The first code of each row of the table under this heading.
    fn documented(heading: &str) -> BTreeSet<String> {
        let page = include_str!("../../../../docs/websocket.md");
        let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
        let table = section.lines().skip_while(|line| !line.starts_with('|'));
        let rows = table.take_while(|line| line.starts_with('|')).filter_map(|row| {
            row.strip_prefix("| `")?.split_once('`').map(|(code, _)| code.to_owned())
        });
        rows.collect()
    }

    #[test]
    fn the_page_lists_every_message_with_its_fields() {
        let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
        let requests = settings.clone().into_generator().into_root_schema_for::<WsRequest<'_>>();
        assert_eq!(documented("What a client sends"), messages(&requests));
        let generator = settings.for_serialize().into_generator();
        let mut sent = messages(&generator.into_root_schema_for::<WsMessage<'_>>());
        // The journal writes this one.
        let entry = JournalEntry::new(EventId(7), Time(0), "a".to_owned(), "{}".to_owned());
        let event: serde_json::Map<String, Value> = serde_json::from_slice(&entry.json()).unwrap();
        assert_eq!(event.keys().next().unwrap(), "type");
        let fields: Vec<_> = event.keys().skip(1).map(String::as_str).collect();
        sent.insert(format!("event {{{}}}", fields.join(", ")));
        assert_eq!(documented("What the server sends"), sent);
    }
}
