//! What a terminal must hear after a program has used it, so that the next one finds it as it was. Pure.

use paned_term::Signals;

/// Ends whatever sequence is unfinished.
const BREAK: &str = "\x18";
/// What no program minds: no mouse, no marks around pastes and focus, cursor and wrapping on, plain keys,
/// plain text, the whole screen scrolls.
const PLAIN: &str = "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\
    \x1b[?1015l\x1b[?1016l\x1b[?2004l\x1b[?1l\x1b>\x1b[4l\x1b[?7h\x1b[?25h\x1b[0 q\x1b(B\x0f\x1b[0m\
    \x1b7\x1b[r\x1b8";
/// What shows the alternate screen.
const ALTERNATE: [&str; 3] = ["\x1b[?1049h", "\x1b[?1047h", "\x1b[?47h"];
const LEAVE_ALTERNATE: &str = "\x1b[?1049l";

/// Remembers what a terminal was told.
#[derive(Clone, Debug, Default)]
pub(super) struct Afterwards {
    signals: Signals,
}

impl Afterwards {
    /// The terminal was told this.
    pub(super) fn saw(&mut self, bytes: &[u8]) {
        self.signals.feed(bytes, |_| {});
    }

    /// Whether nothing is to be put back, as far as modes go.
    pub(super) fn is_plain(&self) -> bool {
        self.signals.preamble().is_empty() && self.signals.pending() == 0
    }

    /// What puts the terminal back. The keyboard of each screen is put back while that screen is shown.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let modes = String::from_utf8_lossy(&self.signals.preamble()).into_owned();
        let alternate = ALTERNATE.iter().find_map(|enter| modes.split_once(enter));
        let undo = match alternate {
            Some((primary, alternate)) => pop(alternate) + LEAVE_ALTERNATE + &pop(primary),
            None => pop(&modes),
        };
        format!("{BREAK}{undo}{PLAIN}").into_bytes()
    }
}

/// Takes back as many keyboard modes as were pushed.
fn pop(modes: &str) -> String {
    match modes.matches("\x1b[>").count() {
        0 => String::new(),
        pushed => format!("\x1b[<{pushed}u"),
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Size;
    use paned_term::Screen;

    use super::*;

    /// Whatever a program has switched on, a terminal that hears the rest is as a fresh one.
    #[track_caller]
    fn check(used: &str) {
        let mut screen = Screen::new(Size::default());
        let mut afterwards = Afterwards::default();
        screen.feed(used.as_bytes());
        afterwards.saw(used.as_bytes());
        screen.feed(&afterwards.bytes());
        assert_eq!(screen.view().modes, Screen::new(Size::default()).view().modes);
        assert!(screen.view().cursor.visible);
    }

    #[test]
    fn a_program_that_switched_everything_on_leaves_nothing_behind() {
        check("");
        check("\x1b[?1049h\x1b[?25l\x1b[?1003h\x1b[?1006h\x1b[?2004h\x1b[?1h\x1b=\x1b[?1004h");
        check("\x1b[>1u\x1b[?1049h\x1b[>31u\x1b[5;10r");
        check("\x1b[?47h\x1b]0;an unfinished title");
    }

    #[test]
    fn only_modes_that_are_on_count() {
        let mut afterwards = Afterwards::default();
        afterwards.saw(b"\x1b[31mred\x1b[?25l\x1b[?25h\r\n");
        assert!(afterwards.is_plain());
        afterwards.saw(b"\x1b[?25l");
        assert!(!afterwards.is_plain());
    }
}
