//! Arguments of tools: their schema, and a sentence for a model that got them wrong. Pure.

use paned_model::{Refusal, parse_error};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The schema of arguments, without what a model does not need: it is a part of every conversation.
pub(super) fn schema<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    shorten(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

fn shorten(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    for noise in ["title", "format", "default", "$schema"] {
        // A property may have such a name: its value is a schema.
        if fields.get(noise).is_some_and(|value| !value.is_object()) {
            fields.remove(noise);
        }
    }
    if fields.get("minimum") == Some(&Value::from(0)) {
        fields.remove("minimum");
    }
    // What may be null may be left out.
    if let Some(types) = fields.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|name| name != "null");
        if let [one] = &types[..] {
            let one = one.clone();
            fields.insert("type".to_owned(), one);
        }
    }
    if let Some(any) = fields.get_mut("anyOf").and_then(Value::as_array_mut) {
        any.retain(|schema| schema["type"] != "null");
        if let [Value::Object(one)] = &any[..] {
            let one = one.clone();
            fields.remove("anyOf");
            for (name, value) in one {
                fields.entry(name).or_insert(value);
            }
        }
    }
    if let Some(values) = fields.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    fields.values_mut().for_each(shorten_all);
}

fn shorten_all(value: &mut Value) {
    match value {
        Value::Object(_) => shorten(value),
        Value::Array(values) => values.iter_mut().for_each(shorten_all),
        _ => {}
    }
}

/// Parses arguments; `null` counts as left out.
///
/// # Errors
/// With what is wrong, and what the tool takes.
pub(super) fn parse<T: DeserializeOwned + JsonSchema>(
    tool: &str,
    mut args: JsonObject,
) -> Result<T, Refusal> {
    args.retain(|_, value| !value.is_null());
    serde_path_to_error::deserialize(Value::Object(args)).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { "" } else { path.as_str() };
        let message = error.inner().to_string();
        let mut sentence = parse_error::explain(path, &message);
        if message.starts_with("unknown field")
            && let Some(at) = sentence.find("; expected `")
        {
            // The names follow anyway.
            sentence.truncate(at);
        }
        let takes = taken(&schema::<T>());
        // A suggestion ends with a question mark.
        let stop = if sentence.ends_with('?') { "" } else { "." };
        Refusal::invalid(format!("{tool}: {sentence}{stop} It takes {takes}."))
    })
}

/// The names of arguments, those that may be left out with a `?`.
fn taken(schema: &JsonObject) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|required| required.iter().any(|it| it == name));
    let names = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let names = names.map(|(name, _)| match is_required(name) {
        true => name.clone(),
        false => format!("{name}?"),
    });
    let names: Vec<_> = names.collect();
    if names.is_empty() { "no arguments".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "only the shape matters")]
    struct Args {
        /// The session.
        id: String,
        /// How many.
        max_lines: Option<u32>,
    }

    #[test]
    fn the_schema_has_what_a_model_needs_and_no_more() {
        assert_eq!(
            Value::Object(schema::<Args>()),
            json!({
                "type": "object",
                "properties": {
                    "id": { "description": "The session.", "type": "string" },
                    "maxLines": { "description": "How many.", "type": "integer" },
                },
                "additionalProperties": false,
                "required": ["id"],
            })
        );
    }

    #[test]
    fn wrong_arguments_are_refused_with_those_that_there_are() {
        let check = |args: Value, why: &str| {
            let Value::Object(args) = args else { panic!("no object") };
            let refusal = parse::<Args>("pty_x", args).unwrap_err();
            assert!(refusal.sentence.contains(why), "{refusal}");
            assert!(refusal.sentence.ends_with("It takes id, maxLines?."), "{refusal}");
        };
        check(json!({}), "pty_x: missing parameter `id`. ");
        check(json!({ "id": null }), "missing parameter `id`");
        check(json!({ "id": 7 }), "pty_x: `id` must be a string, not 7. ");
        check(
            json!({ "id": "a", "lines": 3 }),
            "pty_x: unknown parameter `lines`; did you mean `maxLines`? ",
        );
    }
}
