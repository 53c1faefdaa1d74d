//! An invalid `Content-Length`, refused with agentmux's own error.
//!
//! hyper refuses a request whose `Content-Length` is not a number with an empty response, before
//! any route sees it. agentmux's clients expect an error text. So in the first head of a connection
//! such a header is renamed, to a name of the same length, and the endpoint refuses a request that
//! has it. Where the body ends is unknown, so nothing after that head is passed on: the body must
//! not be parsed as the next request.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::http::HeaderMap;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The new name of such a header.
const RENAMED_HEADER: &str = "x-wrong-length";
const CONTENT_LENGTH: &str = "content-length";
/// Ends the head, and has the connection closed after the response.
const CLOSE: &[u8] = b"\r\nconnection: close\r\n\r\n";
/// The longest head that is inspected.
const MAX_HEAD: usize = 64 << 10;

/// Whether a request had an invalid `Content-Length`.
pub(super) fn has_bad_length(headers: &HeaderMap) -> bool {
    headers.contains_key(RENAMED_HEADER)
}

/// A stream that rewrites the first head.
pub(crate) struct ContentLengthRewriter<S> {
    stream: S,
    state: LengthRewriterState,
}

enum LengthRewriterState {
    /// The head is not complete yet.
    Reading(Vec<u8>),
    /// The buffered bytes, how many of them were passed on, and what follows them.
    Replaying(Vec<u8>, usize, AfterHead),
    Passthrough,
    /// Further input is read and dropped.
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
                LengthRewriterState::Replaying(bytes, passed, after_head) => {
                    let rest = &bytes[*passed..];
                    let count = rest.len().min(buf.remaining());
                    buf.put_slice(&rest[..count]);
                    *passed += count;
                    if *passed == bytes.len() {
                        this.state = match after_head {
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
                    let is_eof = read.filled().is_empty();
                    bytes.extend_from_slice(read.filled());
                    if is_eof || MAX_HEAD < bytes.len() || end_of_head(bytes).is_some() {
                        let mut bytes = std::mem::take(bytes);
                        let after_head = rename(&mut bytes);
                        this.state = LengthRewriterState::Replaying(bytes, 0, after_head);
                    }
                }
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ContentLengthRewriter<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Where a head ends, if it is complete.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let end = |end: &[u8]| bytes.windows(end.len()).position(|part| part == end);
    match (end(b"\r\n\r\n"), end(b"\n\n")) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Renames an invalid `Content-Length`, and drops what follows the head of such a request.
fn rename(bytes: &mut Vec<u8>) -> AfterHead {
    let end = end_of_head(bytes).unwrap_or(bytes.len());
    let mut after_head = AfterHead::Forward;
    for line in bytes[..end].split_mut(|byte| *byte == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at_mut(colon);
        let value = value[1..].trim_ascii();
        let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        if name.eq_ignore_ascii_case(CONTENT_LENGTH.as_bytes()) && !is_number {
            name.copy_from_slice(RENAMED_HEADER.as_bytes());
            after_head = AfterHead::Discard;
        }
    }
    if after_head == AfterHead::Discard {
        // After all other headers, so that it overrides them.
        bytes.truncate(end);
        bytes.extend_from_slice(CLOSE);
    }
    after_head
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// What comes out when a request comes in pieces of `piece` bytes.
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
