//! A TOML document as a tree with the file and line of every value. So documents can be merged, and
//! an error still names its origin.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ProfileError;

/// A value and its position.
#[derive(Clone, Debug)]
pub(super) struct ProfileNode {
    pub(super) position: SourcePosition,
    pub(super) value: ProfileValue,
}

/// The position of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourcePosition {
    pub(super) file: Arc<str>,
    /// Counted from 1.
    pub(super) line: usize,
}

/// The types of values in a profile.
#[derive(Clone, Debug)]
pub(super) enum ProfileValue {
    Text(String),
    Number(f64),
    Flag(bool),
    List(Vec<ProfileNode>),
    Table(ProfileTable),
    /// A type that no profile uses, as a date.
    Other,
}

/// Keys with their values.
pub(super) type ProfileTable = BTreeMap<String, ProfileNode>;

impl SourcePosition {
    /// An error at this position.
    pub(super) fn error(&self, sentence: impl Into<String>) -> ProfileError {
        ProfileError { file: self.file.to_string(), line: self.line, sentence: sentence.into() }
    }
}

impl ProfileValue {
    /// Its name in a sentence.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Text(_) => "a string",
            Self::Number(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Other => "a date",
        }
    }
}

/// Parses a document.
///
/// # Errors
/// Every place with a TOML error.
pub(super) fn parse(file: &str, text: &str) -> Result<ProfileNode, Vec<ProfileError>> {
    let reader = ProfileTreeReader { file: file.into(), text };
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(ProfileNode {
            position: reader.position(0),
            value: reader.table(table.get_ref()),
        });
    }
    let mistake = |error: &toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        reader.position(at).error(error.message().lines().collect::<Vec<_>>().join(", "))
    };
    Err(errors.iter().map(mistake).collect())
}

/// Merges a document over another: tables are merged key by key, everything else is replaced.
pub(super) fn merge(under: ProfileNode, over: ProfileNode) -> ProfileNode {
    let (ProfileValue::Table(mut under), ProfileValue::Table(upper)) =
        (under.value, over.value.clone())
    else {
        return over;
    };
    for (key, node) in upper {
        let merged = match under.remove(&key) {
            Some(old) => merge(old, node),
            None => node,
        };
        under.insert(key, merged);
    }
    ProfileNode { position: over.position, value: ProfileValue::Table(under) }
}

struct ProfileTreeReader<'a> {
    file: Arc<str>,
    text: &'a str,
}

impl ProfileTreeReader<'_> {
    fn position(&self, at: usize) -> SourcePosition {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        SourcePosition { file: self.file.clone(), line: 1 + lines_in(before) }
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, at: usize) -> ProfileNode {
        let text = |text: &Cow<'_, str>| ProfileValue::Text(text.to_string());
        let value = match value.get_ref() {
            DeValue::String(string) => text(string),
            DeValue::Integer(number) => number_of(&number.to_string()),
            DeValue::Float(number) => number_of(number.as_str()),
            DeValue::Boolean(flag) => ProfileValue::Flag(*flag),
            DeValue::Datetime(_) => ProfileValue::Other,
            DeValue::Array(list) => ProfileValue::List(
                list.iter().map(|item| self.node(item, item.span().start)).collect(),
            ),
            DeValue::Table(table) => self.table(table),
        };
        ProfileNode { position: self.position(at), value }
    }

    /// A value has the position of its key: the value after `key =` may begin on a later line.
    fn table(&self, table: &DeTable<'_>) -> ProfileValue {
        let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            (key.get_ref().to_string(), self.node(value, key.span().start))
        };
        ProfileValue::Table(table.iter().map(entry).collect())
    }
}

fn lines_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn number_of(digits: &str) -> ProfileValue {
    digits.replace('_', "").parse().map_or(ProfileValue::Other, ProfileValue::Number)
}
