//! Names of sessions. tmux turns `.` and `:` into `_`; the requested name is kept in a user option,
//! so that it can be shown again.

use std::fmt;

use super::error::Error;
use super::notice::octal;

/// A valid session name: letters, digits, `_`, `.` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionName(String);

impl SessionName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`Error::InvalidCommand`] when it has other characters, is empty or longer than 128.
    pub fn new(name: &str) -> Result<Self, Error> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        if (1..=128).contains(&name.len()) && name.chars().all(plain) {
            return Ok(Self(name.to_owned()));
        }
        let short: String = name.chars().take(40).collect();
        let says = format!("invalid session name {short:?}: use letters, digits, `_`, `.` and `-`");
        Err(Error::InvalidCommand(says))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name that tmux makes of it.
    pub(super) fn in_tmux(&self) -> String {
        in_tmux(&self.0)
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name to show: the requested one, unless the session was renamed since.
pub(super) fn display_name(tmux_name: &str, requested: String) -> String {
    if in_tmux(&requested) == tmux_name { requested } else { tmux_name.to_owned() }
}

/// Unescapes a name: tmux writes `\\` for a backslash in names, `\$` for a `$` that could begin a
/// variable, and octal for bytes that it does not print.
pub(super) fn unescape_name(name: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match rest {
            [b'\\', sign @ (b'\\' | b'$'), after @ ..] => (*sign, after),
            _ => octal(rest).map_or((*first, after), |byte| (byte, &rest[4..])),
        };
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn in_tmux(name: &str) -> String {
    name.replace(['.', ':'], "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        for good in ["a", "agent-1", "-x", "a.b_c", "0"] {
            assert!(SessionName::new(good).is_ok(), "{good}");
        }
        let long = "x".repeat(129);
        for bad in ["", "a b", "a:b", "#(x)", "é", "a\n", "$1", "=a", &long] {
            assert!(matches!(SessionName::new(bad), Err(Error::InvalidCommand(_))), "{bad}");
        }
    }

    #[test]
    fn a_name_is_read_as_it_was_meant() {
        for (name, expect) in
            [(r"a\\b", r"a\b"), (r"\$HOME", "$HOME"), (r"\303\251", "é"), (r"\n\", r"\n\")]
        {
            assert_eq!(unescape_name(name.as_bytes()), expect);
        }
    }

    #[test]
    fn a_dot_comes_back_until_somebody_renames() {
        assert_eq!(SessionName::new("a.b").unwrap().in_tmux(), "a_b");
        assert_eq!(display_name("a_b", "a.b".to_owned()), "a.b");
        assert_eq!(display_name("other", "a.b".to_owned()), "other");
        assert_eq!(display_name("a", String::new()), "a");
    }
}
