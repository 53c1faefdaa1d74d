//! A pattern of a profile, made when it is first used.
//!
//! All profiles together have hundreds, which take several megabytes and a while to be made, and a server may never meet
//! most of the programs they are for.

use std::fmt;
use std::sync::OnceLock;

use regex::{Error, Regex, RegexBuilder};

/// The largest pattern, in bytes of its compiled form.
const MAX_PATTERN: usize = 1 << 20;

/// A pattern; two are equal when they are written alike.
#[derive(Clone)]
pub struct ProfilePattern {
    text: Box<str>,
    regex: OnceLock<Regex>,
}

/// Whether the patterns of a document are tried while it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// They are ours: a test has tried them.
    BuiltIn,
    /// Anybody may have written them.
    User,
}

impl ProfilePattern {
    /// A pattern that is written so.
    ///
    /// # Errors
    /// Why it is none, if it is tried.
    pub(super) fn new(text: &str, trust: Trust) -> Result<Self, String> {
        if trust == Trust::User {
            compile(text).map_err(|error| last_line(&error))?;
        }
        Ok(Self { text: text.into(), regex: OnceLock::new() })
    }

    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| compile(&self.text).expect("a pattern that was tried before"))
    }

    /// Whether it is found in a text.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.regex().is_match(text)
    }

    /// Where it is found first, in bytes.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.regex().find(text).map(|found| found.range())
    }

    /// What its first group holds where it is found, or else all that it found.
    #[must_use]
    pub fn capture<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.regex().captures(text)?;
        found.get(1).or_else(|| found.get(0)).map(|group| group.as_str())
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn compile(text: &str) -> Result<Regex, Error> {
    RegexBuilder::new(text).size_limit(MAX_PATTERN).build()
}

/// The sentence at the end of an error, which shows the pattern first.
fn last_line(error: &Error) -> String {
    let why = error.to_string();
    why.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

impl fmt::Debug for ProfilePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq for ProfilePattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ProfilePattern {}
