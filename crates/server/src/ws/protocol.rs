//! The protocol of a socket: text frames of JSON both ways, and binary frames of output. Pure.
//!
//! What a pane's action checks anyway is passed on as it was written.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::iter::once;

use axum::extract::ws::{Message, Utf8Bytes};
use paned_kernel::PaneActivity;
use paned_kernel::journal::JournalEntry;
use paned_model::{
    EventId, Offset, PaneId, PaneInfo, PaneStatus, Refusal, Scope, Size, Time, parse_error,
};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::de::value::{MapAccessDeserializer, MapDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use serde_path_to_error::Segment;

use super::{DEFAULT_WINDOW, MAX_WINDOW};

/// The longest `id`, in characters: of the string without quotes and escapes, or of the number as
/// written.
const MAX_ID: usize = 128;

/// The `id` by which a client matches an answer to its request; raw JSON.
pub(super) type WsRequestId = Box<RawValue>;

/// One message.
#[derive(Debug)]
pub(super) struct WsEnvelope<'a> {
    pub(super) id: Option<WsRequestId>,
    /// The request, or why it is not valid.
    pub(super) request: Result<WsRequest<'a>, Refusal>,
}

/// The request in a message, by the message's `type`. `docs/websocket.md` lists all of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[schemars(tag = "type")]
pub(crate) enum WsRequest<'a> {
    /// Authenticate with this token.
    Auth { token: String },
    /// Open a channel.
    Subscribe(WsSubscribe),
    /// Close a channel.
    Unsubscribe { channel: u32 },
    /// Everything of this channel before this offset was received.
    Ack { channel: u32, offset: Offset },
    /// Run `pane:write`, after the earlier requests.
    #[serde(borrow)]
    Input(WsInput<'a>),
    /// Run `pane:keys`, after the earlier requests.
    Keys { pane: PaneId, keys: Vec<String> },
    /// Run `pane:resize`, after the earlier requests.
    Resize { pane: PaneId, cols: u16, rows: u16, force: Option<bool> },
    /// Run `pane:release`, after the earlier requests.
    Release { pane: PaneId },
    /// Follow the events of this filter, after this one.
    Events { include: String, since: Option<EventId> },
    /// Follow which panes print, or no longer.
    Activity { on: bool },
    /// Run any action, concurrently with others.
    Action {
        name: String,
        #[serde(borrow)]
        #[schemars(with = "Option<Value>")]
        params: Option<&'a RawValue>,
    },
    /// Answer with `pong`.
    Ping {},
}

/// A channel to open.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WsSubscribe {
    pub(super) pane: PaneId,
    pub(super) since: Option<SubscribeSince>,
    /// How many rows above the screen come with it, at most 1000.
    pub(super) history: Option<usize>,
    #[serde(default = "default_window", deserialize_with = "window")]
    pub(super) window: u64,
    /// When the pane was created, if the client wants no later pane of the same name.
    pub(super) created_at: Option<Time>,
}

/// Where a channel begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename_all = "lowercase",
    expecting = r#"must be "screen", "start", "now" or a byte offset"#
)]
pub(crate) enum SubscribeSince {
    /// With a snapshot of the screen.
    #[default]
    Screen,
    /// With the oldest byte that is kept.
    Start,
    /// With the next byte.
    Now,
    /// With the byte at this offset.
    #[serde(untagged)]
    Offset(Offset),
}

/// What to type. It is serialized as the parameters of `pane:write`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WsInput<'a> {
    #[serde(rename(serialize = "paneId"))]
    pane: PaneId,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    text: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    base64: Option<&'a RawValue>,
}

/// The fields of a message. If there are several of one name, the last one counts.
type Fields<'a> = BTreeMap<String, &'a RawValue>;

impl<'a> WsEnvelope<'a> {
    /// Reads a text frame.
    pub(super) fn read(text: &'a str) -> Self {
        let mut fields: Fields<'a> = match serde_json::from_str(text) {
            Ok(fields) => fields,
            Err(error) => {
                let sentence = format!("a message must be a JSON object with a `type`: {error}");
                return Self { id: None, request: Err(Refusal::invalid(sentence)) };
            }
        };
        match fields.remove("id").map(request_id).transpose() {
            Ok(id) => Self { id, request: request(fields) },
            Err(refusal) => Self { id: None, request: Err(refusal) },
        }
    }
}

fn request_id(id: &RawValue) -> Result<WsRequestId, Refusal> {
    let length = match id.get().as_bytes() {
        [b'"', ..] => serde_json::from_str::<String>(id.get()).ok().map(|id| id.chars().count()),
        [b'-' | b'0'..=b'9', ..] => Some(id.get().len()),
        _ => None,
    };
    if length.is_none_or(|length| MAX_ID < length) {
        let sentence = format!("`id` must be a string or a number of at most {MAX_ID} characters");
        return Err(Refusal::invalid(sentence));
    }
    Ok(id.to_owned())
}

fn request(mut fields: Fields<'_>) -> Result<WsRequest<'_>, Refusal> {
    let kind = fields.remove("type").ok_or_else(|| Refusal::invalid("`type` is missing"))?;
    let kind: String = serde_json::from_str(kind.get()).map_err(|error| {
        Refusal::invalid(parse_error::explain("type", &without_position(&error)))
    })?;
    // serde's own `tag` copies every value into a tree first, and that cannot hold raw JSON. So the
    // message is read as `{type: {fields}}`, serde's other format of enums.
    let message = || {
        let fields = fields.iter().map(|(name, value)| (name.as_str(), *value));
        let variant = once((kind.as_str(), MapDeserializer::new(fields)));
        MapAccessDeserializer::new(MapDeserializer::new(variant))
    };
    // Tracking the field of a mistake costs more than parsing, so do it only after a failure.
    WsRequest::deserialize(message())
        .or_else(|_| serde_path_to_error::deserialize(message()))
        .map_err(|error| Refusal::invalid(sentence(&kind, &error)))
}

/// The sentence for a message of this type that is not valid.
fn sentence(kind: &str, error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let text = without_position(error.inner());
    let mut path = error.path().iter();
    match (path.next(), path.next()) {
        (None, _) => parse_error::explain("type", &text),
        (Some(_), Some(Segment::Map { key })) if text.starts_with("unknown field") => {
            format!("`{kind}` has no field `{}`", key.escape_debug())
        }
        (Some(_), Some(Segment::Map { key })) => parse_error::explain(key, &text),
        // A field is missing.
        (Some(_), _) => parse_error::explain(kind, &text),
    }
}

/// The message of an error. Its line and column are those of one value, not of the message.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).map_or(text.clone(), str::to_owned)
}

fn default_window() -> u64 {
    DEFAULT_WINDOW
}

fn window<'de, D: Deserializer<'de>>(json: D) -> Result<u64, D::Error> {
    let window = Option::deserialize(json)?.unwrap_or(DEFAULT_WINDOW);
    if (1..=MAX_WINDOW).contains(&window) {
        return Ok(window);
    }
    Err(D::Error::custom(format_args!("must be a number of bytes from 1 to {MAX_WINDOW}")))
}

/// A message to a client. `docs/websocket.md` lists all of them.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum WsMessage<'a> {
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
    /// These panes have printed since the last such message, which was at least a second ago.
    Activity { panes: &'a [PaneActivity] },
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
pub(crate) struct WsExitInfo<'a> {
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
