//! Patterns that users send: regular expressions in linear time, of bounded size.

use paned_model::Refusal;
use regex::{Regex, RegexBuilder};

const LONGEST: usize = 1000;
const LARGEST: usize = 1 << 20;

/// Reads a pattern.
pub(crate) fn pattern(field: &str, text: &str, ignore_case: bool) -> Result<Regex, Refusal> {
    if LONGEST < text.chars().count() {
        let sentence = format!("`{field}` is longer than {LONGEST} characters");
        return Err(Refusal::invalid(sentence));
    }
    let mut builder = RegexBuilder::new(text);
    builder.case_insensitive(ignore_case).size_limit(LARGEST).dfa_size_limit(LARGEST);
    builder.build().map_err(|error| {
        let reason = match error {
            regex::Error::CompiledTooBig(_) => "it is too large once compiled".to_owned(),
            other => other.to_string().lines().last().unwrap_or_default().trim().to_owned(),
        };
        Refusal::invalid(format!("`{field}` is no pattern we can use: {reason}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_and_huge_patterns_get_a_sentence() {
        assert!(pattern("pattern", "a.*b$", false).unwrap().is_match("axxb"));
        assert!(pattern("pattern", "ERROR", true).unwrap().is_match("an error"));
        for (text, part) in [
            ("a(", "unclosed group"),
            (r"(a)\1", "backreferences are not supported"),
            ("a{1000}{1000}{10}", "too large"),
        ] {
            let sentence = pattern("pattern", text, false).unwrap_err().sentence;
            assert!(
                sentence.starts_with("`pattern` is no pattern") && sentence.contains(part),
                "{sentence}"
            );
        }
        assert!(pattern("p", &"x".repeat(1001), false).unwrap_err().sentence.contains("1000"));
    }
}
