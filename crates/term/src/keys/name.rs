//! The names of keys, read in every spelling people use and written in one.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::near::near;
use super::{Code, Held, Key, keypad};

/// Every key that has a name, but for the keypad's: first the name we write, then the others we read.
const NAMED: &[(Code, &[&str])] = &[
    (Code::Enter, &["enter", "return", "cr"]),
    (Code::Esc, &["esc", "escape"]),
    (Code::Tab, &["tab"]),
    (Code::Backspace, &["backspace", "bspace", "bs"]),
    (Code::Char(' '), &["space", "spc"]),
    (Code::Up, &["up", "arrowup", "uparrow"]),
    (Code::Down, &["down", "arrowdown", "downarrow"]),
    (Code::Left, &["left", "arrowleft", "leftarrow"]),
    (Code::Right, &["right", "arrowright", "rightarrow"]),
    (Code::Home, &["home"]),
    (Code::End, &["end"]),
    (Code::PageUp, &["pageup", "pgup", "ppage", "prior"]),
    (Code::PageDown, &["pagedown", "pgdown", "pgdn", "npage", "next"]),
    (Code::Insert, &["insert", "ins", "ic"]),
    (Code::Delete, &["delete", "del", "dc"]),
    (Code::F(1), &["f1"]),
    (Code::F(2), &["f2"]),
    (Code::F(3), &["f3"]),
    (Code::F(4), &["f4"]),
    (Code::F(5), &["f5"]),
    (Code::F(6), &["f6"]),
    (Code::F(7), &["f7"]),
    (Code::F(8), &["f8"]),
    (Code::F(9), &["f9"]),
    (Code::F(10), &["f10"]),
    (Code::F(11), &["f11"]),
    (Code::F(12), &["f12"]),
    (Code::F(13), &["f13"]),
    (Code::F(14), &["f14"]),
    (Code::F(15), &["f15"]),
    (Code::F(16), &["f16"]),
    (Code::F(17), &["f17"]),
    (Code::F(18), &["f18"]),
    (Code::F(19), &["f19"]),
    (Code::F(20), &["f20"]),
    (Code::F(21), &["f21"]),
    (Code::F(22), &["f22"]),
    (Code::F(23), &["f23"]),
    (Code::F(24), &["f24"]),
    (Code::Menu, &["menu", "contextmenu"]),
    (Code::Pause, &["pause", "break"]),
    (Code::PrintScreen, &["printscreen", "print", "prtsc", "prtscr"]),
    (Code::CapsLock, &["capslock"]),
    (Code::NumLock, &["numlock"]),
    (Code::ScrollLock, &["scrolllock"]),
];

/// Characters that are hard to write where they also mean something else.
const SPELT: &[(&str, char)] = &[("plus", '+'), ("minus", '-'), ("lt", '<'), ("gt", '>')];

/// What tmux and others call `shift+tab`.
const BACKTAB: &[&str] = &["btab", "backtab"];

/// What programs write for a key, and the key.
const WRITTEN: &[(&str, &[&str])] = &[
    ("enter", &["\n", "\r", "\\n", "\\r"]),
    ("tab", &["\t", "\\t"]),
    ("esc", &["\u{1b}", "\\e", "\\x1b", "\\033"]),
];

/// The modifiers in the order they are written, with the other names we read.
const MODIFIERS: &[(Held, &[&str])] = &[
    (Held::CTRL, &["ctrl", "control", "c"]),
    (Held::ALT, &["alt", "meta", "opt", "option", "m", "a"]),
    (Held::SHIFT, &["shift", "s"]),
    (Held::SUPER, &["super", "cmd", "command", "win"]),
];

/// Every key that has a name, with its names.
fn named() -> impl Iterator<Item = &'static (Code, &'static [&'static str])> {
    NAMED.iter().chain(keypad::NAMED)
}

/// The names of the keys that are no single character, one for each.
pub fn names() -> impl Iterator<Item = &'static str> {
    named().filter_map(|(_, names)| names.first().copied())
}

/// No key has this name. Reads as a sentence that says which are near it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    what: &'static str,
    name: String,
    near: Vec<&'static str>,
}

impl UnknownKey {
    /// Blames the modifier where there is one in front, or else the name.
    fn of(rest: &str) -> Self {
        let head = split(rest).map_or("", |(head, _)| head);
        let modifiers = near(&plain(head), MODIFIERS.iter().flat_map(|(_, names)| *names));
        if !modifiers.is_empty() {
            return Self { what: "modifier", name: shorten(head), near: modifiers };
        }
        let names = named().flat_map(|(_, names)| *names).chain(BACKTAB);
        let meant = WRITTEN.iter().find(|(_, written)| written.contains(&rest));
        let near = meant.map_or_else(|| near(&plain(rest), names), |(name, _)| vec![*name]);
        Self { what: "key", name: shorten(rest), near }
    }
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {} is called `{}`; ", self.what, self.name)?;
        let Some((last, others)) = self.near.split_last() else {
            return f.write_str("a key is one character or a name such as `enter`, `up` or `f1`");
        };
        f.write_str("did you mean ")?;
        others.iter().try_for_each(|name| write!(f, "`{name}` or "))?;
        write!(f, "`{last}`?")
    }
}

impl Error for UnknownKey {}

impl FromStr for Key {
    type Err = UnknownKey;

    /// Reads `ctrl+c`, `C-c`, `^C`, `<C-c>`, `shift+tab`, `BTab`, `F5`, `PageUp`, `KP_Enter`, `plus`, `ä`.
    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        // As vim writes them.
        let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
        let text = inner.filter(|inner| !inner.is_empty()).unwrap_or(text);
        let (held, rest) = read_modifiers(text);
        read_code(rest, held).ok_or_else(|| UnknownKey::of(rest))
    }
}

impl fmt::Display for Key {
    /// Writes the one name that we use for the key, as in `ctrl+shift+up`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (_, names) in MODIFIERS.iter().filter(|(held, _)| self.held.has(*held)) {
            write!(f, "{}+", names[0])?;
        }
        let named = named().find(|(code, _)| *code == self.code);
        match self.code {
            Code::Char(c) if named.is_none() => f.write_char(c),
            _ => f.write_str(named.expect("only characters have no name").1[0]),
        }
    }
}

/// Takes the modifiers off the front.
fn read_modifiers(text: &str) -> (Held, &str) {
    let (mut held, mut rest) = (Held::default(), text);
    while let Some((head, tail)) = split(rest) {
        let Some(modifier) = modifier(head) else {
            break;
        };
        held = held.with(modifier);
        rest = tail;
    }
    match rest.strip_prefix('^') {
        Some(tail) if !tail.is_empty() => (held.with(Held::CTRL), tail),
        Some(_) | None => (held, rest),
    }
}

/// What is before and after the first `+` or `-`, where there is something on both sides.
fn split(text: &str) -> Option<(&str, &str)> {
    let (head, tail) = text.split_once(['+', '-'])?;
    (!head.is_empty() && !tail.is_empty()).then_some((head, tail))
}

fn modifier(name: &str) -> Option<Held> {
    let has = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    MODIFIERS.iter().find(|(_, names)| has(names)).map(|(held, _)| *held)
}

fn read_code(name: &str, held: Held) -> Option<Key> {
    if let Some(c) = super::only(name.chars()) {
        return Key::typing(c, held);
    }
    let (said, name) = (name, plain(name));
    if let Some((_, c)) = SPELT.iter().find(|(spelt, _)| *spelt == name) {
        return Key::typing(*c, held);
    }
    if BACKTAB.contains(&name.as_str()) {
        return Some(Key { code: Code::Tab, held: held.with(Held::SHIFT) });
    }
    let is_it = |known: &&str| known.eq_ignore_ascii_case(said) || is_plain(known, &name);
    let (code, _) = named().find(|(_, names)| names.iter().any(&is_it))?;
    Some(Key { code: *code, held })
}

/// Whether a name we know is this one without its looks.
fn is_plain(known: &str, plain: &str) -> bool {
    known.chars().filter(|c| *c != '_').eq(plain.chars())
}

/// A name without its looks: `Page-Up`, `PAGE_UP` and `pageup` are one.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '_', ' '], "")
}

/// What is said back of a name that may be anything.
fn shorten(name: &str) -> String {
    const MAX: usize = 32;
    let cut: String = name.chars().take(MAX).collect();
    let dots = if cut.len() < name.len() { "…" } else { "" };
    let shown = |c: char| match c {
        '\\' | '"' | '\'' => c.to_string(),
        c => c.escape_debug().to_string(),
    };
    cut.chars().map(shown).chain([dots.to_owned()]).collect()
}
