//! The modes of a terminal while its program waits for a line.
//!
//! A line editor (readline, prompt_toolkit, rustyline) switches canonical mode off and bracketed
//! paste on when it begins to read, and undoes both before its program works. So another mode means
//! that the program does not read, whatever its screen shows.

use paned_model::{LineModes, TerminalState};

use super::facts::AgentFacts;

/// The modes of a terminal whose program waits for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RestModes {
    line: Option<LineModes>,
    /// Whether the program enables bracketed paste.
    takes_pastes: bool,
}

impl RestModes {
    /// Whether a terminal in these modes may wait for a line, if one in `self` does. Unknown modes
    /// count as equal. Bracketed paste may be on now if it was off at rest, but not the other way
    /// round.
    fn allows(self, now: Self) -> bool {
        let kernel = |modes: LineModes| (modes.canonical, modes.echo);
        let is_same_line = match (self.line, now.line) {
            (Some(rest), Some(now)) => kernel(rest) == kernel(now),
            (None, _) | (_, None) => true,
        };
        is_same_line && (now.takes_pastes || !self.takes_pastes)
    }
}

impl AgentFacts {
    /// The current modes of the terminal.
    pub(super) fn modes_now(&self) -> Option<RestModes> {
        let takes_pastes = self.findings.as_ref()?.takes_pastes;
        Some(RestModes { line: self.terminal.and_then(|terminal| terminal.modes), takes_pastes })
    }

    /// Learns the modes when the program is ready for the first time.
    pub(super) fn learn_first_modes(&mut self) {
        self.rest_modes = self.rest_modes.or_else(|| self.modes_now());
    }

    /// Input arrives while the program is at rest: learns the modes in which it accepts input.
    pub(super) fn learn_rest_modes(&mut self) {
        let is_known_to_work = self.terminal.is_some_and(|terminal| terminal.reads == Some(false));
        if self.was_ready && !self.turn && self.dialog.value.is_none() && !is_known_to_work {
            self.rest_modes = self.modes_now().or(self.rest_modes);
        }
    }

    /// Whether the terminal is in other modes than when the program accepted input.
    pub(super) fn has_other_modes(&self) -> bool {
        let rest = self.rest_modes.zip(self.modes_now());
        rest.is_some_and(|(rest, now)| !rest.allows(now))
    }

    /// Whether the kernel edits lines for the program, and no process waits for one.
    pub(super) fn reads_no_line(&self) -> bool {
        let reads_none =
            |terminal: &TerminalState| terminal.is_canonical() && terminal.reads == Some(false);
        self.terminal.as_ref().is_some_and(reads_none)
    }

    /// Whether no process waits for input at the terminal.
    pub(super) fn reads_nothing(&self) -> bool {
        self.terminal.is_some_and(|terminal| terminal.reads == Some(false))
    }
}
