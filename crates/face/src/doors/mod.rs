//! Doors: the protocols of other tools, each a small router over the kernel's doors. They keep nothing.

pub(crate) mod opencode_pty;

use std::fmt;
use std::str::FromStr;

/// A protocol of another tool. It is under `/doors/<name>` wherever everything is shown, and may have a
/// listener of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// REST and WebSocket of opencode-pty.
    OpencodePty,
}

impl Door {
    /// Every door.
    pub const ALL: [Self; 1] = [Self::OpencodePty];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpencodePty => opencode_pty::NAME,
        }
    }

    /// What the paths of its routes begin with.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::OpencodePty => opencode_pty::PREFIX,
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Door {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|door| door.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no door `{}`; there is {names}", text.escape_debug())
        })
    }
}
