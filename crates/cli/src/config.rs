//! `config.toml`: reads it, and refuses unknown keys and bad values with their line.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use paned_model::Refusal;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings;

/// What the file says, by key, with the line each value is on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    values: BTreeMap<&'static str, (String, usize)>,
}

impl ConfigFile {
    /// Reads the file. The default file may be missing; one that the user named (`asked_for`) may
    /// not.
    ///
    /// # Errors
    /// When it cannot be read, or has an unknown key or a bad value.
    pub(crate) fn read(path: &Path, asked_for: bool) -> Result<Self, Refusal> {
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(path, &text),
            Err(error) if error.kind() == ErrorKind::NotFound && !asked_for => Ok(Self::default()),
            Err(error) => Err(Refusal::invalid(format!("cannot read {}: {error}", path.display()))),
        }
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// When it is not TOML, or has an unknown key or a bad value.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, Refusal> {
        let mut reader = ConfigReader { path, text, values: BTreeMap::new() };
        let document = DeTable::parse(text).map_err(|error| {
            let at = error.span().unwrap_or_default();
            reader.refuse(&at, error.message())
        })?;
        reader.table("", document.get_ref())?;
        Ok(Self { path: path.to_owned(), values: reader.values })
    }

    /// A value and its line.
    pub(crate) fn get(&self, key: &str) -> Option<(&str, usize)> {
        self.values.get(key).map(|(value, line)| (value.as_str(), *line))
    }
}

struct ConfigReader<'a> {
    path: &'a Path,
    text: &'a str,
    values: BTreeMap<&'static str, (String, usize)>,
}

impl ConfigReader<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), Refusal> {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            match value.get_ref().as_table() {
                Some(inner) if self.is_section(&key) => self.table(&format!("{key}."), inner)?,
                Some(_) | None => self.value(&key, &name.span(), value)?,
            }
        }
        Ok(())
    }

    fn is_section(&self, key: &str) -> bool {
        settings::keys()
            .any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
    }

    fn value(
        &mut self,
        key: &str,
        at: &Range<usize>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Refusal> {
        let known = settings::keys().find(|known| *known == key).ok_or_else(|| {
            let keys: Vec<_> = settings::keys().collect();
            self.refuse(at, &format!("unknown key `{key}`; the keys are {}", keys.join(", ")))
        })?;
        let text = text(value.get_ref()).ok_or_else(|| {
            self.refuse(
                at,
                &format!("`{key}` must be a text, a whole number, a truth or a list of texts"),
            )
        })?;
        self.values.insert(known, (text, line_at(self.text, at.start)));
        Ok(())
    }

    fn refuse(&self, at: &Range<usize>, what: &str) -> Refusal {
        let line = line_at(self.text, at.start);
        let what = what.trim().replace('\n', ", ");
        Refusal::invalid(format!("{} line {line}: {what}", self.path.display()))
    }
}

fn text(value: &DeValue<'_>) -> Option<String> {
    let number = |number: &toml::de::DeInteger<'_>| {
        i64::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
    };
    let lines = |list: &toml::de::DeArray<'_>| {
        let lines = list.iter().map(|line| line.get_ref().as_str().filter(|it| !it.contains('\n')));
        lines.collect::<Option<Vec<_>>>().map(|lines| lines.join("\n"))
    };
    let text = value.as_str().map(str::to_owned);
    text.or_else(|| value.as_integer().and_then(number))
        .or_else(|| value.as_bool().map(|truth| truth.to_string()))
        .or_else(|| value.as_array().and_then(lines))
}

fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ConfigFile, Refusal> {
        ConfigFile::parse(Path::new("c.toml"), text)
    }

    #[track_caller]
    fn check_refused(text: &str, start: &str) {
        let sentence = parse(text).unwrap_err().sentence;
        assert!(sentence.starts_with(start), "{sentence}");
    }

    #[test]
    fn values_are_found_with_their_lines() {
        let file =
            parse("host = '::1'\nport = 0x10\n\n[limits]\ntape_bytes = 1_000_000\n").unwrap();
        assert_eq!(file.get("host"), Some(("::1", 1)));
        assert_eq!(file.get("port"), Some(("16", 2)));
        assert_eq!(file.get("limits.tape_bytes"), Some(("1000000", 5)));
        assert_eq!(file.get("limits.panes"), None);
    }

    #[test]
    fn what_is_none_of_ours_is_refused_with_its_line() {
        check_refused(
            "port = 1\nprot = 2",
            "c.toml line 2: unknown key `prot`; the keys are port, ",
        );
        check_refused("[limits]\npane = 2", "c.toml line 2: unknown key `limits.pane`");
        check_refused("[limit]\npanes = 2", "c.toml line 1: unknown key `limit`");
        check_refused("\nport = 1.5", "c.toml line 2: `port` must be a text, a whole number");
        check_refused("port = 1\nport = 2", "c.toml line 2: duplicate key");
        check_refused("a = [", "c.toml line 1: ");
    }

    #[test]
    fn only_a_file_that_nobody_asked_for_may_be_missing() {
        assert_eq!(
            ConfigFile::read(Path::new("/nowhere/c.toml"), false),
            Ok(ConfigFile::default())
        );
        assert!(ConfigFile::read(Path::new("/nowhere/c.toml"), true).is_err());
    }
}
