//! Why tmux refused or failed, and what its own messages mean.

use std::io;
use std::path::Path;
use std::time::Duration;

use paned_model::{Code, Refusal, machine_limit};

/// What went wrong, by what it means for the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such program.
    #[error("tmux not found: cannot run `{0}`; install tmux 3.2 or newer")]
    TmuxNotFound(String),
    /// It cannot be started, because of a limit of the machine.
    #[error("cannot start tmux: {0}")]
    MachineLimit(String),
    /// It lacks what we need.
    #[error("tmux {0} is too old: install 3.2 or newer")]
    TooOld(String),
    /// There is no such session, window or pane.
    #[error("session not found: {0}")]
    SessionNotFound(String),
    /// The name is taken.
    #[error("session exists: {0}")]
    SessionExists(String),
    /// No further pane fits.
    #[error("pane limit: {0}")]
    PaneLimit(String),
    /// Not a valid number of lines.
    #[error("invalid lines: {0}")]
    InvalidLines(String),
    /// No server listens at the socket, or it has nothing to attach to.
    #[error("no server: {0}")]
    NoServer(String),
    /// A configuration that cannot be used.
    #[error("{0}")]
    Config(String),
    /// It cannot be encoded, or tmux does not accept it.
    #[error("invalid command: {0}")]
    InvalidCommand(String),
    /// No reply in time. Whether the command was run is not known.
    #[error("tmux did not answer within {} ms", .0.as_millis())]
    Timeout(Duration),
    /// The connection ended before the reply came. Whether the command was run is not known.
    #[error("lost the connection to tmux: {0}")]
    Gone(String),
    /// tmux refused, with its own message.
    #[error("tmux reported an error: {0}")]
    Refused(String),
    /// tmux violated the protocol.
    #[error("unexpected reply from tmux: {0}")]
    Protocol(String),
}

/// Builds an error from tmux's message.
type Meaning = fn(String) -> Error;

/// Messages of tmux, in lower case, and what they mean. The first match counts.
const MEANINGS: &[(&str, Meaning)] = &[
    ("can't find session", Error::SessionNotFound),
    ("can't find window", Error::SessionNotFound),
    ("can't find pane", Error::SessionNotFound),
    ("session not found", Error::SessionNotFound),
    ("duplicate session", Error::SessionExists),
    ("create pane failed", Error::PaneLimit),
    ("no room for new pane", Error::PaneLimit),
    ("no space for new pane", Error::PaneLimit),
    ("pane too small", Error::PaneLimit),
    ("no server running", Error::NoServer),
    ("no sessions", Error::NoServer),
    ("error connecting to", Error::NoServer),
    ("server exited", Error::NoServer),
    ("lost server", Error::NoServer),
    ("parse error", Error::InvalidCommand),
    ("unknown command", Error::InvalidCommand),
    ("unknown flag", Error::InvalidCommand),
    ("usage:", Error::InvalidCommand),
    ("command too long", Error::InvalidCommand),
    ("invalid", Error::InvalidCommand),
];

impl Error {
    /// The error that a message of tmux means.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let text = text.trim();
        let lower = text.to_lowercase();
        let meaning = MEANINGS.iter().find(|(words, _)| lower.contains(words));
        meaning.map_or(Self::Refused as Meaning, |(_, error)| *error)(text.to_owned())
    }
}

impl Error {
    /// Why tmux could not be started: a limit of the machine by its name, else there is no such
    /// program.
    pub(super) fn spawn_failed(program: &Path, error: &io::Error) -> Self {
        match machine_limit(error) {
            Some((_, hint)) => Self::MachineLimit(format!("{error}; {hint}")),
            None => Self::TmuxNotFound(program.display().to_string()),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::SessionNotFound(_) => Code::NotFound,
            Error::SessionExists(_) => Code::Conflict,
            Error::PaneLimit(_) | Error::MachineLimit(_) => Code::Limit,
            Error::InvalidLines(_)
            | Error::InvalidCommand(_)
            | Error::Refused(_)
            | Error::Config(_) => Code::Invalid,
            Error::Timeout(_) => Code::Timeout,
            Error::TmuxNotFound(_) | Error::TooOld(_) | Error::NoServer(_) | Error::Gone(_) => {
                Code::Unavailable
            }
            Error::Protocol(_) => Code::Internal,
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: fn(String) -> Error) {
        assert_eq!(Error::from_text(text), expect(text.to_owned()));
    }

    #[test]
    fn tmux_is_understood() {
        check("can't find session: $9", Error::SessionNotFound);
        check("can't find pane: %9", Error::SessionNotFound);
        check("duplicate session: a", Error::SessionExists);
        check("no space for new pane", Error::PaneLimit);
        check("create pane failed: pane too small", Error::PaneLimit);
        check("no server running on /tmp/x", Error::NoServer);
        check("error connecting to /tmp/x (No such file or directory)", Error::NoServer);
        check("parse error: unknown command: foo", Error::InvalidCommand);
        check("command list-panes: unknown flag -z", Error::InvalidCommand);
        check("something else", Error::Refused);
    }

    #[test]
    fn a_limit_of_the_machine_is_named_with_what_to_change() {
        for (errno, knob) in [(24, "ulimit -n"), (11, "ulimit -u")] {
            let error = io::Error::from_raw_os_error(errno);
            let refusal = Refusal::from(Error::spawn_failed(Path::new("tmux"), &error));
            assert_eq!(refusal.code, Code::Limit, "{refusal}");
            assert!(refusal.sentence.contains(knob), "{refusal}");
        }
        let missing = Error::spawn_failed(Path::new("tmux"), &io::ErrorKind::NotFound.into());
        assert_eq!(missing, Error::TmuxNotFound("tmux".to_owned()));
    }

    #[test]
    fn each_error_says_its_name_first() {
        let named = Error::from_text("no space for new pane").to_string();
        assert_eq!(named, "pane limit: no space for new pane");
    }
}
