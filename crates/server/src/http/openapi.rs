//! The OpenAPI document, generated from the registry of actions and the table of routes.

use std::sync::Arc;

use paned_kernel::{ActionDefinition, Registry};
use paned_model::Refusal;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::http::reply::JSON;
use crate::http::routes::{ParamLocation, RequiredAccess, Route};

/// The route of all actions; in the document each action has its own path.
const ACTIONS: &str = "/action/{name}";

/// The document for these actions and routes and this version of paned.
pub(crate) fn document(registry: &Registry, routes: &[Arc<Route>], version: &str) -> Value {
    let mut schemas = Schemas::new();
    let refusal = schemas.answers.subschema_for::<Refusal>().to_value();
    let actions = registry.iter().map(|action| action_path(action, &mut schemas));
    let mut paths: Map<String, Value> = actions.collect();
    for route in routes.iter().filter(|route| route.path != ACTIONS) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "paned",
            "summary": "The terminal daemon for AI agents and the people who watch them.",
            "version": version,
        },
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "responses": {
                "Refused": {
                    "description": "The error: a code for programs and a message for people.",
                    "content": content(JSON, refusal),
                },
            },
            "schemas": schemas.answers.take_definitions(true),
        },
    })
}

/// Schema generators. A type may be deserialized differently than it is serialized, under the same
/// name: so answers refer to the components, while parameters inline their subschemas.
struct Schemas {
    params: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let inlined = settings.clone().with(|settings| settings.inline_subschemas = true);
        Self {
            params: inlined.into_generator(),
            answers: settings.for_serialize().into_generator(),
        }
    }
}

/// An action's path and its path item.
fn action_path(action: &ActionDefinition, schemas: &mut Schemas) -> (String, Value) {
    let params = action.params(&mut schemas.params);
    let answer = action.answer(&mut schemas.answers);
    let is_required = params.get("required").is_some();
    let operation = json!({
        "operationId": camel(&action.name),
        "summary": &*action.doc,
        "x-scope": action.scope,
        "x-kind": action.kind,
        "requestBody": { "required": is_required, "content": content(JSON, params) },
        "responses": responses(JSON, answer),
    });
    (ACTIONS.replace("{name}", &action.name), json!({ "post": operation }))
}

/// The operation of a route.
fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.doc,
        "parameters": parameters(route),
        "responses": responses(route.answers, answer(route)),
    });
    match route.required_access() {
        RequiredAccess::Open => operation["security"] = json!([{}, { "bearer": [] }]),
        RequiredAccess::Grant => {}
        RequiredAccess::Scope(scope) => operation["x-scope"] = json!(scope),
    }
    if route.method == "POST" {
        operation["requestBody"] = json!({ "content": content(JSON, json!({})) });
    }
    operation
}

/// Our own routes are identified by their path; a path of a compat API takes several methods.
fn operation_id(route: &Route) -> String {
    if !route.path.starts_with("/compat/") {
        return camel(route.path);
    }
    let method = route.method.as_str().to_ascii_lowercase();
    camel(&format!("{method} {}", route.path.replace(['{', '}'], "")))
}

fn parameters(route: &Route) -> Vec<Value> {
    let parameters = route.params.iter().map(|input| {
        let location = match input.location {
            ParamLocation::Path => "path",
            ParamLocation::Query => "query",
            ParamLocation::Header => "header",
        };
        json!({
            "name": input.name,
            "in": location,
            "description": input.doc,
            "required": input.location == ParamLocation::Path,
            "schema": { "type": "string" },
        })
    });
    parameters.collect()
}

/// The schema of a route's answer: any JSON, or a string.
fn answer(route: &Route) -> Value {
    if route.answers == JSON { json!({}) } else { json!({ "type": "string" }) }
}

fn responses(media: &str, answer: Value) -> Value {
    let refused = json!({ "$ref": "#/components/responses/Refused" });
    json!({
        "200": { "description": "Done.", "content": content(media, answer) },
        "4XX": refused,
        "5XX": refused,
    })
}

fn content(media: &str, schema: Value) -> Value {
    json!({ media: { "schema": schema } })
}

/// A camel-case identifier: `pane:get-meta` and `/openapi.json` become `paneGetMeta` and
/// `openapiJson`.
fn camel(name: &str) -> String {
    let path = name.split('{').next().unwrap_or(name);
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut out = String::new();
    for word in words {
        let (first, rest) = word.split_at(1);
        match out.is_empty() {
            true => out.push_str(first),
            false => out.push_str(&first.to_ascii_uppercase()),
        }
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_names_that_programs_can_use() {
        for (name, expect) in [
            ("pane:new", "paneNew"),
            ("pane:get-meta", "paneGetMeta"),
            ("/openapi.json", "openapiJson"),
            ("/emit/{event}", "emit"),
        ] {
            assert_eq!(camel(name), expect);
        }
    }
}
