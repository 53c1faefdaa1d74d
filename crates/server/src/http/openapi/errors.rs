//! The errors of an operation: a response for every status that can occur, with its codes.

use axum::http::StatusCode;
use paned_model::{Code, Refusal};
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::content;
use crate::http::reply::{ErrorFormat, JSON, PROBLEM};

/// What every request can meet before its route is reached.
const BEFORE_THE_ROUTE: [u16; 8] = [401, 403, 415, 421, 429, 431, 500, 503];
/// What a body adds to that.
const OF_A_BODY: [u16; 3] = [400, 408, 413];
/// What an action adds to that.
const OF_AN_ACTION: [u16; 4] = [404, 409, 410, 504];
/// Where HTTP has a more exact status than that of the code.
const MORE_EXACT: [(u16, Code); 9] = [
    (403, Code::Forbidden),
    (405, Code::Invalid),
    (406, Code::Invalid),
    (408, Code::Timeout),
    (413, Code::Limit),
    (415, Code::Invalid),
    (421, Code::Invalid),
    (422, Code::Invalid),
    (431, Code::Limit),
];

const FORMATS: [ErrorFormat; 4] =
    [ErrorFormat::Coded, ErrorFormat::Bare, ErrorFormat::Problem, ErrorFormat::JsonRpc];

/// What makes an operation refuse requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct ErrorSources {
    /// Whether it reads a body or a parameter.
    pub(super) reads: bool,
    /// Whether it runs an action.
    pub(super) acts: bool,
    /// The statuses that it alone has.
    pub(super) more: &'static [u16],
    /// The format of its own errors.
    pub(super) format: ErrorFormat,
}

impl ErrorSources {
    /// Those of an action.
    pub(super) const ACTION: Self =
        Self { reads: true, acts: true, more: &[], format: ErrorFormat::Coded };

    /// The responses, by status.
    pub(super) fn responses(self) -> Map<String, Value> {
        let mut statuses = BEFORE_THE_ROUTE.to_vec();
        if self.reads {
            statuses.extend(OF_A_BODY);
        }
        if self.acts {
            statuses.extend(OF_AN_ACTION);
        }
        statuses.extend(self.more);
        statuses.sort_unstable();
        statuses.dedup();
        let response = |status: u16| {
            let name = component_name(self.format, status);
            json!({ "$ref": format!("#/components/responses/{name}") })
        };
        statuses.into_iter().map(|status| (status.to_string(), response(status))).collect()
    }
}

/// The responses of all statuses in all formats, and the schemas that they refer to.
pub(super) fn components(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let coded = generator.subschema_for::<Refusal>().to_value();
    let all = FORMATS.into_iter().flat_map(|format| statuses().map(move |status| (format, status)));
    let named =
        |(format, status)| (component_name(format, status), response(format, status, &coded));
    all.map(named).collect()
}

/// Every status of an error.
fn statuses() -> impl Iterator<Item = u16> {
    let mut all: Vec<u16> = Code::ALL.iter().map(|code| code.http()).collect();
    all.extend(MORE_EXACT.iter().map(|(status, _)| *status));
    all.push(StatusCode::UPGRADE_REQUIRED.as_u16());
    all.sort_unstable();
    all.dedup();
    all.into_iter()
}

/// The codes that come with a status.
fn codes(status: u16) -> Vec<Code> {
    let usual = Code::ALL.into_iter().filter(|code| code.http() == status);
    let exact = MORE_EXACT.iter().filter(|(exact, _)| *exact == status).map(|(_, code)| *code);
    let mut codes: Vec<Code> = Vec::new();
    for code in usual.chain(exact) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

fn component_name(format: ErrorFormat, status: u16) -> String {
    let format = match format {
        ErrorFormat::Coded => "Error",
        ErrorFormat::Bare => "AgentmuxError",
        ErrorFormat::Problem => "AgentapiError",
        ErrorFormat::JsonRpc => "JsonRpcError",
    };
    format!("{format}{status}")
}

fn response(format: ErrorFormat, status: u16, coded: &Value) -> Value {
    let reason = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
    let codes = codes(status);
    let described = json!({ "allOf": [coded, { "properties": { "code": { "enum": codes } } }] });
    let content = match format {
        _ if status == StatusCode::UPGRADE_REQUIRED.as_u16() => {
            content("text/plain; charset=utf-8", json!({ "type": "string" }))
        }
        ErrorFormat::Coded => content(JSON, described),
        ErrorFormat::Bare => content(JSON, bare()),
        ErrorFormat::Problem => json!({
            JSON: { "schema": described },
            PROBLEM: { "schema": problem(status) },
        }),
        ErrorFormat::JsonRpc => content(JSON, json!({ "anyOf": [described, json_rpc()] })),
    };
    let words: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let mut response = json!({
        "description": format!("{}: {}.", reason.unwrap_or("Error"), words.join(", ")),
        "content": content,
    });
    if codes.is_empty() {
        response["description"] = json!(format!("{}.", reason.unwrap_or("Error")));
    }
    match status {
        401 => {
            response["headers"] = json!({
                "WWW-Authenticate": { "required": true, "schema": { "const": "Bearer" } },
            });
        }
        429 => {
            response["headers"] = json!({
                "Retry-After": {
                    "description": "Seconds until it may work, where that is known.",
                    "schema": { "type": "integer", "minimum": 0 },
                },
            });
        }
        _ => {}
    }
    response
}

/// An error of agentmux. Those of the guard before it have a code as well.
fn bare() -> Value {
    json!({
        "type": "object",
        "properties": { "error": { "type": "string" } },
        "required": ["error"],
    })
}

/// A JSON-RPC error, of a route that speaks JSON-RPC.
fn json_rpc() -> Value {
    json!({
        "type": "object",
        "properties": {
            "jsonrpc": { "const": "2.0" },
            "error": {
                "type": "object",
                "properties": {
                    "code": { "type": "integer" },
                    "message": { "type": "string" },
                },
                "required": ["code", "message"],
            },
            "id": { "type": ["string", "number", "null"] },
        },
        "required": ["jsonrpc", "error"],
    })
}

/// RFC 9457 problem details, as agentapi sends them.
fn problem(status: u16) -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": { "type": "string" },
            "status": { "const": status },
            "detail": { "type": "string" },
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": { "message": { "type": "string" } },
                    "required": ["message"],
                },
            },
        },
        "required": ["title", "status", "detail", "errors"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_the_codes_that_come_with_it() {
        assert_eq!(codes(403), [Code::Forbidden, Code::Vetoed, Code::Denied]);
        assert_eq!(codes(409), [Code::Conflict, Code::Busy]);
        assert_eq!(codes(415), [Code::Invalid]);
        for code in Code::ALL {
            assert!(codes(code.http()).contains(&code), "{code}");
            let action = ErrorSources::ACTION.responses();
            assert!(action.contains_key(&code.http().to_string()), "{code}");
        }
    }

    #[test]
    fn what_is_referred_to_is_there() {
        let mut generator = SchemaGenerator::default();
        let components = components(&mut generator);
        for format in FORMATS {
            let more = &[405, 406, 422, 426];
            let sources = ErrorSources { reads: true, acts: true, more, format };
            for response in sources.responses().values() {
                let name = response["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
                assert!(components.contains_key(name), "{name}");
            }
        }
    }
}
