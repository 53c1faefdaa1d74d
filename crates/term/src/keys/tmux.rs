//! Encodes keys as tmux does for the programs in its panes: as xterm, except home and end.

use super::{Key, KeyCode, Modifiers, legacy};
use crate::screen::view::ScreenModes;

/// The bytes of a key, if it has any.
pub(super) fn encode(key: Key, modes: &ScreenModes) -> Option<Vec<u8>> {
    match (key.code, key.modifiers == Modifiers::default()) {
        (KeyCode::Home, true) => Some(b"\x1b[1~".to_vec()),
        (KeyCode::End, true) => Some(b"\x1b[4~".to_vec()),
        _ => legacy::encode(key, modes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::tests::OLD;

    #[track_caller]
    fn check(name: &str, expect: &str) {
        let key: Key = name.parse().unwrap();
        let modes = ScreenModes { application_cursor: true, application_keypad: true, ..OLD };
        let bytes = key.encode_in_tmux(&modes).unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expect, "{name}");
    }

    #[test]
    fn home_and_end_are_the_screen_s_and_the_rest_is_xterm_s() {
        check("home", "\x1b[1~");
        check("end", "\x1b[4~");
        check("ctrl+end", "\x1b[1;5F");
        check("up", "\x1bOA");
        check("f5", "\x1b[15~");
        check("kp_5", "\x1bOu");
    }

    #[test]
    fn the_kitty_protocol_does_not_help_in_tmux() {
        let key: Key = "super+a".parse().unwrap();
        let refused = key.encode_in_tmux(&ScreenModes { kitty_keyboard: 31, ..OLD }).unwrap_err();
        assert_eq!(refused.to_string(), "tmux cannot send `super+a` to a program");
    }
}
