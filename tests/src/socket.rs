//! Just enough WebSocket to watch panes over `/ws`.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::WAIT_TIMEOUT;

/// An open socket.
pub struct Socket {
    stream: UnixStream,
}

/// What came over it.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A message.
    Message(Value),
    /// Output of a channel, from an offset on.
    Output(u32, u64, Vec<u8>),
    /// A channel's screen at an offset.
    Screen(u32, u64, Vec<u8>),
}

impl Socket {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::open_within(path, WAIT_TIMEOUT)
    }

    /// The same, where a read waits only so long.
    pub(crate) fn open_within(path: &Path, within: Duration) -> io::Result<Self> {
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(within))?;
        stream.write_all(
            b"GET /ws HTTP/1.1\r\nhost: paned\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
              sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n\r\n",
        )?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.extend(byte);
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            return Err(io::Error::other(String::from_utf8_lossy(&head).into_owned()));
        }
        Ok(Self { stream })
    }

    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let length = u16::try_from(text.len()).expect("a short message");
        // Masked with zeros, which changes nothing and is allowed.
        let mut frame = vec![0x81, 0x80 | 126];
        frame.extend(length.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        // A closed connection shows in the next read.
        let _ = self.stream.write_all(&frame);
    }

    /// Opens a channel and answers its number.
    #[track_caller]
    pub fn subscribe(&mut self, pane: &str, from: Value) -> u32 {
        self.send(&json!({ "type": "subscribe", "pane": pane, "since": from }));
        loop {
            match self.next() {
                Frame::Message(said) if said["type"] == "subscribed" => {
                    return u32::try_from(said["channel"].as_u64().unwrap()).unwrap();
                }
                Frame::Message(said) => assert_eq!(said["type"], "welcome", "{said}"),
                other => panic!("{other:?} before the channel is open"),
            }
        }
    }

    /// The next frame, which must come.
    #[track_caller]
    #[expect(clippy::should_implement_trait, reason = "it panics instead of ending")]
    pub fn next(&mut self) -> Frame {
        self.try_next().expect("another frame")
    }

    /// The next frame.
    ///
    /// # Errors
    /// When the socket ends, or nothing comes for too long.
    pub fn try_next(&mut self) -> io::Result<Frame> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head)?;
        let length = match head[1] & 0x7f {
            126 => usize::from(u16::from_be_bytes(self.bytes()?)),
            127 => usize::try_from(u64::from_be_bytes(self.bytes()?)).unwrap_or(usize::MAX),
            short => usize::from(short),
        };
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        match head[0] & 0x0f {
            1 => Ok(Frame::Message(serde_json::from_slice(&body)?)),
            2 => Ok(binary(&body)),
            other => Err(io::Error::other(format!("frame {other}: {body:?}"))),
        }
    }

    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).map(|()| bytes)
    }
}

fn binary(body: &[u8]) -> Frame {
    let (head, bytes) = body.split_at(13);
    let channel = u32::from_le_bytes(head[1..5].try_into().unwrap());
    let offset = u64::from_le_bytes(head[5..].try_into().unwrap());
    match head[0] {
        1 => Frame::Output(channel, offset, bytes.to_vec()),
        _ => Frame::Screen(channel, offset, bytes.to_vec()),
    }
}
