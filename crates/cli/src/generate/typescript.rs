//! The types of all actions in TypeScript, for extensions: `extensions/sdk/src/actions.d.ts`; and
//! those of actions, events and messages for the web page: `web/src/api/generated.ts`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use paned_kernel::Registry;
use paned_server::{ClientSchema, client_schemas};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

const HEAD: &str = "\
/** Written by `make docs` from the actions of paned. */

/** Parameters and answers of paned's own actions, by name. */
export interface Actions {
";
/// The head of the types for the web page.
const WEB_HEAD: &str = "\
/** Written by `make docs` from the actions, events and messages of paned. */

/** Parameters and answers of actions, by name. */
export interface Actions {
";
/// The payloads of events, which are kept by hand and checked by name.
const EVENTS: &str = include_str!("../../../../extensions/sdk/src/events.d.ts");
/// What the schemas do not say: ids of messages, and events on the WebSocket.
const WEB_TAIL: &str = "
/** The `id` of a message, by which its answer is recognised. */
export type MessageId = string | number;

/** A message of the client on the WebSocket. */
export type ClientMessage = WsRequest & { id?: MessageId };

/** An event, as the WebSocket sends it. Names of extensions' events are not in `Events`. */
export interface EventMessage<Name extends string = string> {
  type: \"event\";
  id: number;
  time: string;
  name: Name;
  payload: Name extends keyof Events ? Events[Name] : any;
}

/** An event of paned's own: `name` tells the type of `payload`. */
export type OwnEvent = { [Name in keyof Events]: EventMessage<Name> }[keyof Events];

/** A text frame of the server on the WebSocket. */
export type ServerMessage = WsMessage | EventMessage;
";
const STEP: &str = "  ";

/// The whole file.
pub(super) fn action_types() -> String {
    // A type may be read differently than it is written, under the same name: so answers refer to
    // named types, while parameters contain theirs.
    let mut generators = Generators::new();
    let mut text = HEAD.to_owned();
    actions(&mut text, &mut generators);
    named_types(&mut text, &mut generators.answers);
    text
}

/// The whole file for the web page.
pub(super) fn web_types() -> String {
    let mut generators = Generators::new();
    let mut text = WEB_HEAD.to_owned();
    actions(&mut text, &mut generators);
    let Generators { params, answers } = &mut generators;
    let schemas = client_schemas(params, answers);
    named_types(&mut text, answers);
    for ClientSchema { name, doc, schema } in schemas {
        text.push('\n');
        comment(&mut text, doc, 0);
        let _ = writeln!(text, "export type {name} = {};", type_of(&schema, 0));
    }
    // Its first lines are a comment and an import of types that are in this file.
    let events = EVENTS.split_once("\n\n").map_or("", |(_, events)| events);
    let _ = write!(text, "\n{events}");
    text.push_str(WEB_TAIL);
    text
}

/// The generators of parameters and of answers.
struct Generators {
    params: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Generators {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12();
        let inlined = settings.clone().with(|settings| settings.inline_subschemas = true);
        Self {
            params: inlined.into_generator(),
            answers: settings.for_serialize().into_generator(),
        }
    }
}

/// The parameters and the answer of each action, and the end of the interface.
fn actions(text: &mut String, Generators { params, answers }: &mut Generators) {
    for action in Registry::built_in().iter() {
        comment(text, &action.doc, 1);
        let params = type_of(&action.params(params), 2);
        let answer = type_of(&action.answer(answers), 2);
        let name = &action.name;
        let fields = format!("    params: {params};\n    answer: {answer};\n");
        let _ = write!(text, "{STEP}\"{name}\": {{\n{fields}{STEP}}};\n");
    }
    text.push_str("}\n");
}

/// The types that answers refer to.
fn named_types(text: &mut String, answers: &mut SchemaGenerator) {
    for (name, schema) in definitions(answers) {
        text.push('\n');
        comment(text, description(&schema), 0);
        let _ = writeln!(text, "export type {name} = {};", type_of(&schema, 0));
    }
}

/// The named types, by name.
fn definitions(generator: &mut SchemaGenerator) -> BTreeMap<String, Value> {
    generator.take_definitions(true).into_iter().collect()
}

fn description(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// A comment above what follows.
fn comment(text: &mut String, words: &str, depth: usize) {
    if words.is_empty() {
        return;
    }
    let indent = STEP.repeat(depth);
    // The text of a comment must not end it.
    let words = words.replace("*/", "* /");
    let lines: Vec<&str> = words.lines().map(str::trim_end).collect();
    match lines[..] {
        [line] => {
            let _ = writeln!(text, "{indent}/** {line} */");
        }
        _ => {
            let _ = writeln!(text, "{indent}/**");
            for line in lines {
                let _ =
                    writeln!(text, "{indent} *{}{line}", if line.is_empty() { "" } else { " " });
            }
            let _ = writeln!(text, "{indent} */");
        }
    }
}

/// The type of a schema. `depth` is how far its lines are indented.
fn type_of(schema: &Value, depth: usize) -> String {
    let Some(keywords) = schema.as_object() else {
        return if schema == &Value::Bool(false) { "never" } else { "any" }.to_owned();
    };
    let mut parts = Vec::new();
    if let Some(path) = keywords.get("$ref").and_then(Value::as_str) {
        parts.push(path.rsplit('/').next().unwrap_or("any").to_owned());
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(schemas) = keywords.get(keyword).and_then(Value::as_array) {
            parts.push(union(schemas.iter().map(|schema| type_of(schema, depth))));
        }
    }
    let all = keywords.get("allOf").and_then(Value::as_array);
    parts.extend(all.into_iter().flatten().map(|schema| type_of(schema, depth)));
    parts.extend(own_type(keywords, depth).filter(|own| own != "{}" || parts.is_empty()));
    match &parts[..] {
        [] => "any".to_owned(),
        [one] => one.clone(),
        _ => {
            let parts: Vec<_> = parts.iter().map(|part| grouped(part)).collect();
            parts.join(" & ")
        }
    }
}

/// What the keywords of a schema say themselves, without those that combine others.
fn own_type(keywords: &Map<String, Value>, depth: usize) -> Option<String> {
    if let Some(value) = keywords.get("const") {
        return Some(value.to_string());
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return Some(union(values.iter().map(Value::to_string)));
    }
    let named = |name: &str| match name {
        "string" | "boolean" | "null" => name.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => array(keywords, depth),
        _ => object(keywords, depth),
    };
    match keywords.get("type") {
        Some(Value::String(name)) => Some(named(name)),
        Some(Value::Array(names)) => Some(union(names.iter().filter_map(Value::as_str).map(named))),
        _ => keywords.contains_key("properties").then(|| object(keywords, depth)),
    }
}

fn array(keywords: &Map<String, Value>, depth: usize) -> String {
    if let Some(items) = keywords.get("prefixItems").and_then(Value::as_array) {
        let items: Vec<_> = items.iter().map(|item| type_of(item, depth)).collect();
        return format!("[{}]", items.join(", "));
    }
    let items = keywords.get("items").map_or_else(|| "any".to_owned(), |it| type_of(it, depth));
    format!("{}[]", grouped(&items))
}

fn object(keywords: &Map<String, Value>, depth: usize) -> String {
    let none = Map::new();
    let fields = keywords.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let others = keywords.get("additionalProperties");
    if fields.is_empty() {
        return match others {
            Some(Value::Bool(false)) => "Record<string, never>".to_owned(),
            Some(others) => format!("Record<string, {}>", type_of(others, depth)),
            None if keywords.contains_key("properties") => "{}".to_owned(),
            None => "Record<string, any>".to_owned(),
        };
    }
    let required = keywords.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let mut text = "{\n".to_owned();
    for (name, schema) in fields {
        comment(&mut text, description(schema), depth + 1);
        let mark = if is_required(name) { "" } else { "?" };
        let indent = STEP.repeat(depth + 1);
        let _ = writeln!(text, "{indent}{}{mark}: {};", key(name), type_of(schema, depth + 1));
    }
    let _ = write!(text, "{}}}", STEP.repeat(depth));
    text
}

/// A field's name, quoted if it is not a plain word.
fn key(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// Types of which one fits. A repeated one is left out.
fn union(types: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for one in types {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() { "never".to_owned() } else { all.join(" | ") }
}

/// In parentheses, if it would otherwise be read with what follows.
fn grouped(text: &str) -> String {
    let is_one = !text.contains(" | ") && !text.contains(" & ");
    // Inside braces they do not matter.
    let is_braced = text.starts_with('{') && text.find('}') == Some(text.len() - 1);
    if is_one || is_braced { text.to_owned() } else { format!("({text})") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, expect: &str) {
        assert_eq!(type_of(&schema, 0), expect, "{schema}");
    }

    #[test]
    fn schemas_become_types() {
        check(json!(true), "any");
        check(json!(false), "never");
        check(json!({}), "any");
        check(json!({ "description": "Anything." }), "any");
        check(json!({ "type": "integer", "minimum": 0 }), "number");
        check(json!({ "type": ["string", "null"] }), "string | null");
        check(json!({ "enum": ["a", "b"], "type": "string" }), r#""a" | "b""#);
        check(json!({ "const": 7 }), "7");
        check(json!({ "$ref": "#/$defs/PaneInfo" }), "PaneInfo");
        check(json!({ "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "null" }] }), "A | null");
        check(
            json!({ "type": "array", "items": { "type": ["string", "null"] } }),
            "(string | null)[]",
        );
        check(json!({ "type": "array", "items": { "type": "string" } }), "string[]");
        check(
            json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "number" }] }),
            "[string, number]",
        );
    }

    #[test]
    fn objects_have_their_fields_with_comments() {
        let word = json!({ "type": "string", "description": "A word." });
        let fields = json!({ "word": word, "agent.status": { "type": "string" } });
        check(
            json!({ "type": "object", "properties": fields, "required": ["word"] }),
            "{\n  /** A word. */\n  word: string;\n  \"agent.status\"?: string;\n}",
        );
        check(json!({ "type": "object" }), "Record<string, any>");
        check(json!({ "type": "object", "additionalProperties": false }), "Record<string, never>");
        check(
            json!({ "type": "object", "additionalProperties": { "type": "number" } }),
            "Record<string, number>",
        );
    }

    #[test]
    fn an_object_that_is_also_one_of_several_is_both() {
        let variants = json!([{ "const": "a" }, { "const": "b" }]);
        let fields = json!({ "n": { "type": "number" } });
        check(
            json!({ "type": "object", "properties": fields, "oneOf": variants }),
            "(\"a\" | \"b\") & {\n  n?: number;\n}",
        );
    }

    #[test]
    fn the_page_gets_messages_and_events_too() {
        let types = web_types();
        for expect in [
            "\"pane:list\": {",
            "export type WsRequest = {",
            "type: \"subscribe\";",
            "export type WsMessage = {",
            "type: \"subscribed\";",
            "export interface Events {",
            "export type PaneInfo = ",
        ] {
            assert!(types.contains(expect), "{expect}");
        }
        let names: Vec<&str> = types.lines().filter_map(exported).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(names.len(), unique.len(), "a type is there twice: {names:?}");
        assert!(!types.contains("import "), "the page has no file to import from");
    }

    /// The name of the type that a line defines.
    fn exported(line: &str) -> Option<&str> {
        let rest = line.strip_prefix("export ")?;
        let rest = rest.strip_prefix("type ").or_else(|| rest.strip_prefix("interface "))?;
        rest.split(|c: char| !c.is_ascii_alphanumeric()).next()
    }

    #[test]
    fn every_action_is_there() {
        let types = action_types();
        for action in Registry::built_in().iter() {
            assert!(types.contains(&format!("  \"{}\": {{\n", action.name)), "{}", action.name);
        }
    }
}
