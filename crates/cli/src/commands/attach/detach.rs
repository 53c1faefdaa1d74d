//! Finds the detach key in the user's input. Pure.

use std::str::FromStr;

use paned_model::Size;
use paned_term::Screen;
use paned_term::keys::Key;
use paned_term::screen::view::ScreenModes;
use paned_term::vt::input::InputStart;

const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";
/// The longest incomplete sequence that is held back.
const LONGEST: usize = 64;
/// Caps lock and num lock, among the bits of the modifiers.
const LOCKS: u32 = 64 | 128;
/// The event type of a key's release, in kitty's keyboard protocol.
const RELEASE: &str = "3";
/// The number that xterm's modifyOtherKeys gives to every key; the character comes last.
const OTHER: &str = "27";
/// Shift, among the bits of the modifiers.
const SHIFT: u32 = 1;

/// A key, in every encoding in which a terminal may send it. Without any it never matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DetachKey {
    forms: Vec<Vec<u8>>,
    /// Its name, as in `ctrl+]`; None where no key detaches.
    name: Option<String>,
}

/// Finds the key in the input, however reads split it; not inside a paste.
#[derive(Debug)]
pub(super) struct DetachKeyScanner {
    key: DetachKey,
    is_pasting: bool,
    /// The start of a sequence whose rest has not arrived.
    incomplete: Vec<u8>,
    /// How much of that was passed on already: Esc must not be delayed.
    passed: usize,
}

/// What the input starts with.
enum DetachScanStep {
    /// The key.
    Detach,
    /// This many bytes of anything else.
    Other(usize),
    /// A sequence whose rest has not arrived.
    Incomplete,
}

impl DetachKeyScanner {
    pub(super) fn new(key: DetachKey) -> Self {
        Self { key, is_pasting: false, incomplete: Vec::new(), passed: 0 }
    }

    /// The bytes for the program, and whether the key was pressed after them.
    pub(super) fn scan(&mut self, typed: &[u8]) -> (Vec<u8>, bool) {
        let bytes = [&self.incomplete, typed].concat();
        let passed = std::mem::take(&mut self.passed);
        self.incomplete.clear();
        let mut at = 0;
        let mut is_pressed = false;
        while at < bytes.len() && !is_pressed {
            match self.next(&bytes[at..]) {
                DetachScanStep::Detach => is_pressed = true,
                DetachScanStep::Other(length) => at += length,
                DetachScanStep::Incomplete => {
                    self.incomplete = bytes[at..].to_vec();
                    break;
                }
            }
        }
        // A terminal sends a key in one write, so a longer start is held back for its rest. One or
        // two bytes (Esc, alt+[) and what is typed after them are passed on at once.
        let is_held = 2 < self.incomplete.len() && (passed == 0 || 0 < at);
        let end = if is_held || is_pressed { at } else { bytes.len() };
        self.passed = if is_held { 0 } else { self.incomplete.len() };
        (bytes[passed.min(end)..end].to_vec(), is_pressed)
    }

    fn next(&mut self, bytes: &[u8]) -> DetachScanStep {
        let is_cut = |mark: &[u8]| bytes.len() < mark.len() && mark.starts_with(bytes);
        if self.is_pasting {
            self.is_pasting = !bytes.starts_with(PASTED);
            return match self.is_pasting && is_cut(PASTED) {
                true => DetachScanStep::Incomplete,
                false => DetachScanStep::Other(if self.is_pasting { 1 } else { PASTED.len() }),
            };
        }
        if bytes.starts_with(PASTE) {
            self.is_pasting = true;
            return DetachScanStep::Other(PASTE.len());
        }
        let length = match InputStart::of(bytes) {
            InputStart::Sequence(length) | InputStart::Reply(length) => length,
            InputStart::OpenSequence if bytes.len() < LONGEST => return DetachScanStep::Incomplete,
            // Rather Alt with a key than a reply, so the detach key may follow.
            InputStart::OpenReply | InputStart::OpenSequence | InputStart::Byte => 1,
        };
        match self.key.matches(&bytes[..length]) {
            true => DetachScanStep::Detach,
            false => DetachScanStep::Other(length),
        }
    }
}

impl DetachKey {
    /// Its name; None where no key detaches.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn matches(&self, typed: &[u8]) -> bool {
        let other = other_key(typed);
        let typed = other.as_deref().unwrap_or(typed);
        let plain = without_locks(typed);
        self.forms.iter().any(|form| form == typed || Some(form) == plain.as_ref())
    }
}

/// Converts a key of modifyOtherKeys, `CSI 27 ; modifiers ; character ~`, to the encoding of
/// kitty's keyboard protocol.
fn other_key(typed: &[u8]) -> Option<Vec<u8>> {
    let numbers = std::str::from_utf8(typed).ok()?.strip_prefix("\x1b[")?.strip_suffix('~')?;
    let [OTHER, held, character] = numbers.split(';').collect::<Vec<_>>()[..] else { return None };
    let held = held.parse::<u32>().ok()?.checked_sub(1)?;
    let character = char::from_u32(character.parse().ok()?)?;
    // The character already includes shift. With caps lock it is a capital although shift is not
    // held.
    let held = if character.is_ascii_punctuation() { held & !SHIFT } else { held };
    let number = u32::from(character.to_ascii_lowercase());
    Some(format!("\x1b[{number};{}u", held + 1).into_bytes())
}

/// The encoding of a key press without caps lock, num lock and optional fields; `None` for a
/// release.
fn without_locks(typed: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(typed).ok()?.strip_prefix("\x1b[")?;
    let last = text.chars().last()?;
    let numbers = &text[..text.len().checked_sub(1)?];
    let mut fields = numbers.split(';').map(|field| field.split(':'));
    let number = fields.next()?.next()?;
    let mut held = fields.next()?;
    let modifiers: u32 = held.next()?.parse().ok()?;
    let modifiers = (modifiers.checked_sub(1)? & !LOCKS) + 1;
    if held.next() == Some(RELEASE) {
        return None;
    }
    let key = match modifiers {
        1 => format!("\x1b[{number}{last}"),
        _ => format!("\x1b[{number};{modifiers}{last}"),
    };
    Some(key.into_bytes())
}

impl FromStr for DetachKey {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name.eq_ignore_ascii_case("none") {
            return Ok(Self { forms: Vec::new(), name: None });
        }
        let key = name.parse::<Key>().map_err(|error| error.to_string())?;
        let modes = Screen::new(Size::default()).view().modes;
        let encode = |modes: ScreenModes| key.encode(&modes).map_err(|error| error.to_string());
        let plain = encode(modes)?;
        if !is_usable(&plain) {
            let name = name.escape_debug();
            return Err(format!("`{name}` is needed for typing; use a key such as ctrl+] or f12"));
        }
        let mut forms = vec![plain, encode(ScreenModes { application_cursor: true, ..modes })?];
        forms.push(encode(ScreenModes { kitty_keyboard: 1, ..modes })?);
        forms.dedup();
        Ok(Self { forms, name: Some(key.to_string()) })
    }
}

/// Whether a key may be the detach key: it is none that every program needs, and not the start of
/// one.
fn is_usable(form: &[u8]) -> bool {
    match form {
        [b'\r' | b'\n' | b'\t' | 0x08 | 0x1b] => false,
        [byte] => byte.is_ascii_control() && *byte != 0x7f,
        [0x1b, b'[' | b'O', .., last] => !matches!(last, b'A'..=b'D'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program gets of what is typed, read in these pieces, and whether one leaves after
    /// that.
    #[track_caller]
    fn check(key: &str, typed: &[&str], passed: &str, leaves: bool) {
        let mut lookout = DetachKeyScanner::new(key.parse().unwrap());
        let mut got = Vec::new();
        for (at, piece) in typed.iter().enumerate() {
            let (bytes, left) = lookout.scan(piece.as_bytes());
            got.extend(bytes);
            assert_eq!(left, leaves && at + 1 == typed.len(), "{key} in {typed:?}");
        }
        assert_eq!(String::from_utf8_lossy(&got), passed, "{key} in {typed:?}");
    }

    #[test]
    fn the_key_is_found_wherever_it_stands() {
        check("ctrl+]", &["\x1d"], "", true);
        check("ctrl+]", &["ls\x1dmore\x1d"], "ls", true);
        check("ctrl+]", &["]ls\r\x1b[A"], "]ls\r\x1b[A", false);
        check("ctrl+]", &["", "a", "\x1b", "\x1b[", "b"], "a\x1b\x1b[b", false);
    }

    #[test]
    fn it_is_known_in_the_form_that_the_program_asked_for() {
        check("ctrl+]", &["\x1b[93;5u"], "", true);
        check("ctrl+]", &["a\x1b[93;5:1u"], "a", true);
        check("ctrl+]", &["\x1b[93;5:3u"], "\x1b[93;5:3u", false);
        check("ctrl+]", &["\x1b[93:125;5;29u"], "", true);
        check("f12", &["\x1b[24~"], "", true);
    }

    #[test]
    fn it_is_known_where_the_program_asked_for_other_keys_to_be_told_apart() {
        check("ctrl+]", &["a\x1b[27;5;93~"], "a", true);
        check("ctrl+]", &["\x1b[27;5;", "93~"], "", true);
        check("ctrl+]", &["\x1b[27;5;93:1~\x1b[27;3;93~"], "\x1b[27;5;93:1~\x1b[27;3;93~", false);
        check("ctrl+q", &["\x1b[27;5;113~"], "", true);
        check("ctrl+q", &["\x1b[27;5;81~"], "", true);
        check("ctrl+q", &["\x1b[27;6;81~"], "\x1b[27;6;81~", false);
        check("ctrl+\\", &["\x1b[27;5;92~"], "", true);
        check("ctrl+^", &["\x1b[27;6;94~"], "", true);
        check("ctrl+_", &["\x1b[27;6;95~"], "", true);
        check("ctrl+space", &["\x1b[27;5;32~"], "", true);
        check("f12", &["\x1b[27;5;93~"], "\x1b[27;5;93~", false);
    }

    /// Every key that may be the detach key and has a character is known so.
    #[test]
    fn every_key_with_ctrl_is_known_in_both_forms() {
        for character in ('a'..='z').chain(['\\', ']', '^', '_', '@']) {
            let name = format!("ctrl+{character}");
            if name.parse::<DetachKey>().is_ok() {
                let number = u32::from(character);
                check(&name, &[&format!("\x1b[27;5;{number}~")], "", true);
                check(&name, &[&format!("\x1b[{number};5u")], "", true);
            }
        }
    }

    #[test]
    fn locks_are_nothing_that_is_held() {
        check("ctrl+]", &["\x1b[93;133u"], "", true);
        check("ctrl+]", &["\x1b[93;69:1u"], "", true);
        check("f12", &["\x1b[24;129~"], "", true);
        check("ctrl+]", &["\x1b[93;6u"], "\x1b[93;6u", false);
    }

    #[test]
    fn it_is_found_however_it_was_cut() {
        check("ctrl+]", &["a\x1b[93;", "5u"], "a", true);
        check("ctrl+]", &["\x1b[9", "3;5", "u"], "", true);
        // Esc is never kept waiting, nor is alt+[ and what follows it.
        check("ctrl+]", &["\x1b", "[93;5u"], "\x1b", true);
        check("ctrl+]", &["\x1b[", "9", "3", "x"], "\x1b[93x", false);
        check("ctrl+]", &["\x1b[<0;3", ";4Mx"], "\x1b[<0;3;4Mx", false);
    }

    #[test]
    fn what_is_pasted_is_no_key() {
        check(
            "ctrl+]",
            &["\x1b[200~a\x1d\x1b[93;5ub\x1b[201~"],
            "\x1b[200~a\x1d\x1b[93;5ub\x1b[201~",
            false,
        );
        check(
            "ctrl+]",
            &["\x1b[200~a\x1d", "\x1d\x1b[20", "1~c\x1d"],
            "\x1b[200~a\x1d\x1d\x1b[201~c",
            true,
        );
    }

    #[test]
    fn none_is_never_pressed() {
        check("none", &["\x1d\x1b[93;5u"], "\x1d\x1b[93;5u", false);
    }

    #[test]
    fn a_key_that_is_needed_for_typing_is_refused() {
        for key in [
            "a",
            "enter",
            "esc",
            "tab",
            "up",
            "backspace",
            "ctrl+m",
            "alt+x",
            "kp_5",
            "kp_enter",
            "pause",
            "super+a",
            "nokey",
            "",
        ] {
            assert!(key.parse::<DetachKey>().is_err(), "{key}");
        }
    }
}
