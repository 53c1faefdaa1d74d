//! Questions that a program asks its terminal, taken out of what a terminal is shown. Pure.
//!
//! Each terminal that is shown a question answers it, and every answer comes to the program as if it were typed. One is
//! to answer: the server, while it is there, as it does when nobody looks on.

use memchr::memchr;
use paned_term::{Signal, Signals};

const ESC: u8 = 0x1b;

/// Takes questions out of a stream. How it is cut never matters.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// Knows what is a question.
    signals: Signals,
    /// A sequence whose end has not come.
    held: Vec<u8>,
}

impl Questions {
    /// What is left of these bytes, with what was held before them.
    pub(super) fn take_out(&mut self, bytes: &[u8]) -> Vec<u8> {
        let (mut left, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
        while !rest.is_empty() {
            let text =
                if self.held.is_empty() { memchr(ESC, rest).unwrap_or(rest.len()) } else { 0 };
            left.extend(&rest[..text]);
            rest = &rest[text..];
            if let Some((byte, after)) = rest.split_first() {
                self.sequence(*byte, &mut left);
                rest = after;
            }
        }
        left
    }

    /// What is held, for somebody who is to see questions from now on.
    pub(super) fn give_back(&mut self) -> Vec<u8> {
        self.signals = Signals::new();
        std::mem::take(&mut self.held)
    }

    /// The next byte of a sequence.
    fn sequence(&mut self, byte: u8, left: &mut Vec<u8>) {
        let mut is_question = false;
        self.signals.feed(&[byte], |signal| is_question |= signal == Signal::Query);
        self.held.push(byte);
        // What is not pending any more is over: a whole sequence, or one that another has cut off.
        let over = self.held.len() - self.signals.pending().min(self.held.len());
        if is_question {
            self.held.drain(..over);
        } else {
            left.extend(self.held.drain(..over));
        }
        if self.held.is_empty() {
            self.signals = Signals::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, shown: &str) {
        for size in 1..=printed.len() {
            let mut questions = Questions::default();
            let pieces = printed.as_bytes().chunks(size);
            let left: Vec<u8> = pieces.flat_map(|piece| questions.take_out(piece)).collect();
            assert_eq!(String::from_utf8_lossy(&left), shown, "pieces of {size}");
        }
    }

    #[test]
    fn questions_are_taken_out() {
        check("a\x1b[cb\x1b[6nc\x1b[>c\x1b[5nd", "abcd");
        check("\x1b[?2026$p\x1b[?u\x1b]11;?\x07x\x1b]10;?\x1b\\y", "xy");
        check("\x1b[18t\x1b[1;1H", "\x1b[1;1H");
    }

    #[test]
    fn everything_else_stays() {
        for text in [
            "plain ünïcödé\r\n",
            "\x1b[31mred\x1b[0m\x1b[2J\x1b[?1049h\x1b[>1u\x1b[<1u\x1b[4 q",
            "\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
            "\x1bPq#0;2;0;0;0\x1b\\\x1b(B\x1b7\x1b8\x1bc",
            "\x1b[3\x1b[4m\x1b[\x18x\x1b]0;cut\x1b[5mz",
        ] {
            check(text, text);
        }
        let long = format!("\x1b]1337;File=:{}\x07end", "A".repeat(10_000));
        let mut questions = Questions::default();
        assert_eq!(questions.take_out(long.as_bytes()), long.as_bytes());
    }

    #[test]
    fn what_is_held_can_be_had() {
        let mut questions = Questions::default();
        assert_eq!(questions.take_out(b"a\x1b[6"), b"a");
        assert_eq!(questions.give_back(), b"\x1b[6");
        assert_eq!(questions.take_out(b"nb"), b"nb");
    }
}
