//! Keys as xterm writes them, which every program understands.
//!
//! What it has no way to write (`ctrl+enter`) is written without the modifier, as xterm does. Not so the super key, which
//! would type text that nobody meant: `super+a` is not written at all, nor is a key that xterm does not send.

use super::keypad::Pad;
use super::kitty::{self, Form};
use super::{Code, Held, Key, typed};
use crate::screen::view::Modes;

const ESC: char = '\x1b';
const DEL: char = '\x7f';

/// The bytes of a key, if it has any.
pub(super) fn encode(key: Key, modes: &Modes) -> Option<Vec<u8>> {
    let Key { code, held } = key;
    match code {
        Code::Char(c) if held.has(Held::CTRL) => plain(held, control(c)),
        Code::Char(c) => plain(held, typed(c, held)),
        Code::Enter => plain(held, '\r'),
        Code::Esc => plain(held, ESC),
        Code::Tab if held.has(Held::SHIFT) => backtab(held),
        Code::Tab => plain(held, '\t'),
        Code::Backspace if held.has(Held::CTRL) => plain(held, '\x08'),
        Code::Backspace => plain(held, DEL),
        Code::Up | Code::Down | Code::Left | Code::Right | Code::Home | Code::End => {
            Some(special(kitty::form(code), held, modes.application_cursor))
        }
        Code::F(number) => Some(function(number, held)),
        Code::Insert | Code::Delete | Code::PageUp | Code::PageDown => {
            Some(special(kitty::form(code), held, false))
        }
        Code::Menu => Some(special(Form::Tilde(29), held, false)),
        Code::Keypad(pad) if modes.application_keypad => Some(application(pad, held)),
        Code::Keypad(pad) => plain(held, pad.typed()),
        Code::Pause | Code::PrintScreen | Code::CapsLock | Code::NumLock | Code::ScrollLock => None,
    }
}

/// A key that types a character, after an ESC if alt is held. With super it is none.
fn plain(held: Held, c: char) -> Option<Vec<u8>> {
    let escape = if held.has(Held::ALT) { "\x1b" } else { "" };
    (!held.has(Held::SUPER)).then(|| format!("{escape}{c}").into_bytes())
}

/// The tab key with shift, which is a key of its own.
fn backtab(held: Held) -> Option<Vec<u8>> {
    let mut out = plain(held, ESC)?;
    out.extend(b"[Z");
    Some(out)
}

/// A key of the keypad in application mode. What is held stands before the letter.
fn application(pad: Pad, held: Held) -> Vec<u8> {
    let letter = pad.letter();
    match held == Held::default() {
        true => format!("\x1bO{letter}"),
        false => format!("\x1bO{}{letter}", held.number()),
    }
    .into_bytes()
}

/// A function key. To terminfo's xterm, F13 to F24 are F1 to F12 with shift.
fn function(number: u8, held: Held) -> Vec<u8> {
    match number {
        3 => special(Form::Letter('R'), held, true),
        ..=2 | 4 => special(kitty::form(Code::F(number)), held, true),
        5..=12 => special(kitty::form(Code::F(number)), held, false),
        13.. => function(number - 12, held.with(Held::SHIFT)),
    }
}

/// A key that types nothing. Without modifiers some begin with `ESC O`.
fn special(form: Form, held: Held, has_single_shift: bool) -> Vec<u8> {
    match form {
        Form::Letter(letter) if has_single_shift && held == Held::default() => {
            format!("\x1bO{letter}").into_bytes()
        }
        Form::Letter(_) | Form::Tilde(_) | Form::Unicode(_) => kitty::sequence(form, held),
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
