//! Following the server's events over one connection.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::error::{Doing, Error};
use crate::http::{Address, Chunks, Client};

/// How long any one wait for an exit may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The exits that the server tells of, from the moment this was made.
pub(crate) struct Exits {
    lines: BufReader<Chunks>,
}

/// One exit that was told.
#[derive(Debug)]
pub(crate) struct Exited {
    pub(crate) pane: String,
    pub(crate) code: Option<u64>,
    pub(crate) seen: SystemTime,
}

impl Exits {
    /// Follows them. The stream stands when this answers.
    pub(crate) fn follow(address: &Address) -> Result<Self, Error> {
        let chunks = Client::connect(address)?.stream("/events?include=pane:exited")?;
        let mut exits = Self { lines: BufReader::new(chunks) };
        // The greeting.
        exits.line(Instant::now() + PATIENCE)?;
        Ok(exits)
    }

    /// Waits for the next one.
    pub(crate) fn next(&mut self) -> Result<Exited, Error> {
        let until = Instant::now() + PATIENCE;
        loop {
            let line = self.line(until)?;
            let seen = SystemTime::now();
            if let Some(data) = line.strip_prefix("data: ") {
                return exited(data, seen);
            }
            if line.starts_with("event: gap") {
                return Err(Error::Odd { what: "the stream of events", found: line });
            }
        }
    }

    /// Waits until all of these have ended, whatever else does.
    pub(crate) fn await_all(&mut self, panes: &[String]) -> Result<(), Error> {
        let mut left: HashSet<&str> = panes.iter().map(String::as_str).collect();
        while !left.is_empty() {
            left.remove(self.next()?.pane.as_str());
        }
        Ok(())
    }

    fn line(&mut self, until: Instant) -> Result<String, Error> {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.lines.get_ref().socket().set_read_timeout(Some(left)).doing("set up a connection")?;
        let mut line = String::new();
        match self.lines.read_line(&mut line).doing("hear an event")? {
            0 => Err(Error::Odd { what: "the stream of events", found: "its end".into() }),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

fn exited(data: &str, seen: SystemTime) -> Result<Exited, Error> {
    let payload: Value = serde_json::from_str(data).unwrap_or_default();
    let pane = payload["paneId"].as_str().map(str::to_owned);
    let pane = pane.ok_or_else(|| Error::Odd { what: "an exit", found: data.to_owned() })?;
    Ok(Exited { pane, code: payload["exitCode"].as_u64(), seen })
}
