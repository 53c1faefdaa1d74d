//! Keys as the kitty keyboard protocol writes them, for programs that switched it on.
//!
//! Only presses: a press is what is meant where a sequence does not say.

use super::{Code, Held, Key, capital, typed};

/// Keys that would be mistaken for others are escape codes.
const DISAMBIGUATE: u8 = 1;
/// The shifted key is told beside the key.
const ALTERNATES: u8 = 4;
/// Keys that type text are escape codes too.
const ALL: u8 = 8;
/// Escape codes tell the text.
const TEXT: u8 = 16;

/// The number of F13; the next ones follow.
const F13: u32 = 57376;

/// How the escape code of a key is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// `CSI A`, `CSI 1 ; 5 A`
    Letter(char),
    /// `CSI 3 ~`, `CSI 3 ; 5 ~`
    Tilde(u8),
    /// `CSI 97 ; 5 u`
    Unicode(u32),
}

/// Whether these flags change what a press becomes.
pub(super) fn is_on(flags: u8) -> bool {
    flags & (DISAMBIGUATE | ALL) != 0
}

/// Whether a key only switches what others type. Programs are told of these only if they want to know of all keys.
pub(super) fn is_lock(code: Code) -> bool {
    matches!(code, Code::CapsLock | Code::NumLock | Code::ScrollLock)
}

/// The bytes of a key, unless the program has not asked to be told of it.
pub(super) fn encode(key: Key, flags: u8) -> Option<Vec<u8>> {
    let Key { code, held } = key;
    if flags & ALL == 0 && is_lock(code) {
        return None;
    }
    if flags & ALL == 0
        && let Some(c) = text(key).or_else(|| lifeline(key))
    {
        return Some(c.to_string().into_bytes());
    }
    Some(match form(code) {
        Form::Unicode(number) => unicode(key, number, flags),
        other @ (Form::Letter(_) | Form::Tilde(_)) => sequence(other, held),
    })
}

/// How the escape code of a key is written.
pub(super) fn form(code: Code) -> Form {
    match code {
        Code::Char(c) => Form::Unicode(c.into()),
        Code::Enter => Form::Unicode(13),
        Code::Esc => Form::Unicode(27),
        Code::Tab => Form::Unicode(9),
        Code::Backspace => Form::Unicode(127),
        Code::Insert => Form::Tilde(2),
        Code::Delete => Form::Tilde(3),
        Code::PageUp => Form::Tilde(5),
        Code::PageDown => Form::Tilde(6),
        Code::Up => Form::Letter('A'),
        Code::Down => Form::Letter('B'),
        Code::Right => Form::Letter('C'),
        Code::Left => Form::Letter('D'),
        Code::End => Form::Letter('F'),
        Code::Home => Form::Letter('H'),
        Code::F(1) => Form::Letter('P'),
        Code::F(2) => Form::Letter('Q'),
        Code::F(4) => Form::Letter('S'),
        // The numbers skip where the rows of keys on a VT220 had a gap.
        Code::F(number @ ..=5) => Form::Tilde(10 + number),
        Code::F(number @ ..=10) => Form::Tilde(11 + number),
        Code::F(number @ ..=12) => Form::Tilde(12 + number),
        Code::F(number) => Form::Unicode(F13 + u32::from(number) - 13),
        Code::Keypad(pad) => Form::Unicode(pad.number()),
        Code::CapsLock => Form::Unicode(57358),
        Code::ScrollLock => Form::Unicode(57359),
        Code::NumLock => Form::Unicode(57360),
        Code::PrintScreen => Form::Unicode(57361),
        Code::Pause => Form::Unicode(57362),
        Code::Menu => Form::Unicode(57363),
    }
}

/// An escape code with nothing but the key and what is held.
pub(super) fn sequence(form: Form, held: Held) -> Vec<u8> {
    let is_bare = held == Held::default();
    let held = held.number();
    let text = match form {
        Form::Letter(letter) if is_bare => format!("\x1b[{letter}"),
        Form::Letter(letter) => format!("\x1b[1;{held}{letter}"),
        Form::Tilde(number) if is_bare => format!("\x1b[{number}~"),
        Form::Tilde(number) => format!("\x1b[{number};{held}~"),
        Form::Unicode(number) if is_bare => format!("\x1b[{number}u"),
        Form::Unicode(number) => format!("\x1b[{number};{held}u"),
    };
    text.into_bytes()
}

/// An escape code with as much about the key as the program wants to know.
fn unicode(key: Key, number: u32, flags: u8) -> Vec<u8> {
    let held = key.held.number();
    let shifted = shifted(key, flags).map_or(String::new(), |c| format!(":{}", u32::from(c)));
    match text(key).filter(|_| flags & TEXT != 0).map(u32::from) {
        Some(text) if held == 1 => format!("\x1b[{number};;{text}u"),
        Some(text) => format!("\x1b[{number}{shifted};{held};{text}u"),
        None if held == 1 => format!("\x1b[{number}u"),
        None => format!("\x1b[{number}{shifted};{held}u"),
    }
    .into_bytes()
}

/// The text that a key types.
fn text(key: Key) -> Option<char> {
    let c = match key.code {
        Code::Char(c) => typed(c, key.held),
        Code::Keypad(pad) => pad.typed(),
        _ => return None,
    };
    (key.held.is_text() && !c.is_control()).then_some(c)
}

/// What stays as it was, so that `reset` can be typed after a program died without switching back.
fn lifeline(key: Key) -> Option<char> {
    let kept = [(Code::Enter, '\r'), (Code::Tab, '\t'), (Code::Backspace, '\x7f')];
    let found = kept.into_iter().find(|(code, _)| *code == key.code);
    found.filter(|_| key.held == Held::default()).map(|(_, c)| c)
}

/// The capital that shift makes of a key, where a program wants to be told.
fn shifted(key: Key, flags: u8) -> Option<char> {
    let Code::Char(c) = key.code else {
        return None;
    };
    capital(c).filter(|_| flags & ALTERNATES != 0 && key.held.has(Held::SHIFT))
}
