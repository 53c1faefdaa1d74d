//! Names of sessions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Error;

/// A session's name: letters, digits, `_`, `.` and `-`, at most 128 of them. It is matched as a
/// whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

impl Name {
    /// The longest name, in characters.
    pub const MAX: usize = 128;

    /// Checks a name.
    ///
    /// # Errors
    /// [`Error::InvalidCommand`] with the rule.
    pub fn new(name: &str) -> Result<Self, Error> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        if (1..=Self::MAX).contains(&name.len()) && name.bytes().all(fits) {
            return Ok(Self(name.to_owned()));
        }
        let short: String = name.chars().take(40).collect();
        Err(Error::InvalidCommand(format!(
            "invalid session name `{}`: use letters, digits, `_`, `.` and `-`, at most {}",
            short.escape_debug(),
            Self::MAX
        )))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::new(name)
    }
}

impl TryFrom<String> for Name {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        Self::new(&name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rule() {
        let long = "x".repeat(128);
        for good in ["a", "agent-1", "-x", "a.b_c", "0", "..", &long] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(129);
        for bad in ["", "a b", "a:b", "a/b", "#(x)", "é", "a\n", "$1", "=a", "%1", &long] {
            let error = Name::new(bad).unwrap_err();
            assert!(matches!(&error, Error::InvalidCommand(_)), "{bad:?}: {error}");
        }
    }

    #[test]
    fn a_refusal_says_the_rule() {
        let says = "invalid command: invalid session name `a\\nb`: use letters, digits, `_`, `.` \
                   and `-`, at most 128";
        assert_eq!(Name::new("a\nb").unwrap_err().to_string(), says);
    }
}
