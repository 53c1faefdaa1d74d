//! The grammar of typed input: keys, and the replies that a terminal sends among them. Pure: no
//! meanings.
//!
//! It is not that of output: ESC is a key by itself, or Alt with the key that follows it.

use super::{BEL, ESC};

/// What typed bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputStart {
    /// No sequence: text, a control character, Esc, or Alt with a key.
    Byte,
    /// A key that is sent as `ESC [` or `ESC O`, parameters and a final byte; or a report in that
    /// form, or `ESC [` or `ESC O` that something else cuts off. The number of its bytes.
    Sequence(usize),
    /// A string, which only terminals send. The number of its bytes.
    Reply(usize),
    /// The start of a sequence whose end has not arrived, or Esc.
    OpenSequence,
    /// The start of a reply whose end has not arrived, or Alt with a key.
    OpenReply,
}

impl InputStart {
    /// Reads what these bytes begin with.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match bytes {
            [ESC] | [ESC, b'O'] => Self::OpenSequence,
            [ESC, b'[', rest @ ..] => {
                let end = rest.iter().position(|byte| !(0x20..0x40).contains(byte));
                end.map_or(Self::OpenSequence, |end| {
                    Self::Sequence(end + if is_final(rest[end]) { 3 } else { 2 })
                })
            }
            [ESC, b'O', b'0'..=b'9', last, ..] if is_final(*last) => Self::Sequence(4),
            [ESC, b'O', 0x20..=0x7e, ..] => Self::Sequence(3),
            [ESC, b'O', ..] => Self::Sequence(2),
            [ESC, b']' | b'P' | b'_' | b'^' | b'X', rest @ ..] => {
                string_len(rest).map_or(Self::OpenReply, |length| Self::Reply(length + 2))
            }
            _ => Self::Byte,
        }
    }
}

fn is_final(byte: u8) -> bool {
    (0x40..=0x7e).contains(&byte)
}

/// The length of a string, with the BEL or `ESC \` that ends it.
fn string_len(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().position(|byte| matches!(*byte, BEL | ESC))?;
    match rest[end..] {
        [BEL, ..] => Some(end + 1),
        [_, b'\\', ..] => Some(end + 2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expect: InputStart) {
        assert_eq!(InputStart::of(typed.as_bytes()), expect, "{typed:?}");
    }

    #[test]
    fn keys_are_as_long_as_terminals_send_them() {
        check("", InputStart::Byte);
        check("ab", InputStart::Byte);
        check("\x1bx", InputStart::Byte);
        check("\x1b\x1b[A", InputStart::Byte);
        check("\x1b[A\x1b[B", InputStart::Sequence(3));
        check("\x1b[1;5Ax", InputStart::Sequence(6));
        check("\x1b[?62;22cx", InputStart::Sequence(9));
        check("\x1bOPx", InputStart::Sequence(3));
        check("\x1bO5P", InputStart::Sequence(4));
        check("\x1bO55", InputStart::Sequence(3));
    }

    #[test]
    fn a_reply_goes_to_its_terminator() {
        check("\x1b]11;rgb:0/0/0\x07x", InputStart::Reply(15));
        check("\x1bP>|x\x1b\\x", InputStart::Reply(7));
    }

    #[test]
    fn what_is_not_complete_is_told_from_what_is_cut_off() {
        for open in ["\x1b", "\x1b[", "\x1b[1;5", "\x1bO"] {
            check(open, InputStart::OpenSequence);
        }
        for open in ["\x1b]", "\x1b]11;rgb", "\x1bPx\x1b", "\x1b_x\x1b[A"] {
            check(open, InputStart::OpenReply);
        }
        check("\x1b[1\x1b[A", InputStart::Sequence(3));
        check("\x1b[é", InputStart::Sequence(2));
        check("\x1bO\r", InputStart::Sequence(2));
        check("\x1bOé", InputStart::Sequence(2));
    }
}
