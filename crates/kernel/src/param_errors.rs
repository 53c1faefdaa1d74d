//! Messages for parameters that cannot be parsed. The parser's own messages name types of Rust.

use serde_json::Error;

/// The message without line and column: these matter only when the text is not JSON.
pub(crate) fn sentence(error: &Error) -> String {
    let text = error.to_string();
    if !error.is_data() {
        return text;
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    if text.starts_with("data did not match any variant") {
        return "this is nothing that is taken here; `GET /actions` describes what is".to_owned();
    }
    wrong_value(text).unwrap_or_else(|| text.to_owned())
}

/// The message for a value of the wrong type, where there is a phrase for the expected type.
fn wrong_value(text: &str) -> Option<String> {
    let rest = text.strip_prefix("invalid type: ").or_else(|| text.strip_prefix("invalid value: "));
    let (got, wanted) = rest?.rsplit_once(", expected ")?;
    Some(format!("{} is {}", value_phrase(got), expected_phrase(wanted)?))
}

/// A value as the client wrote it.
fn value_phrase(got: &str) -> &str {
    match got {
        "map" => "an object",
        "sequence" => "an array",
        _ => {
            let word = ["integer `", "floating point `", "boolean `"];
            let inside = word.iter().find_map(|word| got.strip_prefix(word)?.strip_suffix('`'));
            inside.unwrap_or_else(|| got.strip_prefix("string ").unwrap_or(got))
        }
    }
}

/// The expected type, as the phrase after “is”.
fn expected_phrase(wanted: &str) -> Option<String> {
    let (first, number) = match wanted.strip_prefix("a nonzero ") {
        Some(number) => (1, number),
        None => (0, wanted),
    };
    let last = match number {
        "u8" => u8::MAX.to_string(),
        "u16" => u16::MAX.to_string(),
        "u32" => u32::MAX.to_string(),
        "u64" | "usize" => return Some(format!("no whole number from {first} on")),
        _ => return expected_type_phrase(wanted).map(str::to_owned),
    };
    Some(format!("no whole number from {first} to {last}"))
}

fn expected_type_phrase(wanted: &str) -> Option<&'static str> {
    match wanted {
        "a boolean" => Some("neither true nor false"),
        "a string" => Some("no text"),
        "a sequence" => Some("no array"),
        "a map" => Some("no object"),
        _ if wanted.starts_with("struct ") => Some("no object"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

    #[track_caller]
    fn check<T: DeserializeOwned + Debug>(json: &str, expect: &str) {
        assert_eq!(sentence(&serde_json::from_str::<T>(json).unwrap_err()), expect);
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is never read")]
    struct Thing {
        name: String,
    }

    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "it is never read")]
    enum Either {
        Number(u8),
        Name(String),
    }

    #[test]
    fn values_of_another_kind_are_told_without_words_of_rust() {
        check::<usize>("-1", "-1 is no whole number from 0 on");
        check::<u8>("256", "256 is no whole number from 0 to 255");
        check::<std::num::NonZeroU16>("0", "0 is no whole number from 1 to 65535");
        check::<u64>(r#""a, expected b""#, r#""a, expected b" is no whole number from 0 on"#);
        check::<bool>("null", "null is neither true nor false");
        check::<String>("[1]", "an array is no text");
        check::<Vec<u8>>("true", "true is no array");
        check::<Thing>("1.5", "1.5 is no object");
        check::<Either>(
            "{}",
            "this is nothing that is taken here; `GET /actions` describes what is",
        );
    }

    #[test]
    fn other_mistakes_keep_their_words() {
        check::<Thing>("{}", "missing field `name`");
        check::<Thing>(r#"{"mane":1}"#, "unknown field `mane`, expected `name`");
        check::<Thing>("{", "EOF while parsing an object at line 1 column 1");
    }
}
