//! Finds where a program switches between the screens of its terminal. Pure.
//!
//! A client that shows a program on the alternate screen of the user's terminal must not pass such
//! a sequence on: the user's own text is on the other screen.

use crate::vt::{Csi, VtDialect, VtToken, VtTokenizer};

/// The private modes that switch.
const MODES: [u32; 3] = [47, 1047, 1049];
/// A full reset, which also shows the primary screen.
const RESET: &[u8] = b"\x1bc";

/// Looks for switches in a stream, wherever it is cut.
#[derive(Debug)]
pub struct ScreenSwitchScanner {
    tokenizer: VtTokenizer,
}

impl Default for ScreenSwitchScanner {
    fn default() -> Self {
        Self { tokenizer: VtTokenizer::new(VtDialect::AnyTerminal) }
    }
}

impl ScreenSwitchScanner {
    /// Whether a switch, or a reset of the terminal, ends in these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        let mut is_found = false;
        while let Some(token) = self.tokenizer.next(&mut rest) {
            is_found |= match token {
                VtToken::Escape(sequence) => sequence.plain == RESET,
                VtToken::Csi(csi) => switches(&csi),
                _ => false,
            };
        }
        is_found
    }
}

fn switches(csi: &Csi<'_>) -> bool {
    let sets = csi.is(b'?', 0, b'h') || csi.is(b'?', 0, b'l');
    sets && MODES.iter().any(|mode| csi.has_number(*mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, expect: bool) {
        for cut in 0..=printed.len() {
            let (before, after) = printed.as_bytes().split_at(cut);
            let mut scanner = ScreenSwitchScanner::default();
            let found = scanner.feed(before) | scanner.feed(after);
            assert_eq!(found, expect, "{printed:?} cut at {cut}");
        }
    }

    #[test]
    fn a_switch_is_found_wherever_the_stream_is_cut() {
        for switch in ["\x1b[?1049h", "\x1b[?1049l", "\x1b[?25;1047h", "\x1b[?47l", "\x1bc"] {
            check(&format!("a{switch}b"), true);
        }
        for other in ["\x1b[?25h", "\x1b[1049h", "\x1b[1049m", "\x1b]0;\\x1b[?1049h\x07", "c"] {
            check(&format!("a{other}b"), false);
        }
    }
}
