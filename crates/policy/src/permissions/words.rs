//! Words of a command: text that is known before the command runs, or not.

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Its text.
    Known(String),
    /// It is known only when it runs: any number of words. This is how it was written.
    Unknown(String),
}

impl Word {
    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Unknown(_) => None,
        }
    }

    /// The word as it is shown to people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Known(text) if is_plain(text) => text.clone(),
            Self::Known(text) => format!("'{}'", text.replace('\'', "'\\''").escape_debug()),
            Self::Unknown(text) => text.escape_debug().to_string(),
        }
    }
}

/// The longest command that a verdict shows.
const LONGEST_SHOWN: usize = 200;

/// Words as they are shown to people.
pub(super) fn shown(words: &[Word]) -> String {
    let line = words.iter().map(Word::shown).collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_SHOWN {
        return line;
    }
    line.chars().take(LONGEST_SHOWN).chain("…".chars()).collect()
}

/// Whether a shell reads a word as it is.
pub(super) fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:,@%+=".contains(&byte);
    !text.is_empty() && text.bytes().all(plain)
}

/// The part of a path after its last slash.
pub(super) fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// The name and the value of an assignment such as `A=b`, `A+=b` or `A[1]=b`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    is_variable(name).then_some((name, value))
}

fn is_variable(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
