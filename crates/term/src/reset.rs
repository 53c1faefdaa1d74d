//! The bytes that reset a terminal after a program has used it, so that the next program finds it
//! as it was. Pure.

mod changed_modes;

use crate::OutputScanner;

use changed_modes::ChangedModes;

/// Ends an unfinished sequence.
const CANCEL_SEQUENCE: &str = "\x18";
/// Defaults that every program can start from: no mouse, no bracketed paste or focus reports,
/// cursor and wrapping on, plain keys, plain text, no reverse video, scroll region of the whole
/// screen.
const DEFAULT_MODES: &str = "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\
    \x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[?1l\x1b[?5l\x1b>\x1b[4l\x1b[?7h\x1b[?25h\x1b[0 q\x1b(B\x0f\x1b[0m\
    \x1b7\x1b[r\x1b8";
/// Sequences that switch to the alternate screen.
const ALTERNATE: [&str; 3] = ["\x1b[?1049h", "\x1b[?1047h", "\x1b[?47h"];
const LEAVE_ALTERNATE: &str = "\x1b[?1049l";

/// Records which terminal state a program has changed.
#[derive(Clone, Debug, Default)]
pub struct TerminalReset {
    scanner: OutputScanner,
    changed_modes: ChangedModes,
}

impl TerminalReset {
    /// Records bytes that were sent to the terminal.
    pub fn observe(&mut self, bytes: &[u8]) {
        self.scanner.feed(bytes, |_| {});
        self.changed_modes.observe(bytes);
    }

    /// Whether nothing needs to be reset, as far as known.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let is_default = self.scanner.preamble().is_empty() && self.scanner.pending() == 0;
        is_default && self.changed_modes.undo().is_empty()
    }

    /// Whether the alternate screen is shown, which the reset leaves.
    #[must_use]
    pub fn is_on_alternate_screen(&self) -> bool {
        let modes = self.scanner.preamble();
        let modes = String::from_utf8_lossy(&modes);
        ALTERNATE.iter().any(|enter| modes.contains(enter))
    }

    /// The bytes that reset the terminal. The keyboard modes of each screen are reset while that
    /// screen is shown.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let modes = String::from_utf8_lossy(&self.scanner.preamble()).into_owned();
        let alternate = ALTERNATE.iter().find_map(|enter| modes.split_once(enter));
        let undo = match alternate {
            Some((primary, alternate)) => {
                pop_keyboard_modes(alternate) + LEAVE_ALTERNATE + &pop_keyboard_modes(primary)
            }
            None => pop_keyboard_modes(&modes),
        };
        format!("{CANCEL_SEQUENCE}{}{undo}{DEFAULT_MODES}", self.changed_modes.undo()).into_bytes()
    }
}

/// Pops as many keyboard modes as were pushed.
fn pop_keyboard_modes(modes: &str) -> String {
    match modes.matches("\x1b[>").count() {
        0 => String::new(),
        pushed => format!("\x1b[<{pushed}u"),
    }
}

#[cfg(test)]
mod tests {
    use crate::Screen;
    use paned_model::Size;

    use super::*;

    /// Whatever a program has switched on, after the reset the terminal is like a fresh one.
    #[track_caller]
    fn check(used: &str) {
        let mut screen = Screen::new(Size::default());
        let mut afterwards = TerminalReset::default();
        screen.feed(used.as_bytes());
        afterwards.observe(used.as_bytes());
        screen.feed(&afterwards.bytes());
        assert_eq!(screen.view().modes, Screen::new(Size::default()).view().modes);
        assert!(screen.view().cursor.visible);
    }

    #[test]
    fn a_program_that_switched_everything_on_leaves_nothing_behind() {
        check("");
        check("\x1b[?1049h\x1b[?25l\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?1h\x1b=\x1b[?1004h");
        check("\x1b[>1u\x1b[?1049h\x1b[>31u\x1b[5;10r");
        check("\x1b[?5h");
        check("\x1b[?47h\x1b]0;an unfinished title");
    }

    #[test]
    fn only_modes_that_are_on_count() {
        let mut afterwards = TerminalReset::default();
        afterwards.observe(b"\x1b[31mred\x1b[?25l\x1b[?25h\r\n");
        assert!(afterwards.is_clean());
        afterwards.observe(b"\x1b[?25l");
        assert!(!afterwards.is_clean());
    }

    /// The reset undoes exactly this of what was set, and nothing once the program took it back.
    #[track_caller]
    fn check_undone(told: &str, taken_back: &str, undo: &str) {
        let mut afterwards = TerminalReset::default();
        afterwards.observe(told.as_bytes());
        assert!(!afterwards.is_clean(), "{told:?}");
        let bytes = String::from_utf8(afterwards.bytes()).unwrap();
        assert_eq!(bytes, format!("{CANCEL_SEQUENCE}{undo}{DEFAULT_MODES}"), "{told:?}");
        afterwards.observe(taken_back.as_bytes());
        assert!(afterwards.is_clean(), "{taken_back:?}");
    }

    #[test]
    fn what_few_terminals_know_is_undone_only_where_it_was_done() {
        check_undone("\x1b[>4;2m", "\x1b[>4m", "\x1b[>4m");
        check_undone("\x1b[>4;1m\x1b[>1;3m", "\x1b[>m", "\x1b[>1m\x1b[>4m");
        check_undone("\x1b[?5h", "\x1b[?5l", "\x1b[?5l");
        check_undone("\x1b[?2026;2048h", "\x1b[?2026l\x1b[?2048l", "\x1b[?2026l\x1b[?2048l");
        check_undone("\x1b[?69h\x1b[5;40s", "\x1b[?69l", "\x1b[?69l");
        check_undone("\x1b[?1036l\x1b[?9001h", "\x1bc", "\x1b[?1036h\x1b[?9001l");
        check_undone("\x1b[2;20h", "\x1b[2l\x1b[20l", "\x1b[2l\x1b[20l");
        check_undone("\x1b[3g", "\x1b[?5W", "\x1b[?5W");
        check_undone("\x1b]8;;http://x\x07link", "\x1b]8;;\x1b\\", "\x1b]8;;\x1b\\");
        check_undone("\x1b]4;1;red\x07", "\x1b]104\x07", "\x1b]104\x1b\\");
        check_undone("\x1b]11;#400000\x07", "\x1b]111\x07", "\x1b]111\x1b\\");
        check_undone("\x1b]22;wait\x07", "\x1b]22;\x07", "\x1b]22;\x1b\\");
        check_undone("\x1b]9;4;1;50\x07", "\x1b]9;4;0\x07", "\x1b]9;4;0\x1b\\");
        check_undone("\x1b[22;0t\x1b]2;vim\x07", "\x1b[23;0t", "\x1b[23;0t");
    }

    #[test]
    fn a_colour_that_is_only_queried_is_not_reset() {
        let mut reset = TerminalReset::default();
        reset.observe(
            b"\x1b]4;1;?\x07\x1b]4;1;?;2;?\x07\x1b]10;?;?\x07\x1b]11;?\x1b\\\x1b]22;?\x07",
        );
        assert!(reset.is_clean());
        check_undone("\x1b]4;1;?;2;red\x07", "\x1b]104\x07", "\x1b]104\x1b\\");
        check_undone("\x1b]10;?;red\x07", "\x1b]111\x07", "\x1b]111\x1b\\");
        check_undone("\x1b]11;red\x07\x1b]11;?\x07", "\x1b]111\x07", "\x1b]111\x1b\\");
    }
}
