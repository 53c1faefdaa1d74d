//! The OpenAPI document, generated from the registry of actions and the table of routes.

mod errors;

use std::sync::Arc;

use paned_kernel::{ActionDefinition, Registry};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use self::errors::ErrorSources;
use crate::http::reply::JSON;
use crate::http::routes::{ParamLocation, RequiredAccess, Route, RouteHandler};

/// The version of OpenAPI.
pub(crate) const VERSION: &str = "3.1.0";
/// The route of all actions; in the document each action has its own path.
const ACTIONS: &str = "/action/{name}";
/// The route of all custom events.
const EMIT: &str = "/emit/{event}";

/// The document for these actions and routes and this version of paned.
pub(crate) fn document(registry: &Registry, routes: &[Arc<Route>], version: &str) -> Value {
    let mut schemas = Schemas::new();
    let responses = errors::components(&mut schemas.answers);
    let actions = registry.iter().map(|action| action_path(action, &mut schemas));
    let mut paths: Map<String, Value> = actions.collect();
    for route in routes.iter().filter(|route| route.path != ACTIONS) {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route);
    }
    name_of_event(registry, &mut paths);
    json!({
        "openapi": VERSION,
        "info": {
            "title": "paned",
            "summary": "The terminal daemon for AI agents and the people who watch them.",
            "version": version,
        },
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "responses": responses,
            "schemas": schemas.answers.take_definitions(true),
        },
    })
}

/// The event of `/emit/{event}`, which compat APIs have too, has the rules of the action that
/// records it.
fn name_of_event(registry: &Registry, paths: &mut Map<String, Value>) {
    let Ok(action) = registry.get("event:emit") else { return };
    let (params, _) = action.schemas();
    for (_, emit) in paths.iter_mut().filter(|(path, _)| path.ends_with(EMIT)) {
        emit["post"]["parameters"][0]["schema"] = params["properties"]["name"].clone();
    }
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
    let is_required = !accepts_nothing(&params);
    let operation = json!({
        "operationId": camel(&action.name),
        "summary": &*action.doc,
        "x-scope": action.scope,
        "x-kind": action.kind,
        "requestBody": { "required": is_required, "content": content(JSON, params) },
        "responses": responses(Some((JSON, answer)), ErrorSources::ACTION),
    });
    (ACTIONS.replace("{name}", &action.name), json!({ "post": operation }))
}

/// Whether parameters can be left out altogether. Rules about several fields may ask for one of
/// them, too.
fn accepts_nothing(schema: &Value) -> bool {
    let list = |name: &str| schema[name].as_array();
    list("required").is_none_or(Vec::is_empty)
        && list("allOf").is_none_or(|rules| rules.iter().all(accepts_nothing))
        && list("anyOf").is_none_or(|rules| rules.iter().any(accepts_nothing))
}

/// The operation of a route.
fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.doc,
        "parameters": parameters(route),
        "responses": route_responses(route),
    });
    match route.required_access() {
        RequiredAccess::Open => operation["security"] = json!([{}, { "bearer": [] }]),
        RequiredAccess::Code => operation["security"] = json!([]),
        RequiredAccess::Grant => {}
        RequiredAccess::Scope(scope) => operation["x-scope"] = json!(scope),
    }
    if let Some((media, schema)) = route.shape.body {
        operation["requestBody"] =
            json!({ "required": route.shape.needs_body, "content": content(media, schema()) });
    }
    operation
}

/// Our own routes are identified by their path; a path of another API takes several methods.
fn operation_id(route: &Route) -> String {
    let is_own = !matches!(route.handler, RouteHandler::Compat(_));
    if route.path == "/" {
        return "page".to_owned();
    }
    if is_own && !route.path.starts_with("/compat/") {
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
            "schema": (input.schema)(),
        })
    });
    parameters.collect()
}

/// The responses of a route.
fn route_responses(route: &Route) -> Value {
    let shape = &route.shape;
    let is_page = matches!(route.handler, RouteHandler::Page(_));
    let is_ours =
        is_page || matches!(route.path, "/actions" | "/openapi.json" | "/health" | "/metrics");
    let errors = ErrorSources {
        reads: shape.body.is_some() || !route.params.is_empty(),
        acts: !is_ours,
        more: shape.statuses,
        format: shape.errors,
    };
    let answer = shape.answer.map(|schema| (route.answers, schema()));
    let mut responses = responses(answer, errors);
    if shape.upgrades {
        responses["101"] = json!({ "description": "The connection is a WebSocket now." });
    }
    responses
}

/// The answer, with its media type, and the errors.
fn responses(answer: Option<(&str, Value)>, errors: ErrorSources) -> Value {
    let mut responses = errors.responses();
    if let Some((media, schema)) = answer {
        let done = json!({ "description": "Done.", "content": content(media, schema) });
        responses.insert("200".to_owned(), done);
    }
    Value::Object(responses)
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
    fn a_body_is_required_where_nothing_would_be_refused() {
        let required = json!({ "required": ["a"] });
        assert!(accepts_nothing(&json!({ "properties": { "a": required } })));
        assert!(!accepts_nothing(&required));
        let either = json!({ "allOf": [{ "anyOf": [required, { "properties": {} }] }] });
        assert!(accepts_nothing(&either));
        assert!(!accepts_nothing(&json!({ "allOf": [{ "anyOf": [required] }] })));
    }

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
