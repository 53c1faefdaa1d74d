//! A whole file of ours, as an extension.

use super::EditError;

/// In the first line of each file of ours.
const MARK: &str = "written by `paned hooks install";

pub(super) fn install(text: &str, own: &str) -> Result<String, EditError> {
    match text.trim().is_empty() || is_own(text) {
        true => Ok(own.to_owned()),
        false => Err("was not written by paned, so it is not replaced".to_owned()),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that all formats have")]
pub(super) fn remove(text: &str) -> Result<String, EditError> {
    Ok(if is_own(text) { String::new() } else { text.to_owned() })
}

/// The program in it, as the extension names it.
pub(super) fn commands(text: &str) -> Vec<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("const PANED = "));
    let program = line.and_then(|line| serde_json::from_str(line.trim_end_matches(';')).ok());
    program.into_iter().collect()
}

fn is_own(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(MARK))
}
