//! The bodies and answers of opencode-pty as JSON Schema.

use paned_server::RouteShape;
use serde_json::{Value, json};

/// The answer to a request without an upgrade.
const UPGRADE_REQUIRED: &[u16] = &[426];

pub(super) const LIST: RouteShape = RouteShape::NOTHING.with_answer(list);
pub(super) const CREATE: RouteShape =
    RouteShape::NOTHING.with_required_body(create_body).with_answer(info);
pub(super) const INFO: RouteShape = RouteShape::NOTHING.with_answer(info);
pub(super) const DONE: RouteShape = RouteShape::NOTHING.with_answer(success).with_statuses(&[400]);
pub(super) const INPUT: RouteShape =
    RouteShape::NOTHING.with_required_body(input_body).with_answer(success);
pub(super) const RAW: RouteShape = RouteShape::NOTHING.with_answer(raw);
pub(super) const PLAIN: RouteShape = RouteShape::NOTHING.with_answer(plain);
pub(super) const HEALTH: RouteShape = RouteShape::NOTHING.with_answer(health);
pub(super) const SOCKET: RouteShape =
    RouteShape::NOTHING.with_upgrade().with_statuses(UPGRADE_REQUIRED);
pub(super) const PAGE: RouteShape = RouteShape::NOTHING.with_answer(text);

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

pub(super) fn filled_text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

fn list() -> Value {
    json!({ "type": "array", "items": info() })
}

/// A request for a session. Null counts as missing, and other fields are ignored.
fn create_body() -> Value {
    let program_text = r"^[^\x00]*$";
    let or_null = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": {
            "command": { "type": "string", "minLength": 1, "pattern": program_text },
            "args": {
                "type": ["array", "null"],
                "items": { "type": "string", "pattern": program_text },
            },
            "workdir": {
                "type": ["string", "null"],
                "pattern": r"^/[^\x00]*$",
                "format": "folder",
            },
            "env": {
                "type": ["object", "null"],
                "propertyNames": { "pattern": r"^[^=\x00]+$" },
                "additionalProperties": { "type": "string", "pattern": program_text },
            },
            "title": or_null,
            "description": or_null,
            "notifyOnExit": { "type": ["boolean", "null"] },
            "timeoutSeconds": { "type": ["integer", "null"], "minimum": 1, "maximum": u32::MAX },
        },
        "required": ["command"],
    })
}

fn input_body() -> Value {
    json!({
        "type": "object",
        "properties": { "data": { "type": "string", "minLength": 1 } },
        "required": ["data"],
    })
}

fn info() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": text(),
            "title": text(),
            "description": text(),
            "command": text(),
            "args": { "type": "array", "items": text() },
            "workdir": text(),
            "status": { "enum": ["running", "exited", "killing", "killed"] },
            "notifyOnExit": { "type": "boolean" },
            "timeoutSeconds": count(),
            "timedOut": { "type": "boolean" },
            "exitCode": count(),
            "exitSignal": text(),
            "pid": count(),
            "createdAt": { "type": "string", "format": "date-time" },
            "lineCount": count(),
        },
        "required": [
            "id", "title", "command", "args", "workdir", "status", "notifyOnExit", "timedOut",
            "createdAt", "lineCount",
        ],
        "additionalProperties": false,
    })
}

fn success() -> Value {
    json!({
        "type": "object",
        "properties": { "success": { "const": true } },
        "required": ["success"],
    })
}

/// Output as `field`, with its length.
fn output(field: &str) -> Value {
    json!({
        "type": "object",
        "properties": { field: text(), "byteLength": count() },
        "required": [field, "byteLength"],
    })
}

fn raw() -> Value {
    output("raw")
}

fn plain() -> Value {
    output("plain")
}

/// An object of counts.
fn counts(names: &[&str]) -> Value {
    let fields = names.iter().map(|name| ((*name).to_owned(), count()));
    json!({ "type": "object", "properties": Value::Object(fields.collect()), "required": names })
}

fn health() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "const": "healthy" },
            "timestamp": { "type": "string", "format": "date-time" },
            "uptime": { "type": "number", "minimum": 0 },
            "sessions": counts(&["total", "active"]),
            "websocket": counts(&["connections"]),
            "memory": counts(&["rss", "heapUsed", "heapTotal"]),
            "responseTime": count(),
        },
        "required": [
            "status", "timestamp", "uptime", "sessions", "websocket", "memory", "responseTime",
        ],
    })
}
