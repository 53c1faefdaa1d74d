//! A TOML document as a tree that remembers file and line of every value, so that one document can be laid over
//! another and a mistake is still told where it was made.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::ProfileError;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct ProfileNode {
    pub(super) position: SourcePosition,
    pub(super) value: ProfileValue,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SourcePosition {
    pub(super) file: Arc<str>,
    /// Counted from 1.
    pub(super) line: usize,
}

/// The values that profiles are made of.
#[derive(Clone, Debug)]
pub(super) enum ProfileValue {
    Text(String),
    Number(f64),
    Flag(bool),
    List(Vec<ProfileNode>),
    Table(ProfileTable),
    /// Something that no profile has, as a date.
    Other,
}

/// Keys with their values.
pub(super) type ProfileTable = BTreeMap<String, ProfileNode>;

impl SourcePosition {
    /// A mistake that was made here.
    pub(super) fn error(&self, sentence: impl Into<String>) -> ProfileError {
        ProfileError { file: self.file.to_string(), line: self.line, sentence: sentence.into() }
    }
}

impl ProfileValue {
    /// What it is called in a sentence.
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

/// Reads a document.
///
/// # Errors
/// Every place where it is not TOML.
pub(super) fn parse(file: &str, text: &str) -> Result<ProfileNode, Vec<ProfileError>> {
    let reader = ProfileTreeReader { file: file.into(), text };
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(ProfileNode { position: reader.place(0), value: reader.table(table.get_ref()) });
    }
    let mistake = |error: &toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        reader.place(at).error(error.message().lines().collect::<Vec<_>>().join(", "))
    };
    Err(errors.iter().map(mistake).collect())
}

/// Lays a document over another: tables are joined key by key, everything else is replaced.
pub(super) fn merge(under: ProfileNode, over: ProfileNode) -> ProfileNode {
    let (ProfileValue::Table(mut under), ProfileValue::Table(upper)) =
        (under.value, over.value.clone())
    else {
        return over;
    };
    for (key, node) in upper {
        let joined = match under.remove(&key) {
            Some(old) => merge(old, node),
            None => node,
        };
        under.insert(key, joined);
    }
    ProfileNode { position: over.position, value: ProfileValue::Table(under) }
}

struct ProfileTreeReader<'a> {
    file: Arc<str>,
    text: &'a str,
}

impl ProfileTreeReader<'_> {
    fn place(&self, at: usize) -> SourcePosition {
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
        ProfileNode { position: self.place(at), value }
    }

    /// A value stands where its key does: what follows `key =` may begin on a later line.
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
