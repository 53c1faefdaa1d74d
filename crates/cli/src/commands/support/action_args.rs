//! The arguments after an action's or event's name: parameters as flags, or a body.

use std::io::Read;

use anyhow::{Context as _, Result};
use paned_model::Refusal;
use serde_json::Value;

/// What follows the name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ActionInput {
    /// Flags to be parsed as parameters.
    Flags(Vec<String>),
    /// All parameters at once, as JSON text.
    Body(String),
    /// A request for help.
    Help,
}

/// Whether `--json` is among the arguments: it is never a parameter, wherever it stands.
pub(crate) fn wants_json(words: &[String]) -> bool {
    words.iter().any(|word| word == JSON)
}

/// The flag of every command that also counts among an action's parameters.
const JSON: &str = "--json";

impl ActionInput {
    /// Parses the arguments: `--body`, `--json` and `--help` are ours, the rest are parameters.
    ///
    /// # Errors
    /// When there are both flags and a body.
    pub(crate) fn new(words: Vec<String>) -> Result<Self, Refusal> {
        let mut flags = Vec::new();
        let mut body = None;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                JSON => {}
                "--help" | "-h" => return Ok(Self::Help),
                "--body" => body = Some(words.next().ok_or_else(no_body)?),
                inline if inline.starts_with("--body=") => body = Some(inline[7..].to_owned()),
                _ => flags.push(word),
            }
        }
        match (body, flags.is_empty()) {
            (Some(body), true) => Ok(Self::Body(body)),
            (None, _) => Ok(Self::Flags(flags)),
            (Some(_), false) => {
                Err(Refusal::invalid("pass the parameters as flags or with `--body`, not both"))
            }
        }
    }
}

fn no_body() -> Refusal {
    Refusal::invalid("`--body` requires JSON, or `-` to read it from standard input")
}

/// The body as JSON; `-` reads it from standard input.
///
/// # Errors
/// When it is not JSON.
pub(crate) fn body(text: &str) -> Result<Value> {
    let mut read = String::new();
    let text = match text {
        "-" => {
            std::io::stdin().read_to_string(&mut read).context("cannot read standard input")?;
            &read
        }
        text => text,
    };
    let value = serde_json::from_str(text);
    Ok(value.map_err(|error| Refusal::invalid(format!("the body is not valid JSON: {error}")))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(line: &str, input: ActionInput, json: bool) {
        assert_eq!(ActionInput::new(words(line)), Ok(input));
        assert_eq!(wants_json(&words(line)), json);
    }

    #[test]
    fn ours_are_told_from_parameters() {
        let flags = |line: &str| ActionInput::Flags(words(line));
        check("", flags(""), false);
        check("--pane-id a --json --force", flags("--pane-id a --force"), true);
        check("--json --pane-id a", flags("--pane-id a"), true);
        check("--body {}", ActionInput::Body("{}".into()), false);
        check("--body={} --json", ActionInput::Body("{}".into()), true);
        check("--pane-id a --help", ActionInput::Help, false);
    }

    #[test]
    fn both_at_once_are_refused() {
        assert!(ActionInput::new(words("--pane-id a --body {}")).is_err());
        assert!(ActionInput::new(words("--body")).is_err());
    }
}
