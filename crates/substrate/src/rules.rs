//! Limits on text, keys, lines and sizes: the same for all implementations.

use paned_model::Size;
use paned_term::keys::Key;
use paned_term::screen::view::ScreenModes;

use super::Error;

/// The longest text to send, in bytes.
pub const LONGEST_TEXT: usize = 8192;
/// The most lines to capture.
pub const MOST_LINES: usize = 1_000_000;

/// Checks that a text can be typed.
pub(super) fn text(text: &str) -> Result<(), Error> {
    if LONGEST_TEXT < text.len() {
        let length = text.len();
        return Err(Error::InvalidCommand(format!(
            "a text of {length} bytes is too long: at most {LONGEST_TEXT} are typed at once"
        )));
    }
    let is_key = |c: &char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    match text.chars().find(is_key) {
        None => Ok(()),
        Some(c) => Err(Error::InvalidCommand(format!(
            "U+{:04X} is a key, not text: press it as a key{}",
            u32::from(c),
            if c == '\x03' { ", `C-c`" } else { "" },
        ))),
    }
}

/// The key of this name.
pub(super) fn key(name: &str) -> Result<Key, Error> {
    name.parse::<Key>().map_err(|unknown| Error::InvalidCommand(unknown.to_string()))
}

/// The bytes of a key in these modes.
pub(super) fn bytes(key: Key, modes: &ScreenModes) -> Result<Vec<u8>, Error> {
    key.encode(modes).map_err(|refused| Error::InvalidCommand(refused.to_string()))
}

/// Checks the number of lines of a request.
pub(super) fn lines(lines: usize) -> Result<(), Error> {
    if (1..=MOST_LINES).contains(&lines) {
        return Ok(());
    }
    let says = format!("the number of lines must be from 1 to {MOST_LINES}, not {lines}");
    Err(Error::InvalidLines(says))
}

/// Checks that a terminal can have this size.
pub(super) fn size(size: Size) -> Result<(), Error> {
    size.check().map(drop).map_err(Error::InvalidCommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_anything_but_keys() {
        for good in ["", "ls -la;", "a\tb\r\nc\n", "é 日", &"x".repeat(8192)] {
            assert_eq!(text(good), Ok(()));
        }
        for (bad, says) in [
            ("\x03", "U+0003 is a key, not text: press it as a key, `C-c`"),
            ("a\x1b[A", "U+001B is a key, not text: press it as a key"),
            ("\x7f", "U+007F is a key, not text: press it as a key"),
            ("\u{9b}A", "U+009B is a key, not text: press it as a key"),
            (&"x".repeat(8193), "a text of 8193 bytes is too long: at most 8192 are typed at once"),
        ] {
            assert_eq!(text(bad), Err(Error::InvalidCommand(says.to_owned())));
        }
    }

    #[test]
    fn every_key_of_the_contract_is_one() {
        let named =
            "Up Down Left Right Enter Escape Tab BTab Space PPage NPage Home End BSpace DC IC";
        let named = named.split(' ').map(str::to_owned);
        let function = (1..=12).map(|number| format!("F{number}"));
        let printable = (' '..='~').map(String::from);
        let held = (' '..='~').flat_map(|c| [format!("C-{c}"), format!("M-{c}")]);
        for name in named.chain(function).chain(printable).chain(held) {
            assert!(key(&name).is_ok(), "{name:?}");
        }
        for bad in ["", "Upp", "F25", "C-", "C-Upp", "ab", "\x03"] {
            assert!(matches!(key(bad), Err(Error::InvalidCommand(_))), "{bad:?}");
        }
    }

    #[test]
    fn lines_are_counted_from_one() {
        for good in [1, 100, MOST_LINES] {
            assert_eq!(lines(good), Ok(()));
        }
        for bad in [0, MOST_LINES + 1] {
            assert!(matches!(lines(bad), Err(Error::InvalidLines(_))));
        }
    }
}
