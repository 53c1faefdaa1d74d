//! How one program accepts a prompt.

use paned_term::keys::Key;

/// How one program accepts a prompt, and how its turn is interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Whether a text is sent as a bracketed paste if the program enables that mode.
    pub pastes: bool,
    /// The keys that submit the content of the composer.
    pub submit: Vec<Key>,
    /// How often they may be pressed for one text, if it is still in the composer.
    pub presses: u32,
    /// How long after the text they are pressed, in milliseconds.
    pub delay_ms: u64,
    /// The keys that insert a line break in the composer, for a text that is typed and not pasted.
    pub newline: Vec<Key>,
    /// The keys that clear the composer, at least one line of it; none if there is no safe way.
    pub clear: Vec<Key>,
    /// How a turn is interrupted.
    pub interrupt: InterruptRecipe,
}

/// How a turn is interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptRecipe {
    /// The keys of one press.
    pub keys: Vec<Key>,
    /// How many presses it takes.
    pub presses: u32,
    /// How long after the first press the next may come, at most.
    pub within_ms: u64,
    /// Whether the program puts the prompt back into the composer, where it is not a user's draft.
    pub restores: bool,
    /// How soon after the last press an interrupted turn ends, in milliseconds. A turn that ends
    /// later may have ended by itself.
    pub effect_ms: Option<u64>,
}
