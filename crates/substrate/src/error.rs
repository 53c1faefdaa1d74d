//! Why a substrate refused or failed: seven errors that all implementations share, and three of the
//! machine.

use std::time::Duration;

use paned_model::{Code, Refusal};

use super::Name;
use paned_backend::tmux;

/// What went wrong, by what it means for the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no tmux that we can use.
    #[error("tmux not found: {0}")]
    TmuxNotFound(String),
    /// There is no such session or pane.
    #[error("session not found: {0}")]
    SessionNotFound(String),
    /// The name is taken.
    #[error("session exists: {0}")]
    SessionExists(String),
    /// The pane is too small to be halved.
    #[error("pane limit: {0}")]
    PaneLimit(String),
    /// Not a valid number of lines.
    #[error("invalid lines: {0}")]
    InvalidLines(String),
    /// No server runs there.
    #[error("no server: {0}")]
    NoServer(String),
    /// An invalid name, text, key, program or size.
    #[error("invalid command: {0}")]
    InvalidCommand(String),
    /// It timed out. Whether it was done is not known.
    #[error("{what} took longer than {} ms", limit.as_millis())]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// A limit of the machine, and what to change.
    #[error("{0}")]
    MachineLimit(String),
    /// The machine or the server failed, with its own message.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    pub(super) fn no_session(name: &Name) -> Self {
        Self::SessionNotFound(format!("no session `{name}`"))
    }

    pub(super) fn taken(name: &Name) -> Self {
        Self::SessionExists(format!("session `{name}` already exists"))
    }
}

impl From<tmux::Error> for Error {
    fn from(error: tmux::Error) -> Self {
        let says = error.to_string();
        match error {
            tmux::Error::TmuxNotFound(program) => {
                Self::TmuxNotFound(format!("cannot run `{program}`"))
            }
            tmux::Error::MachineLimit(_) => Self::MachineLimit(says),
            tmux::Error::TooOld(_) => Self::TmuxNotFound(says),
            tmux::Error::SessionNotFound(text) => Self::SessionNotFound(text),
            tmux::Error::SessionExists(text) => Self::SessionExists(text),
            tmux::Error::PaneLimit(text) => Self::PaneLimit(text),
            tmux::Error::InvalidLines(text) => Self::InvalidLines(text),
            tmux::Error::NoServer(text) => Self::NoServer(text),
            tmux::Error::InvalidCommand(text) => Self::InvalidCommand(text),
            tmux::Error::Timeout(limit) => Self::Timeout { what: "a reply from tmux", limit },
            tmux::Error::Gone(_)
            | tmux::Error::Refused(_)
            | tmux::Error::Protocol(_)
            | tmux::Error::Config(_) => Self::Failed(says),
        }
    }
}

impl From<paned_backend::Error> for Error {
    fn from(error: paned_backend::Error) -> Self {
        let says = error.to_string();
        match error {
            paned_backend::Error::NameTaken(_) => Self::SessionExists(says),
            paned_backend::Error::Refused(_)
            | paned_backend::Error::NoProgram(_)
            | paned_backend::Error::NotExecutable(_) => Self::InvalidCommand(says),
            paned_backend::Error::Timeout { what, limit } => Self::Timeout { what, limit },
            paned_backend::Error::Limit(_) => Self::MachineLimit(says),
            paned_backend::Error::Machine(_) | paned_backend::Error::Io { .. } => {
                Self::Failed(says)
            }
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::SessionNotFound(_) => Code::NotFound,
            Error::SessionExists(_) => Code::Conflict,
            Error::PaneLimit(_) | Error::MachineLimit(_) => Code::Limit,
            Error::InvalidLines(_) | Error::InvalidCommand(_) => Code::Invalid,
            Error::TmuxNotFound(_) | Error::NoServer(_) | Error::Failed(_) => Code::Unavailable,
            Error::Timeout { .. } => Code::Timeout,
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: impl Into<Error>, code: Code, sentence: &str) {
        let refusal = Refusal::from(error.into());
        assert_eq!((refusal.code, refusal.sentence.as_str()), (code, sentence));
    }

    #[test]
    fn what_tmux_says_keeps_its_name() {
        let said = |text| tmux::Error::from_text(text);
        let limit = "pane limit: no space for new pane";
        check(said("no space for new pane"), Code::Limit, limit);
        let missing = "session not found: can't find pane: %9";
        check(said("can't find pane: %9"), Code::NotFound, missing);
        let none = "no server: no server running on /x";
        check(said("no server running on /x"), Code::Unavailable, none);
        let taken = "session exists: duplicate session: a";
        check(said("duplicate session: a"), Code::Conflict, taken);
        let old = "tmux not found: tmux 3.1 is too old: install 3.2 or newer";
        check(tmux::Error::TooOld("3.1".into()), Code::Unavailable, old);
        let slow = "a reply from tmux took longer than 2000 ms";
        check(tmux::Error::Timeout(Duration::from_secs(2)), Code::Timeout, slow);
    }

    #[test]
    fn what_a_keeper_says_gets_one() {
        let refused = "invalid command: cannot run `x`";
        check(paned_backend::Error::Refused("cannot run `x`".into()), Code::Invalid, refused);
        check(paned_backend::Error::Machine("no pty".into()), Code::Unavailable, "no pty");
    }
}
