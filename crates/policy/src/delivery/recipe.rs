//! How one program takes a prompt.

use paned_term::keys::Key;

/// How one program takes a prompt, and how a turn of it is broken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Whether a text comes as a paste that is marked as such, where the program asks for that.
    pub pastes: bool,
    /// The keys that submit what stands in the composer.
    pub submit: Vec<Key>,
    /// How often they may be pressed for one text, if it still stands in the composer.
    pub presses: u32,
    /// How long after the text they are pressed, in milliseconds.
    pub delay_ms: u64,
    /// The keys that make a line end in the composer, for a text that comes as if typed.
    pub newline: Vec<Key>,
    /// The keys that empty the composer, a line of it at least; none if there is no safe way.
    pub clear: Vec<Key>,
    /// How a turn is broken off.
    pub interrupt: InterruptRecipe,
}

/// How a turn is broken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterruptRecipe {
    /// The keys of one press.
    pub keys: Vec<Key>,
    /// How many presses it takes.
    pub presses: u32,
    /// How long after the first press the next may come, at most.
    pub within_ms: u64,
    /// Whether the prompt comes back into the composer, where it is nobody's draft.
    pub restores: bool,
    /// How soon after the last press a turn ends that was broken off, in milliseconds. One that
    /// ends later may have ended by itself.
    pub effect_ms: Option<u64>,
}
