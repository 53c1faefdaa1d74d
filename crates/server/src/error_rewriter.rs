//! A stream that adds an explanation to hyper's bare 4xx responses.
//!
//! hyper refuses what it cannot parse as a request with a status and an empty body, before any code
//! of ours runs. Such a response is recognised by its form: one small head with `content-length: 0`
//! and without the header that all our responses have. It is replaced by one that says what was
//! wrong.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use paned_model::{Code, Refusal};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::raw_response;
use crate::delegate_io::delegate_io;

/// The longest head that is inspected; such a response has about 120 bytes.
const MAX_INSPECTED: usize = 256;
/// A header that all our responses have.
const OUR_HEADER: &[u8] = b"x-content-type-options";

/// A stream that replaces bare error responses.
pub(crate) struct ErrorRewriter<S> {
    stream: S,
    state: RewriterState,
}

enum RewriterState {
    /// Every response is inspected.
    Inspecting,
    /// These bytes are written in place of a response.
    Replacing(Bytes),
    /// The connection was upgraded and is no longer HTTP.
    Passthrough,
}

impl<S: AsyncWrite + Unpin> ErrorRewriter<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, state: RewriterState::Inspecting }
    }

    /// Writes the replacement of these bytes, if there is one. Returns whether it did.
    fn poll_replace(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<bool>> {
        if matches!(self.state, RewriterState::Inspecting) {
            match classify(buf) {
                ResponseKind::Upgrade => self.state = RewriterState::Passthrough,
                ResponseKind::BareError(status) => {
                    self.state =
                        RewriterState::Replacing(raw_response(status, &refusal(status)).into());
                }
                ResponseKind::Other => {}
            }
        }
        let RewriterState::Replacing(bytes) = &mut self.state else {
            return Poll::Ready(Ok(false));
        };
        while bytes.has_remaining() {
            match ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => bytes.advance(count),
            }
        }
        self.state = RewriterState::Inspecting;
        Poll::Ready(Ok(true))
    }
}

/// What kind of response some bytes to be written are.
enum ResponseKind {
    /// A client error with this status and no body.
    BareError(u16),
    /// The connection is upgraded to another protocol.
    Upgrade,
    Other,
}

fn classify(buf: &[u8]) -> ResponseKind {
    let Some(rest) = buf.strip_prefix(b"HTTP/1.") else { return ResponseKind::Other };
    let status = rest.get(2..5).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    let has = |part: &[u8]| buf.windows(part.len()).any(|window| window == part);
    match status {
        Some(101) => ResponseKind::Upgrade,
        Some(status @ 400..500)
            if buf.len() <= MAX_INSPECTED
                && buf.ends_with(b"\r\n\r\n")
                && has(b"\r\ncontent-length: 0\r\n")
                && !has(OUR_HEADER) =>
        {
            ResponseKind::BareError(status)
        }
        Some(_) | None => ResponseKind::Other,
    }
}

fn refusal(status: u16) -> Refusal {
    match status {
        414 => Refusal::new(Code::Limit, "the address of a request may have at most 65534 bytes"),
        431 => head_too_large(),
        _ => Refusal::invalid("this is no request of HTTP/1.1 that can be understood"),
    }
}

/// The refusal of a head that is too long.
pub(crate) fn head_too_large() -> Refusal {
    let sentence = "what comes before the body may have at most 100 headers and 64 KiB";
    Refusal::new(Code::Limit, sentence)
}

impl<S: AsyncRead + Unpin> AsyncRead for ErrorRewriter<S> {
    delegate_io! { poll_read }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ErrorRewriter<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if ready!(self.poll_replace(cx, buf))? {
            return Poll::Ready(Ok(buf.len()));
        }
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // Such a response is a single buffer, as it has no body.
        if let [only] = bufs
            && ready!(self.poll_replace(cx, only))?
        {
            return Poll::Ready(Ok(only.len()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    delegate_io! { is_write_vectored poll_flush poll_shutdown }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    const BARE: &str =
        "HTTP/1.1 431 X\r\nconnection: close\r\ncontent-length: 0\r\ndate: D\r\n\r\n";

    /// What arrives when these are written one after the other.
    async fn arrived(pieces: &[&str]) -> String {
        let (ours, mut theirs) = duplex(7);
        let mut stream = ErrorRewriter::new(ours);
        let write = async {
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.unwrap();
            }
            drop(stream);
        };
        let mut arrived = String::new();
        let (read, ()) = tokio::join!(theirs.read_to_string(&mut arrived), write);
        read.unwrap();
        arrived
    }

    #[tokio::test]
    async fn a_bare_refusal_gets_words() {
        let arrived = arrived(&[BARE]).await;
        assert!(arrived.starts_with("HTTP/1.1 431 "), "{arrived}");
        assert!(arrived.contains("\"code\":\"limit\"") && arrived.contains("64 KiB"), "{arrived}");
    }

    #[tokio::test]
    async fn everything_else_is_as_it_was() {
        let ours = BARE.replace("date", "x-content-type-options");
        let body = BARE.replace("content-length: 0", "content-length: 1");
        let fine = BARE.replace("431", "204");
        for text in [ours.as_str(), body.as_str(), fine.as_str(), &format!("{BARE}x"), "HTTP/1.1 4"]
        {
            assert_eq!(arrived(&[text]).await, text);
        }
        let upgrade = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
        assert_eq!(arrived(&[upgrade, BARE]).await, format!("{upgrade}{BARE}"));
    }
}
