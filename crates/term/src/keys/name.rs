//! The names of keys: many spellings are parsed, one is written.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::suggest::suggest;
use super::{Key, KeyCode, Modifiers, keypad};

/// Every key with a name except the keypad's: first the name we write, then the aliases we read.
const NAMED: &[(KeyCode, &[&str])] = &[
    (KeyCode::Enter, &["enter", "return", "cr"]),
    (KeyCode::Esc, &["esc", "escape"]),
    (KeyCode::Tab, &["tab"]),
    (KeyCode::Backspace, &["backspace", "bspace", "bs"]),
    (KeyCode::Char(' '), &["space", "spc"]),
    (KeyCode::Up, &["up", "arrowup", "uparrow"]),
    (KeyCode::Down, &["down", "arrowdown", "downarrow"]),
    (KeyCode::Left, &["left", "arrowleft", "leftarrow"]),
    (KeyCode::Right, &["right", "arrowright", "rightarrow"]),
    (KeyCode::Home, &["home"]),
    (KeyCode::End, &["end"]),
    (KeyCode::PageUp, &["pageup", "pgup", "ppage", "prior"]),
    (KeyCode::PageDown, &["pagedown", "pgdown", "pgdn", "npage", "next"]),
    (KeyCode::Insert, &["insert", "ins", "ic"]),
    (KeyCode::Delete, &["delete", "del", "dc"]),
    (KeyCode::F(1), &["f1"]),
    (KeyCode::F(2), &["f2"]),
    (KeyCode::F(3), &["f3"]),
    (KeyCode::F(4), &["f4"]),
    (KeyCode::F(5), &["f5"]),
    (KeyCode::F(6), &["f6"]),
    (KeyCode::F(7), &["f7"]),
    (KeyCode::F(8), &["f8"]),
    (KeyCode::F(9), &["f9"]),
    (KeyCode::F(10), &["f10"]),
    (KeyCode::F(11), &["f11"]),
    (KeyCode::F(12), &["f12"]),
    (KeyCode::F(13), &["f13"]),
    (KeyCode::F(14), &["f14"]),
    (KeyCode::F(15), &["f15"]),
    (KeyCode::F(16), &["f16"]),
    (KeyCode::F(17), &["f17"]),
    (KeyCode::F(18), &["f18"]),
    (KeyCode::F(19), &["f19"]),
    (KeyCode::F(20), &["f20"]),
    (KeyCode::F(21), &["f21"]),
    (KeyCode::F(22), &["f22"]),
    (KeyCode::F(23), &["f23"]),
    (KeyCode::F(24), &["f24"]),
    (KeyCode::Menu, &["menu", "contextmenu"]),
    (KeyCode::Pause, &["pause", "break"]),
    (KeyCode::PrintScreen, &["printscreen", "print", "prtsc", "prtscr"]),
    (KeyCode::CapsLock, &["capslock"]),
    (KeyCode::NumLock, &["numlock"]),
    (KeyCode::ScrollLock, &["scrolllock"]),
];

/// Names for characters that have another meaning in key names.
const SPELLED_CHARS: &[(&str, char)] = &[("plus", '+'), ("minus", '-'), ("lt", '<'), ("gt", '>')];

/// Names of `shift+tab` in tmux and elsewhere.
const BACKTAB: &[&str] = &["btab", "backtab"];

/// Escapes that callers write for a key, to suggest its name.
const WRITTEN: &[(&str, &[&str])] = &[
    ("enter", &["\n", "\r", "\\n", "\\r"]),
    ("tab", &["\t", "\\t"]),
    ("esc", &["\u{1b}", "\\e", "\\x1b", "\\033"]),
];

/// The modifiers in the order they are written, with their aliases.
const MODIFIERS: &[(Modifiers, &[&str])] = &[
    (Modifiers::CTRL, &["ctrl", "control", "c"]),
    (Modifiers::ALT, &["alt", "meta", "opt", "option", "m", "a"]),
    (Modifiers::SHIFT, &["shift", "s"]),
    (Modifiers::SUPER, &["super", "cmd", "command", "win"]),
];

/// Every key that has a name, with its names.
fn named() -> impl Iterator<Item = &'static (KeyCode, &'static [&'static str])> {
    NAMED.iter().chain(keypad::NAMED)
}

/// The names of the keys that are not a single character, one for each.
pub fn names() -> impl Iterator<Item = &'static str> {
    named().filter_map(|(_, names)| names.first().copied())
}

/// No key has this name. Displays as a sentence with suggestions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKey {
    what: &'static str,
    name: String,
    suggestions: Vec<&'static str>,
}

impl UnknownKey {
    /// Reports the modifier in front if it looks misspelled, otherwise the name.
    fn of(rest: &str) -> Self {
        let head = split(rest).map_or("", |(head, _)| head);
        let modifiers = suggest(&plain(head), MODIFIERS.iter().flat_map(|(_, names)| *names));
        if !modifiers.is_empty() {
            return Self { what: "modifier", name: shorten(head), suggestions: modifiers };
        }
        let names = named().flat_map(|(_, names)| *names).chain(BACKTAB);
        let meant = WRITTEN.iter().find(|(_, written)| written.contains(&rest));
        let suggestions =
            meant.map_or_else(|| suggest(&plain(rest), names), |(name, _)| vec![*name]);
        Self { what: "key", name: shorten(rest), suggestions }
    }
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`; ", self.what, self.name)?;
        let Some((last, others)) = self.suggestions.split_last() else {
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

    /// Parses `ctrl+c`, `C-c`, `^C`, `<C-c>`, `shift+tab`, `BTab`, `F5`, `PageUp`, `KP_Enter`,
    /// `plus`, `ä`.
    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        // The notation of vim.
        let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
        let text = inner.filter(|inner| !inner.is_empty()).unwrap_or(text);
        let (modifiers, rest) = read_modifiers(text);
        read_code(rest, modifiers).ok_or_else(|| UnknownKey::of(rest))
    }
}

impl fmt::Display for Key {
    /// Writes the one name that we use for the key, as in `ctrl+shift+up`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (_, names) in MODIFIERS.iter().filter(|(one, _)| self.modifiers.has(*one)) {
            write!(f, "{}+", names[0])?;
        }
        let named = named().find(|(code, _)| *code == self.code);
        match self.code {
            KeyCode::Char(c) if named.is_none() => f.write_char(c),
            _ => f.write_str(named.expect("only characters have no name").1[0]),
        }
    }
}

/// Splits the modifiers off the front.
fn read_modifiers(text: &str) -> (Modifiers, &str) {
    let mut modifiers = Modifiers::default();
    let mut rest = text;
    while let Some((head, tail)) = split(rest) {
        let Some(modifier) = modifier(head) else {
            break;
        };
        modifiers = modifiers.with(modifier);
        rest = tail;
    }
    match rest.strip_prefix('^') {
        Some(tail) if !tail.is_empty() => (modifiers.with(Modifiers::CTRL), tail),
        Some(_) | None => (modifiers, rest),
    }
}

/// The parts before and after the first `+` or `-`, if neither is empty.
fn split(text: &str) -> Option<(&str, &str)> {
    let (head, tail) = text.split_once(['+', '-'])?;
    (!head.is_empty() && !tail.is_empty()).then_some((head, tail))
}

fn modifier(name: &str) -> Option<Modifiers> {
    let has = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    MODIFIERS.iter().find(|(_, names)| has(names)).map(|(modifier, _)| *modifier)
}

fn read_code(name: &str, modifiers: Modifiers) -> Option<Key> {
    if let Some(c) = super::single_char(name.chars()) {
        return Key::typing(c, modifiers);
    }
    let original = name;
    let name = plain(name);
    if let Some((_, c)) = SPELLED_CHARS.iter().find(|(spelt, _)| *spelt == name) {
        return Key::typing(*c, modifiers);
    }
    if BACKTAB.contains(&name.as_str()) {
        return Some(Key { code: KeyCode::Tab, modifiers: modifiers.with(Modifiers::SHIFT) });
    }
    let is_it = |known: &&str| known.eq_ignore_ascii_case(original) || is_plain(known, &name);
    let (code, _) = named().find(|(_, names)| names.iter().any(&is_it))?;
    Some(Key { code: *code, modifiers })
}

/// Whether a known name matches this normalized one.
fn is_plain(known: &str, plain: &str) -> bool {
    known.chars().filter(|c| *c != '_').eq(plain.chars())
}

/// Normalizes a name: `Page-Up`, `PAGE_UP` and `pageup` are the same.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '_', ' '], "")
}

/// The name as an error shows it: shortened and escaped, because it may be anything.
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
