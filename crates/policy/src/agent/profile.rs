//! What one agent program's screens and signals mean, as data.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What one agent program's screens and signals mean.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What it is called.
    pub name: String,
    /// The program and its usual arguments.
    pub command: Vec<String>,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permissions {
    /// It asks.
    #[default]
    Ask,
    /// It does what it wants.
    Auto,
}

/// How an agent is to be started.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The whole command line up to here, in place of the profile's own.
    pub argv: Option<Vec<String>>,
    /// The model, by the name or alias that the program knows.
    pub model: Option<String>,
    /// Whether it asks before it acts.
    pub permissions: Permissions,
    /// The first prompt.
    pub prompt: Option<String>,
}

/// A mistake in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file, or the name of one of ours.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub sentence: String,
}

impl Profile {
    /// Reads a profile.
    ///
    /// # Errors
    /// Every mistake in it, with its line.
    pub fn parse(_file: &str, _text: &str) -> Result<Self, Vec<Mistake>> {
        Err(Vec::new())
    }

    /// The command line that starts it so.
    ///
    /// # Errors
    /// A sentence when it cannot be started so.
    pub fn command_line(&self, wanted: &Wanted) -> Result<Vec<String>, String> {
        Ok(wanted.argv.clone().unwrap_or_else(|| self.command.clone()))
    }
}

/// Every profile there is, by name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    profiles: BTreeMap<String, Arc<Profile>>,
}

impl Library {
    /// Ours.
    #[must_use]
    pub fn embedded() -> Self {
        Self::default()
    }

    /// Ours, with these files over them: a file with the name of one of ours replaces what it says and
    /// keeps the rest. A file with mistakes is left out, and they are told.
    #[must_use]
    pub fn with(_files: &[(String, String)]) -> (Self, Vec<Mistake>) {
        (Self::embedded(), Vec::new())
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Profile>> {
        self.profiles.get(name)
    }

    /// The one whose program this command line starts, through `npx`, `env`, a path or a wrapper too.
    #[must_use]
    pub fn for_command(&self, _argv: &[String]) -> Option<&Arc<Profile>> {
        None
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }
}
