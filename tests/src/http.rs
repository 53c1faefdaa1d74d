//! Just enough HTTP to ask as any client would, right or wrong.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use paned_model::Refusal;
use serde_json::Value;

use crate::WAIT_TIMEOUT;

/// A request, written as it is asked for: nothing is added but the length of a body.
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text.
    pub body: String,
}

/// A connection over which an answer comes.
pub(crate) type Incoming = BufReader<Box<dyn Read + Send>>;

impl Request {
    /// A request without headers.
    #[must_use]
    pub fn new(method: &str, path: &str) -> Self {
        let (method, path) = (method.to_owned(), path.to_owned());
        Self { method, path, headers: Vec::new(), body: Vec::new() }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a body as it is.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    /// Sends it over TCP and reads the whole answer.
    #[must_use]
    pub fn over_tcp(&self, authority: &str) -> Reply {
        self.over_tcp_within(authority, WAIT_TIMEOUT)
    }

    /// The same, for a server that may be silent for so long.
    #[must_use]
    pub fn over_tcp_within(&self, authority: &str, limit: Duration) -> Reply {
        let stream = TcpStream::connect(authority).unwrap();
        stream.set_read_timeout(Some(limit)).unwrap();
        let write = stream.try_clone().unwrap();
        self.send(write, Box::new(stream)).unwrap()
    }

    /// Sends it over TCP; the answer comes while the connection is held.
    #[must_use]
    pub fn begin_tcp(&self, authority: &str) -> TcpStream {
        let mut stream = TcpStream::connect(authority).unwrap();
        stream.write_all(&self.bytes()).unwrap();
        stream
    }

    /// Sends it over a unix socket and reads the whole answer.
    ///
    /// # Errors
    /// When no server listens, or it hangs up.
    pub fn over_unix(&self, socket: &Path) -> io::Result<Reply> {
        let (write, read) = connect(socket)?;
        self.send(write, read)
    }

    /// Sends it over a unix socket and leaves the body to be read as it comes.
    pub(crate) fn open_unix(&self, socket: &Path) -> io::Result<(Reply, Incoming)> {
        let (mut write, read) = connect(socket)?;
        write.write_all(&self.bytes())?;
        let mut read = BufReader::new(read);
        let head = head(&mut read)?;
        Ok((head, read))
    }

    fn send(&self, mut write: impl Write, read: Box<dyn Read + Send>) -> io::Result<Reply> {
        write.write_all(&self.bytes())?;
        let mut read = BufReader::new(read);
        let mut reply = head(&mut read)?;
        let mut body = Vec::new();
        match reply.header("content-length").and_then(|length| length.parse().ok()) {
            Some(length) => drop(read.take(length).read_to_end(&mut body)?),
            None if self.method == "HEAD" => {}
            None => while chunk(&mut read, &mut body)? {},
        }
        reply.body = String::from_utf8(body).map_err(io::Error::other)?;
        Ok(reply)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !self.body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        let mut bytes = (text + "\r\n").into_bytes();
        bytes.extend(&self.body);
        bytes
    }
}

fn connect(socket: &Path) -> io::Result<(UnixStream, Box<dyn Read + Send>)> {
    let stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(WAIT_TIMEOUT))?;
    Ok((stream.try_clone()?, Box::new(stream)))
}

fn head(read: &mut Incoming) -> io::Result<Reply> {
    let first = line(read)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status line: {first:?}")))?;
    let mut headers = Vec::new();
    loop {
        let line = line(read)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok(Reply { status, headers, body: String::new() })
}

/// One line without its end; the end of the stream is an error.
pub(crate) fn line(read: &mut Incoming) -> io::Result<String> {
    let mut line = String::new();
    match read.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

/// Appends one chunk of a chunked body; whether more follow.
pub(crate) fn chunk(read: &mut Incoming, body: &mut Vec<u8>) -> io::Result<bool> {
    let size = line(read)?;
    let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
    let start = body.len();
    body.resize(start + size, 0);
    read.read_exact(&mut body[start..])?;
    line(read)?;
    Ok(size != 0)
}

impl Reply {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    #[must_use]
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The body as an answer, or as the refusal it is.
    ///
    /// # Errors
    /// When it is a refusal.
    #[track_caller]
    pub fn outcome(&self) -> Result<Value, Refusal> {
        if self.status == 200 {
            return Ok(self.json());
        }
        let refusal: Refusal =
            serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no refusal: {self:?}"));
        Err(refusal)
    }
}
