//! Sentences for values that cannot be parsed. The parser's own messages name types of Rust.

use crate::near::{did_you_mean, nearest};

/// The sentence for the parser's message about the value at this path (empty for the whole).
#[must_use]
pub fn explain(path: &str, message: &str) -> String {
    if let Some(field) = message.strip_prefix("missing field ") {
        return match path {
            "" => format!("missing parameter {field}"),
            path => format!("`{path}`: missing field {field}"),
        };
    }
    if let Some(rest) = message.strip_prefix("duplicate field ") {
        return format!("{}duplicate parameter {rest}", prefix(path));
    }
    if let Some(rest) = message.strip_prefix("unknown field `") {
        return unknown_field(path, rest);
    }
    if let Some(rest) = message.strip_prefix("unknown variant `") {
        return unknown_value(path, rest);
    }
    if message.starts_with("data did not match any variant") {
        return format!("{}invalid value; `GET /actions` describes what is accepted", prefix(path));
    }
    match (wrong_value(message), path) {
        (Some(sentence), "") => format!("the value {sentence}"),
        (Some(sentence), path) => format!("`{path}` {sentence}"),
        (None, "") => message.to_owned(),
        (None, path) if message.starts_with("must ") => format!("`{path}` {message}"),
        (None, path) => format!("`{path}`: {message}"),
    }
}

/// `; did you mean …?`, or nothing.
fn hint<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let question = did_you_mean(&nearest(typed, known));
    question.map(|question| format!("; {question}")).unwrap_or_default()
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{path}`: ") }
}

/// `sise`, expected one of `argv`, `size`
fn unknown_field(path: &str, rest: &str) -> String {
    let (field, known) = split_known(rest);
    // The path of an unknown field ends with the field.
    let parent = path.strip_suffix(field).map(|parent| parent.trim_end_matches('.'));
    let parent = prefix(parent.unwrap_or(path));
    let what = if parent.is_empty() { "parameter" } else { "field" };
    let shown = field.escape_debug();
    let hint = match hint(field, known.iter().copied()) {
        hint if !hint.is_empty() => hint,
        _ if known.is_empty() => "; none is accepted".to_owned(),
        _ => format!("; expected {}", any_of(&known)),
    };
    format!("{parent}unknown {what} `{shown}`{hint}")
}

/// `runing`, expected one of `running`, `exited`
fn unknown_value(path: &str, rest: &str) -> String {
    let (value, known) = split_known(rest);
    let shown = value.escape_debug();
    let subject = match path {
        "" => format!("invalid value `{shown}`"),
        path => format!("`{path}`: invalid value `{shown}`"),
    };
    match hint(value, known.iter().copied()) {
        hint if hint.is_empty() => format!("{subject}; expected {}", any_of(&known)),
        hint => format!("{subject}{hint}"),
    }
}

/// The word that is not known, and the known ones.
fn split_known(rest: &str) -> (&str, Vec<&str>) {
    let split = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, there are no "));
    let Some((word, known)) = split else { return (rest.trim_end_matches('`'), Vec::new()) };
    (word, known.split('`').skip(1).step_by(2).collect())
}

/// `a`, `b` or `c`
fn any_of(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// What a value must be, from a message about its type.
fn wrong_value(message: &str) -> Option<String> {
    let rest = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .or_else(|| message.strip_prefix("invalid length "))?;
    let (got, wanted) = rest.rsplit_once(", expected ")?;
    Some(format!("must be {}, not {}", expected_phrase(wanted), value_phrase(got)))
}

/// A value as the client wrote it.
fn value_phrase(got: &str) -> &str {
    match got {
        "map" => "an object",
        "sequence" => "an array",
        "unit value" => "null",
        _ => {
            let word = ["integer `", "floating point `", "boolean `"];
            let inside = word.iter().find_map(|word| got.strip_prefix(word)?.strip_suffix('`'));
            inside.unwrap_or_else(|| got.strip_prefix("string ").unwrap_or(got))
        }
    }
}

/// The expected type, as the phrase after “must be”.
fn expected_phrase(wanted: &str) -> String {
    let (first, number) = match wanted.strip_prefix("a nonzero ") {
        Some(number) => (1, number),
        None => (0, wanted),
    };
    let last = match number {
        "u8" => u8::MAX.to_string(),
        "u16" => u16::MAX.to_string(),
        "u32" => u32::MAX.to_string(),
        "u64" | "usize" => return format!("a whole number of at least {first}"),
        _ => return expected_type_phrase(wanted).to_owned(),
    };
    format!("a whole number from {first} to {last}")
}

fn expected_type_phrase(wanted: &str) -> &str {
    match wanted {
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "string or map" => "a string",
        "a sequence" => "an array",
        "a map" => "an object",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        _ if wanted.starts_with("struct ") => "an object",
        _ => wanted,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

    #[track_caller]
    fn check<T: DeserializeOwned + Debug>(json: &str, path: &str, expect: &str) {
        let error = serde_json::from_str::<T>(json).unwrap_err().to_string();
        let message = error.rsplit_once(" at line ").map_or(&*error, |(message, _)| message);
        assert_eq!(explain(path, message), expect);
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is never read")]
    struct Thing {
        name: String,
        size: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Status {
        Running,
        Exited,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "it is never read")]
    enum Either {
        Number(u8),
        Name(String),
    }

    #[test]
    fn a_value_of_another_type_gets_what_it_must_be() {
        check::<usize>("-1", "limit", "`limit` must be a whole number of at least 0, not -1");
        check::<u8>("256", "", "the value must be a whole number from 0 to 255, not 256");
        let nonzero = "`n` must be a whole number from 1 to 65535, not 0";
        check::<std::num::NonZeroU16>("0", "n", nonzero);
        let text = r#"`n` must be a whole number of at least 0, not "a, expected b""#;
        check::<u64>(r#""a, expected b""#, "n", text);
        check::<bool>("null", "force", "`force` must be true or false, not null");
        check::<String>("[1]", "id", "`id` must be a string, not an array");
        check::<Vec<u8>>("true", "argv", "`argv` must be an array, not true");
        check::<Thing>("1.5", "size", "`size` must be an object, not 1.5");
        check::<f64>("{}", "t", "`t` must be a number, not an object");
    }

    #[test]
    fn fields_that_are_missing_or_unknown_are_named() {
        check::<Thing>("{}", "", "missing parameter `name`");
        check::<Thing>("{}", "size", "`size`: missing field `name`");
        let sise = "unknown parameter `sise`; did you mean `size`?";
        check::<Thing>(r#"{"sise":1}"#, "sise", sise);
        let other = "unknown parameter `other`; expected `name` or `size`";
        check::<Thing>(r#"{"other":1}"#, "other", other);
        let nested = "`at`: unknown field `other`; expected `name` or `size`";
        check::<Thing>(r#"{"other":1}"#, "at.other", nested);
        check::<Nothing>(r#"{"x":1}"#, "x", "unknown parameter `x`; none is accepted");
        let twice = "duplicate parameter `name`";
        check::<Thing>(r#"{"name":"a","name":"b"}"#, "", twice);
    }

    #[test]
    fn a_value_that_is_not_in_the_list_gets_the_one_that_is_meant_or_the_list() {
        let hint = "`status`: invalid value `runing`; did you mean `running`?";
        check::<Status>(r#""runing""#, "status", hint);
        let list = "`status`: invalid value `frozen`; expected `running` or `exited`";
        check::<Status>(r#""frozen""#, "status", list);
        let value = "invalid value; `GET /actions` describes what is accepted";
        check::<Either>("{}", "", value);
        let text = "invalid value `a\\u{1b}`; expected `running` or `exited`";
        check::<Status>("\"a\\u001b\"", "", text);
    }

    #[test]
    fn sentences_of_paned_itself_stay() {
        assert_eq!(explain("id", "invalid pane id `?`"), "`id`: invalid pane id `?`");
        assert_eq!(explain("window", "must be from 1 to 9"), "`window` must be from 1 to 9");
        assert_eq!(explain("", "the body is cut"), "the body is cut");
    }
}
