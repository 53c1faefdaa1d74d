//! What a profile says of how its program takes a prompt.

use paned_policy::agent::Profile;
use paned_policy::delivery::{Interrupting, Recipe};
use paned_term::keys::Key;

/// How the program of a profile takes a prompt.
pub(super) fn of(_profile: &Profile) -> Recipe {
    let key = |name: &str| name.parse::<Key>().into_iter().collect::<Vec<_>>();
    Recipe {
        pastes: true,
        submit: key("enter"),
        delay_ms: 150,
        newline: Vec::new(),
        clear: Vec::new(),
        interrupt: Interrupting { keys: key("esc"), presses: 1, within_ms: 1000, restores: false },
    }
}

/// The text as it must be typed, so that the program takes it as a prompt.
pub(crate) fn dress(_profile: &Profile, text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Whether a draft is the program's stand-in for a long paste.
pub(super) fn stands_in(_profile: &Profile, _draft: &str) -> bool {
    false
}
