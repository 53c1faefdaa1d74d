//! Just enough HTTP to be asked by any client.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvFlags, recv};
use serde_json::Value;

/// How long between two looks whether the model has stopped.
const BETWEEN: Duration = Duration::from_millis(50);

/// What was asked.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Value,
}

/// One client's connection.
pub(super) struct ModelConnection<'a> {
    read: BufReader<TcpStream>,
    write: TcpStream,
    stop: &'a AtomicBool,
}

impl<'a> ModelConnection<'a> {
    pub(super) fn new(stream: TcpStream, stop: &'a AtomicBool) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { write: stream.try_clone()?, read: BufReader::new(stream), stop })
    }

    /// The next request; nothing when the client is gone or the model stops.
    pub(super) fn request(&mut self) -> io::Result<Option<Request>> {
        while self.read.buffer().is_empty() {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if readable(&self.write, BETWEEN)? {
                break;
            }
        }
        let Some(first) = self.line()? else { return Ok(None) };
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
        let (mut length, mut chunked) = (0, false);
        while let Some((name, value)) =
            self.line()?.as_deref().and_then(|line| line.split_once(':'))
        {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
                "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
                "expect" => self.write.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
                _ => {}
            }
        }
        let body = if chunked { self.chunks()? } else { self.bytes(length)? };
        Ok(Some(Request { method, path, body: serde_json::from_slice(&body).unwrap_or_default() }))
    }

    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let got = self.read.read_line(&mut line)?;
        Ok((got != 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
    }

    fn bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.read.read_exact(&mut bytes).map(|()| bytes)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let size = self.line()?.unwrap_or_default();
            let size = size.split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(size.trim(), 16).map_err(io::Error::other)?;
            body.extend(self.bytes(size)?);
            self.line()?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    /// Answers with a whole body.
    pub(super) fn json(&mut self, status: u16, body: &Value) -> io::Result<()> {
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} Fake\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.write.write_all((head + &body).as_bytes())
    }

    /// Begins an answer in pieces.
    pub(super) fn open(&mut self) -> io::Result<()> {
        self.write.write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
              transfer-encoding: chunked\r\n\r\n",
        )
    }

    /// One piece.
    pub(super) fn piece(&mut self, text: &str) -> io::Result<()> {
        self.write.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    }

    /// The end of the pieces.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.write.write_all(b"0\r\n\r\n")
    }

    /// Lets time pass; fails as soon as the client has hung up or the model stops.
    pub(super) fn pass(&self, time: Duration) -> io::Result<()> {
        let end = Instant::now() + time;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let left = end.saturating_duration_since(Instant::now());
            if readable(&self.write, left.min(BETWEEN))? && has_hung_up(&self.write) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            if left.is_zero() {
                return Ok(());
            }
        }
    }
}

fn readable(stream: &TcpStream, within: Duration) -> io::Result<bool> {
    let mut fds = [PollFd::new(stream, PollFlags::IN)];
    let within = Timespec::try_from(within).map_err(io::Error::other)?;
    Ok(0 < poll(&mut fds, Some(&within))?)
}

fn has_hung_up(stream: &TcpStream) -> bool {
    let mut byte = [0; 1];
    let got = recv(stream, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
    matches!(got, Ok((_, 0)) | Err(rustix::io::Errno::CONNRESET))
}
