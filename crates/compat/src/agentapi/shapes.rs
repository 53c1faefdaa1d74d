//! The bodies and answers of agentapi as JSON Schema.

use paned_model::PaneId;
use paned_server::RouteShape;
use serde_json::{Value, json};

/// A refusal of a body that is JSON but no message.
const UNPROCESSABLE: &[u16] = &[422];

pub(super) const STATUS: RouteShape = RouteShape::NOTHING.with_answer(status);
pub(super) const MESSAGES: RouteShape = RouteShape::NOTHING.with_answer(messages);
pub(super) const MESSAGE: RouteShape =
    RouteShape::NOTHING.with_required_body(message).with_answer(sent).with_statuses(UNPROCESSABLE);
pub(super) const EVENTS: RouteShape = RouteShape::NOTHING.with_answer(events);
pub(super) const UPLOAD: RouteShape = RouteShape::NOTHING.with_media("multipart/form-data", file);

pub(super) fn pane() -> Value {
    json!({ "type": "string", "pattern": PaneId::PATTERN })
}

fn status() -> Value {
    json!({
        "type": "object",
        "properties": {
            "agent_type": { "type": "string" },
            "status": { "enum": ["running", "stable"] },
            "transport": { "const": "pty" },
        },
        "required": ["agent_type", "status", "transport"],
    })
}

fn messages() -> Value {
    json!({
        "type": "object",
        "properties": {
            "messages": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "id": { "type": "integer", "minimum": 0 },
                        "content": { "type": "string" },
                        "role": { "enum": ["user", "agent"] },
                        "time": { "type": "string", "format": "date-time" },
                    },
                    "required": ["id", "content", "role", "time"],
                },
            },
        },
        "required": ["messages"],
    })
}

/// A prompt must not begin or end with a blank, and has no control characters but tabs and line
/// ends.
fn message() -> Value {
    json!({
        "type": "object",
        "properties": {
            "content": { "type": "string" },
            "type": { "enum": ["user", "raw"] },
            "$schema": {},
        },
        "required": ["content", "type"],
        "additionalProperties": false,
        "anyOf": [
            { "properties": { "type": { "const": "raw" } } },
            {
                "properties": {
                    "content": {
                        "pattern": r"^\S([\s\S]*\S)?$",
                        "not": { "pattern": r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]" },
                    },
                },
            },
        ],
    })
}

fn sent() -> Value {
    json!({
        "type": "object",
        "properties": { "ok": { "const": true } },
        "required": ["ok"],
    })
}

/// A stream, so this is about its text.
fn events() -> Value {
    json!({
        "type": "string",
        "description": "Events `message_update` (`id`, `message`, `role`, `time`) and \
                       `status_change` (`status`, `agent_type`): all there are, then each change.",
    })
}

fn file() -> Value {
    json!({ "type": "object", "properties": { "file": { "type": "string" } } })
}
