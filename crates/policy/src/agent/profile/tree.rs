//! A TOML document as a tree that remembers file and line of every value, so that one document can be laid over
//! another and a mistake is still told where it was made.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Mistake;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: Arc<str>,
    /// Counted from 1.
    pub(super) line: usize,
}

/// The values that profiles are made of.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Number(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
    /// Something that no profile has, as a date.
    Other,
}

/// Keys with their values.
pub(super) type Table = BTreeMap<String, Node>;

impl Place {
    /// A mistake that was made here.
    pub(super) fn mistake(&self, sentence: impl Into<String>) -> Mistake {
        Mistake { file: self.file.to_string(), line: self.line, sentence: sentence.into() }
    }
}

impl Value {
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
pub(super) fn parse(file: &str, text: &str) -> Result<Node, Vec<Mistake>> {
    let reader = Reader { file: file.into(), text };
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(Node { place: reader.place(0), value: reader.table(table.get_ref()) });
    }
    let mistake = |error: &toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        reader.place(at).mistake(error.message().lines().collect::<Vec<_>>().join(", "))
    };
    Err(errors.iter().map(mistake).collect())
}

/// Lays a document over another: tables are joined key by key, everything else is replaced.
pub(super) fn lay_over(under: Node, over: Node) -> Node {
    let (Value::Table(mut under), Value::Table(upper)) = (under.value, over.value.clone()) else {
        return over;
    };
    for (key, node) in upper {
        let joined = match under.remove(&key) {
            Some(old) => lay_over(old, node),
            None => node,
        };
        under.insert(key, joined);
    }
    Node { place: over.place, value: Value::Table(under) }
}

struct Reader<'a> {
    file: Arc<str>,
    text: &'a str,
}

impl Reader<'_> {
    fn place(&self, at: usize) -> Place {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        Place { file: self.file.clone(), line: 1 + lines_in(before) }
    }

    fn node(&self, value: &Spanned<DeValue<'_>>, at: usize) -> Node {
        let text = |text: &Cow<'_, str>| Value::Text(text.to_string());
        let value = match value.get_ref() {
            DeValue::String(string) => text(string),
            DeValue::Integer(number) => number_of(&number.to_string()),
            DeValue::Float(number) => number_of(number.as_str()),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => Value::Other,
            DeValue::Array(list) => {
                Value::List(list.iter().map(|item| self.node(item, item.span().start)).collect())
            }
            DeValue::Table(table) => self.table(table),
        };
        Node { place: self.place(at), value }
    }

    /// A value stands where its key does: what follows `key =` may begin on a later line.
    fn table(&self, table: &DeTable<'_>) -> Value {
        let entry = |(key, value): (&Spanned<Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            (key.get_ref().to_string(), self.node(value, key.span().start))
        };
        Value::Table(table.iter().map(entry).collect())
    }
}

fn lines_in(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn number_of(digits: &str) -> Value {
    digits.replace('_', "").parse().map_or(Value::Other, Value::Number)
}
