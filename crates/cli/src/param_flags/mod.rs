//! Parameters given as flags: arguments in, JSON out. Pure.
//!
//! With a schema each flag is parsed as the type of its field, `--pane-id` finds `paneId`, and a
//! flag without a field is refused. Without one (an event's payload is free) a value is JSON where
//! it parses as JSON, and text otherwise. A repeated flag makes an array, unless its field takes a
//! single value.

mod kind;

use paned_model::Refusal;
use serde_json::{Map, Value};

use kind::FlagValueKind;

/// Parses flags into parameters, with the types of the schema.
///
/// # Errors
/// When a flag is unknown or its value is of another type.
pub(crate) fn parse_typed(words: &[String], schema: &Value) -> Result<Map<String, Value>, Refusal> {
    let empty = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    read(words, |flag| {
        let named = |name: &String| name == flag || kebab(name) == flag;
        let field = fields.iter().find(|(name, _)| named(name));
        let (name, field) = field.ok_or_else(|| unknown(flag, fields))?;
        Ok((name.clone(), FlagValueKind::of(field, schema)))
    })
}

/// Parses flags into a payload of any shape; names stay as they are.
///
/// # Errors
/// When an argument is not a flag.
pub(crate) fn parse_untyped(words: &[String]) -> Result<Map<String, Value>, Refusal> {
    read(words, |flag| Ok((flag.to_owned(), FlagValueKind::Any)))
}

/// A short description of what a field takes, for users.
pub(crate) fn describe(field: &Value, schema: &Value) -> String {
    match FlagValueKind::of(field, schema) {
        FlagValueKind::Array(item) => format!("{}, repeatable", item.describe()),
        kind => kind.describe().to_owned(),
    }
}

/// `paneId` as `pane-id`.
pub(crate) fn kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 2);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(c.to_ascii_lowercase());
    }
    kebab
}

/// One flag with its field and its value.
struct ParsedFlag<'a> {
    flag: &'a str,
    name: String,
    kind: FlagValueKind,
    text: &'a str,
}

fn read(
    words: &[String],
    find: impl Fn(&str) -> Result<(String, FlagValueKind), Refusal>,
) -> Result<Map<String, Value>, Refusal> {
    let mut params = Map::new();
    let mut words = words.iter().map(String::as_str).peekable();
    while let Some(word) = words.next() {
        let (flag, inline) = flag(word)?;
        let (name, kind) = find(flag)?;
        let missing = || Refusal::invalid(format!("`--{flag}` requires a value"));
        let text = match inline {
            Some(text) => text,
            None if is_bare_flag(&kind, words.peek().copied()) => "true",
            None => words.next().ok_or_else(missing)?,
        };
        put(&mut params, ParsedFlag { flag, name, kind, text })?;
    }
    Ok(params)
}

/// `--flag`, or `--flag=value`.
fn flag(word: &str) -> Result<(&str, Option<&str>), Refusal> {
    let flag = word.strip_prefix("--").filter(|flag| !flag.is_empty()).ok_or_else(|| {
        let word = word.escape_debug();
        Refusal::invalid(format!("unexpected argument `{word}`; pass parameters as `--name value`"))
    })?;
    Ok(match flag.split_once('=') {
        Some((flag, value)) => (flag, Some(value)),
        None => (flag, None),
    })
}

/// Whether a flag that is followed by this means `true` by itself.
fn is_bare_flag(kind: &FlagValueKind, next: Option<&str>) -> bool {
    match kind {
        FlagValueKind::Boolean => !matches!(next, Some("true" | "false")),
        FlagValueKind::Any => next.is_none_or(|next| next.starts_with("--")),
        FlagValueKind::Text
        | FlagValueKind::Integer
        | FlagValueKind::Number
        | FlagValueKind::Object
        | FlagValueKind::Array(_) => false,
    }
}

/// Adds a value. A repeated flag extends an array; a repeated free-form flag becomes one.
fn put(params: &mut Map<String, Value>, parsed: ParsedFlag<'_>) -> Result<(), Refusal> {
    let ParsedFlag { flag, name, kind, text } = parsed;
    let (item, is_list) = match &kind {
        FlagValueKind::Array(item) => (item.as_ref(), true),
        kind => (kind, false),
    };
    let value = item.read(flag, text)?;
    match params.get_mut(&name) {
        None => {
            params.insert(name, if is_list { Value::Array(vec![value]) } else { value });
        }
        Some(Value::Array(values)) => values.push(value),
        Some(earlier) if kind == FlagValueKind::Any => {
            *earlier = Value::Array(vec![earlier.take(), value])
        }
        Some(_) => {
            return Err(Refusal::invalid(format!(
                "`--{flag}` takes one value but was passed twice"
            )));
        }
    }
    Ok(())
}

fn unknown(flag: &str, fields: &Map<String, Value>) -> Refusal {
    let known: Vec<_> = fields.keys().map(|name| format!("--{}", kebab(name))).collect();
    let flag = flag.escape_debug();
    Refusal::invalid(match known.is_empty() {
        true => format!("unknown parameter `--{flag}`; the action takes none"),
        false => format!("unknown parameter `--{flag}`; the action takes {}", known.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    fn schema() -> Value {
        json!({
            "properties": {
                "paneId": { "type": "string" },
                "graceMs": { "type": ["integer", "null"] },
                "ratio": { "type": "number" },
                "force": { "type": "boolean" },
                "argv": { "type": ["array", "null"], "items": { "type": "string" } },
                "ports": { "type": "array", "items": { "type": "integer" } },
                "env": { "type": "object" },
                "size": { "anyOf": [{ "$ref": "#/$defs/Size" }, { "type": "null" }] },
                "status": { "anyOf": [{ "oneOf": [{ "const": "running" }] }, { "type": "null" }] },
                "scope": { "enum": ["read", "input"] },
                "value": true,
            },
            "$defs": { "Size": { "type": "object" } },
        })
    }

    #[track_caller]
    fn check(line: &str, expect: Value) {
        assert_eq!(parse_typed(&words(line), &schema()).map(Value::Object), Ok(expect));
    }

    #[track_caller]
    fn check_refused(line: &str, sentence: &str) {
        let refusal = parse_typed(&words(line), &schema()).unwrap_err();
        assert!(refusal.sentence.contains(sentence), "{refusal}");
    }

    #[test]
    fn a_flag_has_the_type_of_its_field() {
        check("--pane-id 42", json!({ "paneId": "42" }));
        check("--paneId=a=b", json!({ "paneId": "a=b" }));
        check("--grace-ms 0 --ratio 0.5", json!({ "graceMs": 0, "ratio": 0.5 }));
        check("--env {\"A\":\"1\"}", json!({ "env": { "A": "1" } }));
        check("--size {\"cols\":2}", json!({ "size": { "cols": 2 } }));
        check("--status running --scope read", json!({ "status": "running", "scope": "read" }));
        check("--value 3", json!({ "value": 3 }));
        check("--value plain", json!({ "value": "plain" }));
    }

    #[test]
    fn a_boolean_may_stand_alone() {
        check("--force --pane-id a", json!({ "force": true, "paneId": "a" }));
        check("--force false", json!({ "force": false }));
    }

    #[test]
    fn an_array_is_a_repeated_flag_and_once_is_one() {
        check("--argv -x --argv --y", json!({ "argv": ["-x", "--y"] }));
        check("--ports 1", json!({ "ports": [1] }));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        check_refused("--grace-ms soon", "`--grace-ms` must be a whole number, not `soon`");
        check_refused("--grace-ms 1.5", "must be a whole number");
        check_refused("--env A=1", "must be a JSON object");
        check_refused(
            "--nope 1",
            "unknown parameter `--nope`; the action takes --pane-id, --grace-ms, ",
        );
        check_refused("--pane-id a --pane-id b", "passed twice");
        check_refused("--pane-id", "requires a value");
        check_refused("stray", "unexpected argument");
    }

    #[test]
    fn a_free_payload_reads_json_where_it_can() {
        let line = "--n 1 --ok --list a --list 2 --my-key x --o {\"a\":[]}";
        let expect =
            json!({ "n": 1, "ok": true, "list": ["a", 2], "my-key": "x", "o": { "a": [] } });
        assert_eq!(parse_untyped(&words(line)).map(Value::Object), Ok(expect));
    }
}
