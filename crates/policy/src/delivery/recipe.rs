//! How one program accepts a prompt.

use paned_term::keys::Key;

use crate::agent::Profile;
use crate::agent::profile::TypingMode;

/// How often Enter is pressed at most while the text is still in a composer that the profile
/// describes.
const PRESSES: u32 = 4;
/// How soon a program without a profile ends an interrupted turn. Whether its keys interrupt at all
/// is not known.
const INTERRUPT_EFFECT_MS: u64 = 3_000;

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

impl Recipe {
    /// The recipe for the program of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let submit = &profile.submit;
        let interrupt = &profile.interrupt;
        Self {
            pastes: submit.typing == TypingMode::Paste,
            submit: submit.enter.clone(),
            // The text that looks like a composer may be a line that the program has already read:
            // a second Enter could answer a question that follows it.
            presses: if profile.is_generic() { 1 } else { PRESSES },
            delay_ms: submit.delay_ms,
            clear: submit.clear.clone(),
            interrupt: InterruptRecipe {
                keys: interrupt.keys.clone(),
                presses: u32::try_from(interrupt.presses).unwrap_or(1).max(1),
                within_ms: interrupt.within_ms,
                restores: interrupt.restores,
                effect_ms: profile.is_generic().then_some(INTERRUPT_EFFECT_MS),
            },
        }
    }

    /// The same with Ctrl+C as the interrupt: in canonical mode any other key would stay in the
    /// input line, before the next prompt.
    #[must_use]
    pub fn with_interrupt_signal(mut self) -> Self {
        self.interrupt.keys = "ctrl+c".parse().into_iter().collect();
        self
    }
}
