//! The JSON Schemas of our own routes, which are not derived from an action.

use paned_kernel::ActionKind;
use paned_model::Scope;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

use crate::http::sign_in::{SignInRequest, SignInResponse};

/// Any JSON.
pub(super) fn anything() -> Value {
    json!({})
}

/// Any text.
pub(super) fn any_text() -> Value {
    json!({ "type": "string" })
}

/// The name of a custom event; the document replaces it by that of the action `event:emit`.
pub(super) fn event_name() -> Value {
    any_text()
}

/// A list of names of events.
pub(super) fn event_filter() -> Value {
    json!({ "type": "string", "pattern": r"^[^*,]*(\*\s*)?(,[^*,]*(\*\s*)?)*$" })
}

/// The number of an event, as a text.
pub(super) fn event_id() -> Value {
    json!({ "type": "string", "pattern": "^[0-9]{1,19}$" })
}

/// The answer of `POST /emit/{event}`.
pub(super) fn emitted() -> Value {
    json!({
        "type": "object",
        "properties": { "id": { "type": "integer", "minimum": 0 } },
        "required": ["id"],
    })
}

/// The answer of `GET /actions`.
pub(super) fn actions() -> Value {
    let schema = json!({ "type": "object", "description": "A JSON Schema." });
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "pattern": "^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$" },
                "doc": { "type": "string", "description": "One sentence." },
                "scope": inline::<Scope>(),
                "kind": inline::<ActionKind>(),
                "params": schema,
                "answer": schema,
            },
            "required": ["name", "doc", "scope", "kind", "params", "answer"],
        },
    })
}

/// The answer of `GET /openapi.json`.
pub(super) fn openapi() -> Value {
    json!({
        "type": "object",
        "properties": {
            "openapi": { "const": super::openapi::VERSION },
            "info": { "type": "object" },
            "paths": { "type": "object" },
            "components": { "type": "object" },
        },
        "required": ["openapi", "info", "paths", "components"],
    })
}

/// The answer of `GET /health`: more for callers that may read.
pub(super) fn health() -> Value {
    let count = json!({ "type": "integer", "minimum": 0 });
    json!({
        "type": "object",
        "properties": {
            "status": { "const": "ok" },
            "version": { "type": "string" },
            "pid": count,
            "uptimeMs": count,
            "panes": {
                "type": "object",
                "description": "The number of panes in each status.",
                "additionalProperties": count,
            },
            "lastEvent": count,
            "trouble": { "type": "string", "description": "What is wrong, if anything is." },
        },
        "required": ["status"],
        "additionalProperties": false,
    })
}

/// The body of `POST /sign-in`.
pub(super) fn sign_in() -> Value {
    inline_read::<SignInRequest>()
}

/// Its answer.
pub(super) fn signed_in() -> Value {
    inline::<SignInResponse>()
}

/// The answer of `GET /ws` without an upgrade.
pub(super) fn web_socket() -> Value {
    let count = json!({ "type": "integer", "minimum": 1 });
    let sizes = ["maxChannels", "maxMessageBytes", "windowBytes", "maxWindowBytes"];
    let mut properties = json!({ "protocol": { "const": crate::ws::PROTOCOL } });
    for size in sizes {
        properties[size] = count.clone();
    }
    let required: Vec<&str> = std::iter::once("protocol").chain(sizes).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn inline<T: JsonSchema>() -> Value {
    settings().for_serialize().into_generator().into_root_schema_for::<T>().to_value()
}

fn inline_read<T: JsonSchema>() -> Value {
    settings().into_generator().into_root_schema_for::<T>().to_value()
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|set| {
        set.inline_subschemas = true;
        set.meta_schema = None;
    })
}
