//! OpenAI chat completions.

use serde_json::{Value, json};

use super::reply::{AnswerPart, ModelAnswer, sse};

pub(super) fn frames(part: &AnswerPart<'_>, said: &ModelAnswer) -> String {
    match part {
        AnswerPart::Open => chunk(said, &json!({ "role": "assistant", "content": "" }), None),
        AnswerPart::Words(words) => chunk(said, &json!({ "content": words }), None),
        AnswerPart::Call => {
            let calls = json!([call(said, true)]);
            chunk(said, &json!({ "tool_calls": calls }), None)
        }
        AnswerPart::Close => {
            let usage = json!({ "id": said.id, "object": "chat.completion.chunk", "created": 0,
                "model": said.model, "choices": [], "usage": usage() });
            chunk(said, &json!({}), Some(reason(said))) + &sse(None, &usage) + "data: [DONE]\n\n"
        }
    }
}

fn chunk(said: &ModelAnswer, delta: &Value, reason: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
    let chunk = json!({ "id": said.id, "object": "chat.completion.chunk", "created": 0,
        "model": said.model, "choices": [choice] });
    sse(None, &chunk)
}

fn call(said: &ModelAnswer, in_pieces: bool) -> Value {
    let Some(call) = &said.call else { return Value::Null };
    let function = json!({ "name": call.name, "arguments": call.args.to_string() });
    let mut value = json!({ "id": call.id, "type": "function", "function": function });
    if in_pieces {
        value["index"] = json!(0);
    }
    value
}

fn reason(said: &ModelAnswer) -> &'static str {
    if said.call.is_some() { "tool_calls" } else { "stop" }
}

fn usage() -> Value {
    json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 })
}

pub(super) fn whole(said: &ModelAnswer) -> Value {
    let mut message = json!({ "role": "assistant", "content": said.text });
    if said.call.is_some() {
        message["tool_calls"] = json!([call(said, false)]);
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": reason(said) });
    json!({ "id": said.id, "object": "chat.completion", "created": 0, "model": said.model,
        "choices": [choice], "usage": usage() })
}
