//! Keys as xterm writes them, which every program understands.
//!
//! What it has no way to write (`ctrl+enter`) is written without the modifier, as xterm does; only the
//! super key, which would type text that nobody meant, is written the kitty way.

use super::kitty::{self, Form};
use super::{Code, Held, Key, typed};

const ESC: char = '\x1b';
const DEL: char = '\x7f';

/// The bytes of a key.
pub(super) fn encode(key: Key, application_cursor: bool) -> Vec<u8> {
    let Key { code, held } = key;
    match code {
        Code::Char(c) if held.has(Held::CTRL) => plain(key, control(c)),
        Code::Char(c) => plain(key, typed(c, held)),
        Code::Enter => plain(key, '\r'),
        Code::Esc => plain(key, ESC),
        Code::Tab if held.has(Held::SHIFT) => backtab(key),
        Code::Tab => plain(key, '\t'),
        Code::Backspace if held.has(Held::CTRL) => plain(key, '\x08'),
        Code::Backspace => plain(key, DEL),
        Code::Up | Code::Down | Code::Left | Code::Right | Code::Home | Code::End => {
            special(kitty::form(code), held, application_cursor)
        }
        Code::F(3) => special(Form::Letter('R'), held, true),
        Code::F(..=4) => special(kitty::form(code), held, true),
        Code::F(..=12) | Code::Insert | Code::Delete | Code::PageUp | Code::PageDown => {
            special(kitty::form(code), held, false)
        }
        Code::F(number) => high(number, held),
    }
}

/// A key that types a character, after an ESC if alt is held.
fn plain(key: Key, c: char) -> Vec<u8> {
    if key.held.has(Held::SUPER) {
        return kitty::sequence(kitty::form(key.code), key.held);
    }
    let escape = if key.held.has(Held::ALT) { "\x1b" } else { "" };
    format!("{escape}{c}").into_bytes()
}

/// The tab key with shift, which is a key of its own.
fn backtab(key: Key) -> Vec<u8> {
    let mut out = plain(key, ESC);
    if !key.held.has(Held::SUPER) {
        out.extend(b"[Z");
    }
    out
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

/// To terminfo's xterm, F13 to F24 are F1 to F12 with shift.
fn high(number: u8, held: Held) -> Vec<u8> {
    encode(Key { code: Code::F(number - 12), held: held.with(Held::SHIFT) }, false)
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
