//! The exits that the server publishes.

use std::collections::HashSet;
use std::time::SystemTime;

use crate::error::Error;
use crate::events::{Event, Events};
use crate::http::Address;

/// The exits that the server publishes, from the moment this was created.
pub(crate) struct Exits(Events);

/// One exit that was received.
#[derive(Debug)]
pub(crate) struct ReportedExit {
    pub(crate) pane: String,
    pub(crate) code: Option<u64>,
    pub(crate) seen: SystemTime,
}

impl Exits {
    /// Subscribes to them. The stream is open when this returns.
    pub(crate) fn follow(address: &Address) -> Result<Self, Error> {
        Events::follow(address, "pane:exited").map(Self)
    }

    /// Waits for the next one.
    pub(crate) fn next(&mut self) -> Result<ReportedExit, Error> {
        let Event { pane, payload, seen } = self.0.next()?;
        Ok(ReportedExit { pane, code: payload["exitCode"].as_u64(), seen })
    }

    /// Waits until all of these have ended, and ignores others.
    pub(crate) fn await_all(&mut self, panes: &[String]) -> Result<(), Error> {
        let mut left: HashSet<&str> = panes.iter().map(String::as_str).collect();
        while !left.is_empty() {
            left.remove(self.next()?.pane.as_str());
        }
        Ok(())
    }
}
