//! The notification command in aider's YAML: two lines at the end of the file.
//!
//! YAML is edited by lines, and only where that is safe: a file with another notification command,
//! several documents or no plain list of keys is refused with the lines to add.

use super::{EditError, is_own_command};

const COMMAND: &str = "notifications-command";
const SWITCH: &str = "notifications";
const MARK: &str = "# for paned";
const AGENT: &str = "aider";

pub(super) fn install(text: &str, command: &str) -> Result<String, EditError> {
    let own = format!("{COMMAND}: {}\n", quoted(command));
    if let Some(line) = own_line(text) {
        return Ok(text.replace(line, &own));
    }
    let add = || format!("add `{SWITCH}: true` and `{}` to it yourself", own.trim_end());
    if let Some(reason) = unsafe_reason(text) {
        return Err(format!("{reason}; {}", add()));
    }
    if value_of(text, COMMAND).is_some() {
        let theirs = format!("has a `{COMMAND}` already, and aider runs one only");
        return Err(format!("{theirs}; add this to it: {command}"));
    }
    let switch = match value_of(text, SWITCH) {
        None => format!("{SWITCH}: true {MARK}\n"),
        Some(value) if is_true(value) => String::new(),
        Some(_) => return Err(format!("turns `{SWITCH}` off; {}", add())),
    };
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Ok(format!("{text}{end}{switch}{own}"))
}

#[expect(clippy::unnecessary_wraps, reason = "the signature that all formats have")]
pub(super) fn remove(text: &str) -> Result<String, EditError> {
    let is_switch = |line: &&str| line.starts_with(SWITCH) && line.trim_end().ends_with(MARK);
    if own_line(text).is_none() {
        return Ok(text.to_owned());
    }
    let rest = text.split_inclusive('\n').filter(|line| !is_own(line) && !is_switch(line));
    Ok(rest.collect())
}

pub(super) fn commands(text: &str) -> Vec<String> {
    let value = own_line(text).and_then(|line| line.split_once(':'));
    value.map(|(_, value)| unquoted(value)).into_iter().collect()
}

fn own_line(text: &str) -> Option<&str> {
    text.split_inclusive('\n').find(|line| is_own(line))
}

fn is_own(line: &str) -> bool {
    let value = line.strip_prefix(COMMAND).and_then(|rest| rest.strip_prefix(':'));
    value.is_some_and(|value| is_own_command(&unquoted(value), AGENT))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The text of a value in single quotes, or of a plain one.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    match value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inner) => inner.replace("''", "'"),
        None => value.to_owned(),
    }
}

/// Why lines cannot be added at the end.
fn unsafe_reason(text: &str) -> Option<&'static str> {
    let content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let mut lines = text.lines().filter(content).peekable();
    if lines.peek().is_some_and(|line| line.starts_with("---") || line.starts_with('%')) {
        lines.next();
    }
    if lines.clone().any(|line| line.starts_with("---") || line.starts_with("...")) {
        return Some("has several documents");
    }
    let first = lines.next()?;
    let is_key = first.starts_with(|c: char| c.is_ascii_alphanumeric()) && first.contains(':');
    (!is_key).then_some("is not a plain list of keys")
}

fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let names = [key.to_owned(), key.replace('-', "_")];
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let name = name.trim_end().trim_matches(['"', '\'']);
        names.iter().any(|known| known == name).then(|| value.trim())
    })
}

fn is_true(value: &str) -> bool {
    let word = value.split('#').next().unwrap_or_default().trim().to_ascii_lowercase();
    ["true", "yes", "on"].contains(&word.as_str())
}
