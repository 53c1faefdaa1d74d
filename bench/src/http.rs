//! As much of HTTP/1.1 as a client of one server needs: blocking, one connection kept alive.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Error, IoContext};
use crate::interrupt;

/// How long any one answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server's address, and the token for it.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    pub(crate) authority: String,
    pub(crate) token: String,
}

/// One connection to a server.
pub(crate) struct Client<S = TcpStream> {
    stream: BufReader<S>,
    /// The headers of every request: host and authorization.
    headers: String,
}

impl Client {
    pub(crate) fn connect(address: &Address) -> Result<Self, Error> {
        let Address { authority, token } = address;
        let headers = format!("host: {authority}\r\nauthorization: Bearer {token}\r\n");
        Ok(Self { stream: BufReader::new(dial(address)?), headers })
    }

    /// Requests a body without an end, and returns the connection that it comes over.
    pub(crate) fn stream(mut self, path: &str) -> Result<Chunks, Error> {
        self.send(&format!("GET {path}"), "")?;
        let head = Head::read(&mut self.stream).map_err(|error| late(path, error))?;
        match (head.status, head.length) {
            (200, Length::Chunked) => Ok(Chunks { stream: self.stream, left: 0 }),
            (status, _) => {
                Err(Error::Refused { what: path.to_owned(), answer: status.to_string() })
            }
        }
    }
}

impl Client<UnixStream> {
    /// Over the unix socket, which needs no token.
    pub(crate) fn over(socket: &Path) -> Result<Self, Error> {
        let stream = UnixStream::connect(socket).doing("reach the server")?;
        stream.set_read_timeout(Some(PATIENCE)).doing("set up a connection")?;
        Ok(Self { stream: BufReader::new(stream), headers: "host: localhost\r\n".to_owned() })
    }
}

impl<S: Read + Write> Client<S> {
    /// Runs an action and returns its answer.
    pub(crate) fn action(&mut self, name: &str, params: &Value) -> Result<Value, Error> {
        let body = self.post(name, &params.to_string())?;
        serde_json::from_slice(&body).map_err(|error| Error::Unexpected {
            what: "an answer in JSON",
            found: format!("{name}: {error}"),
        })
    }

    /// Runs an action and returns the bytes of its answer.
    pub(crate) fn post(&mut self, name: &str, params: &str) -> Result<Vec<u8>, Error> {
        self.ask(&format!("POST /action/{name}"), params)
    }

    /// Sends any request and returns the bytes of its answer.
    pub(crate) fn ask(&mut self, line: &str, body: &str) -> Result<Vec<u8>, Error> {
        self.send(line, body)?;
        let (status, body) = read_answer(&mut self.stream).map_err(|error| late(line, error))?;
        if status == 200 {
            return Ok(body);
        }
        let answer = format!("{status} {}", String::from_utf8_lossy(&body));
        Err(Error::Refused { what: line.to_owned(), answer })
    }

    fn send(&mut self, line: &str, body: &str) -> Result<(), Error> {
        interrupt::check()?;
        let request = format!(
            "{line} HTTP/1.1\r\n{}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            self.headers,
            body.len()
        );
        // One write, so that it travels as one packet.
        self.stream.get_mut().write_all(request.as_bytes()).doing("send a request")
    }
}

/// A connection that sends every write at once, with a long time-out for reads.
pub(crate) fn dial(address: &Address) -> Result<TcpStream, Error> {
    let stream = TcpStream::connect(&address.authority).doing("reach the server")?;
    stream.set_nodelay(true).doing("set up a connection")?;
    stream.set_read_timeout(Some(PATIENCE)).doing("set up a connection")?;
    Ok(stream)
}

/// Reads the head of an answer that has no body; returns its status.
pub(crate) fn status(stream: &mut impl BufRead) -> io::Result<u16> {
    Head::read(stream).map(|head| head.status)
}

fn late(what: &str, error: io::Error) -> Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => {
            Error::Timeout { what: what.to_owned(), limit: PATIENCE }
        }
        _ => Error::Io { what: format!("hear the answer of {what}"), source: error },
    }
}

/// The beginning of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    length: Length,
}

/// How the body of an answer ends.
#[derive(Debug, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
}

impl Head {
    fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let line = read_line(stream)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status line: {line}")))?;
        let mut length = Length::Known(0);
        loop {
            let line = read_line(stream)?.to_ascii_lowercase();
            match line.split_once(':').map(|(name, value)| (name, value.trim())) {
                None => return Ok(Self { status, length }),
                Some(("content-length", value)) => {
                    length = Length::Known(value.parse().map_err(io::Error::other)?);
                }
                Some(("transfer-encoding", "chunked")) => length = Length::Chunked,
                Some(_) => {}
            }
        }
    }
}

fn read_answer(stream: &mut impl BufRead) -> io::Result<(u16, Vec<u8>)> {
    let head = Head::read(stream)?;
    let mut body = Vec::new();
    match head.length {
        Length::Known(length) => {
            body.resize(length, 0);
            stream.read_exact(&mut body)?;
        }
        Length::Chunked => drop(Chunks { stream, left: 0 }.read_to_end(&mut body)?),
    }
    Ok((head.status, body))
}

fn read_line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// A body in chunks, as one stream of bytes.
pub(crate) struct Chunks<R = BufReader<TcpStream>> {
    stream: R,
    /// How much of the current chunk is left.
    left: usize,
}

impl Chunks {
    /// The connection that the body comes over.
    pub(crate) fn socket(&self) -> &TcpStream {
        self.stream.get_ref()
    }

    /// The same, for a caller that parses the body itself.
    pub(crate) fn into_socket(self) -> TcpStream {
        self.stream.into_inner()
    }
}

impl<R: BufRead> Chunks<R> {
    /// Begins the next chunk; the last one is empty.
    fn begin(&mut self) -> io::Result<()> {
        let size = read_line(&mut self.stream)?;
        self.left = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
        if self.left == 0 {
            read_line(&mut self.stream)?;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.begin()?;
        }
        let wanted = buffer.len().min(self.left);
        let got = self.stream.read(&mut buffer[..wanted])?;
        self.left -= got;
        if got != 0 && self.left == 0 {
            read_line(&mut self.stream)?;
        }
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, status: u16, body: &str) {
        let read = read_answer(&mut answer.as_bytes()).unwrap();
        assert_eq!(read, (status, body.as_bytes().to_vec()));
    }

    #[test]
    fn a_body_ends_by_its_length_or_by_an_empty_chunk() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx: y\r\n\r\n{}HTTP", 200, "{}");
        check("HTTP/1.1 404 Not Found\r\n\r\n", 404, "");
        let chunks = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        check(&format!("{chunks}3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n"), 200, "abc0123456789");
    }

    #[test]
    fn an_answer_that_breaks_off_is_an_error() {
        assert!(
            read_answer(&mut "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}".as_bytes()).is_err()
        );
        assert!(read_answer(&mut "".as_bytes()).is_err());
    }
}
