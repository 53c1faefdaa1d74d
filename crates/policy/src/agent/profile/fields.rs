//! How values are read that are written otherwise than serde expects them: lists that may be a
//! single string, tables in the order of the file, numbers with limits, words.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use paned_model::AgentState;
use paned_term::keys::Key;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{DeserializeOwned, Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Parts the sentences of one error.
pub(super) const SEPARATOR: &str = ";\n";

/// A table whose keys depend on each other.
pub(super) trait ProfileTable: DeserializeOwned {
    /// Gives it its name in a table of tables.
    fn set_name(&mut self, _name: String) {}

    /// Fills in what depends on other keys.
    ///
    /// # Errors
    /// Its mistakes, with [`SEPARATOR`] between them.
    fn complete(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// The sentences of the mistakes that were made.
pub(super) fn refuse<const N: usize>(mistakes: [(bool, &str); N]) -> Result<(), String> {
    let made = mistakes.iter().filter_map(|(is_made, sentence)| is_made.then_some(*sentence));
    let made = made.collect::<Vec<_>>().join(SEPARATOR);
    if made.is_empty() { Ok(()) } else { Err(made) }
}

struct CheckedTable<T>(T);

impl<'de, T: ProfileTable> Deserialize<'de> for CheckedTable<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut table = T::deserialize(from)?;
        table.complete().map_err(D::Error::custom)?;
        Ok(Self(table))
    }
}

/// A table that is checked as a whole.
pub(super) fn checked<'de, D: Deserializer<'de>, T: ProfileTable>(from: D) -> Result<T, D::Error> {
    CheckedTable::deserialize(from).map(|table| table.0)
}

/// Tables by name, in the order of the file.
pub(super) fn tables<'de, D: Deserializer<'de>, T: ProfileTable>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    from.deserialize_map(TablesVisitor(PhantomData))
}

struct TablesVisitor<T>(PhantomData<T>);

impl<'de, T: ProfileTable> Visitor<'de> for TablesVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of tables")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<T>, A::Error> {
        let mut tables = Vec::new();
        while let Some((name, CheckedTable::<T>(mut table))) = map.next_entry()? {
            table.set_name(name);
            tables.push(table);
        }
        Ok(tables)
    }
}

/// A list of strings; a single string is a list of one.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    from.deserialize_any(ListVisitor(PhantomData))
}

/// The words of an option that a program may not have.
pub(super) fn words<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<String>>, D::Error> {
    list(from).map(Some)
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of strings")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
        T::deserialize(text.into_deserializer()).map(|item| vec![item])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list))
    }
}

/// A program and its arguments.
pub(super) fn command<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let command: Vec<String> = list(from)?;
    match command.first().is_none_or(String::is_empty) {
        true => Err(D::Error::custom(
            " must not be empty; set it to the program and its usual \
                                     arguments",
        )),
        false => Ok(command),
    }
}

/// Keys by their names.
pub(super) fn keys<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Key>, D::Error> {
    let names: Vec<KeyName> = list(from)?;
    Ok(names.into_iter().map(|name| name.0).collect())
}

struct KeyName(Key);

impl<'de> Deserialize<'de> for KeyName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        name.parse().map(Self).map_err(|error| D::Error::custom(format!(": {error}")))
    }
}

/// Strings by name.
pub(super) fn pairs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, String)>, D::Error> {
    BTreeMap::deserialize(from).map(|pairs| pairs.into_iter().collect())
}

fn number<'de, D: Deserializer<'de>>(from: D, low: f64, high: f64) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    match (low..=high).contains(&number) {
        true => Ok(number),
        false => Err(D::Error::custom(format!(" must be from {low} to {high}, not {number}"))),
    }
}

/// Milliseconds, at most an hour.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to an hour")]
pub(super) fn millis<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    number(from, 0.0, 3_600_000.0).map(|number| number as u64)
}

/// A number from `LOW` to `HIGH`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
pub(super) fn count<'de, const LOW: u8, const HIGH: u8, D>(from: D) -> Result<usize, D::Error>
where
    D: Deserializer<'de>,
{
    number(from, LOW.into(), HIGH.into()).map(|number| number as usize)
}

/// The usual number.
pub(super) const fn usual<const NUMBER: usize>() -> usize {
    NUMBER
}

/// The usual weight, in per cent.
pub(super) fn percent<const WEIGHT: u8>() -> f32 {
    f32::from(WEIGHT) / 100.0
}

/// A weight, from 0 to 1.
#[expect(clippy::cast_possible_truncation, reason = "it is from 0 to 1")]
pub(super) fn weight<'de, D: Deserializer<'de>, W: From<f32>>(from: D) -> Result<W, D::Error> {
    number(from, 0.0, 1.0).map(|number| W::from(number as f32))
}

/// The states that evidence may support.
#[derive(Deserialize)]
#[serde(remote = "AgentState", rename_all = "lowercase")]
enum EvidenceState {
    Starting,
    Ready,
    Busy,
    Blocked,
    Limited,
    Error,
}

/// A state that evidence may support.
pub(super) fn state<'de, D: Deserializer<'de>, S: From<AgentState>>(
    from: D,
) -> Result<S, D::Error> {
    EvidenceState::deserialize(from).map(S::from)
}
