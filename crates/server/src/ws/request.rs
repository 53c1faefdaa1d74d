//! Reads the text frames of a client. Pure.
//!
//! What a pane's action checks anyway is passed on as it was written.

use std::collections::BTreeMap;
use std::iter::once;

use paned_model::{EventId, Offset, PaneId, Refusal, Time};
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
pub(super) enum WsRequest<'a> {
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
    /// Follow the events of this filter, after this one.
    Events { include: String, after: Option<EventId> },
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
pub(super) struct WsSubscribe {
    pub(super) pane: PaneId,
    pub(super) from: Option<SubscribeFrom>,
    #[serde(default = "default_window", deserialize_with = "window")]
    pub(super) window: u64,
    /// When the pane was created, if the client wants no later pane of the same name.
    pub(super) created_at: Option<Time>,
}

/// Where a channel begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    rename_all = "lowercase",
    expecting = r#"is "screen", "start", "now" or the offset of a byte"#
)]
pub(super) enum SubscribeFrom {
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
pub(super) struct WsInput<'a> {
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
                let sentence = format!("a message is a JSON object with a `type`: {error}");
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
        let sentence = format!("`id` is a string or a number of at most {MAX_ID} characters");
        return Err(Refusal::invalid(sentence));
    }
    Ok(id.to_owned())
}

fn request(mut fields: Fields<'_>) -> Result<WsRequest<'_>, Refusal> {
    let kind = fields.remove("type").ok_or_else(|| Refusal::invalid("`type` is missing"))?;
    let kind: String = serde_json::from_str(kind.get())
        .map_err(|error| Refusal::invalid(format!("`type` is wrong: {error}")))?;
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
    let text = error.inner().to_string();
    let mut path = error.path().iter();
    match (path.next(), path.next()) {
        (None, _) => format!("`type` is wrong: {text}"),
        (Some(_), Some(Segment::Map { key })) if text.starts_with("unknown field") => {
            format!("`{kind}` has no field `{}`", key.escape_debug())
        }
        // Our own checks say what a field is.
        (Some(_), Some(Segment::Map { key })) if text.starts_with("is ") => {
            format!("`{key}` {text}")
        }
        (Some(_), Some(Segment::Map { key })) => format!("`{key}` is wrong: {text}"),
        // A field is missing.
        (Some(_), _) => format!("`{kind}`: {text}"),
    }
}

fn default_window() -> u64 {
    DEFAULT_WINDOW
}

fn window<'de, D: Deserializer<'de>>(json: D) -> Result<u64, D::Error> {
    let window = Option::deserialize(json)?.unwrap_or(DEFAULT_WINDOW);
    if (1..=MAX_WINDOW).contains(&window) {
        return Ok(window);
    }
    Err(D::Error::custom(format_args!("is a number of bytes from 1 to {MAX_WINDOW}")))
}

#[cfg(test)]
mod tests {
    use paned_model::Code;
    use proptest::prelude::*;

    use super::*;

    /// Parses a message; shows its request, or the code that it is refused with.
    fn read(text: &str) -> String {
        match WsEnvelope::read(text).request {
            Ok(WsRequest::Input(input)) => serde_json::to_string(&input).unwrap(),
            Ok(WsRequest::Action { name, params }) => {
                format!("run {name} {}", params.map_or("{}", RawValue::get))
            }
            Ok(request) => format!("{request:?}"),
            Err(refusal) => refusal.code.to_string(),
        }
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(read(text), expect, "{text}");
    }

    #[test]
    fn what_is_typed_is_passed_on_as_it_was_written() {
        check(
            r#"{"type":"input","pane":"a","text":"\u0003é"}"#,
            r#"{"paneId":"a","text":"\u0003é"}"#,
        );
        check(
            r#"{"type":"input","pane":"a","base64":"AA=="}"#,
            r#"{"paneId":"a","base64":"AA=="}"#,
        );
        check(r#"{"type":"action","name":"pane:list"}"#, "run pane:list {}");
        check(r#"{"type":"action","name":"x","params":{"a": [1]}}"#, r#"run x {"a": [1]}"#);
    }

    #[test]
    fn the_rest_is_read_here() {
        check(r#"{"type":"auth","token":"x"}"#, r#"Auth { token: "x" }"#);
        check(r#"{"type":"unsubscribe","channel":3}"#, "Unsubscribe { channel: 3 }");
        check(r#"{"type":"ack","channel":3,"offset":9}"#, "Ack { channel: 3, offset: Offset(9) }");
        check(
            r#"{"type":"keys","pane":"a","keys":["enter"]}"#,
            r#"Keys { pane: PaneId("a"), keys: ["enter"] }"#,
        );
        check(
            r#"{"type":"resize","pane":"a","cols":80,"rows":24,"force":null}"#,
            r#"Resize { pane: PaneId("a"), cols: 80, rows: 24, force: None }"#,
        );
        check(r#"{"type":"ping","id":1}"#, "Ping");
        check(r#"{"type":"ack","channel":-3,"offset":9}"#, "invalid");
        check(r#"{"type":"ack","channel":3,"offset":1.5}"#, "invalid");
        check(r#"{"type":"action","name":7}"#, "invalid");
        check(r#"{"type":"events","include":"a:b","after":-1}"#, "invalid");
    }

    #[track_caller]
    fn check_sentence(text: &str, expect: &str) {
        assert_eq!(WsEnvelope::read(text).request.unwrap_err().sentence, expect, "{text}");
    }

    #[test]
    fn a_refusal_names_the_field() {
        check_sentence(r#"{"channel":1}"#, "`type` is missing");
        check_sentence(
            r#"{"type":0,"token":"x"}"#,
            "`type` is wrong: invalid type: integer `0`, expected a string at line 1 column 1",
        );
        check_sentence(
            r#"{"type":"dance"}"#,
            "`type` is wrong: unknown variant `dance`, expected one of `auth`, `subscribe`, \
             `unsubscribe`, `ack`, `input`, `keys`, `resize`, `events`, `action`, `ping`",
        );
        check_sentence(r#"{"type":"ack","channel":1}"#, "`ack`: missing field `offset`");
        check_sentence(
            r#"{"type":"ack","channel":"x","offset":1}"#,
            "`channel` is wrong: invalid type: string \"x\", expected u32 at line 1 column 3",
        );
        check_sentence(
            r#"{"type":"keys","pane":"a","keys":["a",1]}"#,
            "`keys` is wrong: invalid type: integer `1`, expected a string at line 1 column 6",
        );
        check_sentence(
            r#"{"type":"subscribe","pane":"a","window":0}"#,
            "`window` is a number of bytes from 1 to 16777216",
        );
        check_sentence(r#"{"type":"ping","z":1,"b":null,"c":1,"b":2}"#, "`ping` has no field `b`");
    }

    #[track_caller]
    fn check_from(rest: &str, from: SubscribeFrom, window: u64) {
        let text = format!(r#"{{"type":"subscribe","pane":"a"{rest}}}"#);
        let asked = WsEnvelope::read(&text);
        let Ok(WsRequest::Subscribe(subscribe)) = asked.request else { panic!("{asked:?}") };
        let begins = subscribe.from.unwrap_or_default();
        assert_eq!((begins, subscribe.window), (from, window), "{rest}");
    }

    #[test]
    fn a_channel_begins_with_the_screen_unless_something_else_is_said() {
        check_from("", SubscribeFrom::Screen, DEFAULT_WINDOW);
        check_from(r#","from":null"#, SubscribeFrom::Screen, DEFAULT_WINDOW);
        check_from(r#","from":"screen""#, SubscribeFrom::Screen, DEFAULT_WINDOW);
        check_from(r#","from":"start""#, SubscribeFrom::Start, DEFAULT_WINDOW);
        check_from(r#","from":"now","window":1"#, SubscribeFrom::Now, 1);
        check_from(
            r#","from":17,"window":16777216"#,
            SubscribeFrom::Offset(Offset(17)),
            MAX_WINDOW,
        );
    }

    #[test]
    fn a_place_that_is_none_is_refused_with_those_there_are() {
        for from in [r#""end""#, "-1", "1.5", "[]", "{}", "true"] {
            let text = format!(r#"{{"type":"subscribe","pane":"a","from":{from}}}"#);
            let sentence = WsEnvelope::read(&text).request.unwrap_err().sentence;
            assert!(sentence.starts_with("`from` is \"screen\", \"start\""), "{sentence}");
        }
    }

    #[track_caller]
    fn check_id(id: &str, expect: Option<&str>) {
        let text = format!(r#"{{"type":"ping","id":{id}}}"#);
        let asked = WsEnvelope::read(&text);
        assert_eq!(asked.id.as_deref().map(RawValue::get), expect, "{id}");
    }

    #[test]
    fn an_id_comes_back_as_it_was_written() {
        for id in ["7", "-1.50e3", r#""x\u00e9""#] {
            check_id(id, Some(id));
        }
        for id in ["{}", "[1]", "true", "null", r#""\ud800""#] {
            check_id(id, None);
        }
    }

    #[test]
    fn an_id_is_as_long_as_its_text_and_not_as_its_quotes_and_escapes() {
        for character in ["x", "é", "漢", r"\u00e9", r"\ud83d\ude00", r"\n"] {
            let of = |count: usize| format!("\"{}\"", character.repeat(count));
            check_id(&of(MAX_ID), Some(&of(MAX_ID)));
            check_id(&of(MAX_ID + 1), None);
        }
        let number = "1".repeat(MAX_ID);
        check_id(&number, Some(&number));
        check_id(&format!("{number}1"), None);
    }

    #[test]
    fn what_is_refused_keeps_its_id() {
        let asked = WsEnvelope::read(r#"{"id":"x","type":"ping","more":1}"#);
        assert_eq!(asked.id.as_deref().map(RawValue::get), Some("\"x\""));
        assert_eq!(asked.request.unwrap_err().code, Code::Invalid);
    }

    #[test]
    fn of_several_fields_of_one_name_the_last_one_counts() {
        check(
            r#"{"text":"x","type":"ping","pane":"a","t\u0065xt":"y","type":"input","text":null,"text":"z"}"#,
            r#"{"paneId":"a","text":"z"}"#,
        );
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange_to_be_answered(text in "\\PC*") {
            prop_assert_eq!(read(&text), "invalid");
        }
    }
}
