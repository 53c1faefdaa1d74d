//! Keys by name, and their encoding in the modes of a screen.
//!
//! A key is identified by what it types: keyboard layouts and key releases are not modelled. The
//! keypad has num lock on.

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

/// A key and its modifiers. Parse one from its name, as in `ctrl+c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: Modifiers,
}

/// The key without modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum KeyCode {
    /// A key that types a character: never a control character, and lower case if there is a pair.
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

/// The pressed modifiers, as the bits that terminals use for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Modifiers(u8);

impl Key {
    /// The bytes that a terminal in these modes sends when the key is pressed. Never empty.
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

    /// The bytes that tmux sends to a program in one of its panes. The keyboard modes that the
    /// program asked for do not matter: only tmux knows them.
    ///
    /// # Errors
    ///
    /// If tmux has no bytes for it.
    pub fn encode_in_tmux(&self, modes: &ScreenModes) -> Result<Vec<u8>, UnencodableKey> {
        tmux::encode(*self, modes).ok_or_else(|| UnencodableKey::new(*self, KeyRequirement::NoTmux))
    }

    /// The key that types this character, if there is one.
    ///
    /// An upper-case letter is the lower-case key with shift, except with ctrl or super: users
    /// write `Ctrl+C` for `ctrl+c`.
    fn typing(c: char, modifiers: Modifiers) -> Option<Self> {
        let is_caseless = modifiers.has(Modifiers::CTRL) || modifiers.has(Modifiers::SUPER);
        let (c, modifiers) = match lowercase(c) {
            Some(small) if is_caseless => (small, modifiers),
            Some(small) => (small, modifiers.with(Modifiers::SHIFT)),
            None => (c, modifiers),
        };
        (!c.is_control()).then_some(Self { code: KeyCode::Char(c), modifiers })
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

    /// Whether no modifier but shift is pressed, so that a character is text.
    fn is_text(self) -> bool {
        self.0 & !Self::SHIFT.0 == 0
    }

    /// The parameter that encodes them in escape sequences; 1 is no modifier.
    fn number(self) -> u8 {
        1 + self.0
    }
}

/// The lower-case letter of an upper-case one, if they are a pair.
fn lowercase(c: char) -> Option<char> {
    let small = single_char(c.to_lowercase())?;
    (small != c && single_char(small.to_uppercase()) == Some(c)).then_some(small)
}

/// The upper-case letter of a lower-case one, if they are a pair.
fn uppercase(c: char) -> Option<char> {
    single_char(c.to_uppercase()).filter(|&capital| lowercase(capital) == Some(c))
}

fn single_char(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

/// The character that a key types with these modifiers.
fn typed_char(c: char, modifiers: Modifiers) -> char {
    let shifted = modifiers.has(Modifiers::SHIFT).then(|| uppercase(c)).flatten();
    shifted.unwrap_or(c)
}
