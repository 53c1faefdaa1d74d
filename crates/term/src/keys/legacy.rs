//! Keys as xterm writes them, which every program understands.
//!
//! What it has no way to write (`ctrl+enter`) is written without the modifier, as xterm does. Not so the super key, which
//! would type text that nobody meant: `super+a` is not written at all, nor is a key that xterm does not send.

use super::keypad::KeypadKey;
use super::kitty::{self, KeyEscapeForm};
use super::{Key, KeyCode, Modifiers, typed_char};
use crate::screen::view::ScreenModes;

const ESC: char = '\x1b';
const DEL: char = '\x7f';

/// The bytes of a key, if it has any.
pub(super) fn encode(key: Key, modes: &ScreenModes) -> Option<Vec<u8>> {
    let Key { code, modifiers: held } = key;
    match code {
        KeyCode::Char(c) if held.has(Modifiers::CTRL) => plain(held, control(c)),
        KeyCode::Char(c) => plain(held, typed_char(c, held)),
        KeyCode::Enter => plain(held, '\r'),
        KeyCode::Esc => plain(held, ESC),
        KeyCode::Tab if held.has(Modifiers::SHIFT) => backtab(held),
        KeyCode::Tab => plain(held, '\t'),
        KeyCode::Backspace if held.has(Modifiers::CTRL) => plain(held, '\x08'),
        KeyCode::Backspace => plain(held, DEL),
        KeyCode::Up
        | KeyCode::Down
        | KeyCode::Left
        | KeyCode::Right
        | KeyCode::Home
        | KeyCode::End => Some(special(kitty::form(code), held, modes.application_cursor)),
        KeyCode::F(number) => Some(function(number, held)),
        KeyCode::Insert | KeyCode::Delete | KeyCode::PageUp | KeyCode::PageDown => {
            Some(special(kitty::form(code), held, false))
        }
        KeyCode::Menu => Some(special(KeyEscapeForm::Tilde(29), held, false)),
        KeyCode::Keypad(pad) if modes.application_keypad => Some(application(pad, held)),
        KeyCode::Keypad(pad) => plain(held, pad.typed()),
        KeyCode::Pause
        | KeyCode::PrintScreen
        | KeyCode::CapsLock
        | KeyCode::NumLock
        | KeyCode::ScrollLock => None,
    }
}

/// A key that types a character, after an ESC if alt is held. With super it is none.
fn plain(held: Modifiers, c: char) -> Option<Vec<u8>> {
    let escape = if held.has(Modifiers::ALT) { "\x1b" } else { "" };
    (!held.has(Modifiers::SUPER)).then(|| format!("{escape}{c}").into_bytes())
}

/// The tab key with shift, which is a key of its own.
fn backtab(held: Modifiers) -> Option<Vec<u8>> {
    let mut out = plain(held, ESC)?;
    out.extend(b"[Z");
    Some(out)
}

/// A key of the keypad in application mode. What is held stands before the letter.
fn application(pad: KeypadKey, held: Modifiers) -> Vec<u8> {
    let letter = pad.letter();
    match held == Modifiers::default() {
        true => format!("\x1bO{letter}"),
        false => format!("\x1bO{}{letter}", held.number()),
    }
    .into_bytes()
}

/// A function key. To terminfo's xterm, F13 to F24 are F1 to F12 with shift.
fn function(number: u8, held: Modifiers) -> Vec<u8> {
    match number {
        3 => special(KeyEscapeForm::Letter('R'), held, true),
        ..=2 | 4 => special(kitty::form(KeyCode::F(number)), held, true),
        5..=12 => special(kitty::form(KeyCode::F(number)), held, false),
        13.. => function(number - 12, held.with(Modifiers::SHIFT)),
    }
}

/// A key that types nothing. Without modifiers some begin with `ESC O`.
fn special(form: KeyEscapeForm, held: Modifiers, has_single_shift: bool) -> Vec<u8> {
    match form {
        KeyEscapeForm::Letter(letter) if has_single_shift && held == Modifiers::default() => {
            format!("\x1bO{letter}").into_bytes()
        }
        KeyEscapeForm::Letter(_) | KeyEscapeForm::Tilde(_) | KeyEscapeForm::Unicode(_) => {
            kitty::sequence(form, held)
        }
    }
}

/// What ctrl makes of a character, by the rule of X11; what it makes nothing of stays.
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
