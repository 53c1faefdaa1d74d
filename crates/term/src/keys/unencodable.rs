//! Errors for keys that have no bytes in the program's keyboard mode.

use std::error::Error;
use std::fmt;

use super::Key;

/// There are no bytes for this key that the program would understand. Displays as a sentence that
/// says when there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnencodableKey {
    key: Key,
    needs: KeyRequirement,
}

/// The condition under which the key has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyRequirement {
    /// The kitty keyboard protocol.
    Kitty,
    /// The kitty keyboard protocol with the flag to report all keys.
    AllKeys,
    /// Another terminal than tmux.
    NoTmux,
}

impl UnencodableKey {
    pub(super) fn new(key: Key, needs: KeyRequirement) -> Self {
        Self { key, needs }
    }
}

impl fmt::Display for UnencodableKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = self.key;
        match self.needs {
            KeyRequirement::Kitty => write!(
                f,
                "`{key}` can be pressed only while the program has the kitty keyboard protocol on, and it has not"
            ),
            KeyRequirement::AllKeys => write!(
                f,
                "`{key}` can be pressed only while the program has the kitty keyboard protocol report all keys (flag 8), \
                 and it has not"
            ),
            KeyRequirement::NoTmux => write!(f, "tmux has no way to tell a program of `{key}`"),
        }
    }
}

impl Error for UnencodableKey {}
