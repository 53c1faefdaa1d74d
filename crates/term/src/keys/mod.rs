//! Keys by name, and the bytes they become in the modes a screen is in.
//!
//! A key is what it types: keyboard layouts are not known here, nor is letting go of a key. The keypad is one with num lock on.

mod keypad;
mod kitty;
mod legacy;
mod name;
mod suggest;
#[cfg(test)]
mod tests;
mod tmux;
mod unencodable;

pub use name::{UnknownKey, names};
pub use unencodable::UnencodableKey;

use keypad::KeypadKey;
use unencodable::KeyRequirement;

use crate::screen::view::ScreenModes;

/// A key and what is held down with it. Read one from its name, as in `ctrl+c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: Modifiers,
}

/// What is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum KeyCode {
    /// What types a character: never a control character, and small where it could be a capital.
    Char(char),
    Enter,
    Esc,
    Tab,
    Backspace,
    Insert,
    Delete,
    Home,
    End,
    PageUp,
    PageDown,
    Up,
    Down,
    Left,
    Right,
    /// A function key, 1 to 24.
    F(u8),
    Keypad(KeypadKey),
    Menu,
    Pause,
    PrintScreen,
    CapsLock,
    NumLock,
    ScrollLock,
}

/// The modifiers that are held down, as the bits that terminals number them with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Modifiers(u8);

impl Key {
    /// The bytes that a terminal in these modes sends when the key is pressed. Never none.
    ///
    /// # Errors
    ///
    /// If such a terminal sends nothing, or something that the program would take for text.
    pub fn encode(&self, modes: &ScreenModes) -> Result<Vec<u8>, UnencodableKey> {
        let needed = |needs| UnencodableKey::new(*self, needs);
        if kitty::is_on(modes.kitty_keyboard) {
            return kitty::encode(*self, modes.kitty_keyboard)
                .ok_or_else(|| needed(KeyRequirement::AllKeys));
        }
        let needs =
            if kitty::is_lock(self.code) { KeyRequirement::AllKeys } else { KeyRequirement::Kitty };
        legacy::encode(*self, modes).ok_or_else(|| needed(needs))
    }

    /// The bytes that tmux gives to a program in one of its panes, whatever it asked of its keyboard: tmux alone knows.
    ///
    /// # Errors
    ///
    /// If tmux has no bytes for it.
    pub fn encode_in_tmux(&self, modes: &ScreenModes) -> Result<Vec<u8>, UnencodableKey> {
        tmux::encode(*self, modes).ok_or_else(|| UnencodableKey::new(*self, KeyRequirement::NoTmux))
    }

    /// The key that types this character, where it is one.
    ///
    /// A capital is its small letter with shift; but `Ctrl+C` is what everyone writes for `ctrl+c`.
    fn typing(c: char, held: Modifiers) -> Option<Self> {
        let is_caseless = held.has(Modifiers::CTRL) || held.has(Modifiers::SUPER);
        let (c, held) = match lowercase(c) {
            Some(small) if is_caseless => (small, held),
            Some(small) => (small, held.with(Modifiers::SHIFT)),
            None => (c, held),
        };
        (!c.is_control()).then_some(Self { code: KeyCode::Char(c), modifiers: held })
    }
}

impl Modifiers {
    const SHIFT: Self = Self(1);
    const ALT: Self = Self(2);
    const CTRL: Self = Self(4);
    const SUPER: Self = Self(8);

    fn has(self, one: Self) -> bool {
        self.0 & one.0 != 0
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether nothing is held, or nothing but shift: then a character is text.
    fn is_text(self) -> bool {
        self.0 & !Self::SHIFT.0 == 0
    }

    /// The number that stands for them in escape sequences; 1 is nothing held.
    fn number(self) -> u8 {
        1 + self.0
    }
}

/// The small letter of a capital, where they are a pair.
fn lowercase(c: char) -> Option<char> {
    let small = single_char(c.to_lowercase())?;
    (small != c && single_char(small.to_uppercase()) == Some(c)).then_some(small)
}

/// The capital of a small letter, where they are a pair.
fn uppercase(c: char) -> Option<char> {
    single_char(c.to_uppercase()).filter(|&capital| lowercase(capital) == Some(c))
}

fn single_char(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// The character that a key types with what is held.
fn typed_char(c: char, held: Modifiers) -> char {
    let shifted = held.has(Modifiers::SHIFT).then(|| uppercase(c)).flatten();
    shifted.unwrap_or(c)
}
