//! Maps a program's exit to our own exit code, as shells do.

use std::process::ExitCode;

use paned_model::frame::ExitRecord;
use paned_model::{Code, Exit, PaneInfo};

/// The exit code of `timeout` when time ran out.
const TIMED_OUT: u8 = 124;
/// A signal's number is added to this.
const SIGNALLED: u8 = 128;

/// Our exit code: that of what went wrong, if anything did.
pub(crate) fn exit_code(wrong: Option<Code>) -> ExitCode {
    wrong.map_or(ExitCode::SUCCESS, |code| code.exit().into())
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramExit {
    /// `None` when it is unknown, as for an adopted tmux pane.
    pub(crate) exit: Option<Exit>,
    pub(crate) timed_out: bool,
}

impl ProgramExit {
    /// How the program of a pane ended; `None` if it has not, or if that is unknown.
    pub(crate) fn of(pane: &PaneInfo) -> Option<Self> {
        let signal = pane.exit_signal.as_deref().and_then(signal).map(Exit::Signal);
        let exit = signal.or(pane.exit_code.map(Exit::Code))?;
        Some(Self { exit: Some(exit), timed_out: pane.timed_out })
    }

    /// The exit code: the program's own, 128 plus the signal, or 124 when time ran out; that of
    /// `gone` when it is unknown.
    pub(crate) fn code(self) -> u8 {
        match self.exit {
            _ if self.timed_out => TIMED_OUT,
            Some(Exit::Code(code)) => code,
            Some(Exit::Signal(signal)) => SIGNALLED.saturating_add(signal),
            None => Code::Gone.exit(),
        }
    }

    /// How it ended, in a few words.
    pub(crate) fn describe(self) -> String {
        let late = if self.timed_out { ", timed out" } else { "" };
        let how =
            self.exit.map_or_else(|| "exit status unknown".to_owned(), |exit| exit.to_string());
        format!("{how}{late}")
    }
}

impl From<ExitRecord> for ProgramExit {
    fn from(record: ExitRecord) -> Self {
        Self { exit: record.exit, timed_out: record.timed_out }
    }
}

impl From<ProgramExit> for ExitCode {
    fn from(ended: ProgramExit) -> Self {
        ended.code().into()
    }
}

/// The number of a signal by its name.
fn signal(name: &str) -> Option<u8> {
    (1..=64).find(|number| Exit::Signal(*number).signal().as_deref() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(exit: Exit, timed_out: bool, code: u8) {
        assert_eq!(ProgramExit { exit: Some(exit), timed_out }.code(), code);
    }

    #[test]
    fn a_program_that_returned_speaks_for_itself() {
        check(Exit::Code(0), false, 0);
        check(Exit::Code(255), false, 255);
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        check(Exit::Signal(2), false, 130);
        check(Exit::Signal(200), false, 255);
    }

    #[test]
    fn a_program_whose_time_ran_out_is_124_however_it_ended() {
        check(Exit::Signal(15), true, 124);
        check(Exit::Code(0), true, 124);
    }

    #[test]
    fn every_signal_is_found_by_its_name() {
        let named = |number: u8| Exit::Signal(number).signal().unwrap();
        assert!((1..=64).all(|number| signal(&named(number)) == Some(number)));
        assert_eq!(signal("SIGNONE"), None);
    }
}
