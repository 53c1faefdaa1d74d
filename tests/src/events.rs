//! A reader of `/events`.

use std::io;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::WAIT_TIMEOUT;
use crate::http::{self, Incoming, Request};

/// An open stream of events.
pub struct Events {
    read: Incoming,
    text: String,
    /// How many bytes of the text were parsed. They are removed once for many events, because a
    /// catch-up comes in long pieces.
    taken: usize,
}

/// One event as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceivedEvent {
    /// Its id; a `gap` has none.
    pub id: Option<u64>,
    /// Its name.
    pub name: String,
    /// Its payload.
    pub data: Value,
}

impl Events {
    pub(crate) fn open(socket: &Path, include: &str, after: Option<u64>) -> io::Result<Self> {
        let events = Self::try_open(socket, include, after);
        events.map_err(|error| panic!("no events: {error}"))
    }

    /// The same, for a server that may be gone or refuse.
    pub(crate) fn try_open(socket: &Path, include: &str, after: Option<u64>) -> io::Result<Self> {
        let path = format!("/events?include={include}");
        let mut request = Request::new("GET", &path).header("host", "paned");
        if let Some(after) = after {
            request = request.header("last-event-id", &after.to_string());
        }
        let (head, read) = request.open_unix(socket)?;
        if head.status != 200 {
            return Err(io::Error::other(format!("{head:?}")));
        }
        Ok(Self { read, text: String::new(), taken: 0 })
    }

    /// The next event.
    ///
    /// # Errors
    /// When the stream ends, or nothing comes for too long.
    pub fn try_next(&mut self) -> io::Result<ReceivedEvent> {
        let end = Instant::now() + WAIT_TIMEOUT;
        loop {
            while let Some((frame, _)) = self.text[self.taken..].split_once("\n\n") {
                let told = parse(frame);
                self.taken += frame.len() + 2;
                if let Some(told) = told {
                    return Ok(told);
                }
            }
            self.text.drain(..self.taken);
            self.taken = 0;
            // A comment is a sign of life, and nothing more.
            if end < Instant::now() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let mut bytes = Vec::new();
            if !http::chunk(&mut self.read, &mut bytes)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.text.push_str(&String::from_utf8(bytes).map_err(io::Error::other)?);
        }
    }

    /// The next event, which must come.
    #[track_caller]
    #[expect(clippy::should_implement_trait, reason = "it panics instead of ending")]
    pub fn next(&mut self) -> ReceivedEvent {
        self.try_next().expect("another event")
    }

    /// Reads on until an event fits; answers it.
    #[track_caller]
    pub fn until(&mut self, fits: impl Fn(&ReceivedEvent) -> bool) -> ReceivedEvent {
        loop {
            let told = self.next();
            if fits(&told) {
                return told;
            }
        }
    }

    /// Reads on until this pane has ended; answers that event.
    #[track_caller]
    pub fn until_exit(&mut self, pane: &str) -> ReceivedEvent {
        self.until(|told| told.name == "pane:exited" && told.data["paneId"] == pane)
    }
}

/// A comment is no event.
fn parse(frame: &str) -> Option<ReceivedEvent> {
    let field = |name: &str| {
        let lines = frame.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    };
    let data = serde_json::from_str(field("data")?).expect("data is JSON");
    let id = field("id").map(|id| id.parse().expect("an id is a number"));
    Some(ReceivedEvent { id, name: field("event")?.to_owned(), data })
}
