//! Redacts parameters, answers and payloads for events: prompts, typed text, terminal contents and
//! tokens are left out.

use serde_json::Value;
use serde_json::value::RawValue;

const REDACTED: &str = "(not shown)";
/// Hides every field except those that identify the pane.
const ALL_FIELDS: &str = "*";
const NEVER_REDACTED: [&str; 2] = ["paneId", "id"];
/// A token is this prefix, a grant's id, `_` and [`SECRET_LENGTH`] characters of base64.
const TOKEN: &str = "paned_";
const SECRET_LENGTH: usize = 43;

/// The JSON for events: on one line, with secrets left out. A secret is the path of a field, `a.b`,
/// which also passes through arrays; or `*`.
pub(crate) fn redact<S: AsRef<str>>(json: &[u8], secrets: &[S]) -> Box<RawValue> {
    if secrets.is_empty()
        && let Ok(line) = String::from_utf8(compact(json))
        && let Ok(raw) = RawValue::from_string(line)
    {
        return raw;
    }
    let mut value: Value = serde_json::from_slice(json).unwrap_or_else(|_| serde_json::json!({}));
    for secret in secrets {
        match secret.as_ref() {
            ALL_FIELDS => hide_all(&mut value),
            path => hide(&mut value, path),
        }
    }
    serde_json::value::to_raw_value(&value).expect("a JSON value always becomes JSON")
}

/// Whether a field at this path is left out.
#[cfg(test)]
pub(crate) fn is_redacted(path: &str, secrets: &[String]) -> bool {
    secrets.iter().any(|secret| match secret.as_str() {
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

/// JSON without the secrets of tokens: a client may send a token where an id belongs.
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

/// JSON without insignificant whitespace.
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
mod tests;
