//! A client that follows one pane over a WebSocket, and may type into it.

use serde_json::{Value, json};

use crate::error::Error;
use crate::http::Address;
use crate::ws::{Frame, Socket};

/// A binary frame is its kind, its channel, an offset, and bytes.
const HEAD: usize = 13;
const OUTPUT: u8 = 1;
/// How much may be unacknowledged: a quarter of what the server sends without.
const UNACKNOWLEDGED: u64 = 256 << 10;

/// A client that follows one pane.
pub(crate) struct PaneWatcher {
    socket: Socket,
    channel: u64,
    input: String,
    offset: u64,
    acknowledged: u64,
}

/// What a pane did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WatchedOutput<'a> {
    Bytes(&'a [u8]),
    Exit,
}

impl PaneWatcher {
    /// Follows a pane from its first byte on.
    pub(crate) fn start(address: &Address, pane: &str) -> Result<Self, Error> {
        let mut socket = Socket::open(address, "/ws")?;
        let subscribe = json!({ "type": "subscribe", "id": 1, "pane": pane, "since": "start" });
        socket.send(&subscribe.to_string())?;
        let subscribed = loop {
            let Frame::Text(text) = socket.receive()? else { continue };
            let message: Value = serde_json::from_slice(text).unwrap_or_default();
            match message["type"].as_str() {
                Some("subscribed") => break message,
                Some("welcome") => {}
                _ => return Err(odd(text)),
            }
        };
        let channel = subscribed["channel"].as_u64().ok_or_else(|| odd(b"no channel"))?;
        let offset = subscribed["offset"].as_u64().unwrap_or_default();
        let input = json!({ "type": "input", "pane": pane, "text": "x" }).to_string();
        Ok(Self { socket, channel, input, offset, acknowledged: offset })
    }

    /// Waits for what the pane prints next, or for its end. A gap is an error: nothing may be
    /// missing.
    pub(crate) fn next(&mut self) -> Result<WatchedOutput<'_>, Error> {
        if UNACKNOWLEDGED <= self.offset - self.acknowledged {
            self.acknowledge()?;
        }
        match self.socket.receive()? {
            Frame::Binary(frame) if HEAD < frame.len() && frame[0] == OUTPUT => {
                self.offset += (frame.len() - HEAD) as u64;
                Ok(WatchedOutput::Bytes(&frame[HEAD..]))
            }
            Frame::Text(text) => match serde_json::from_slice::<Value>(text) {
                Ok(message) if message["type"] == "exit" => Ok(WatchedOutput::Exit),
                _ => Err(odd(text)),
            },
            Frame::Binary(frame) => Err(odd(frame)),
            Frame::Close => Err(odd(b"the end")),
        }
    }

    fn acknowledge(&mut self) -> Result<(), Error> {
        let channel = self.channel;
        let offset = self.offset;
        self.acknowledged = offset;
        let ack = format!(r#"{{"type":"ack","channel":{channel},"offset":{offset}}}"#);
        self.socket.send(&ack)
    }

    /// Types one character and waits until it comes back.
    pub(crate) fn echo(&mut self) -> Result<(), Error> {
        self.socket.send(&self.input)?;
        match self.next()? {
            WatchedOutput::Bytes(b"x") => Ok(()),
            other => Err(Error::Unexpected { what: "an echo", found: format!("{other:?}") }),
        }
    }
}

fn odd(found: &[u8]) -> Error {
    Error::Unexpected { what: "a frame", found: String::from_utf8_lossy(found).into_owned() }
}
