//! As much of WebSocket as a client of one server needs: blocking, whole frames, no fragments.

use std::io::{self, BufReader, Read, Write};
use std::net::TcpStream;

use crate::error::{Error, IoContext};
use crate::http::{self, Address};

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const LAST: u8 = 0x80;
const MASKED: u8 = 0x80;
/// How much is read at once.
const BUFFER: usize = 256 << 10;

/// One socket.
pub(crate) struct Socket {
    stream: BufReader<TcpStream>,
    payload: Vec<u8>,
    out: Vec<u8>,
}

/// What came over a socket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    Text(&'a [u8]),
    Binary(&'a [u8]),
    Close,
}

impl Socket {
    /// Opens one at this path.
    pub(crate) fn open(address: &Address, path: &str) -> Result<Self, Error> {
        let stream = http::dial(address)?;
        let mut stream = BufReader::with_capacity(BUFFER, stream);
        let Address { authority, token } = address;
        // There is no proxy in between that could mistake this for something else, so any key will
        // do.
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: {authority}\r\nauthorization: Bearer {token}\r\n\
             connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: cGFuZWQtYmVuY2gtMDAwMA==\r\n\r\n"
        );
        stream.get_mut().write_all(request.as_bytes()).doing("ask for a WebSocket")?;
        match http::status(&mut stream).doing("become a WebSocket")? {
            101 => Ok(Self { stream, payload: Vec::new(), out: Vec::new() }),
            status => Err(Error::Refused { what: path.to_owned(), answer: status.to_string() }),
        }
    }

    /// Sends a text.
    pub(crate) fn send(&mut self, text: &str) -> Result<(), Error> {
        self.queue(TEXT, text.as_bytes());
        self.flush()
    }

    /// Sends these texts in one go.
    pub(crate) fn send_all<'a>(
        &mut self,
        texts: impl Iterator<Item = &'a str>,
    ) -> Result<(), Error> {
        texts.for_each(|text| self.queue(TEXT, text.as_bytes()));
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error> {
        let sent = self.stream.get_mut().write_all(&self.out).doing("send a frame");
        self.out.clear();
        sent
    }

    /// The mask is all zeroes, which is a mask and leaves the payload as it is.
    fn queue(&mut self, kind: u8, payload: &[u8]) {
        self.out.push(LAST | kind);
        match payload.len() {
            short @ 0..=125 => self.out.push(MASKED | short as u8),
            middle @ 126..=0xffff => {
                self.out.push(MASKED | 126);
                self.out.extend((middle as u16).to_be_bytes());
            }
            long => {
                self.out.push(MASKED | 127);
                self.out.extend((long as u64).to_be_bytes());
            }
        }
        self.out.extend([0; 4]);
        self.out.extend(payload);
    }

    /// Waits for the next text or binary frame, or for the end.
    pub(crate) fn receive(&mut self) -> Result<Frame<'_>, Error> {
        let kind = loop {
            let kind = read_frame(&mut self.stream, &mut self.payload).doing("hear a frame")?;
            match kind {
                TEXT | BINARY => break kind,
                CLOSE => return Ok(Frame::Close),
                PING => {
                    let payload = std::mem::take(&mut self.payload);
                    self.queue(PONG, &payload);
                    self.flush()?;
                }
                PONG => {}
                other => {
                    return Err(Error::Unexpected {
                        what: "a frame",
                        found: format!("kind {other}"),
                    });
                }
            }
        };
        Ok(if kind == TEXT { Frame::Text(&self.payload) } else { Frame::Binary(&self.payload) })
    }

    /// The connection below, for a caller that reads the frames itself.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.stream.into_inner()
    }
}

/// Reads one whole frame that is not masked; returns its kind.
fn read_frame(stream: &mut impl Read, payload: &mut Vec<u8>) -> io::Result<u8> {
    let [first, second] = read_array(stream)?;
    let length = match second {
        short @ 0..=125 => u64::from(short),
        126 => u64::from(u16::from_be_bytes(read_array(stream)?)),
        127 => u64::from_be_bytes(read_array(stream)?),
        _ => return Err(io::Error::other("a server masked a frame")),
    };
    if first & LAST == 0 {
        return Err(io::Error::other("a frame came in pieces"));
    }
    payload.resize(usize::try_from(length).map_err(io::Error::other)?, 0);
    stream.read_exact(payload)?;
    Ok(first & 0xf)
}

fn read_array<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(frame: &[u8], kind: u8, length: usize) {
        let mut payload = vec![7; 3];
        assert_eq!(read_frame(&mut &frame[..], &mut payload).unwrap(), kind);
        assert_eq!(payload, vec![b'x'; length]);
    }

    #[test]
    fn lengths_come_in_three_sizes() {
        let frame = |head: &[u8], length| [head, &vec![b'x'; length]].concat();
        check(&frame(&[0x81, 5], 5), TEXT, 5);
        check(&frame(&[0x82, 126, 1, 0], 256), BINARY, 256);
        check(&frame(&[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0], 65_536), BINARY, 65_536);
        check(&[0x89, 0], PING, 0);
    }

    #[test]
    fn a_piece_of_a_message_or_an_end_is_an_error() {
        assert!(read_frame(&mut &[0x01, 0][..], &mut Vec::new()).is_err());
        assert!(read_frame(&mut &[0x81, 3, b'a'][..], &mut Vec::new()).is_err());
        assert!(read_frame(&mut &[][..], &mut Vec::new()).is_err());
    }
}
