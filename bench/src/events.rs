//! Following the server's events over one connection.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::error::{Error, IoContext};
use crate::http::{Address, Chunks, Client};

/// How long any one wait for an event may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The events of panes that the server publishes, from the moment this was created.
pub(crate) struct Events {
    lines: BufReader<Chunks>,
}

/// One event that was received.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) pane: String,
    pub(crate) payload: Value,
    pub(crate) seen: SystemTime,
}

impl Events {
    /// Subscribes to the events of this name. The stream is open when this returns.
    pub(crate) fn follow(address: &Address, name: &str) -> Result<Self, Error> {
        let chunks = Client::connect(address)?.stream(&format!("/events?include={name}"))?;
        let mut events = Self { lines: BufReader::new(chunks) };
        // The greeting.
        events.line(Instant::now() + PATIENCE)?;
        Ok(events)
    }

    /// Waits for the next one.
    pub(crate) fn next(&mut self) -> Result<Event, Error> {
        let until = Instant::now() + PATIENCE;
        loop {
            let line = self.line(until)?;
            let seen = SystemTime::now();
            if let Some(data) = line.strip_prefix("data: ") {
                return event(data, seen);
            }
            if line.starts_with("event: gap") {
                return Err(Error::Unexpected { what: "the stream of events", found: line });
            }
        }
    }

    fn line(&mut self, until: Instant) -> Result<String, Error> {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.lines.get_ref().socket().set_read_timeout(Some(left)).doing("set up a connection")?;
        let mut line = String::new();
        match self.lines.read_line(&mut line).doing("hear an event")? {
            0 => Err(Error::Unexpected { what: "the stream of events", found: "its end".into() }),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

fn event(data: &str, seen: SystemTime) -> Result<Event, Error> {
    let payload: Value = serde_json::from_str(data).unwrap_or_default();
    let pane = payload["paneId"].as_str().map(str::to_owned);
    let pane =
        pane.ok_or_else(|| Error::Unexpected { what: "an event", found: data.to_owned() })?;
    Ok(Event { pane, payload, seen })
}
