//! Bytes of a terminal as keys.

/// What was pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character.
    Char(char),
    /// A bracketed paste.
    Paste(String),
    /// Enter.
    Enter,
    /// Ctrl+J, which is a new line.
    Newline,
    /// Backspace.
    Backspace,
    /// Ctrl+U.
    Clear,
    /// Ctrl+C.
    Interrupt,
    /// Escape alone.
    Escape,
    /// Up.
    Up,
    /// Down.
    Down,
    /// The terminal's answer that it knows OSC 7501.
    StatusKnown,
}

const PASTE: &[u8] = b"\x1b[200~";
const PASTED: &[u8] = b"\x1b[201~";
const STATUS: &[u8] = b"\x1b]7501;?\x1b\\";

/// Bytes that are not a whole key yet.
#[derive(Default)]
pub(crate) struct Keys(Vec<u8>);

impl Keys {
    /// Takes bytes and returns the complete keys. After a silence, a lone escape byte is the Escape
    /// key and not the start of a sequence.
    pub(crate) fn feed(&mut self, bytes: &[u8], silent: bool) -> Vec<Key> {
        self.0.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((length, key)) = next(&self.0, silent) {
            self.0.drain(..length);
            keys.extend(key);
        }
        keys
    }
}

/// The first key and how long it is; nothing when it is not whole.
fn next(bytes: &[u8], silent: bool) -> Option<(usize, Option<Key>)> {
    if let Some(rest) = bytes.strip_prefix(PASTE) {
        let end = rest.windows(PASTED.len()).position(|window| window == PASTED)?;
        let text = String::from_utf8_lossy(&rest[..end]).replace("\r\n", "\n").replace('\r', "\n");
        return Some((PASTE.len() + end + PASTED.len(), Some(Key::Paste(text))));
    }
    if bytes.starts_with(STATUS) {
        return Some((STATUS.len(), Some(Key::StatusKnown)));
    }
    if 1 < bytes.len() && STATUS.starts_with(bytes) {
        return None;
    }
    match bytes.first()? {
        0x1b => escape(bytes, silent),
        b'\r' => Some((1, Some(Key::Enter))),
        b'\n' => Some((1, Some(Key::Newline))),
        0x7f | 0x08 => Some((1, Some(Key::Backspace))),
        0x15 => Some((1, Some(Key::Clear))),
        0x03 => Some((1, Some(Key::Interrupt))),
        0..0x20 => Some((1, None)),
        _ => character(bytes),
    }
}

fn escape(bytes: &[u8], silent: bool) -> Option<(usize, Option<Key>)> {
    if bytes.len() == 1 {
        return silent.then_some((1, Some(Key::Escape)));
    }
    if bytes[1] != b'[' {
        return Some((1, Some(Key::Escape)));
    }
    let end = bytes[2..].iter().position(|byte| (0x40..=0x7e).contains(byte))? + 3;
    let key = match &bytes[2..end] {
        b"A" => Some(Key::Up),
        b"B" => Some(Key::Down),
        _ => None,
    };
    Some((end, key))
}

fn character(bytes: &[u8]) -> Option<(usize, Option<Key>)> {
    let length = match bytes[0] {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf7 => 4,
        _ => 1,
    };
    let text = bytes.get(..length)?;
    Some((length, std::str::from_utf8(text).ok()?.chars().next().map(Key::Char)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_that_comes_in_pieces_is_one_key() {
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"a\x1b[200~x\ry", false), [Key::Char('a')]);
        assert_eq!(keys.feed(b"z\x1b[201~\r", false), [Key::Paste("x\nyz".into()), Key::Enter]);
    }

    #[test]
    fn an_escape_alone_waits_for_a_silence() {
        let mut keys = Keys::default();
        assert_eq!(keys.feed(b"\x1b", false), []);
        assert_eq!(keys.feed(b"", true), [Key::Escape]);
    }
}
