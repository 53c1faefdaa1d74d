//! Calls as any client makes them, each with a deadline and a precise outcome.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use paned_model::{Code, Refusal};
use serde_json::Value;

use super::ledger::{Invariant, Ledger};
use crate::Request;

/// How long a call may take, whatever is stopped.
pub(super) const DEADLINE: Duration = Duration::from_secs(30);

/// What became of a call.
#[derive(Debug)]
pub(super) enum Outcome {
    Accepted(Value),
    Refused(Refusal),
    /// The connection was refused or cut: it may have been done or not.
    Unanswered(String),
}

impl Outcome {
    pub(super) fn accepted(self) -> Option<Value> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Refused(_) | Self::Unanswered(_) => None,
        }
    }

    pub(super) fn is_refused_as(&self, code: Code) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code == code)
    }

    /// For the log.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Accepted(_) => "200".to_owned(),
            Self::Refused(refusal) => format!("{}: {}", refusal.code, refusal.sentence),
            Self::Unanswered(error) => format!("unanswered: {error}"),
        }
    }
}

/// A caller over the unix socket, as the owner.
pub(super) struct Client<'a> {
    pub(super) socket: PathBuf,
    pub(super) ledger: &'a Ledger,
}

impl Client<'_> {
    /// Runs an action.
    pub(super) fn call(&self, name: &str, params: &Value) -> Outcome {
        let request = Request::new("POST", &format!("/action/{name}")).header("host", "paned");
        let start = Instant::now();
        let reply = request.json(params).over_unix(&self.socket);
        let took = start.elapsed();
        if DEADLINE <= took {
            let text = format!("{name} {params} took {took:?}: {:?}", reply.as_ref().map(|_| ()));
            self.ledger.fail(Invariant::Deadline, text);
        }
        match reply {
            Ok(reply) => {
                self.ledger.held(Invariant::Deadline, 1);
                self.outcome(name, reply.status, &reply.body)
            }
            Err(error) => self.unanswered(name, &error),
        }
    }

    fn outcome(&self, name: &str, status: u16, body: &str) -> Outcome {
        if status == 200 {
            return match serde_json::from_str(body) {
                Ok(value) => Outcome::Accepted(value),
                Err(error) => self.no_answer(name, status, body, &error),
            };
        }
        match serde_json::from_str::<Refusal>(body) {
            Ok(refusal) => {
                let is_named = refusal.code != Code::Internal;
                self.ledger
                    .check(Invariant::Names, is_named, || format!("{name}: {}", refusal.sentence));
                // An invalid call would test nothing; only what was read of a damaged pane may be
                // invalid.
                if refusal.code == Code::Invalid && name != "pane:read" {
                    self.ledger.fail(Invariant::Names, format!("{name}: {}", refusal.sentence));
                }
                Outcome::Refused(refusal)
            }
            Err(error) => self.no_answer(name, status, body, &error),
        }
    }

    fn no_answer(&self, name: &str, status: u16, body: &str, error: &serde_json::Error) -> Outcome {
        let text = format!("{name} was answered with {status} and no JSON ({error}): {body:?}");
        self.ledger.fail(Invariant::Names, text);
        Outcome::Unanswered(error.to_string())
    }

    fn unanswered(&self, name: &str, error: &io::Error) -> Outcome {
        // A read that timed out was already reported by the deadline check. The other errors are
        // what a killed server leaves.
        let is_cut = matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionReset
                | ErrorKind::BrokenPipe
                | ErrorKind::NotFound
                | ErrorKind::UnexpectedEof
                | ErrorKind::WouldBlock
                | ErrorKind::TimedOut
        );
        if !is_cut {
            self.ledger.log.line(&format!("{name}: {error:?}"));
        }
        Outcome::Unanswered(error.to_string())
    }
}
