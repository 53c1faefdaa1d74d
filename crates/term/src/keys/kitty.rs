//! Encodes keys in the kitty keyboard protocol, for programs that switched it on.
//!
//! Only presses: a sequence without an event type is a press.

use super::{Key, KeyCode, Modifiers, typed_char, uppercase};

/// Ambiguous keys are sent as escape codes.
const DISAMBIGUATE: u8 = 1;
/// The shifted key is reported beside the key.
const ALTERNATES: u8 = 4;
/// Keys that type text are sent as escape codes too.
const ALL: u8 = 8;
/// Escape codes include the text.
const TEXT: u8 = 16;

/// The number of F13; the next ones follow.
const F13: u32 = 57376;

/// How the escape code of a key is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyEscapeForm {
    /// `CSI A`, `CSI 1 ; 5 A`
    Letter(char),
    /// `CSI 3 ~`, `CSI 3 ; 5 ~`
    Tilde(u8),
    /// `CSI 97 ; 5 u`
    Unicode(u32),
}

/// Whether these flags change the encoding of a press.
pub(super) fn is_on(flags: u8) -> bool {
    flags & (DISAMBIGUATE | ALL) != 0
}

/// Whether it is a lock key. Lock keys are reported only to programs that ask for all keys.
pub(super) fn is_lock(code: KeyCode) -> bool {
    matches!(code, KeyCode::CapsLock | KeyCode::NumLock | KeyCode::ScrollLock)
}

/// The bytes of a key; `None` if the program has not asked for reports of it.
pub(super) fn encode(key: Key, flags: u8) -> Option<Vec<u8>> {
    let Key { code, modifiers } = key;
    if flags & ALL == 0 && is_lock(code) {
        return None;
    }
    if flags & ALL == 0
        && let Some(c) = text(key).or_else(|| legacy_byte(key))
    {
        return Some(c.to_string().into_bytes());
    }
    Some(match form(code) {
        KeyEscapeForm::Unicode(number) => unicode(key, number, flags),
        other @ (KeyEscapeForm::Letter(_) | KeyEscapeForm::Tilde(_)) => sequence(other, modifiers),
    })
}

/// How the escape code of a key is written.
pub(super) fn form(code: KeyCode) -> KeyEscapeForm {
    match code {
        KeyCode::Char(c) => KeyEscapeForm::Unicode(c.into()),
        KeyCode::Enter => KeyEscapeForm::Unicode(13),
        KeyCode::Esc => KeyEscapeForm::Unicode(27),
        KeyCode::Tab => KeyEscapeForm::Unicode(9),
        KeyCode::Backspace => KeyEscapeForm::Unicode(127),
        KeyCode::Insert => KeyEscapeForm::Tilde(2),
        KeyCode::Delete => KeyEscapeForm::Tilde(3),
        KeyCode::PageUp => KeyEscapeForm::Tilde(5),
        KeyCode::PageDown => KeyEscapeForm::Tilde(6),
        KeyCode::Up => KeyEscapeForm::Letter('A'),
        KeyCode::Down => KeyEscapeForm::Letter('B'),
        KeyCode::Right => KeyEscapeForm::Letter('C'),
        KeyCode::Left => KeyEscapeForm::Letter('D'),
        KeyCode::End => KeyEscapeForm::Letter('F'),
        KeyCode::Home => KeyEscapeForm::Letter('H'),
        KeyCode::F(1) => KeyEscapeForm::Letter('P'),
        KeyCode::F(2) => KeyEscapeForm::Letter('Q'),
        KeyCode::F(4) => KeyEscapeForm::Letter('S'),
        // The numbers have gaps where the rows of keys on a VT220 had gaps.
        KeyCode::F(number @ ..=5) => KeyEscapeForm::Tilde(10 + number),
        KeyCode::F(number @ ..=10) => KeyEscapeForm::Tilde(11 + number),
        KeyCode::F(number @ ..=12) => KeyEscapeForm::Tilde(12 + number),
        KeyCode::F(number) => KeyEscapeForm::Unicode(F13 + u32::from(number) - 13),
        KeyCode::Keypad(pad) => KeyEscapeForm::Unicode(pad.number()),
        KeyCode::CapsLock => KeyEscapeForm::Unicode(57358),
        KeyCode::ScrollLock => KeyEscapeForm::Unicode(57359),
        KeyCode::NumLock => KeyEscapeForm::Unicode(57360),
        KeyCode::PrintScreen => KeyEscapeForm::Unicode(57361),
        KeyCode::Pause => KeyEscapeForm::Unicode(57362),
        KeyCode::Menu => KeyEscapeForm::Unicode(57363),
    }
}

/// An escape code with only the key and its modifiers.
pub(super) fn sequence(form: KeyEscapeForm, modifiers: Modifiers) -> Vec<u8> {
    let is_bare = modifiers == Modifiers::default();
    let param = modifiers.number();
    let text = match form {
        KeyEscapeForm::Letter(letter) if is_bare => format!("\x1b[{letter}"),
        KeyEscapeForm::Letter(letter) => format!("\x1b[1;{param}{letter}"),
        KeyEscapeForm::Tilde(number) if is_bare => format!("\x1b[{number}~"),
        KeyEscapeForm::Tilde(number) => format!("\x1b[{number};{param}~"),
        KeyEscapeForm::Unicode(number) if is_bare => format!("\x1b[{number}u"),
        KeyEscapeForm::Unicode(number) => format!("\x1b[{number};{param}u"),
    };
    text.into_bytes()
}

/// An escape code with as much about the key as the program asked for.
fn unicode(key: Key, number: u32, flags: u8) -> Vec<u8> {
    let param = key.modifiers.number();
    let shifted = shifted(key, flags).map_or(String::new(), |c| format!(":{}", u32::from(c)));
    match text(key).filter(|_| flags & TEXT != 0).map(u32::from) {
        Some(text) if param == 1 => format!("\x1b[{number};;{text}u"),
        Some(text) => format!("\x1b[{number}{shifted};{param};{text}u"),
        None if param == 1 => format!("\x1b[{number}u"),
        None => format!("\x1b[{number}{shifted};{param}u"),
    }
    .into_bytes()
}

/// The text that a key types.
fn text(key: Key) -> Option<char> {
    let c = match key.code {
        KeyCode::Char(c) => typed_char(c, key.modifiers),
        KeyCode::Keypad(pad) => pad.typed(),
        _ => return None,
    };
    (key.modifiers.is_text() && !c.is_control()).then_some(c)
}

/// Keys that keep their legacy byte, so that `reset` can be typed after a program died without
/// switching the protocol off.
fn legacy_byte(key: Key) -> Option<char> {
    let legacy = [(KeyCode::Enter, '\r'), (KeyCode::Tab, '\t'), (KeyCode::Backspace, '\x7f')];
    let found = legacy.into_iter().find(|(code, _)| *code == key.code);
    found.filter(|_| key.modifiers == Modifiers::default()).map(|(_, c)| c)
}

/// The shifted character of a key, if the program asked for alternates.
fn shifted(key: Key, flags: u8) -> Option<char> {
    let KeyCode::Char(c) = key.code else {
        return None;
    };
    uppercase(c).filter(|_| flags & ALTERNATES != 0 && key.modifiers.has(Modifiers::SHIFT))
}
