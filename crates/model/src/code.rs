//! Refusals: a code for programs, a sentence for users, and the one table of HTTP statuses and exit
//! codes.

use std::fmt;
use std::io::{self, ErrorKind};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a request was refused, as a code that a program can match on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No such pane, action, token or route.
    NotFound,
    /// The request is invalid.
    Invalid,
    /// No token, or an invalid one.
    Unauthorized,
    /// The token does not permit it.
    Forbidden,
    /// A hook refused it.
    Vetoed,
    /// A rule or a user refused it.
    Denied,
    /// The name is taken, or the state does not allow it.
    Conflict,
    /// Busy; retry.
    Busy,
    /// It has exited or was deleted.
    Gone,
    /// A limit was reached.
    Limit,
    /// The time limit passed.
    Timeout,
    /// The server or a part of it is not available now.
    Unavailable,
    /// A fault of paned.
    Internal,
}

impl Code {
    /// Every code, in the order of the table.
    pub const ALL: [Self; 13] = [
        Self::NotFound,
        Self::Invalid,
        Self::Unauthorized,
        Self::Forbidden,
        Self::Vetoed,
        Self::Denied,
        Self::Conflict,
        Self::Busy,
        Self::Gone,
        Self::Limit,
        Self::Timeout,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The table: the name, the HTTP status, the CLI's exit code.
    const fn table_row(self) -> (&'static str, u16, u8) {
        match self {
            Self::Internal => ("internal", 500, 1),
            Self::Invalid => ("invalid", 400, 2),
            Self::NotFound => ("not_found", 404, 3),
            Self::Unauthorized => ("unauthorized", 401, 4),
            Self::Forbidden => ("forbidden", 403, 5),
            Self::Vetoed => ("vetoed", 403, 6),
            Self::Denied => ("denied", 403, 7),
            Self::Conflict => ("conflict", 409, 8),
            Self::Busy => ("busy", 409, 9),
            Self::Gone => ("gone", 410, 10),
            Self::Limit => ("limit", 429, 11),
            Self::Timeout => ("timeout", 504, 12),
            Self::Unavailable => ("unavailable", 503, 13),
        }
    }

    /// The name, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.table_row().0
    }

    /// The HTTP status.
    #[must_use]
    pub const fn http(self) -> u16 {
        self.table_row().1
    }

    /// The exit code of the command line.
    #[must_use]
    pub const fn exit(self) -> u8 {
        self.table_row().2
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refusal: the body of every error answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// The error message for the user: what was wrong and, where possible, what to do.
    #[serde(rename = "error")]
    pub sentence: String,
    /// A code for programs.
    pub code: Code,
    /// Details for programs: the invalid field, the process that holds a lock, the survivors of a
    /// kill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(code: Code, sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), code, details: None }
    }

    /// The same refusal with details.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The request is invalid.
    pub fn invalid(sentence: impl Into<String>) -> Self {
        Self::new(Code::Invalid, sentence)
    }

    /// There is no such thing.
    pub fn not_found(sentence: impl Into<String>) -> Self {
        Self::new(Code::NotFound, sentence)
    }

    /// A fault of paned.
    pub fn internal(sentence: impl fmt::Display) -> Self {
        Self::new(Code::Internal, sentence.to_string())
    }

    /// The system has refused something: a limit of the machine, with what to change, else a fault
    /// of paned.
    pub fn system(what: impl fmt::Display, error: &io::Error) -> Self {
        match machine_limit(error) {
            Some((code, hint)) => Self::new(code, format!("{what}: {error}; {hint}")),
            None => Self::internal(format!("{what}: {error}")),
        }
    }
}

/// Whether this error is a limit of the machine: its code, and what to change.
#[must_use]
pub fn machine_limit(error: &io::Error) -> Option<(Code, &'static str)> {
    // The same on every system.
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    let full = "free some disk space, or choose another folder with `--state-dir`";
    match (error.kind(), error.raw_os_error()) {
        (_, Some(EMFILE)) => {
            Some((Code::Limit, "raise the limit of open files (RLIMIT_NOFILE, `ulimit -n`)"))
        }
        (_, Some(ENFILE)) => Some((
            Code::Limit,
            "the machine has too many open files: raise the limit with `sysctl fs.file-max`",
        )),
        (ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _) => Some((Code::Unavailable, full)),
        (ErrorKind::OutOfMemory, _) => {
            Some((Code::Unavailable, "the machine is out of memory: stop some programs"))
        }
        // `EAGAIN` of a fork.
        (ErrorKind::WouldBlock, _) => Some((
            Code::Limit,
            "raise the limit of processes (RLIMIT_NPROC, `ulimit -u`, or `sysctl kernel.pid_max`)",
        )),
        _ => None,
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_has_its_own_word_and_exit_code_and_an_error_status() {
        let words: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        let exits: HashSet<_> = Code::ALL.iter().map(|code| code.exit()).collect();
        assert_eq!((words.len(), exits.len()), (Code::ALL.len(), Code::ALL.len()));
        assert!(Code::ALL.iter().all(|code| 400 <= code.http() && 0 < code.exit()));
    }

    #[test]
    fn the_word_is_what_json_says() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
    }

    #[test]
    fn limits_of_the_machine_are_named_with_what_to_change() {
        let check = |errno: i32, code: Code, hint: &str| {
            let refusal = Refusal::system("cannot work", &io::Error::from_raw_os_error(errno));
            assert_eq!(refusal.code, code, "{refusal}");
            assert!(refusal.sentence.contains(hint), "{refusal}");
        };
        check(24, Code::Limit, "ulimit -n");
        check(23, Code::Limit, "fs.file-max");
        check(28, Code::Unavailable, "disk space");
        check(12, Code::Unavailable, "memory");
        check(11, Code::Limit, "ulimit -u");
        check(5, Code::Internal, "cannot work");
    }

    #[test]
    fn a_refusal_is_the_error_body() {
        let body = serde_json::to_value(Refusal::not_found("no pane `x`")).unwrap();
        assert_eq!(body, serde_json::json!({ "error": "no pane `x`", "code": "not_found" }));
    }
}
