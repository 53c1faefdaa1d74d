//! Reads profiles from TOML documents, and reports every mistake in them with its line.
//!
//! serde stops at the first mistake. So its value is taken out of the document, and the rest is
//! read again, until there are no more.

use serde_path_to_error::Segment;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fields::SEPARATOR;
use super::{Profile, ProfileError, name_of};

/// Reads the profile in a file, merged over the text of a built-in one.
///
/// # Errors
/// Every mistake in it.
pub(super) fn read(
    file: &str,
    text: &str,
    under: Option<&str>,
) -> Result<Profile, Vec<ProfileError>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut document = ProfileDocument {
        file,
        text,
        table: table.into_inner(),
        removed: Vec::new(),
        mistakes: Vec::new(),
    };
    for error in &errors {
        let sentence = error.message().lines().collect::<Vec<_>>().join(", ");
        document.report(error.span().map_or(0, |span| span.start), sentence);
    }
    if !errors.is_empty() {
        return Err(document.mistakes);
    }
    if let Some(under) = under {
        let under = DeTable::parse(under).expect("a built-in profile, which a test reads");
        document.table = merge(under.into_inner(), document.table);
    }
    document.read()
}

/// Merges a table over another: tables are merged key by key, everything else is replaced. What is
/// new comes first, so that it is tried first; what is replaced keeps its place.
fn merge<'a>(under: DeTable<'a>, mut over: DeTable<'a>) -> DeTable<'a> {
    let mut replaced = DeTable::new();
    for (key, old) in under {
        let (key, value) = match over.remove_entry(key.get_ref().as_ref()) {
            None => (key, old),
            // With the position of the new one: a mistake can only be there.
            Some((key, new)) => (key, merge_value(old, new)),
        };
        replaced.insert(key, value);
    }
    over.into_iter().chain(replaced).collect()
}

fn merge_value<'a>(old: Spanned<DeValue<'a>>, new: Spanned<DeValue<'a>>) -> Spanned<DeValue<'a>> {
    let span = new.span();
    let value = match (old.into_inner(), new.into_inner()) {
        (DeValue::Table(old), DeValue::Table(new)) => DeValue::Table(merge(old, new)),
        (_, new) => new,
    };
    Spanned::new(span, value)
}

/// A document without the values that have mistakes.
struct ProfileDocument<'a> {
    file: &'a str,
    text: &'a str,
    table: DeTable<'a>,
    /// The keys that were taken out, with the path of their table.
    removed: Vec<(Vec<String>, String)>,
    mistakes: Vec<ProfileError>,
}

impl ProfileDocument<'_> {
    fn read(mut self) -> Result<Profile, Vec<ProfileError>> {
        loop {
            let source = toml::Deserializer::from(Spanned::new(0..0, self.table.clone()));
            match serde_path_to_error::deserialize::<_, Profile>(source) {
                Ok(profile) if self.mistakes.is_empty() => return Ok(self.named(profile)),
                Err(error) if self.take_out(&error) => {}
                Ok(_) | Err(_) => break,
            }
        }
        self.mistakes.sort_by_key(|mistake| mistake.line);
        Err(self.mistakes)
    }

    fn named(&self, mut profile: Profile) -> Profile {
        if !self.table.contains_key("programs") {
            profile.programs = profile.command.first().cloned().into_iter().collect();
        }
        Profile { name: name_of(self.file), ..profile }
    }

    /// Reports a mistake and takes its value out. False if that would be the whole document.
    fn take_out(&mut self, error: &serde_path_to_error::Error<toml::de::Error>) -> bool {
        let mut path = Vec::new();
        let mut item = None;
        for segment in error.path() {
            match segment {
                Segment::Map { key } => path.push(key.clone()),
                Segment::Seq { index } => item = Some(*index),
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        let taken = remove(&mut self.table, &path, item);
        let is_taken = taken.is_some();
        let (at, value) = taken.unwrap_or((0, DeValue::Boolean(true)));
        for message in error.inner().message().split(SEPARATOR) {
            let is_known = |(table, key): &(Vec<String>, String)| {
                *table == path && message.contains(&format!("`{key}`"))
            };
            // What is missing because it was taken out is reported already.
            if !self.removed.iter().any(is_known) {
                self.report(at, sentence(&path, item, &value, message));
            }
        }
        if let Some(key) = path.pop() {
            self.removed.push((path, key));
        }
        is_taken
    }

    fn report(&mut self, at: usize, sentence: String) {
        let before = self.text.bytes().take(at);
        let line = 1 + before.filter(|byte| *byte == b'\n').count();
        self.mistakes.push(ProfileError { file: self.file.to_owned(), line, sentence });
    }
}

/// Removes a value, or an item of a list; returns its position and the value. A value has the
/// position of its key, which is the header of a table.
fn remove<'a>(
    table: &mut DeTable<'a>,
    path: &[String],
    item: Option<usize>,
) -> Option<(usize, DeValue<'a>)> {
    let (key, rest) = path.split_first()?;
    match (table.get_mut(key.as_str()).map(Spanned::get_mut), item) {
        (Some(DeValue::Table(inner)), _) if !rest.is_empty() => remove(inner, rest, item),
        (Some(DeValue::Array(list)), Some(item)) => {
            let taken = list.get(item)?.clone();
            let others = list.iter().enumerate().filter(|(at, _)| *at != item);
            *list = others.map(|(_, other)| other.clone()).collect();
            Some((taken.span().start, taken.into_inner()))
        }
        _ => {
            let (key, value) = table.remove_entry(key.as_str())?;
            Some((key.span().start, value.into_inner()))
        }
    }
}

/// What is wrong with the value at this path, and what would be right. Messages of serde are put
/// into our words; our own ones begin with a blank or a colon if they follow the name of the key.
fn sentence(path: &[String], item: Option<usize>, value: &DeValue<'_>, message: &str) -> String {
    let key = path.last().map_or("", String::as_str);
    let (problem, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    let known = expected.trim_start_matches("one of ");
    if problem.starts_with("unknown field ") {
        let place = match path {
            [] | [_] => "a profile".to_owned(),
            [tables @ .., _] => format!("[{}]", tables.join(".")),
        };
        return format!("unknown key `{key}` in {place}; the keys are {known}");
    }
    if let Some(word) = problem.strip_prefix("unknown variant ") {
        return format!("`{key}` must be one of {known}, not {word}");
    }
    if problem.starts_with("invalid type: ") || problem.starts_with("wanted ") {
        let wanted = if item.is_some() { "a list of strings" } else { wanted(expected) };
        return format!("`{key}` must be {wanted}, not {}", noun(value));
    }
    if let Some(field) = problem.strip_prefix("missing field ") {
        return format!("{field} is missing{}", purpose(path, field.trim_matches('`')));
    }
    match message.starts_with([' ', ':']) {
        true => format!("`{key}`{message}"),
        false => message.to_owned(),
    }
}

/// A type that serde expected.
fn wanted(expected: &str) -> &str {
    match expected {
        "" => "a string",
        "a boolean" => "true or false",
        "a map" => "a table of strings",
        "f64" => "a number",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

/// The type of a value.
fn noun(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// What a key that must be there is for.
fn purpose(path: &[String], key: &str) -> &'static str {
    match (path.first().map_or("", String::as_str), key) {
        (_, "command") => "; set it to the program and its usual arguments",
        (_, "says") => "; set it to the state that this is evidence for",
        (_, "options") => "; set it to the pattern of an option",
        ("dialog", "match") => "; set it to the pattern of the question",
        ("dialog", "kind") => "; set it to the kind of question",
        ("submit", "match") => "; set it to the pattern of texts that need escaping",
        ("transcript", _) => "; `kind` and `path` are both required",
        _ => "",
    }
}
