//! Anthropic messages.

use serde_json::{Value, json};

use super::reply::{AnswerPart, ModelAnswer, sse};

pub(super) fn frames(part: &AnswerPart<'_>, said: &ModelAnswer) -> String {
    let event = |mut data: Value, kind: &str| {
        data["type"] = json!(kind);
        sse(Some(kind), &data)
    };
    match part {
        AnswerPart::Open => {
            let mut message = whole(said);
            message["content"] = json!([]);
            message["stop_reason"] = Value::Null;
            let start = event(json!({ "message": message }), "message_start");
            if said.call.is_some() {
                return start;
            }
            let block = json!({ "type": "text", "text": "" });
            start + &event(json!({ "index": 0, "content_block": block }), "content_block_start")
        }
        AnswerPart::Words(words) => {
            let delta = json!({ "type": "text_delta", "text": words });
            event(json!({ "index": 0, "delta": delta }), "content_block_delta")
        }
        AnswerPart::Call => {
            let Some(call) = &said.call else { return String::new() };
            let block =
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
            let delta =
                json!({ "type": "input_json_delta", "partial_json": call.args.to_string() });
            event(json!({ "index": 0, "content_block": block }), "content_block_start")
                + &event(json!({ "index": 0, "delta": delta }), "content_block_delta")
        }
        AnswerPart::Close => {
            let delta = json!({ "stop_reason": reason(said), "stop_sequence": null });
            let usage = json!({ "output_tokens": 20 });
            event(json!({ "index": 0 }), "content_block_stop")
                + &event(json!({ "delta": delta, "usage": usage }), "message_delta")
                + &event(json!({}), "message_stop")
        }
    }
}

fn reason(said: &ModelAnswer) -> &'static str {
    if said.call.is_some() { "tool_use" } else { "end_turn" }
}

pub(super) fn whole(said: &ModelAnswer) -> Value {
    let block = match &said.call {
        Some(call) => {
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.args })
        }
        None => json!({ "type": "text", "text": said.text }),
    };
    json!({ "id": said.id, "type": "message", "role": "assistant", "model": said.model, "content": [block],
        "stop_reason": reason(said), "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 20 } })
}
