//! The key that leaves a pane, found among what is typed. Pure.

use std::str::FromStr;

use paned_model::Size;
use paned_term::Screen;
use paned_term::keys::Key;
use paned_term::screen::view::Modes;

/// A key, in every form in which a terminal may send it. With no form it is never pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DetachKey {
    forms: Vec<Vec<u8>>,
}

impl DetachKey {
    /// Where among the typed bytes the key is, if it is there.
    pub(super) fn find(&self, typed: &[u8]) -> Option<usize> {
        let at = |form: &Vec<u8>| typed.windows(form.len()).position(|part| part == form);
        self.forms.iter().filter_map(at).min()
    }
}

impl FromStr for DetachKey {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name.eq_ignore_ascii_case("none") {
            return Ok(Self { forms: Vec::new() });
        }
        let key = name.parse::<Key>().map_err(|error| error.to_string())?;
        let modes = Screen::new(Size::default()).view().modes;
        let plain = key.encode(&modes);
        if !is_apart(&plain) {
            let name = name.escape_debug();
            return Err(format!("`{name}` is needed for typing; take one like ctrl+] or f12"));
        }
        let mut forms = vec![plain, key.encode(&Modes { application_cursor: true, ..modes })];
        let kitty = key.encode(&Modes { kitty_keyboard: 1, ..modes });
        forms.extend(pressed(&kitty));
        forms.push(kitty);
        forms.dedup();
        Ok(Self { forms })
    }
}

/// Whether a key is not among those that every program needs, and begins none that is.
fn is_apart(form: &[u8]) -> bool {
    match form {
        [b'\r' | b'\n' | b'\t' | 0x08 | 0x1b] => false,
        [byte] => byte.is_ascii_control() && *byte != 0x7f,
        [0x1b, b'[' | b'O', .., last] => !matches!(last, b'A'..=b'D'),
        _ => false,
    }
}

/// The same for programs that want to know of keys going down and up: `CSI 93;5u` as `CSI 93;5:1u`.
fn pressed(kitty: &[u8]) -> Option<Vec<u8>> {
    let (last, rest) = kitty.split_last()?;
    rest.contains(&b';').then(|| [rest, b":1", &[*last]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, typed: &[u8], expect: Option<usize>) {
        assert_eq!(key.parse::<DetachKey>().unwrap().find(typed), expect, "{key} in {typed:?}");
    }

    #[test]
    fn the_key_is_found_wherever_it_stands() {
        check("ctrl+]", b"\x1d", Some(0));
        check("ctrl+]", b"ls\x1dmore\x1d", Some(2));
        check("ctrl+]", b"]ls\r\x1b[A", None);
        check("ctrl+]", b"", None);
    }

    #[test]
    fn it_is_known_in_the_form_that_the_program_asked_for() {
        check("ctrl+]", b"\x1b[93;5u", Some(0));
        check("ctrl+]", b"a\x1b[93;5:1u", Some(1));
        check("ctrl+]", b"\x1b[93;5:3u", None);
        check("f12", b"\x1b[24~", Some(0));
    }

    #[test]
    fn none_is_never_pressed() {
        check("none", b"\x1d\x1b[93;5u", None);
    }

    #[test]
    fn a_key_that_is_needed_for_typing_is_refused() {
        for key in ["a", "enter", "esc", "tab", "up", "backspace", "ctrl+m", "alt+x", "nokey", ""] {
            assert!(key.parse::<DetachKey>().is_err(), "{key}");
        }
    }
}
