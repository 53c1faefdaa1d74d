//! The bodies and answers of agentmux as JSON Schema.

use paned_server::RouteShape;
use serde_json::{Map, Value, json};

use super::body::KEYS;

pub(super) const HEALTH: RouteShape = RouteShape::NOTHING.with_answer(health);
pub(super) const SESSIONS: RouteShape = RouteShape::NOTHING.with_answer(sessions);
pub(super) const IDLE: RouteShape = RouteShape::NOTHING.with_answer(idle);
pub(super) const CAPTURE: RouteShape = RouteShape::NOTHING.with_answer(capture);
pub(super) const SEND: RouteShape =
    RouteShape::NOTHING.with_required_body(send_body).with_answer(sent);
pub(super) const RUN: RouteShape =
    RouteShape::NOTHING.with_required_body(run_body).with_answer(running);
pub(super) const KEY: RouteShape =
    RouteShape::NOTHING.with_required_body(key_body).with_answer(pressed);
pub(super) const RESTART: RouteShape =
    RouteShape::NOTHING.with_body(ignored).with_answer(restarted);
pub(super) const CLEANUP: RouteShape =
    RouteShape::NOTHING.with_body(ignored).with_answer(cleaned_up);
pub(super) const KILL: RouteShape =
    RouteShape::NOTHING.with_required_body(kill_body).with_answer(killed);

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

/// A whole number above zero, or nothing for the default.
pub(super) fn lines() -> Value {
    json!({ "type": "string", "pattern": r"^(\s*\+?0*[1-9][0-9]*\s*)?$" })
}

/// An object with these fields, all of which it has.
fn object(fields: Value) -> Value {
    let required: Vec<&String> = fields.as_object().into_iter().flat_map(Map::keys).collect();
    json!({ "type": "object", "required": required, "properties": fields })
}

/// The same with fields that it may have.
fn object_with(fields: Value, optional: Value) -> Value {
    let mut schema = object(fields);
    for (name, field) in optional.as_object().into_iter().flatten() {
        schema["properties"][name] = field.clone();
    }
    schema
}

fn ignored() -> Value {
    json!({ "type": "object" })
}

fn not_blank() -> Value {
    json!({ "type": "string", "pattern": r"\S" })
}

fn target() -> Value {
    json!({ "type": ["string", "null"], "description": "The session; defaults to the active one." })
}

fn send_body() -> Value {
    object_with(json!({ "text": not_blank() }), json!({ "target": target() }))
}

fn run_body() -> Value {
    object(json!({ "text": not_blank() }))
}

fn kill_body() -> Value {
    object(json!({ "session": not_blank() }))
}

/// A key has a name in any case; `repeat` is a number or a text of one, 50 at most.
fn key_body() -> Value {
    let any_case = |name: &str| -> String {
        name.chars().map(|c| format!("[{c}{}]", c.to_ascii_uppercase())).collect()
    };
    let names = KEYS.map(|(name, _)| any_case(name)).join("|");
    let number = json!({ "type": "integer", "minimum": 1, "maximum": u64::MAX });
    let digits = json!({ "type": "string", "pattern": r"^\s*\+?0*[1-9][0-9]*\s*$" });
    object_with(
        json!({ "key": { "type": "string", "pattern": format!(r"^\s*({names})\s*$") } }),
        json!({ "repeat": { "anyOf": [number, digits] }, "target": target() }),
    )
}

fn entry() -> Value {
    json!({
        "name": text(),
        "status": { "enum": ["creating", "active", "completed", "error"] },
        "created_at": { "type": "string", "pattern": r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$" },
        "target": text(),
    })
}

fn percent() -> Value {
    json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 255 })
}

fn health() -> Value {
    let activity = json!({
        "tmux_exists": { "const": false },
        "idle": { "type": "boolean" },
        "ctx_percent": percent(),
    });
    object(json!({
        "ok": { "const": true },
        "agent": text(),
        "active_session": { "type": ["string", "null"] },
        "total_sessions": { "type": "integer", "minimum": 0 },
        "sessions": { "type": "array", "items": object_with(entry(), activity) },
    }))
}

fn sessions() -> Value {
    object(json!({ "sessions": { "type": "array", "items": object(entry()) }, "active": text() }))
}

fn idle() -> Value {
    object(json!({ "idle": { "type": "boolean" }, "ctx_percent": percent(), "session": text() }))
}

fn capture() -> Value {
    object(json!({
        "target": text(),
        "lines": { "type": "integer", "minimum": 10, "maximum": 500 },
        "content": text(),
    }))
}

/// The answer of an action, with these fields besides.
fn done(action: &str, fields: Value) -> Value {
    let mut all = json!({ "ok": { "const": true }, "action": { "const": action } });
    for (name, field) in fields.as_object().into_iter().flatten() {
        all[name] = field.clone();
    }
    object_with(all, json!({ "outcome": { "enum": ["queued", "held"] } }))
}

fn sent() -> Value {
    done("send", json!({ "target": text() }))
}

fn running() -> Value {
    done("run", json!({ "session": text(), "target": text() }))
}

fn pressed() -> Value {
    done("key", json!({ "target": text(), "key": text() }))
}

fn restarted() -> Value {
    let ready = json!({ "const": true });
    done("restart", json!({ "session": text(), "target": text(), "ready": ready }))
}

fn cleaned_up() -> Value {
    done("cleanup", json!({ "killed": { "type": "array", "items": text() } }))
}

fn killed() -> Value {
    done("kill", json!({ "session": text() }))
}
