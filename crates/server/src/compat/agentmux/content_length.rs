//! A length that is none, told in agentmux's words.
//!
//! A request whose `Content-Length` is no number is refused before any route hears of it, without a word. Its
//! clients expect a sentence; so in the first head of a connection such a header gets another name, of the same
//! length, and the endpoint refuses what it finds there. Where its body ends cannot be known, so nothing behind that head
//! is read: the body must not be taken for the next request.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::HeaderMap;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::delegate_io::delegate_io;

/// What such a header is called.
const RENAMED_HEADER: &str = "x-wrong-length";
const CONTENT_LENGTH: &str = "content-length";
/// What has the connection closed after the answer, and ends the head.
const CLOSE: &[u8] = b"\r\nconnection: close\r\n\r\n";
/// The longest head that is looked at.
const MAX_HEAD: usize = 64 << 10;

/// Whether a request came with a length that is none.
pub(super) fn has_bad_length(headers: &HeaderMap) -> bool {
    headers.contains_key(RENAMED_HEADER)
}

/// A stream whose first head has been looked at.
pub(crate) struct ContentLengthRewriter<S> {
    stream: S,
    state: LengthRewriterState,
}

enum LengthRewriterState {
    /// The head is not whole yet.
    Reading(Vec<u8>),
    /// So much of what was read is given on; then comes the rest, or nothing more.
    Replaying(Vec<u8>, usize, AfterHead),
    Passthrough,
    /// Whatever comes is read and dropped.
    Discarding,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AfterHead {
    Forward,
    Discard,
}

impl<S> ContentLengthRewriter<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, state: LengthRewriterState::Reading(Vec::new()) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ContentLengthRewriter<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.state {
                LengthRewriterState::Passthrough => {
                    return Pin::new(&mut this.stream).poll_read(cx, buf);
                }
                LengthRewriterState::Discarding => {
                    let mut piece = [0; 4096];
                    let mut read = ReadBuf::new(&mut piece);
                    ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
                    if read.filled().is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                }
                LengthRewriterState::Replaying(bytes, given, rest_of_it) => {
                    let rest = &bytes[*given..];
                    let now = rest.len().min(buf.remaining());
                    buf.put_slice(&rest[..now]);
                    *given += now;
                    if *given == bytes.len() {
                        this.state = match rest_of_it {
                            AfterHead::Forward => LengthRewriterState::Passthrough,
                            AfterHead::Discard => LengthRewriterState::Discarding,
                        };
                    }
                    return Poll::Ready(Ok(()));
                }
                LengthRewriterState::Reading(bytes) => {
                    let mut piece = [0; 4096];
                    let mut read = ReadBuf::new(&mut piece);
                    ready!(Pin::new(&mut this.stream).poll_read(cx, &mut read))?;
                    let is_over = read.filled().is_empty();
                    bytes.extend_from_slice(read.filled());
                    if is_over || MAX_HEAD < bytes.len() || end_of_head(bytes).is_some() {
                        let mut bytes = std::mem::take(bytes);
                        let rest = rename(&mut bytes);
                        this.state = LengthRewriterState::Replaying(bytes, 0, rest);
                    }
                }
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ContentLengthRewriter<S> {
    delegate_io! { poll_write poll_flush poll_shutdown }
}

/// Where a head ends, if it is whole.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let end = |end: &[u8]| bytes.windows(end.len()).position(|part| part == end);
    match (end(b"\r\n\r\n"), end(b"\n\n")) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Gives a length that is none another name, and drops what is behind the head of such a request.
fn rename(bytes: &mut Vec<u8>) -> AfterHead {
    let end = end_of_head(bytes).unwrap_or(bytes.len());
    let mut rest = AfterHead::Forward;
    for line in bytes[..end].split_mut(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at_mut(colon);
        let value = value[1..].trim_ascii();
        let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        if name.eq_ignore_ascii_case(CONTENT_LENGTH.as_bytes()) && !is_number {
            name.copy_from_slice(RENAMED_HEADER.as_bytes());
            rest = AfterHead::Discard;
        }
    }
    if rest == AfterHead::Discard {
        // Behind all others, so that it counts whatever they say.
        bytes.truncate(end);
        bytes.extend_from_slice(CLOSE);
    }
    rest
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// What comes out when a request comes in pieces of so many bytes.
    async fn through(text: &str, piece: usize) -> String {
        let (ours, mut theirs) = duplex(1 << 20);
        for piece in text.as_bytes().chunks(piece) {
            theirs.write_all(piece).await.unwrap();
        }
        drop(theirs);
        let mut out = String::new();
        ContentLengthRewriter::new(ours).read_to_string(&mut out).await.unwrap();
        out
    }

    #[tokio::test]
    async fn only_a_length_that_is_none_gets_another_name() {
        let request =
            |line: &str| format!("POST / HTTP/1.1\r\nhost: x\r\n{line}\r\n\r\nbody: 1\r\n");
        for good in ["Content-Length: 5", "content-length:0", "x: y", "content-length:  17  "] {
            assert_eq!(through(&request(good), 7).await, request(good));
        }
        for wrong in ["abc", "-1", "", "1.5", "0x1", "1, 1"] {
            for piece in [1, 7, 4096] {
                let out = through(&request(&format!("Content-Length: {wrong}")), piece).await;
                let head = request(&format!("x-wrong-length: {wrong}"));
                let head = head.trim_end_matches("\r\n\r\nbody: 1\r\n");
                assert_eq!(out, format!("{head}\r\nconnection: close\r\n\r\n"));
            }
        }
    }

    #[tokio::test]
    async fn what_is_no_head_goes_through_as_it_is() {
        let body = "POST / HTTP/1.1\r\n\r\nContent-Length: abc\r\n\r\n";
        assert_eq!(through(body, 5).await, body);
        assert_eq!(through("", 1).await, "");
        let long = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(100_000));
        assert_eq!(through(&long, 4096).await, long);
    }
}
