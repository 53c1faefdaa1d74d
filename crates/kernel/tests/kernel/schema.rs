//! Validates a value against its schema: as much of JSON Schema as our own schemas use.

use std::cell::RefCell;
use std::collections::HashMap;

use regex::Regex;
use serde_json::Value;

/// Fails with every place where an action's answer does not match its schema.
#[track_caller]
pub(crate) fn check(action: &str, schema: &Value, answer: &Value) {
    let mistakes = mistakes(schema, answer, action);
    assert!(mistakes.is_empty(), "{mistakes:#?}\n{answer:#}");
}

/// Every place where a value does not match its schema.
fn mistakes(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !is_of_type(&schema["type"], value) {
        found.push(format!("{place}: is no {}: {value}", schema["type"]));
    }
    let is_other = |one: &Value| one != value;
    if schema["enum"].as_array().is_some_and(|all| all.iter().all(is_other))
        || schema.get("const").is_some_and(is_other)
    {
        found.push(format!("{place}: is not listed: {value}"));
    }
    for all in ["anyOf", "oneOf"] {
        let fits = |one: &Value| mistakes(one, value, place).is_empty();
        if schema[all].as_array().is_some_and(|all| !all.iter().any(fits)) {
            found.push(format!("{place}: is none of several: {value}"));
        }
    }
    if !matches_not_and_all(schema, value) || !is_within_limits(schema, value) {
        found.push(format!("{place}: breaks a rule: {value}"));
    }
    found.extend(inside(schema, value, place));
    found
}

/// Whether a value matches its schema.
pub(crate) fn accepts(schema: &Value, value: &Value) -> bool {
    schema != &Value::Bool(false) && mistakes(schema, value, "").is_empty()
}

fn matches_not_and_all(schema: &Value, value: &Value) -> bool {
    let rules = schema["allOf"].as_array().into_iter().flatten();
    schema.get("not").is_none_or(|not| !accepts(not, value))
        && rules.into_iter().all(|rule| accepts(rule, value))
}

thread_local! {
    /// Patterns by their text: compiling one takes a hundred times as long as matching.
    static PATTERNS: RefCell<HashMap<String, Regex>> = RefCell::default();
}

fn matches(text: &str, pattern: &str) -> bool {
    PATTERNS.with_borrow_mut(|patterns| {
        let new = || Regex::new(pattern).unwrap();
        patterns.entry(pattern.to_owned()).or_insert_with(new).is_match(text)
    })
}

/// The rules about a string's, a number's or a list's size, and about a string's characters.
fn is_within_limits(schema: &Value, value: &Value) -> bool {
    let size = match value {
        Value::String(text) => Some((text.chars().count() as f64, "minLength", "maxLength")),
        Value::Array(items) => Some((items.len() as f64, "minItems", "maxItems")),
        Value::Number(number) => number.as_f64().map(|number| (number, "minimum", "maximum")),
        _ => None,
    };
    let is_inside = size.is_none_or(|(size, least, most)| {
        schema[least].as_f64().is_none_or(|least| least <= size)
            && schema[most].as_f64().is_none_or(|most| size <= most)
    });
    is_inside
        && match (value.as_str(), schema["pattern"].as_str()) {
            (Some(text), Some(pattern)) => matches(text, pattern),
            _ => true,
        }
}

fn is_of_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        Some(_) | None => false,
    };
    match wanted {
        Value::Null => true,
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

/// The mistakes in a value's items and fields.
fn inside(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in value.as_array().into_iter().flatten() {
        found.extend(mistakes(&schema["items"], item, &format!("{place}[]")));
    }
    let Some(fields) = value.as_object() else { return found };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !fields.contains_key(name.as_str().unwrap()) {
            found.push(format!("{place}: has no {name}"));
        }
    }
    for (name, field) in fields {
        if !accepts(&schema["propertyNames"], &Value::String(name.clone())) {
            found.push(format!("{place}: cannot have the name {name:?}"));
        }
        for (pattern, rule) in schema["patternProperties"].as_object().into_iter().flatten() {
            if matches(name, pattern) {
                found.extend(mistakes(rule, field, &format!("{place}.{name}")));
            }
        }
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(known), _) => found.extend(mistakes(known, field, &format!("{place}.{name}"))),
            (None, Value::Bool(false)) => found.push(format!("{place}: has an unknown `{name}`")),
            (None, more) => found.extend(mistakes(more, field, &format!("{place}.{name}"))),
        }
    }
    found
}

#[track_caller]
fn check_mistakes(schema: Value, value: Value, count: usize) {
    let found = mistakes(&schema, &value, "it");
    assert_eq!(found.len(), count, "{found:?}");
}

#[test]
fn what_is_missing_or_of_another_kind_is_found() {
    use serde_json::json;

    let schema = json!({
        "type": "object",
        "properties": { "n": { "type": "integer" }, "of": { "type": "array", "items": { "enum": ["a"] } } },
        "required": ["n"],
        "additionalProperties": false,
    });
    check_mistakes(schema.clone(), json!({ "n": 1, "of": ["a"] }), 0);
    check_mistakes(schema.clone(), json!({ "of": [] }), 1);
    check_mistakes(schema.clone(), json!({ "n": "1", "of": ["a", "b"], "more": 1 }), 3);
    check_mistakes(json!({ "anyOf": [schema, { "type": "null" }] }), json!(7), 1);
}
