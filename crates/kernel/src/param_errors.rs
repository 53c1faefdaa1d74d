//! Messages for parameters that cannot be parsed.

use paned_model::parse_error;
use serde_json::Error;

/// The sentence for an error at this path. Line and column matter only when the text is not JSON.
pub(crate) fn sentence(path: &str, error: &Error) -> String {
    let text = error.to_string();
    if !error.is_data() {
        return format!("invalid JSON: {text}");
    }
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    parse_error::explain(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expect: &str) {
        let error = serde_json::from_str::<Vec<u8>>(json).unwrap_err();
        assert_eq!(sentence("argv", &error), expect);
    }

    #[test]
    fn only_text_that_is_not_json_gets_a_line_and_a_column() {
        check("7", "`argv` must be an array, not 7");
        check("[", "invalid JSON: EOF while parsing a list at line 1 column 1");
    }
}
