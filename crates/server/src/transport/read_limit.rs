//! A stream that limits how much is read from a client that is not authenticated.
//!
//! The WebSocket library takes its message limit when the connection is upgraded, and buffers a
//! message until it is complete. A client without a token could fill memory that way; here it is
//! read only as far as a token is long.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::transport::delegate_io::delegate_io;

/// No limit.
const UNLIMITED: usize = usize::MAX;

/// How many bytes of a stream may still be read.
#[derive(Clone)]
pub(crate) struct ReadLimit(Arc<AtomicUsize>);

impl Default for ReadLimit {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(UNLIMITED)))
    }
}

impl ReadLimit {
    /// Allows about this many more bytes. Reads after that fail.
    pub(crate) fn set(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Removes the limit.
    pub(crate) fn remove(&self) {
        self.0.store(UNLIMITED, Ordering::Relaxed);
    }
}

/// A stream with a read limit.
pub(crate) struct LimitedReader<S> {
    stream: S,
    limit: ReadLimit,
}

impl<S> LimitedReader<S> {
    pub(crate) fn new(stream: S, limit: ReadLimit) -> Self {
        Self { stream, limit }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedReader<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.limit.0.load(Ordering::Relaxed) {
            UNLIMITED => Pin::new(&mut self.stream).poll_read(cx, buf),
            0 => Poll::Ready(Err(io::Error::other("too many bytes before `auth`"))),
            left => {
                let before = buf.filled().len();
                ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
                self.limit.set(left.saturating_sub(buf.filled().len() - before));
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedReader<S> {
    delegate_io! { poll_write poll_write_vectored is_write_vectored poll_flush poll_shutdown }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_ration_is_taken_and_no_more_until_it_is_lifted() {
        let (ours, mut theirs) = duplex(64);
        let limit = ReadLimit::default();
        let mut stream = LimitedReader::new(ours, limit.clone());
        let mut buf = [0; 4];
        theirs.write_all(b"0123456789abcdef").await.unwrap();
        stream.read_exact(&mut buf).await.unwrap();
        limit.set(4);
        stream.read_exact(&mut buf).await.unwrap();
        assert!(stream.read_exact(&mut buf).await.is_err());
        limit.remove();
        stream.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"89ab");
    }
}
