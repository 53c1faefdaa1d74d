//! OpenAI responses.

use serde_json::{Value, json};

use super::reply::{AnswerPart, ModelAnswer, sse};
use super::request::NAMESPACE;

pub(super) fn frames(part: &AnswerPart<'_>, said: &ModelAnswer) -> String {
    let event = |mut data: Value, kind: &str| {
        data["type"] = json!(kind);
        sse(Some(kind), &data)
    };
    match part {
        AnswerPart::Open => {
            let empty = json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress",
                "content": [] });
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            let open =
                event(json!({ "response": response(said, "in_progress") }), "response.created");
            if said.call.is_some() {
                return open;
            }
            open + &event(json!({ "output_index": 0, "item": empty }), "response.output_item.added")
                + &event(
                    json!({ "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": part }),
                    "response.content_part.added",
                )
        }
        AnswerPart::Words(words) => event(
            json!({ "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": words }),
            "response.output_text.delta",
        ),
        AnswerPart::Call => {
            event(json!({ "output_index": 0, "item": item(said) }), "response.output_item.added")
        }
        AnswerPart::Close => {
            event(json!({ "output_index": 0, "item": item(said) }), "response.output_item.done")
                + &event(json!({ "response": response(said, "completed") }), "response.completed")
        }
    }
}

fn item(said: &ModelAnswer) -> Value {
    match &said.call {
        Some(call) => {
            let (namespace, name) = call.name.split_once(NAMESPACE).unzip();
            let name = name.unwrap_or(&call.name);
            let mut item = json!({ "type": "function_call", "id": "fc_1", "call_id": call.id,
                "name": name, "arguments": call.args.to_string(), "status": "completed" });
            if let Some(namespace) = namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
        None => {
            let part = json!({ "type": "output_text", "text": said.text, "annotations": [] });
            json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [part] })
        }
    }
}

fn response(said: &ModelAnswer, status: &str) -> Value {
    let is_over = status == "completed";
    let output = if is_over { json!([item(said)]) } else { json!([]) };
    let usage = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 120 });
    let usage = if is_over { usage } else { Value::Null };
    json!({ "id": said.id, "object": "response", "created_at": 0, "status": status, "model": said.model,
        "output": output, "usage": usage })
}

pub(super) fn whole(said: &ModelAnswer) -> Value {
    response(said, "completed")
}
