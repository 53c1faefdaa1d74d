//! The type of a field by its JSON Schema, and parsing of an argument as that type.

use paned_model::Refusal;
use serde_json::Value;

/// The type of value that a field takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FlagValueKind {
    Text,
    Integer,
    Number,
    Boolean,
    Object,
    Array(Box<FlagValueKind>),
    /// JSON where it reads as JSON, text otherwise.
    Any,
}

impl FlagValueKind {
    /// The type of a field, by its schema. A type without a plain flag form is
    /// [`FlagValueKind::Any`].
    pub(super) fn of(field: &Value, schema: &Value) -> Self {
        let refers = field.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        if let Some(target) = refers.and_then(|pointer| schema.pointer(pointer)) {
            return Self::of(target, schema);
        }
        if let Some(kind) = field.get("type").and_then(|types| of_type(types, field, schema)) {
            return kind;
        }
        let choices = ["anyOf", "oneOf"].iter().find_map(|key| field.get(key)?.as_array());
        if let Some(choices) = choices {
            return common_kind(choices, schema);
        }
        let words = field.get("enum").and_then(Value::as_array);
        let is_word = words.is_some_and(|words| words.iter().all(Value::is_string));
        if is_word || field.get("const").is_some_and(Value::is_string) {
            Self::Text
        } else {
            Self::Any
        }
    }

    /// Parses the value of a flag.
    ///
    /// # Errors
    /// When it is not of this type.
    pub(super) fn read(&self, flag: &str, text: &str) -> Result<Value, Refusal> {
        let json = || serde_json::from_str::<Value>(text).ok();
        let is_whole = |value: &Value| value.is_i64() || value.is_u64();
        let value = match self {
            Self::Text => Some(Value::String(text.to_owned())),
            Self::Integer => json().filter(is_whole),
            Self::Number => json().filter(Value::is_number),
            Self::Boolean => json().filter(Value::is_boolean),
            Self::Object => json().filter(Value::is_object),
            Self::Array(_) => json().filter(Value::is_array),
            Self::Any => Some(json().unwrap_or_else(|| text.into())),
        };
        value.ok_or_else(|| {
            let expected = self.describe();
            let text = text.escape_debug();
            Refusal::invalid(format!("`--{flag}` must be {expected}, not `{text}`"))
        })
    }

    /// A short description of the type, for users.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Object => "a JSON object",
            Self::Array(_) => "a JSON array",
            Self::Any => "any JSON",
        }
    }
}

/// The one kind that all choices but `null` have, or `Any`.
fn common_kind(choices: &[Value], schema: &Value) -> FlagValueKind {
    let is_null = |choice: &&Value| choice.get("type").is_some_and(|name| name == "null");
    let non_null = choices.iter().filter(|choice| !is_null(choice));
    let mut kinds = non_null.map(|choice| FlagValueKind::of(choice, schema));
    match kinds.next() {
        Some(first) if kinds.all(|kind| kind == first) => first,
        Some(_) | None => FlagValueKind::Any,
    }
}

fn of_type(types: &Value, field: &Value, schema: &Value) -> Option<FlagValueKind> {
    let names: Vec<_> = match types {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let names: Vec<_> = names.into_iter().filter(|name| *name != "null").collect();
    Some(match names[..] {
        ["string"] => FlagValueKind::Text,
        ["integer"] => FlagValueKind::Integer,
        ["number"] => FlagValueKind::Number,
        ["boolean"] => FlagValueKind::Boolean,
        ["object"] => FlagValueKind::Object,
        ["array"] => {
            let item = field
                .get("items")
                .map_or(FlagValueKind::Any, |item| FlagValueKind::of(item, schema));
            FlagValueKind::Array(Box::new(item))
        }
        _ => FlagValueKind::Any,
    })
}
