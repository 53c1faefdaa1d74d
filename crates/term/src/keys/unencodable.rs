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
                "`{key}` requires the kitty keyboard protocol, which the program has not enabled"
            ),
            KeyRequirement::AllKeys => write!(
                f,
                "`{key}` requires flag 8 of the kitty keyboard protocol (report all keys), which \
                the program has not enabled"
            ),
            KeyRequirement::NoTmux => write!(f, "tmux cannot send `{key}` to a program"),
        }
    }
}

impl Error for UnencodableKey {}
