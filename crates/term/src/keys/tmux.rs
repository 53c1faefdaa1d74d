//! Keys as tmux writes them for the programs in its panes: as xterm does, but for two.

use super::{Code, Held, Key, legacy};

/// The bytes of a key.
pub(super) fn encode(key: Key, application_cursor: bool) -> Vec<u8> {
    match (key.code, key.held == Held::default()) {
        (Code::Home, true) => b"\x1b[1~".to_vec(),
        (Code::End, true) => b"\x1b[4~".to_vec(),
        _ => legacy::encode(key, application_cursor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: &str) {
        let key: Key = name.parse().unwrap();
        assert_eq!(String::from_utf8(encode(key, true)).unwrap(), expect, "{name}");
    }

    #[test]
    fn home_and_end_are_the_screen_s_and_the_rest_is_xterm_s() {
        check("home", "\x1b[1~");
        check("end", "\x1b[4~");
        check("ctrl+end", "\x1b[1;5F");
        check("up", "\x1bOA");
        check("f5", "\x1b[15~");
    }
}
