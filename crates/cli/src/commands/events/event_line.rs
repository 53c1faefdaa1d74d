//! An event in one line for people: when, what, and what matters of the payload.

use paned_model::Time;
use serde_json::{Map, Value};

use crate::client::sse::ParsedSseEvent;
use crate::out::{Clock, StyledLine, TextStyle};

/// The column after names; a longer name pushes its own line only.
const NAME_WIDTH: usize = 15;
/// Fields that say what the event is about; the first that is there stands before the others.
const SUBJECTS: [&str; 6] = ["paneId", "pane", "session", "actionName", "name", "id"];
/// Fields that are noise for people, or are said elsewhere in the line.
const LEFT_OUT: [&str; 7] =
    ["instance", "createdAt", "endedAt", "since", "confidence", "source", "status"];

/// The line of an event.
pub(super) fn line(clock: &Clock, event: &ParsedSseEvent, payload: &Value) -> StyledLine {
    let time: Option<Time> = serde_json::from_value(event.time.as_str().into()).ok();
    let time = time.map_or_else(|| event.time.clone(), |time| clock.short(time));
    let has_details = payload.as_object().is_none_or(|fields| !fields.is_empty());
    let width = if has_details { NAME_WIDTH } else { 0 };
    let name = format!("{:width$}", event.event);
    let line = StyledLine::new(TextStyle::Faint, &format!("{time} "))
        .then(style(&event.event, payload), &name);
    match payload {
        Value::Object(fields) => line.with(details(fields)),
        Value::Null => line,
        other => line.then(TextStyle::Plain, &format!(" {other}")),
    }
}

/// The colour of a kind of event: what went wrong is red, whatever kind it is.
fn style(name: &str, payload: &Value) -> TextStyle {
    let failed = payload.get("exitCode").and_then(Value::as_u64).is_some_and(|code| code != 0);
    match name {
        "gap" | "pane:lost" | "pane:killed" | "action:error" | "agent:gave-up" => TextStyle::Bad,
        "pane:exited" if failed => TextStyle::Bad,
        _ => match name.split(':').next().unwrap_or_default() {
            "pane" => TextStyle::Good,
            "agent" => TextStyle::Accent(3),
            "action" => TextStyle::Faint,
            "session" | "layout" => TextStyle::Accent(0),
            "server" | "journal" | "grant" => TextStyle::Accent(4),
            _ => TextStyle::Strong,
        },
    }
}

/// What the event is about, then its other short fields.
fn details(fields: &Map<String, Value>) -> StyledLine {
    let subject = SUBJECTS.iter().find_map(|name| Some((*name, subject(fields.get(*name)?)?)));
    let mut line = StyledLine::default();
    if let Some((_, text)) = &subject {
        line = line.then(TextStyle::Strong, &format!(" {text}"));
    }
    let named = subject.as_ref().map(|(name, _)| *name);
    for (name, value) in fields {
        let is_shown = Some(name.as_str()) != named && !LEFT_OUT.contains(&name.as_str());
        if let Some(text) = value_text(name, value).filter(|_| is_shown) {
            line = line.then(TextStyle::Plain, &format!(" {text}"));
        }
    }
    line
}

fn subject(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(object) => object.get("id")?.as_str().map(str::to_owned),
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
}

/// A field in a word or two. Structures are left out: `--json` has them.
fn value_text(name: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) if text.is_empty() => return None,
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(true) => return Some(name.to_owned()),
        Value::Object(size) if name == "size" => {
            return Some(format!("{}x{}", size.get("cols")?, size.get("rows")?));
        }
        Value::Bool(false) | Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(match name {
        "exitCode" => format!("exit {text}"),
        "exitSignal" | "state" | "title" => text,
        "kind" => format!("({text})"),
        "error" | "reason" | "message" => text,
        name => format!("{name}={text}"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(name: &str, payload: Value, expect: &str) {
        let event = ParsedSseEvent {
            id: Some(7),
            time: "2026-11-18T20:03:11.250Z".into(),
            event: name.into(),
            data: String::new(),
        };
        let line = line(&Clock::local(), &event, &payload).render(false);
        let (_, shown) = line.split_once(name).unwrap();
        assert_eq!(shown.trim_start(), expect);
    }

    #[test]
    fn the_pane_comes_first_and_structures_are_left_out() {
        let payload = json!({ "exitCode": 3, "paneId": "build", "timedOut": false, "usage": {} });
        check("pane:exited", payload, "build exit 3");
        check(
            "agent:state",
            json!({ "paneId": "fix", "state": "blocked", "kind": "trust" }),
            "fix blocked (trust)",
        );
        check("pane:created", json!({ "pane": { "id": "web", "argv": [] } }), "web");
        check(
            "pane:resized",
            json!({ "paneId": "a", "size": { "cols": 80, "rows": 24 } }),
            "a 80x24",
        );
        check("action:start", json!({ "actionName": "pane:new" }), "pane:new");
        check("server:started", json!({}), "");
    }

    #[test]
    fn a_failure_is_red() {
        assert_eq!(style("pane:exited", &json!({ "exitCode": 3 })), TextStyle::Bad);
        assert_eq!(style("pane:exited", &json!({ "exitCode": 0 })), TextStyle::Good);
    }
}
