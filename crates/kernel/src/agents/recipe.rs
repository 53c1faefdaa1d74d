//! How the program of a profile takes a prompt.

use paned_policy::agent::Profile;
use paned_policy::agent::profile::TypingMode;
use paned_policy::delivery::{InterruptRecipe, Recipe};

/// How often Enter is pressed at most while the text is still in a composer that the profile
/// describes.
const PRESSES: u32 = 4;

/// How soon a program without a profile ends an interrupted turn. Whether its keys interrupt at all
/// is not known.
const INTERRUPT_EFFECT_MS: u64 = 3_000;

/// How the program of a profile takes a prompt.
pub(super) fn recipe_for(profile: &Profile) -> Recipe {
    let submit = &profile.submit;
    let interrupt = &profile.interrupt;
    Recipe {
        pastes: submit.typing == TypingMode::Paste,
        submit: submit.enter.clone(),
        // The text that looks like a composer may be a line that the program has already read: a
        // second Enter could answer a question that follows it.
        presses: if profile.is_generic() { 1 } else { PRESSES },
        delay_ms: submit.delay_ms,
        newline: Vec::new(),
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

/// Interrupts by Ctrl+C: in canonical mode any other key would stay in the input line, before the
/// next prompt.
pub(super) fn interrupt_by_signal(recipe: &mut Recipe) {
    recipe.interrupt.keys = "ctrl+c".parse().into_iter().collect();
}

/// The text as it must be typed, so that the program takes it as a prompt.
pub(super) fn format_prompt(profile: &Profile, text: &str) -> Result<String, String> {
    profile.submit.escape_prompt(text)
}

/// Whether a draft is the placeholder that the program shows for a long paste.
pub(super) fn is_paste_placeholder(profile: &Profile, draft: &str) -> bool {
    profile.submit.pasted.iter().any(|pattern| pattern.is_in(draft))
}
