//! What both kinds of manifests declare: scopes, patterns, time-outs, keys.

use std::collections::BTreeSet;
use std::time::Duration;

use paned_model::near::{closest, did_you_mean};
use paned_model::{EventFilter, Scope};

const LONGEST_TIMEOUT_MS: u64 = 600_000;
/// Longer texts are cut: they are shown in tables.
const LONGEST_TEXT: usize = 200;

/// What a key declares is wrong: a clause that names the key.
pub(super) type ValueError = String;

/// Refuses keys that are not known.
pub(super) fn check_keys<'a>(
    keys: impl IntoIterator<Item = &'a str>,
    known: &[&str],
    table: &str,
) -> Result<(), ValueError> {
    let Some(key) = keys.into_iter().find(|key| !known.contains(key)) else { return Ok(()) };
    let near: Vec<_> = closest(key, known.iter().copied()).into_iter().collect();
    let hint = did_you_mean(&near).unwrap_or_else(|| format!("known keys: {}", known.join(", ")));
    let shown: String = key.chars().take(64).collect();
    Err(format!("unknown key `{}`{table}; {hint}", shown.escape_debug()))
}

/// The scopes with these names.
pub(super) fn scopes(names: &[String]) -> Result<BTreeSet<Scope>, ValueError> {
    let read = |name: &String| name.parse().map_err(|error: String| format!("`scopes`: {error}"));
    names.iter().map(read).collect()
}

/// Patterns, each for itself.
pub(super) fn patterns(key: &str, patterns: Vec<String>) -> Result<Vec<String>, ValueError> {
    for pattern in &patterns {
        if pattern.trim().is_empty() || pattern.contains(',') {
            return Err(format!("`{key}`: write one pattern per entry, such as `pane:*`"));
        }
        let parsed: Result<EventFilter, _> = pattern.parse();
        parsed.map_err(|error| format!("`{key}`: {error}"))?;
    }
    Ok(patterns)
}

/// A time-out in milliseconds.
pub(super) fn timeout(millis: Option<i64>) -> Result<Option<Duration>, ValueError> {
    let Some(millis) = millis else { return Ok(None) };
    match u64::try_from(millis) {
        Ok(millis @ 1..=LONGEST_TIMEOUT_MS) => Ok(Some(Duration::from_millis(millis))),
        _ => Err(format!("`timeoutMs` must be between 1 and {LONGEST_TIMEOUT_MS}")),
    }
}

/// A text for one line: without control characters, and cut.
pub(super) fn one_line(text: Option<String>) -> Option<String> {
    let text = text?;
    let clean = text.split(char::is_control).collect::<Vec<_>>().join(" ");
    let cut: String = clean.trim().chars().take(LONGEST_TEXT).collect();
    (!cut.is_empty()).then_some(cut)
}

/// A word that a shell reads as itself.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
