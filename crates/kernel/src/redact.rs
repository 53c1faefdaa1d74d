//! What events show of parameters, answers and payloads: prompts, typed text, terminal contents and tokens are left out.

use serde_json::Value;
use serde_json::value::RawValue;

const REDACTED: &str = "(not shown)";
/// Hides every field but those that say which pane it is about.
const ALL_FIELDS: &str = "*";
const NEVER_REDACTED: [&str; 2] = ["paneId", "id"];
/// A token is this, a grant, `_` and so many characters of base64.
const TOKEN: &str = "paned_";
const SECRET_LENGTH: usize = 43;

/// The JSON as it may be shown: on one line, with secrets left out. A secret is the path of a field, `a.b`, through
/// whatever lists there are; or `*`.
pub(crate) fn redact(json: &[u8], secrets: &[&str]) -> Box<RawValue> {
    if secrets.is_empty()
        && let Ok(line) = String::from_utf8(compact(json))
        && let Ok(shown) = RawValue::from_string(line)
    {
        return shown;
    }
    let mut value: Value = serde_json::from_slice(json).unwrap_or_else(|_| serde_json::json!({}));
    for secret in secrets {
        match *secret {
            ALL_FIELDS => hide_all(&mut value),
            path => hide(&mut value, path),
        }
    }
    serde_json::value::to_raw_value(&value).expect("a JSON value always becomes JSON")
}

/// Whether a field at this path is left out.
#[cfg(test)]
pub(crate) fn is_redacted(path: &str, secrets: &[&str]) -> bool {
    secrets.iter().any(|secret| match *secret {
        ALL_FIELDS => !NEVER_REDACTED.contains(&path),
        secret => {
            path.strip_prefix(secret).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }
    })
}

fn hide_all(value: &mut Value) {
    let fields = value.as_object_mut().into_iter().flatten();
    for (_, field) in fields.filter(|(name, _)| !NEVER_REDACTED.contains(&name.as_str())) {
        *field = Value::String(REDACTED.to_owned());
    }
}

fn hide(value: &mut Value, path: &str) {
    if let Value::Array(items) = value {
        items.iter_mut().for_each(|item| hide(item, path));
        return;
    }
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    match (value.get_mut(name), rest) {
        (Some(field), Some(rest)) => hide(field, rest),
        (Some(Value::Null) | None, _) => {}
        (Some(field), None) => *field = Value::String(REDACTED.to_owned()),
    }
}

/// JSON without the secrets of tokens: one may be sent where an id belongs.
pub(crate) fn redact_tokens(json: String) -> String {
    let Some(at) = json.find(TOKEN) else { return json };
    let (before, rest) = json.split_at(at);
    let mut out = before.to_owned();
    let mut rest = rest;
    while let Some(after) = rest.strip_prefix(TOKEN) {
        out.push_str(TOKEN);
        rest = after;
        let id = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let secret = rest[id..].strip_prefix('_').unwrap_or_default();
        let is_secret = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let length = secret.find(|c| !is_secret(c)).unwrap_or(secret.len());
        if 0 < id && SECRET_LENGTH <= length {
            out.push_str(&rest[..=id]);
            out.push_str(REDACTED);
            rest = &secret[length..];
        }
        let next = rest.find(TOKEN).unwrap_or(rest.len());
        out.push_str(&rest[..next]);
        rest = &rest[next..];
    }
    out
}

/// JSON without the blanks between its parts.
fn compact(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let mut in_text = false;
    let mut escaped = false;
    for &byte in json {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' if !in_text => continue,
            b'"' if !escaped => in_text = !in_text,
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        out.push(byte);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, secrets: &[&str], expect: &str) {
        assert_eq!(redact(json.as_bytes(), secrets).get(), expect, "{json}");
    }

    #[test]
    fn what_is_shown_is_on_one_line_and_otherwise_as_it_was_sent() {
        check("{ \"a\" :\r\n\t[1, 2.50]}\n", &[], r#"{"a":[1,2.50]}"#);
        check(r#"{"a b" : " \\" , "c":"\" x"}"#, &[], r#"{"a b":" \\","c":"\" x"}"#);
        check(r#"{"ä": "\\\" y"}"#, &[], r#"{"ä":"\\\" y"}"#);
    }

    #[test]
    fn nothing_is_shown_as_no_parameters() {
        check("", &[], "{}");
        check("  ", &[], "{}");
    }

    #[test]
    fn secrets_are_left_out_at_every_depth() {
        let params = r#"{"token": "x", "name": "y"}"#;
        check(params, &["token"], r#"{"token":"(not shown)","name":"y"}"#);
        let nested = r#"{"hits":[{"line":"x","n":1},{"line":"y"}],"more":{"a":{"b":1}}}"#;
        let expect = r#"{"hits":[{"line":"(not shown)","n":1},{"line":"(not shown)"}],"more":{"a":{"b":"(not shown)"}}}"#;
        check(nested, &["hits.line", "more.a.b", "none.at.all"], expect);
        let all = r#"{"paneId":"p","prompt":"x","agent":{"a":1}}"#;
        check(all, &["*"], r#"{"paneId":"p","prompt":"(not shown)","agent":"(not shown)"}"#);
    }

    /// Fields of free text that events show: names, places, commands, meta, and what paned itself says. Each wherever it
    /// is, or in one action alone.
    const SHOWN: &[&str] = &[
        "argv",
        "base",
        "beside",
        "branch",
        "command",
        "cwd",
        "damage",
        "deleteKeys",
        "description",
        "dialogId",
        "exitSignal",
        "file",
        "id",
        "idempotencyKey",
        "instance",
        "key",
        "label",
        "layout",
        "messageId",
        "meta",
        "model",
        "name",
        "owner",
        "pane",
        "paneId",
        "parentId",
        "pattern",
        "previousMeta",
        "profile",
        "reason",
        "session",
        "sizeHeldBy",
        "socket",
        "stop",
        "tag",
        "tags",
        "target",
        "title",
        "tmux",
        "tmuxPane",
        "toml",
        "url",
        "warning",
        "why",
        "event:emit payload",
        "pane:delete-meta keys",
        "pane:set-meta value",
        "pane:update-meta set",
    ];

    /// The paths of all fields that hold free text or anything at all.
    fn free_fields(schema: &Value, path: &str, found: &mut Vec<String>) {
        let at = |name: &str| match path {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            free_fields(field, &at(name), found);
        }
        for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            let parts = schema[key].as_array().into_iter().flatten();
            parts.for_each(|part| free_fields(part, path, found));
        }
        for key in ["items", "additionalProperties"] {
            if schema[key].is_object() || schema[key] == true {
                free_fields(&schema[key], path, found);
            }
        }
        let is_text =
            |kind: &Value| kind == "string" || kind == &serde_json::json!(["string", "null"]);
        let is_bounded =
            ["enum", "const", "format", "pattern"].iter().any(|key| !schema[*key].is_null());
        let is_open = schema == &Value::Bool(true)
            || schema.as_object().is_some_and(|fields| {
                !fields.keys().any(|key| {
                    ["type", "anyOf", "oneOf", "allOf", "enum", "const", "properties", "$ref"]
                        .contains(&key.as_str())
                })
            });
        if !path.is_empty() && (is_open || is_text(&schema["type"]) && !is_bounded) {
            found.push(path.to_owned());
        }
    }

    #[test]
    fn every_free_text_of_every_action_is_declared_as_shown_or_is_a_secret() {
        let registry = crate::actions::registry();
        let mut undeclared = Vec::new();
        for action in registry.iter() {
            let (params, answer) = action.schemas();
            let mut fields = Vec::new();
            free_fields(&params, "", &mut fields);
            if action.kind != crate::ActionKind::Question {
                free_fields(&answer, "", &mut fields);
            }
            fields.retain(|field| {
                let name = field.rsplit('.').next().unwrap_or(field);
                let here = format!("{} {field}", action.name);
                let is_shown = SHOWN.contains(&name) || SHOWN.contains(&here.as_str());
                !is_redacted(field, action.secrets) && !is_shown
            });
            fields.sort();
            fields.dedup();
            undeclared.extend(fields.into_iter().map(|field| format!("{} {field}", action.name)));
        }
        assert!(
            undeclared.is_empty(),
            "each of these is a secret of its action, or is declared here as shown:\n{}",
            undeclared.join("\n")
        );
    }

    #[test]
    fn a_token_is_recognised_wherever_it_stands() {
        let secret = "abcdefghijklmnopqrstuvwxyz0123456789-_ABCDE";
        let check = |json: &str, expect: &str| {
            assert_eq!(redact_tokens(json.replace('$', secret)), expect.replace('$', secret));
        };
        check(r#"{"id":"paned_abc_$"}"#, r#"{"id":"paned_abc_(not shown)"}"#);
        check("paned_a_$ paned_b_$x paned_", "paned_a_(not shown) paned_b_(not shown) paned_");
        for harmless in ["{}", "paned_abc", "paned_abc_short", "paned__$", "/tmp/paned_x/a_b"] {
            check(harmless, harmless);
        }
    }
}
