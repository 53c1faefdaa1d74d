//! Parses the text frames of a client. Pure.
//!
//! `input`, `keys` and `resize` are actions under shorter names. They are only translated here; the
//! kernel validates and authorizes them.

use std::borrow::Cow;
use std::fmt;

use paned_model::{EventFilter, EventId, Offset, PaneId, Refusal, Time};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::{DEFAULT_WINDOW, MAX_WINDOW};

/// All message types, for the refusal of an unknown one.
const TYPES: &str = "auth, subscribe, unsubscribe, ack, input, keys, resize, events, action, ping";
/// The longest `id`, in characters: of the string without quotes and escapes, or of the number as
/// written.
const MAX_ID: usize = 128;

/// The `id` by which a client matches an answer to its request; raw JSON.
pub(super) type WsRequestId = Box<RawValue>;

/// One message.
#[derive(Debug)]
pub(super) struct WsEnvelope {
    pub(super) id: Option<WsRequestId>,
    /// The request, or why it is not valid.
    pub(super) request: Result<WsRequest, Refusal>,
}

/// The request in a message.
#[derive(Debug)]
pub(super) enum WsRequest {
    /// Authenticate with this token.
    Auth(String),
    /// Open a channel.
    Subscribe(WsSubscribe),
    /// Close a channel.
    Unsubscribe(u32),
    /// Everything of this channel before this offset was received.
    Ack(u32, Offset),
    /// Run an action on a pane, after the earlier requests.
    Sequential(WsActionCall),
    /// Run any action, concurrently with others.
    Concurrent(WsActionCall),
    /// Follow events: these, after this one.
    Events(EventFilter, Option<EventId>),
    /// Answer with `pong`.
    Ping,
}

/// A channel to open.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WsSubscribe {
    pub(super) pane: PaneId,
    pub(super) from: SubscribeFrom,
    pub(super) window: u64,
    /// When the pane was created, if the client wants no later pane of the same name.
    pub(super) created_at: Option<Time>,
}

/// Where a channel begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SubscribeFrom {
    /// With a snapshot of the screen.
    Screen,
    /// With the oldest byte that is kept.
    Start,
    /// With the next byte.
    Now,
    /// With the byte at this offset.
    #[serde(untagged)]
    Offset(Offset),
}

/// An action and its parameters.
#[derive(Debug)]
pub(super) struct WsActionCall {
    pub(super) name: Cow<'static, str>,
    pub(super) params: Vec<u8>,
}

impl WsEnvelope {
    /// Reads a text frame.
    pub(super) fn read(text: &str) -> Self {
        let mut fields = match Fields::read(text) {
            Ok(fields) => fields,
            Err(refusal) => return Self { id: None, request: Err(refusal) },
        };
        match fields.id() {
            Ok(id) => Self { id, request: fields.request() },
            Err(refusal) => Self { id: None, request: Err(refusal) },
        }
    }
}

/// The fields of a message that were not taken yet.
struct Fields<'a>(Vec<(BorrowedText<'a>, &'a RawValue)>);

/// A string, borrowed from the message unless it has escapes.
#[derive(Deserialize)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(FieldsVisitor)
    }
}

/// Reads fields in the order in which they come.
struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

impl<'a> Fields<'a> {
    fn read(text: &'a str) -> Result<Self, Refusal> {
        serde_json::from_str(text).map_err(|error| {
            Refusal::invalid(format!("a message is a JSON object with a `type`: {error}"))
        })
    }

    fn id(&mut self) -> Result<Option<WsRequestId>, Refusal> {
        let Some(id) = self.remove("id") else { return Ok(None) };
        if id_length(id).is_none_or(|length| MAX_ID < length) {
            let sentence = format!("`id` is a string or a number of at most {MAX_ID} characters");
            return Err(Refusal::invalid(sentence));
        }
        Ok(Some(id.to_owned()))
    }

    fn request(mut self) -> Result<WsRequest, Refusal> {
        let BorrowedText(kind) = self.need("type")?;
        let request = match &*kind {
            "auth" => WsRequest::Auth(self.need("token")?),
            "subscribe" => WsRequest::Subscribe(self.subscribe()?),
            "unsubscribe" => WsRequest::Unsubscribe(self.need("channel")?),
            "ack" => WsRequest::Ack(self.need("channel")?, self.need("offset")?),
            "input" => WsRequest::Sequential(self.input()?),
            "keys" => WsRequest::Sequential(self.keys()?),
            "resize" => WsRequest::Sequential(self.resize()?),
            "events" => self.events()?,
            "action" => WsRequest::Concurrent(self.action()?),
            "ping" => WsRequest::Ping,
            other => return Err(unknown(other)),
        };
        self.finish(&kind)?;
        Ok(request)
    }

    fn subscribe(&mut self) -> Result<WsSubscribe, Refusal> {
        let window = self.take("window")?.unwrap_or(DEFAULT_WINDOW);
        if !(1..=MAX_WINDOW).contains(&window) {
            let sentence = format!("`window` is a number of bytes from 1 to {MAX_WINDOW}");
            return Err(Refusal::invalid(sentence));
        }
        let from = self.take("from").map_err(|_| {
            Refusal::invalid("`from` is \"screen\", \"start\", \"now\" or the offset of a byte")
        })?;
        let from = from.unwrap_or(SubscribeFrom::Screen);
        let created_at = self.take("createdAt")?;
        Ok(WsSubscribe { pane: self.need("pane")?, from, window, created_at })
    }

    fn input(&mut self) -> Result<WsActionCall, Refusal> {
        #[derive(Serialize)]
        struct Params<'a> {
            #[serde(rename = "paneId")]
            pane: &'a RawValue,
            #[serde(skip_serializing_if = "Option::is_none")]
            text: Option<&'a RawValue>,
            #[serde(skip_serializing_if = "Option::is_none")]
            base64: Option<&'a RawValue>,
        }
        let text = self.take_raw("text");
        let base64 = self.take_raw("base64");
        action_call("pane:write", &Params { pane: self.need_raw("pane")?, text, base64 })
    }

    fn keys(&mut self) -> Result<WsActionCall, Refusal> {
        #[derive(Serialize)]
        struct Params<'a> {
            #[serde(rename = "paneId")]
            pane: &'a RawValue,
            keys: &'a RawValue,
        }
        action_call(
            "pane:keys",
            &Params { pane: self.need_raw("pane")?, keys: self.need_raw("keys")? },
        )
    }

    fn resize(&mut self) -> Result<WsActionCall, Refusal> {
        #[derive(Serialize)]
        struct Params<'a> {
            #[serde(rename = "paneId")]
            pane: &'a RawValue,
            size: ResizeSize<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            force: Option<&'a RawValue>,
        }
        #[derive(Serialize)]
        struct ResizeSize<'a> {
            cols: &'a RawValue,
            rows: &'a RawValue,
        }
        let size = ResizeSize { cols: self.need_raw("cols")?, rows: self.need_raw("rows")? };
        let force = self.take_raw("force");
        action_call("pane:resize", &Params { pane: self.need_raw("pane")?, size, force })
    }

    fn action(&mut self) -> Result<WsActionCall, Refusal> {
        let params = self.take_raw("params");
        let params = params.map_or("{}", RawValue::get).as_bytes().to_vec();
        Ok(WsActionCall { name: Cow::Owned(self.need("name")?), params })
    }

    fn events(&mut self) -> Result<WsRequest, Refusal> {
        let include: String = self.need("include")?;
        let include = include.parse::<EventFilter>();
        let include = include.map_err(|error| Refusal::invalid(error.to_string()))?;
        Ok(WsRequest::Events(include, self.take("after")?))
    }

    /// Takes a field as raw JSON. If there are several of one name, the last one counts.
    fn remove(&mut self, name: &str) -> Option<&'a RawValue> {
        let mut last = None;
        self.0.retain(|(BorrowedText(field), value)| {
            let matches = field == name;
            if matches {
                last = Some(*value);
            }
            !matches
        });
        last
    }

    /// Takes an optional field as raw JSON; `null` counts as missing.
    fn take_raw(&mut self, name: &str) -> Option<&'a RawValue> {
        self.remove(name).filter(|value| value.get() != "null")
    }

    /// Takes a required field as raw JSON.
    fn need_raw(&mut self, name: &str) -> Result<&'a RawValue, Refusal> {
        self.take_raw(name).ok_or_else(|| missing(name))
    }

    /// Takes an optional field; `null` counts as missing.
    fn take<T: Deserialize<'a>>(&mut self, name: &str) -> Result<Option<T>, Refusal> {
        let Some(value) = self.take_raw(name) else { return Ok(None) };
        let value = serde_json::from_str(value.get());
        value.map(Some).map_err(|error| Refusal::invalid(format!("`{name}` is wrong: {error}")))
    }

    /// Takes a required field.
    fn need<T: Deserialize<'a>>(&mut self, name: &str) -> Result<T, Refusal> {
        self.take(name)?.ok_or_else(|| missing(name))
    }

    /// Refuses unknown fields: the client would expect an effect that they do not have.
    fn finish(&self, kind: &str) -> Result<(), Refusal> {
        let Some(name) = self.0.iter().map(|(BorrowedText(name), _)| name).min() else {
            return Ok(());
        };
        Err(Refusal::invalid(format!("`{kind}` has no field `{}`", name.escape_debug())))
    }
}

/// The length of an `id` in characters; `None` if it is neither a string nor a number.
fn id_length(id: &RawValue) -> Option<usize> {
    match id.get().as_bytes().first()? {
        b'"' => serde_json::from_str::<String>(id.get()).ok().map(|id| id.chars().count()),
        b'-' | b'0'..=b'9' => Some(id.get().len()),
        _ => None,
    }
}

fn missing(name: &str) -> Refusal {
    Refusal::invalid(format!("`{name}` is missing"))
}

fn unknown(kind: &str) -> Refusal {
    Refusal::invalid(format!("no message `{}`; there are {TYPES}", kind.escape_debug()))
}

fn action_call(name: &'static str, params: &impl Serialize) -> Result<WsActionCall, Refusal> {
    let params = serde_json::to_vec(params).map_err(Refusal::internal)?;
    Ok(WsActionCall { name: Cow::Borrowed(name), params })
}

#[cfg(test)]
mod tests {
    use paned_model::Code;
    use proptest::prelude::*;

    use super::*;

    /// Parses a message; shows its request, or the code that it is refused with.
    fn read(text: &str) -> String {
        match WsEnvelope::read(text).request {
            Ok(WsRequest::Sequential(act)) => format!("do {} {}", act.name, show(&act.params)),
            Ok(WsRequest::Concurrent(act)) => format!("run {} {}", act.name, show(&act.params)),
            Ok(request) => format!("{request:?}"),
            Err(refusal) => refusal.code.to_string(),
        }
    }

    fn show(params: &[u8]) -> String {
        String::from_utf8_lossy(params).into_owned()
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(read(text), expect, "{text}");
    }

    #[test]
    fn short_names_become_actions() {
        check(
            r#"{"type":"input","pane":"a","text":"\u0003é"}"#,
            r#"do pane:write {"paneId":"a","text":"\u0003é"}"#,
        );
        check(
            r#"{"type":"input","pane":"a","base64":"AA=="}"#,
            r#"do pane:write {"paneId":"a","base64":"AA=="}"#,
        );
        check(
            r#"{"type":"keys","pane":"a","keys":["enter"]}"#,
            r#"do pane:keys {"paneId":"a","keys":["enter"]}"#,
        );
        check(
            r#"{"type":"resize","pane":"a","cols":80,"rows":24}"#,
            r#"do pane:resize {"paneId":"a","size":{"cols":80,"rows":24}}"#,
        );
        check(r#"{"type":"action","name":"pane:list"}"#, "run pane:list {}");
        check(r#"{"type":"action","name":"x","params":{"a": [1]}}"#, r#"run x {"a": [1]}"#);
    }

    #[test]
    fn the_rest_is_read_here() {
        check(r#"{"type":"auth","token":"x"}"#, r#"Auth("x")"#);
        check(r#"{"type":"unsubscribe","channel":3}"#, "Unsubscribe(3)");
        check(r#"{"type":"ack","channel":3,"offset":9}"#, "Ack(3, Offset(9))");
        check(r#"{"type":"ping","id":1}"#, "Ping");
        check(r#"{"type":"ack","channel":-3,"offset":9}"#, "invalid");
        check(r#"{"type":"ack","channel":3,"offset":1.5}"#, "invalid");
        check(r#"{"type":"action","name":7}"#, "invalid");
        check(r#"{"type":"events","include":"a:b","after":-1}"#, "invalid");
    }

    #[track_caller]
    fn check_from(rest: &str, from: SubscribeFrom, window: u64) {
        let asked = WsEnvelope::read(&format!(r#"{{"type":"subscribe","pane":"a"{rest}}}"#));
        let Ok(WsRequest::Subscribe(subscribe)) = asked.request else { panic!("{asked:?}") };
        assert_eq!((subscribe.from, subscribe.window), (from, window), "{rest}");
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
            let asked =
                WsEnvelope::read(&format!(r#"{{"type":"subscribe","pane":"a","from":{from}}}"#));
            let sentence = asked.request.unwrap_err().sentence;
            assert!(sentence.starts_with("`from` is \"screen\", \"start\""), "{sentence}");
        }
    }

    #[track_caller]
    fn check_id(id: &str, expect: Option<&str>) {
        let asked = WsEnvelope::read(&format!(r#"{{"type":"ping","id":{id}}}"#));
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
            r#"do pane:write {"paneId":"a","text":"z"}"#,
        );
    }

    #[test]
    fn what_is_left_over_is_named_the_first_by_name_first() {
        let asked = WsEnvelope::read(r#"{"type":"ping","z":1,"b":null,"c":1,"b":2}"#);
        assert_eq!(asked.request.unwrap_err().sentence, "`ping` has no field `b`");
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange_to_be_answered(text in "\\PC*") {
            prop_assert_eq!(read(&text), "invalid");
        }
    }
}
