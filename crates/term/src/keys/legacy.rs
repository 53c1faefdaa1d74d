//! Encodes keys as xterm does, which every program understands.
//!
//! A modifier that xterm cannot encode (`ctrl+enter`) is dropped, as in xterm. The super key is the
//! exception, because dropping it would type unintended text: `super+a` has no bytes, and neither
//! has a key that xterm does not send.

use super::keypad::KeypadKey;
use super::kitty::{self, KeyEscapeForm};
use super::{Key, KeyCode, Modifiers, typed_char};
use crate::screen::view::ScreenModes;

const ESC: char = '\x1b';
const DEL: char = '\x7f';

/// The bytes of a key, if it has any.
pub(super) fn encode(key: Key, modes: &ScreenModes) -> Option<Vec<u8>> {
    let Key { code, modifiers } = key;
    match code {
        KeyCode::Char(c) if modifiers.has(Modifiers::CTRL) => plain(modifiers, control(c)),
        KeyCode::Char(c) => plain(modifiers, typed_char(c, modifiers)),
        KeyCode::Enter => plain(modifiers, '\r'),
        KeyCode::Esc => plain(modifiers, ESC),
        KeyCode::Tab if modifiers.has(Modifiers::SHIFT) => backtab(modifiers),
        KeyCode::Tab => plain(modifiers, '\t'),
        KeyCode::Backspace if modifiers.has(Modifiers::CTRL) => plain(modifiers, '\x08'),
        KeyCode::Backspace => plain(modifiers, DEL),
        KeyCode::Up
        | KeyCode::Down
        | KeyCode::Left
        | KeyCode::Right
        | KeyCode::Home
        | KeyCode::End => Some(special(kitty::form(code), modifiers, modes.application_cursor)),
        KeyCode::F(number) => Some(function(number, modifiers)),
        KeyCode::Insert | KeyCode::Delete | KeyCode::PageUp | KeyCode::PageDown => {
            Some(special(kitty::form(code), modifiers, false))
        }
        KeyCode::Menu => Some(special(KeyEscapeForm::Tilde(29), modifiers, false)),
        KeyCode::Keypad(pad) if modes.application_keypad => Some(application(pad, modifiers)),
        KeyCode::Keypad(pad) => plain(modifiers, pad.typed()),
        KeyCode::Pause
        | KeyCode::PrintScreen
        | KeyCode::CapsLock
        | KeyCode::NumLock
        | KeyCode::ScrollLock => None,
    }
}

/// A key that types a character, after an ESC if alt is pressed. With super it has no bytes.
fn plain(modifiers: Modifiers, c: char) -> Option<Vec<u8>> {
    let escape = if modifiers.has(Modifiers::ALT) { "\x1b" } else { "" };
    (!modifiers.has(Modifiers::SUPER)).then(|| format!("{escape}{c}").into_bytes())
}

/// Shift and tab, which has a sequence of its own.
fn backtab(modifiers: Modifiers) -> Option<Vec<u8>> {
    let mut out = plain(modifiers, ESC)?;
    out.extend(b"[Z");
    Some(out)
}

/// A key of the keypad in application mode. The modifiers precede the letter.
fn application(pad: KeypadKey, modifiers: Modifiers) -> Vec<u8> {
    let letter = pad.letter();
    match modifiers == Modifiers::default() {
        true => format!("\x1bO{letter}"),
        false => format!("\x1bO{}{letter}", modifiers.number()),
    }
    .into_bytes()
}

/// A function key. In terminfo's xterm, F13 to F24 are F1 to F12 with shift.
fn function(number: u8, modifiers: Modifiers) -> Vec<u8> {
    match number {
        3 => special(KeyEscapeForm::Letter('R'), modifiers, true),
        ..=2 | 4 => special(kitty::form(KeyCode::F(number)), modifiers, true),
        5..=12 => special(kitty::form(KeyCode::F(number)), modifiers, false),
        13.. => function(number - 12, modifiers.with(Modifiers::SHIFT)),
    }
}

/// A key that types no character. Without modifiers some begin with `ESC O`.
fn special(form: KeyEscapeForm, modifiers: Modifiers, has_single_shift: bool) -> Vec<u8> {
    match form {
        KeyEscapeForm::Letter(letter) if has_single_shift && modifiers == Modifiers::default() => {
            format!("\x1bO{letter}").into_bytes()
        }
        KeyEscapeForm::Letter(_) | KeyEscapeForm::Tilde(_) | KeyEscapeForm::Unicode(_) => {
            kitty::sequence(form, modifiers)
        }
    }
}

/// The control character of a character, by the rule of X11; other characters stay as they are.
fn control(c: char) -> char {
    match c {
        '2' => '\0',
        '3'..='7' => char::from(c as u8 - b'3' + ESC as u8),
        '8' | '?' => DEL,
        '/' => '\x1f',
        ' ' | '@'..='~' => char::from(c as u8 & 0x1f),
        _ => c,
    }
}
