//! Gemini's `generateContent`.

use serde_json::{Value, json};

use super::reply::{AnswerPart, ModelAnswer, sse};

pub(super) fn frames(part: &AnswerPart<'_>, said: &ModelAnswer) -> String {
    match part {
        AnswerPart::Open => String::new(),
        AnswerPart::Words(words) => sse(None, &content(&json!({ "text": words }), false)),
        AnswerPart::Call => sse(None, &content(&call(said), false)),
        AnswerPart::Close => sse(None, &content(&json!({ "text": "" }), true)),
    }
}

fn call(said: &ModelAnswer) -> Value {
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

pub(super) fn whole(said: &ModelAnswer) -> Value {
    let part = if said.call.is_some() { call(said) } else { json!({ "text": said.text }) };
    content(&part, true)
}
