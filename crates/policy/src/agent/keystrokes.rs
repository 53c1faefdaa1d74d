//! Parses typed input as far as it matters: text, Enter, and keys that end something. Replies of
//! the terminal are skipped.

use paned_term::vt::ESC;
use paned_term::vt::input::InputStart;

/// One typed key or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Keystroke {
    /// Plain text.
    Text(String),
    Enter,
    Esc,
    /// Ctrl+C or Ctrl+D.
    Cancel,
    /// Backspace and other keys that erase text.
    Erase,
    /// Any other key.
    Other,
}

/// Parses typed input, chunk by chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct KeystrokeReader {
    /// Whether a paste has begun and not ended.
    pasting: bool,
}

impl KeystrokeReader {
    /// Parses typed bytes. A chunk that ends in ESC ends with the Esc key: input that we send is
    /// never split there.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Keystroke> {
        let mut strokes = Vec::new();
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            let (stroke, used) = self.next(first, rest);
            strokes.extend(stroke);
            rest = &rest[used.clamp(1, rest.len())..];
        }
        strokes
    }

    fn next(&mut self, first: u8, rest: &[u8]) -> (Option<Keystroke>, usize) {
        match InputStart::of(rest) {
            InputStart::Sequence(length) => (self.sequence(&rest[..length]), length),
            InputStart::Reply(length) => (None, length),
            InputStart::OpenSequence if rest.len() == 1 => (Some(Keystroke::Esc), 1),
            InputStart::OpenSequence if rest == b"\x1bO" => (Some(Keystroke::Other), 2),
            InputStart::OpenSequence | InputStart::OpenReply => (None, rest.len()),
            InputStart::Byte if first == ESC => alt(rest),
            InputStart::Byte => self.byte(first, rest),
        }
    }

    fn byte(&self, first: u8, rest: &[u8]) -> (Option<Keystroke>, usize) {
        match first {
            b'\r' if self.pasting => (Some(Keystroke::Text("\n".into())), 1),
            b'\r' => (Some(Keystroke::Enter), 1),
            b'\n' => (Some(Keystroke::Text("\n".into())), 1),
            3 | 4 => (Some(Keystroke::Cancel), 1),
            8 | 0x15 | 0x17 | 0x7f => (Some(Keystroke::Erase), 1),
            byte if byte < 0x20 && byte != b'\t' => (Some(Keystroke::Other), 1),
            _ => text(rest),
        }
    }

    fn sequence(&mut self, sequence: &[u8]) -> Option<Keystroke> {
        let [ESC, b'[', parameters @ .., last] = sequence else { return Some(Keystroke::Other) };
        match (parameters, last) {
            (b"200", b'~') => {
                self.pasting = true;
                None
            }
            (b"201", b'~') => {
                self.pasting = false;
                None
            }
            // Replies, focus events and mouse events.
            ([b'?' | b'>' | b'<', ..], _)
            | (_, b'R' | b'I' | b'O' | b't' | b'n' | b'M' | b'm' | b'c') => None,
            (b"13" | b"13;1" | b"13;1:1", b'u') => Some(Keystroke::Enter),
            (b"27" | b"27;1" | b"27;1:1", b'u') => Some(Keystroke::Esc),
            (b"99;5" | b"99;5:1" | b"100;5" | b"100;5:1", b'u') => Some(Keystroke::Cancel),
            (b"127" | b"127;1" | b"127;1:1" | b"117;5" | b"119;5", b'u') => Some(Keystroke::Erase),
            (_, _) => Some(Keystroke::Other),
        }
    }
}

fn text(bytes: &[u8]) -> (Option<Keystroke>, usize) {
    let is_end = |byte: &u8| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f;
    let end = bytes.iter().position(is_end).unwrap_or(bytes.len());
    (Some(Keystroke::Text(String::from_utf8_lossy(&bytes[..end]).into_owned())), end)
}

/// Esc, or Alt with another key.
fn alt(bytes: &[u8]) -> (Option<Keystroke>, usize) {
    match bytes.get(1) {
        None | Some(&ESC) => (Some(Keystroke::Esc), 1),
        Some(b'\r') => (Some(Keystroke::Text("\n".into())), 2),
        Some(_) => (Some(Keystroke::Other), 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &str, expect: &[Keystroke]) {
        assert_eq!(KeystrokeReader::default().read(bytes.as_bytes()), expect, "{bytes:?}");
    }

    #[test]
    fn words_and_keys_are_told_apart() {
        let text = |text: &str| Keystroke::Text(text.into());
        check("ab c\r", &[text("ab c"), Keystroke::Enter]);
        check("\x1b", &[Keystroke::Esc]);
        check("\x1b\x1b", &[Keystroke::Esc, Keystroke::Esc]);
        check("\x03\x7f\x1b[A", &[Keystroke::Cancel, Keystroke::Erase, Keystroke::Other]);
        check("\x1b[13u\x1b[27u", &[Keystroke::Enter, Keystroke::Esc]);
    }

    #[test]
    fn a_return_in_a_paste_is_no_enter() {
        let text = |text: &str| Keystroke::Text(text.into());
        check("\x1b[200~a\rb\x1b[201~\r", &[text("a"), text("\n"), text("b"), Keystroke::Enter]);
    }

    #[test]
    fn replies_of_the_terminal_are_nothing_typed() {
        check("\x1b[?0u\x1b[?62;22c\x1b[4;1R\x1b]10;rgb:e0/e0/e0\x1b\\\x1bP>|x\x1b\\\x1b[I", &[]);
    }
}
