//! What clients send and what they get.

use std::collections::BTreeSet;

use paned_model::Code;
use proptest::prelude::*;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, json};

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
    check(r#"{"type":"input","pane":"a","text":"\u0003é"}"#, r#"{"paneId":"a","text":"\u0003é"}"#);
    check(r#"{"type":"input","pane":"a","base64":"AA=="}"#, r#"{"paneId":"a","base64":"AA=="}"#);
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
    check(r#"{"type":"events","include":"a:b","since":-1}"#, "invalid");
}

#[track_caller]
fn check_sentence(text: &str, expect: &str) {
    assert_eq!(WsEnvelope::read(text).request.unwrap_err().sentence, expect, "{text}");
}

#[test]
fn a_refusal_names_the_field() {
    check_sentence(r#"{"channel":1}"#, "`type` is missing");
    check_sentence(r#"{"type":0,"token":"x"}"#, "`type` must be a string, not 0");
    check_sentence(
        r#"{"type":"dance"}"#,
        "`type`: invalid value `dance`; expected `auth`, `subscribe`, `unsubscribe`, `ack`, \
        `input`, `keys`, `resize`, `release`, `events`, `activity`, `action` or `ping`",
    );
    check_sentence(r#"{"type":"ack","channel":1}"#, "`ack`: missing field `offset`");
    check_sentence(
        r#"{"type":"ack","channel":"x","offset":1}"#,
        "`channel` must be a whole number from 0 to 4294967295, not \"x\"",
    );
    check_sentence(
        r#"{"type":"keys","pane":"a","keys":["a",1]}"#,
        "`keys` must be a string, not 1",
    );
    check_sentence(
        r#"{"type":"subscribe","pane":"a","window":0}"#,
        "`window` must be a number of bytes from 1 to 16777216",
    );
    check_sentence(r#"{"type":"ping","z":1,"b":null,"c":1,"b":2}"#, "`ping` has no field `b`");
}

#[track_caller]
fn check_from(rest: &str, from: SubscribeSince, window: u64) {
    let text = format!(r#"{{"type":"subscribe","pane":"a"{rest}}}"#);
    let asked = WsEnvelope::read(&text);
    let Ok(WsRequest::Subscribe(subscribe)) = asked.request else { panic!("{asked:?}") };
    let begins = subscribe.since.unwrap_or_default();
    assert_eq!((begins, subscribe.window), (from, window), "{rest}");
}

#[test]
fn a_channel_begins_with_the_screen_unless_something_else_is_said() {
    check_from("", SubscribeSince::Screen, DEFAULT_WINDOW);
    check_from(r#","since":null"#, SubscribeSince::Screen, DEFAULT_WINDOW);
    check_from(r#","since":"screen""#, SubscribeSince::Screen, DEFAULT_WINDOW);
    check_from(r#","since":"start""#, SubscribeSince::Start, DEFAULT_WINDOW);
    check_from(r#","since":"now","window":1"#, SubscribeSince::Now, 1);
    check_from(r#","since":17,"window":16777216"#, SubscribeSince::Offset(Offset(17)), MAX_WINDOW);
}

#[test]
fn a_place_that_is_none_is_refused_with_those_there_are() {
    for from in [r#""end""#, "-1", "1.5", "[]", "{}", "true"] {
        let text = format!(r#"{{"type":"subscribe","pane":"a","since":{from}}}"#);
        let sentence = WsEnvelope::read(&text).request.unwrap_err().sentence;
        assert!(sentence.starts_with("`since` must be \"screen\", \"start\""), "{sentence}");
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

#[track_caller]
fn check_frame(message: &Message, expect: &str) {
    assert_eq!(message.to_text().unwrap(), expect);
}

#[test]
fn a_message_says_its_type_first() {
    let id = serde_json::value::to_raw_value("x").unwrap();
    let pong = WsMessage::Pong { id: Some(&id) };
    check_frame(&pong.frame(), r#"{"type":"pong","id":"x"}"#);
    check_frame(&WsMessage::Pong { id: None }.frame(), r#"{"type":"pong"}"#);
    let gap = WsMessage::Gap { channel: 1, from: Offset(2), to: Offset(3) };
    check_frame(&gap.frame(), r#"{"type":"gap","channel":1,"from":2,"to":3}"#);
    let missed = WsMessage::Missed { first: EventId(2), last: EventId(3) };
    check_frame(&missed.frame(), r#"{"type":"gap","first":2,"last":3}"#);
    let answer = serde_json::value::to_raw_value(&json!({ "a": 1 })).unwrap();
    let ok = WsMessage::Ok { id: &id, answer: Some(&answer) };
    check_frame(&ok.frame(), r#"{"type":"ok","id":"x","answer":{"a":1}}"#);
}

#[test]
fn a_refusal_is_told_as_everywhere() {
    let refusal = Refusal::new(Code::Gone, "it is over").with_details(json!({ "a": 1 }));
    let error = WsMessage::Error { id: None, channel: None, refusal: &refusal };
    let expect = r#"{"type":"error","error":"it is over","code":"gone","details":{"a":1}}"#;
    check_frame(&error.frame(), expect);
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
    let page = include_str!("../../../../../docs/websocket.md");
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
    assert_eq!(documented("Messages of the client"), messages(&requests));
    let generator = settings.for_serialize().into_generator();
    let mut sent = messages(&generator.into_root_schema_for::<WsMessage<'_>>());
    // The journal writes this one.
    let entry = JournalEntry::new(EventId(7), Time(0), "a".to_owned(), "{}".to_owned());
    let event: Map<String, Value> = serde_json::from_slice(&entry.json()).unwrap();
    assert_eq!(event.keys().next().unwrap(), "type");
    let fields: Vec<_> = event.keys().skip(1).map(String::as_str).collect();
    sent.insert(format!("event {{{}}}", fields.join(", ")));
    assert_eq!(documented("Messages of the server"), sent);
}
