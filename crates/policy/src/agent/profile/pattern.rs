//! A pattern of a profile, compiled on first use.
//!
//! All profiles together have hundreds of patterns. Compiling them takes time and several
//! megabytes, and most servers never run most of these programs.

use std::cell::Cell;
use std::fmt;
use std::sync::OnceLock;

use regex::{Error, Regex, RegexBuilder};
use serde::{Deserialize, Deserializer, de};

/// The largest pattern, in bytes of its compiled form.
const MAX_PATTERN: usize = 1 << 20;

/// A pattern; two are equal if their source text is.
#[derive(Clone)]
pub struct ProfilePattern {
    text: Box<str>,
    regex: OnceLock<Regex>,
}

thread_local! {
    /// Whether this thread compiles patterns while it reads them. serde passes no context.
    static IS_CHECKED: Cell<bool> = const { Cell::new(true) };
}

/// Reads patterns without compiling them: built-in ones, which are covered by a test.
pub(super) fn unchecked<T>(read: impl FnOnce() -> T) -> T {
    IS_CHECKED.set(false);
    let result = read();
    IS_CHECKED.set(true);
    result
}

impl<'de> Deserialize<'de> for ProfilePattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?.into_boxed_str();
        if IS_CHECKED.get() {
            compile(&text).map_err(|error| {
                de::Error::custom(format!(" is not a valid pattern: {}", last_line(&error)))
            })?;
        }
        Ok(Self { text, regex: OnceLock::new() })
    }
}

impl ProfilePattern {
    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| compile(&self.text).expect("a pattern that was tried before"))
    }

    /// Whether it matches anywhere in a text.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.regex().is_match(text)
    }

    /// The first match, as a range of bytes.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.regex().find(text).map(|found| found.range())
    }

    /// The first group of the first match, or the whole match if there is no group.
    #[must_use]
    pub fn capture<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.regex().captures(text)?;
        found.get(1).or_else(|| found.get(0)).map(|group| group.as_str())
    }

    /// Its source text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn compile(text: &str) -> Result<Regex, Error> {
    RegexBuilder::new(text).size_limit(MAX_PATTERN).build()
}

/// The last line of an error, which follows a copy of the pattern.
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
