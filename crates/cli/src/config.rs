//! `config.toml`: reads it, and refuses unknown keys and bad values with their line.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use paned_model::Refusal;
use paned_model::near::closest;
use paned_policy::notify::{NotifyRule, NotifyRules};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::settings;

/// What the file says, by key, with the line each value is on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    values: BTreeMap<&'static str, (String, usize)>,
    /// The rules for notifications.
    pub(crate) notify: NotifyRules,
    /// What is wrong with the file, by line.
    pub(crate) mistakes: Vec<ConfigMistake>,
}

/// Something that is wrong with a line of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub(crate) struct ConfigMistake {
    pub(crate) line: usize,
    #[serde(rename = "error")]
    pub(crate) sentence: String,
}

impl ConfigFile {
    /// Reads the file, whatever is wrong with its content. The default file may be missing; one
    /// that the user named (`asked_for`) may not.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn load(path: &Path, asked_for: bool) -> Result<Self, Refusal> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Self::parse(path, &text)),
            Err(error) if error.kind() == ErrorKind::NotFound && !asked_for => Ok(Self::default()),
            Err(error) => Err(Refusal::invalid(format!("cannot read {}: {error}", path.display()))),
        }
    }

    /// The same, for those who need a file without mistakes.
    ///
    /// # Errors
    /// When it cannot be read, or has an unknown key or an invalid value.
    pub(crate) fn read(path: &Path, asked_for: bool) -> Result<Self, Refusal> {
        Self::load(path, asked_for)?.checked()
    }

    /// Reads the text of the file. Keys and values that are wrong become mistakes; the other keys
    /// can still be used.
    pub(crate) fn parse(path: &Path, text: &str) -> Self {
        let mut reader = ConfigReader {
            text,
            values: BTreeMap::new(),
            notify: NotifyRules::default(),
            mistakes: Vec::new(),
        };
        let (document, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            reader.mistake(error.span().unwrap_or_default().start, error.message());
        }
        reader.table("", document.get_ref());
        let ConfigReader { values, notify, mut mistakes, .. } = reader;
        mistakes.sort();
        Self { path: path.to_owned(), values, notify, mistakes }
    }

    /// The file, if it has no mistakes.
    ///
    /// # Errors
    /// With the first mistake, and how many there are.
    pub(crate) fn checked(self) -> Result<Self, Refusal> {
        let Some(first) = self.mistakes.first() else { return Ok(self) };
        let more = match self.mistakes.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more; `paned config check` shows all)"),
        };
        let path = self.path.display();
        Err(Refusal::invalid(format!("{path}:{}: {}{more}", first.line, first.sentence)))
    }

    /// A value and its line.
    pub(crate) fn get(&self, key: &str) -> Option<(&str, usize)> {
        self.values.get(key).map(|(value, line)| (value.as_str(), *line))
    }
}

struct ConfigReader<'a> {
    text: &'a str,
    values: BTreeMap<&'static str, (String, usize)>,
    notify: NotifyRules,
    mistakes: Vec<ConfigMistake>,
}

impl ConfigReader<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let key = format!("{prefix}{}", name.get_ref());
            match value.get_ref().as_table() {
                Some(rules) if key == "notify" => self.notify(rules),
                Some(inner) if is_section(&key) => self.table(&format!("{key}."), inner),
                Some(_) | None => self.value(&key, name.span().start, value),
            }
        }
    }

    fn value(&mut self, key: &str, at: usize, value: &Spanned<DeValue<'_>>) {
        let Some(row) = settings::find(key) else {
            return self.mistake(at, &unknown_key(key, value.get_ref()));
        };
        let Some(text) = text(value.get_ref()) else {
            let kind = row.kind.describe();
            return self.mistake(at, &format!("invalid `{key}`: write {kind}"));
        };
        match row.kind.check(&text) {
            Ok(()) => {
                self.values.insert(row.key, (text, line_at(self.text, at)));
            }
            Err(why) => self.mistake(at, &format!("invalid `{key}`: {why}")),
        }
    }

    /// Reads `[notify.NAME]`, whose names are the user's.
    fn notify(&mut self, rules: &DeTable<'_>) {
        // The tables that keep their places cannot be turned into types.
        let file: toml::Table = toml::from_str(self.text).unwrap_or_default();
        for (name, _) in rules {
            let at = name.span().start;
            let name = name.get_ref();
            let Some(table) = file.get("notify").and_then(|rules| rules.get(&**name)) else {
                continue;
            };
            let added = NotifyRule::read(name, table.clone()).and_then(|it| self.notify.push(it));
            if let Err(bad) = added {
                self.mistake(at, &bad.to_string());
            }
        }
    }

    fn mistake(&mut self, at: usize, what: &str) {
        let sentence = what.trim().replace('\n', ", ");
        self.mistakes.push(ConfigMistake { line: line_at(self.text, at), sentence });
    }
}

fn is_section(key: &str) -> bool {
    sections().any(|section| section == key)
}

/// The sections of the file, some of them several times.
fn sections() -> impl Iterator<Item = &'static str> {
    settings::keys().filter_map(|key| key.split_once('.')).map(|(section, _)| section)
}

/// What is said about a key that does not exist: the key or section that is probably meant.
fn unknown_key(key: &str, value: &DeValue<'_>) -> String {
    if value.as_table().is_some() {
        let hint = match closest(key, sections()) {
            Some(near) => format!("; did you mean `[{near}]`?"),
            None => String::new(),
        };
        return format!("unknown section `[{key}]`{hint}");
    }
    let name = key.rsplit('.').next().unwrap_or(key);
    let elsewhere = settings::keys().find(|known| known.rsplit('.').next() == Some(name));
    let hint = match elsewhere.or_else(|| closest(key, settings::keys())) {
        Some(near) => format!("did you mean {}?", written(near, key)),
        None => "`paned config init` writes a file with every key".to_owned(),
    };
    format!("unknown key `{key}`; {hint}")
}

/// How a known key is written where the unknown one is: with its section if that is another one.
fn written(known: &str, unknown: &str) -> String {
    let section = |key: &str| key.rsplit_once('.').map(|(section, _)| section.to_owned());
    match known.rsplit_once('.') {
        Some((place, name)) if section(unknown).as_deref() != Some(place) => {
            format!("`{name}` under `[{place}]`")
        }
        Some((_, name)) => format!("`{name}`"),
        None => format!("`{known}`"),
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

    fn parse(text: &str) -> ConfigFile {
        ConfigFile::parse(Path::new("c.toml"), text)
    }

    #[track_caller]
    fn check_refused(text: &str, expect: &[(usize, &str)]) {
        let mistakes = parse(text).mistakes;
        let lines: Vec<_> = mistakes.iter().map(|it| it.line).collect();
        assert_eq!(lines, expect.iter().map(|it| it.0).collect::<Vec<_>>(), "{mistakes:?}");
        for (mistake, (_, start)) in mistakes.iter().zip(expect) {
            assert!(mistake.sentence.starts_with(start), "{mistake:?}");
        }
    }

    #[test]
    fn values_are_found_with_their_lines() {
        let file = parse("host = '::1'\nport = 0x10\n\n[limits]\ntape_bytes = 1_000_000\n");
        assert_eq!(file.get("host"), Some(("::1", 1)));
        assert_eq!(file.get("port"), Some(("16", 2)));
        assert_eq!(file.get("limits.tape_bytes"), Some(("1000000", 5)));
        assert_eq!(file.get("limits.panes"), None);
    }

    #[test]
    fn unknown_keys_are_refused_with_what_is_probably_meant() {
        check_refused("port = 1\nprot = 2", &[(2, "unknown key `prot`; did you mean `port`?")]);
        let expect = "unknown key `limits.pane`; did you mean `panes`?";
        check_refused("[limits]\npane = 2", &[(2, expect)]);
        let expect = "unknown key `panes`; did you mean `panes` under `[limits]`?";
        check_refused("panes = 2", &[(1, expect)]);
        let expect = "unknown section `[limit]`; did you mean `[limits]`?";
        check_refused("[limit]\npanes = 2", &[(1, expect)]);
        check_refused("xyzzyxyzzy = 1", &[(1, "unknown key `xyzzyxyzzy`; `paned config init`")]);
    }

    #[test]
    fn every_mistake_is_found_and_the_first_is_the_refusal() {
        let text = "port = 1.5\nhost = '0.0.0.0'\nprot = 1\n[limits]\npanes = 0\n";
        let expect = [
            (1, "invalid `port`: write a number from 0 to 65535"),
            (2, "invalid `host`: `0.0.0.0` is not a loopback address"),
            (3, "unknown key `prot`"),
            (5, "invalid `limits.panes`: `0` is not a number from 1 to 100000"),
        ];
        check_refused(text, &expect);
        let sentence = parse(text).checked().unwrap_err().sentence;
        assert!(sentence.starts_with("c.toml:1: invalid `port`"), "{sentence}");
        assert!(sentence.ends_with("(and 3 more; `paned config check` shows all)"), "{sentence}");
    }

    #[test]
    fn what_is_no_toml_is_a_mistake_with_its_line() {
        check_refused("port = 1\nport = 2", &[(2, "duplicate key")]);
        assert_eq!(parse("\na = [").mistakes.first().map(|it| it.line), Some(2));
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
