//! Reads a table of a profile key by key, and reports every mistake: a wrong type of value, a bad
//! pattern, an unknown key.

use std::fmt;
use std::str::FromStr;

use super::ProfileError;
use super::pattern::{ProfilePattern, Trust};
use super::tree::{ProfileNode, ProfileTable, ProfileValue, SourcePosition};

/// Reads one table.
pub(super) struct ProfileTableReader<'a> {
    position: SourcePosition,
    /// The name of the table in sentences, as `[composer]`; empty for the whole file.
    name: String,
    rest: ProfileTable,
    known: Vec<&'static str>,
    trust: Trust,
    errors: &'a mut Vec<ProfileError>,
}

impl<'a> ProfileTableReader<'a> {
    pub(super) fn new(node: ProfileNode, trust: Trust, errors: &'a mut Vec<ProfileError>) -> Self {
        Self::named(node, "", trust, errors)
    }

    fn named(
        node: ProfileNode,
        name: &str,
        trust: Trust,
        errors: &'a mut Vec<ProfileError>,
    ) -> Self {
        let ProfileNode { position, value } = node;
        let rest = match value {
            ProfileValue::Table(table) => table,
            other => {
                errors.push(
                    position.error(format!("`{name}` must be a table, and is {}", other.noun())),
                );
                ProfileTable::new()
            }
        };
        Self { position, name: name.into(), rest, known: Vec::new(), trust, errors }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.rest.contains_key(key)
    }

    pub(super) fn report_error(&mut self, sentence: impl Into<String>) {
        self.errors.push(self.position.error(sentence));
    }

    fn take(&mut self, key: &'static str) -> Option<ProfileNode> {
        self.known.push(key);
        self.rest.remove(key)
    }

    fn report_type_error(&mut self, key: &str, node: &ProfileNode, wanted: &str) {
        let found = node.value.noun();
        self.errors.push(node.position.error(format!("`{key}` must be {wanted}, and is {found}")));
    }

    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        let node = self.take(key)?;
        match node.value {
            ProfileValue::Text(text) => Some(text),
            _ => {
                self.report_type_error(key, &node, "a string");
                None
            }
        }
    }

    pub(super) fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.take(key)?;
        match node.value {
            ProfileValue::Flag(flag) => Some(flag),
            _ => {
                self.report_type_error(key, &node, "true or false");
                None
            }
        }
    }

    /// A number from `low` to `high`.
    pub(super) fn number(&mut self, key: &'static str, low: f64, high: f64) -> Option<f64> {
        let node = self.take(key)?;
        match node.value {
            ProfileValue::Number(number) if (low..=high).contains(&number) => Some(number),
            ProfileValue::Number(number) => {
                let sentence = format!("`{key}` must be from {low} to {high}, and is {number}");
                self.errors.push(node.position.error(sentence));
                None
            }
            _ => {
                self.report_type_error(key, &node, "a number");
                None
            }
        }
    }

    /// Milliseconds, at most an hour.
    pub(super) fn millis(&mut self, key: &'static str) -> Option<u64> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is from 0 to an hour"
        )]
        self.number(key, 0.0, 3_600_000.0).map(|number| number as u64)
    }

    pub(super) fn count(&mut self, key: &'static str, low: u8, high: u8) -> Option<usize> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is from 0 to 255"
        )]
        self.number(key, low.into(), high.into()).map(|number| number as usize)
    }

    /// A list of strings; a single string is a list of one.
    pub(super) fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        Some(self.nodes(key)?.into_iter().map(|(text, _)| text).collect())
    }

    fn nodes(&mut self, key: &'static str) -> Option<Vec<(String, SourcePosition)>> {
        let node = self.take(key)?;
        let list = match node.value {
            ProfileValue::List(list) => list,
            ProfileValue::Text(_) => vec![node],
            _ => {
                self.report_type_error(key, &node, "a list of strings");
                return None;
            }
        };
        let mut texts = Vec::new();
        for item in list {
            match item.value {
                ProfileValue::Text(text) => texts.push((text, item.position)),
                _ => self.report_type_error(key, &item, "a list of strings"),
            }
        }
        Some(texts)
    }

    pub(super) fn pattern(&mut self, key: &'static str) -> Option<ProfilePattern> {
        let position = self.rest.get(key).map(|node| node.position.clone());
        let text = self.text(key)?;
        let position = position?;
        self.as_pattern(key, &text, &position)
    }

    pub(super) fn patterns(&mut self, key: &'static str) -> Vec<ProfilePattern> {
        let texts = self.nodes(key).unwrap_or_default();
        texts.iter().filter_map(|(text, position)| self.as_pattern(key, text, position)).collect()
    }

    fn as_pattern(
        &mut self,
        key: &str,
        text: &str,
        position: &SourcePosition,
    ) -> Option<ProfilePattern> {
        match ProfilePattern::new(text, self.trust) {
            Ok(pattern) => Some(pattern),
            Err(why) => {
                let sentence = format!("`{key}` is no pattern: {why}");
                self.errors.push(position.error(sentence));
                None
            }
        }
    }

    /// One of several words.
    pub(super) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let position = self.rest.get(key).map(|node| node.position.clone());
        let text = self.text(key)?;
        let position = position?;
        self.choose(key, words, &text, &position)
    }

    /// Some of several words.
    pub(super) fn words<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
    ) -> Vec<T> {
        let texts = self.nodes(key).unwrap_or_default();
        texts
            .iter()
            .filter_map(|(text, position)| self.choose(key, words, text, position))
            .collect()
    }

    fn choose<T: Copy>(
        &mut self,
        key: &str,
        words: &[(&'static str, T)],
        text: &str,
        position: &SourcePosition,
    ) -> Option<T> {
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        if found.is_none() {
            let all: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let sentence = format!("`{key}` may be {}, and is `{text}`", all.join(", "));
            self.errors.push(position.error(sentence));
        }
        found
    }

    /// Values that are parsed by their own type.
    pub(super) fn parsed<T: FromStr<Err: fmt::Display>>(&mut self, key: &'static str) -> Vec<T> {
        let mut values = Vec::new();
        for (text, position) in self.nodes(key).unwrap_or_default() {
            match text.parse() {
                Ok(value) => values.push(value),
                Err(error) => self.errors.push(position.error(format!("`{key}`: {error}"))),
            }
        }
        values
    }

    /// A table inside this one.
    pub(super) fn table(&mut self, key: &'static str) -> Option<ProfileTableReader<'_>> {
        let name = self.inner(key);
        let node = self.take(key)?;
        Some(ProfileTableReader::named(node, &name, self.trust, self.errors))
    }

    /// Every table in a table of tables, each read by `read`, in the order of the file.
    pub(super) fn tables<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(String, ProfileTableReader<'_>) -> Option<T>,
    ) -> Vec<T> {
        let name = self.inner(key);
        let Some(node) = self.take(key) else {
            return Vec::new();
        };
        let mut entries: Vec<(String, ProfileNode)> = match node.value {
            ProfileValue::Table(table) => table.into_iter().collect(),
            _ => {
                self.report_type_error(key, &node, "a table of tables");
                Vec::new()
            }
        };
        entries.sort_by_key(|(_, node)| node.position.line);
        let each = |(key, node): (String, ProfileNode)| {
            let reader =
                ProfileTableReader::named(node, &format!("{name}.{key}"), self.trust, self.errors);
            read(key, reader)
        };
        entries.into_iter().filter_map(each).collect()
    }

    /// Every string in a table, by key.
    pub(super) fn strings(&mut self, key: &'static str) -> Vec<(String, String)> {
        let Some(node) = self.take(key) else {
            return Vec::new();
        };
        let ProfileValue::Table(table) = node.value else {
            self.report_type_error(key, &node, "a table of strings");
            return Vec::new();
        };
        let mut strings = Vec::new();
        for (key, node) in table {
            match node.value {
                ProfileValue::Text(text) => strings.push((key, text)),
                _ => self.report_type_error(&key, &node, "a string"),
            }
        }
        strings
    }

    fn inner(&self, key: &str) -> String {
        if self.name.is_empty() { key.into() } else { format!("{}.{key}", self.name) }
    }

    /// Reports every key that was not read.
    pub(super) fn finish(self) {
        let known = self.known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let place =
            if self.name.is_empty() { "a profile".into() } else { format!("[{}]", self.name) };
        for (key, node) in &self.rest {
            let sentence = format!("{place} has no `{key}`; it may have {known}");
            self.errors.push(node.position.error(sentence));
        }
    }
}
