//! JSON with comments: parsing, and values of ours as nodes of the tree.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::EditError;

/// JSON, with the comments and trailing commas that many programs allow in their own files.
const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The tree of a text, and its outermost object, which an empty text gets.
pub(super) fn parse(text: &str) -> Result<(CstRootNode, CstObject), EditError> {
    let is_empty = text.trim().is_empty();
    let text = if is_empty { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &SYNTAX)
        .map_err(|error| format!("is not valid JSON: {}", lower(&error.to_string())))?;
    let object = root.object_value().ok_or("does not contain a JSON object")?;
    Ok((root, object))
}

fn lower(sentence: &str) -> String {
    let mut chars = sentence.trim_end_matches('.').chars();
    let first = chars.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// A value as a node of the tree.
pub(super) fn node(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(node).collect()),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| (key.clone(), node(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}

/// The object of this name, which is added if it is missing.
pub(super) fn child(object: &CstObject, name: &str) -> Result<CstObject, EditError> {
    once(object, name)?;
    let wrong = || format!("has a `{name}` that is not an object");
    object.object_value_or_create(name).ok_or_else(wrong)
}

/// Refuses a name that is there twice: it is not known which of them counts.
pub(super) fn once(object: &CstObject, name: &str) -> Result<(), EditError> {
    let named = |found: &Option<String>| found.as_deref() == Some(name);
    let names = object.properties().into_iter().map(|property| property.decoded_name());
    match names.filter(named).count() {
        0 | 1 => Ok(()),
        _ => Err(format!("has `{name}` more than once")),
    }
}
