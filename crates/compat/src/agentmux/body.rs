//! Parses the body of a request, with agentmux's error texts. Pure.

use paned_model::Refusal;
use serde_json::{Map, Value};

/// The keys that can be pressed: agentmux's name and ours.
pub(super) const KEYS: [(&str, &str); 11] = [
    ("backspace", "backspace"),
    ("delete", "delete"),
    ("down", "down"),
    ("enter", "enter"),
    ("esc", "esc"),
    ("escape", "esc"),
    ("left", "left"),
    ("right", "right"),
    ("space", "space"),
    ("tab", "tab"),
    ("up", "up"),
];

/// The body of a request: a JSON object, empty if there is no body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct AgentmuxBody(Map<String, Value>);

impl AgentmuxBody {
    /// Parses a body.
    pub(super) fn read(body: &[u8]) -> Result<Self, Refusal> {
        if body.is_empty() {
            return Ok(Self::default());
        }
        let text = std::str::from_utf8(body)
            .map_err(|_| Refusal::invalid("request body must be utf-8"))?;
        match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(Refusal::invalid("JSON body must be an object")),
            Err(_) => Err(Refusal::invalid("invalid JSON body")),
        }
    }

    /// A required string, trimmed.
    pub(super) fn required(&self, field: &str) -> Result<&str, Refusal> {
        let text = match self.0.get(field) {
            None => "",
            Some(Value::String(text)) => text.trim(),
            Some(_) => return Err(Refusal::invalid(format!("{field} must be a string"))),
        };
        if text.is_empty() {
            return Err(Refusal::invalid(format!("{field} is required")));
        }
        Ok(text)
    }

    /// How often a key is pressed: once by default, 50 times at most.
    pub(super) fn repeat(&self) -> Result<u64, Refusal> {
        let repeat = match self.0.get("repeat") {
            None => return Ok(1),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(_) => String::new(),
        };
        Ok(at_least_one("repeat", &repeat)?.min(50))
    }

    /// The target; `None` if it is missing or blank.
    pub(super) fn target(&self) -> Result<Option<&str>, Refusal> {
        match self.0.get("target") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(target)) => Ok(non_blank(target)),
            Some(_) => Err(Refusal::invalid("target must be a string")),
        }
    }
}

/// A trimmed name; `None` if it is blank.
pub(super) fn non_blank(target: &str) -> Option<&str> {
    Some(target.trim()).filter(|target| !target.is_empty())
}

/// How many lines are shown: 60 by default, clamped to 10 to 500.
pub(super) fn lines(text: Option<&str>) -> Result<u64, Refusal> {
    match text.filter(|text| !text.is_empty()) {
        None => Ok(60),
        Some(text) => Ok(at_least_one("lines", text)?.clamp(10, 500)),
    }
}

/// Our name for a key.
pub(super) fn key(name: &str) -> Result<&'static str, Refusal> {
    let found = KEYS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let (_, key) = found.ok_or_else(|| {
        let supported = KEYS.map(|(known, _)| known).join(", ");
        Refusal::invalid(format!("Unsupported key '{name}'. Supported keys: {supported}"))
    })?;
    Ok(key)
}

/// An integer above zero; one that does not fit is clamped to the maximum.
fn at_least_one(name: &str, text: &str) -> Result<u64, Refusal> {
    let text = text.trim();
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Refusal::invalid(format!("{name} must be an integer")));
    }
    match digits.parse().unwrap_or(u64::MAX) {
        number if 0 < number && !is_negative => Ok(number),
        _ => Err(Refusal::invalid(format!("{name} must be >= 1"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence<T>(read: Result<T, Refusal>) -> Result<T, String> {
        read.map_err(|refusal| refusal.sentence)
    }

    #[track_caller]
    fn check_body(body: &[u8], expect: Result<(), &str>) {
        let read = sentence(AgentmuxBody::read(body)).map(|_| ());
        assert_eq!(read, expect.map_err(str::to_owned), "{body:?}");
    }

    #[test]
    fn a_body_is_an_object_or_nothing() {
        check_body(b"", Ok(()));
        check_body(b"{}", Ok(()));
        check_body(b" {\"a\": 1} ", Ok(()));
        check_body(b"\xff", Err("request body must be utf-8"));
        for bad in ["{", " ", "nope", "{} {}", "\u{feff}{}"] {
            check_body(bad.as_bytes(), Err("invalid JSON body"));
        }
        for other in ["[]", "1", "null", "\"x\"", "true"] {
            check_body(other.as_bytes(), Err("JSON body must be an object"));
        }
    }

    #[track_caller]
    fn check_text(body: &str, expect: Result<&str, &str>) {
        let parsed = AgentmuxBody::read(body.as_bytes()).unwrap();
        let read = sentence(parsed.required("text"));
        assert_eq!(read, expect.map_err(str::to_owned), "{body}");
    }

    #[test]
    fn a_text_is_trimmed_and_must_be_one() {
        check_text(r#"{"text":" a b\n"}"#, Ok("a b"));
        check_text(r#"{"text":"-x;"}"#, Ok("-x;"));
        for none in ["", r#"{"text":""}"#, r#"{"text":" \n\t"}"#] {
            check_text(none, Err("text is required"));
        }
        for other in ["1", "null", "[]", "{}", "true"] {
            check_text(&format!(r#"{{"text":{other}}}"#), Err("text must be a string"));
        }
    }

    #[track_caller]
    fn check_repeat(repeat: &str, expect: Result<u64, &str>) {
        let parsed = AgentmuxBody::read(format!(r#"{{"repeat":{repeat}}}"#).as_bytes()).unwrap();
        assert_eq!(sentence(parsed.repeat()), expect.map_err(str::to_owned), "{repeat}");
    }

    #[test]
    fn a_number_may_be_a_text_and_never_a_truth() {
        assert_eq!(AgentmuxBody::default().repeat().unwrap(), 1);
        for (repeat, number) in [("1", 1), ("\"7\"", 7), ("\" +7 \"", 7), ("50", 50), ("51", 50)] {
            check_repeat(repeat, Ok(number));
        }
        check_repeat("99999999999999999999999", Err("repeat must be an integer"));
        check_repeat("\"99999999999999999999999\"", Ok(50));
        for zero in ["0", "-1", "\"-0\"", "\"-7\""] {
            check_repeat(zero, Err("repeat must be >= 1"));
        }
        for other in
            ["true", "false", "null", "1.0", "1.5", "[]", "\"\"", "\"x\"", "\"1.0\"", "\"0x1\""]
        {
            check_repeat(other, Err("repeat must be an integer"));
        }
    }

    #[track_caller]
    fn check_lines(text: Option<&str>, expect: Result<u64, &str>) {
        assert_eq!(sentence(lines(text)), expect.map_err(str::to_owned), "{text:?}");
    }

    #[test]
    fn lines_go_from_10_to_500() {
        check_lines(None, Ok(60));
        check_lines(Some(""), Ok(60));
        for (text, shown) in [("1", 10), ("10", 10), ("77", 77), ("500", 500), ("501", 500)] {
            check_lines(Some(text), Ok(shown));
        }
        check_lines(Some("0"), Err("lines must be >= 1"));
        check_lines(Some("-5"), Err("lines must be >= 1"));
        for other in ["x", "1.5", "true", "-"] {
            check_lines(Some(other), Err("lines must be an integer"));
        }
    }

    #[test]
    fn a_blank_target_is_none() {
        let target = |body: &str| {
            let parsed = AgentmuxBody::read(body.as_bytes()).unwrap();
            sentence(parsed.target().map(|target| target.map(str::to_owned)))
        };
        for none in ["{}", r#"{"target":null}"#, r#"{"target":" "}"#] {
            assert_eq!(target(none), Ok(None));
        }
        assert_eq!(target(r#"{"target":" a:0.0 "}"#), Ok(Some("a:0.0".to_owned())));
        assert_eq!(target(r#"{"target":1}"#), Err("target must be a string".to_owned()));
    }

    #[test]
    fn keys_have_agentmuxs_names_in_any_case() {
        for (name, ours) in KEYS {
            assert_eq!(key(&name.to_uppercase()), Ok(ours));
        }
        let expect = "Unsupported key 'F1'. Supported keys: backspace, delete, down, enter, esc, escape, \
                      left, right, space, tab, up";
        assert_eq!(sentence(key("F1")), Err(expect.to_owned()));
        assert!(KEYS.is_sorted());
    }
}
