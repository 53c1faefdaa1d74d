//! Gemini's `generateContent`.

use serde_json::{Value, json};

use super::reply::{Part, Said, sse};

pub(super) fn frames(part: &Part<'_>, said: &Said) -> String {
    match part {
        Part::Open => String::new(),
        Part::Words(words) => sse(None, &content(&json!({ "text": words }), false)),
        Part::Call => sse(None, &content(&call(said), false)),
        Part::Close => sse(None, &content(&json!({ "text": "" }), true)),
    }
}

fn call(said: &Said) -> Value {
    let Some(call) = &said.call else { return Value::Null };
    json!({ "functionCall": { "id": call.id, "name": call.name, "args": call.args } })
}

fn content(part: &Value, is_last: bool) -> Value {
    let mut candidate = json!({ "index": 0, "content": { "role": "model", "parts": [part] } });
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    let usage =
        json!({ "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 });
    json!({ "candidates": [candidate], "usageMetadata": usage })
}

pub(super) fn whole(said: &Said) -> Value {
    let part = if said.call.is_some() { call(said) } else { json!({ "text": said.text }) };
    content(&part, true)
}
