//! A stream of which only so much is taken while its sender is a stranger.
//!
//! What a message may have at most is settled when a connection becomes a socket, and the library keeps what it has of
//! a message until that is whole. Whoever has shown no token yet could fill memory so; here they are read as far as a
//! token is long, and no further.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::pass::pass;

/// No end to what is taken.
const ALL: usize = usize::MAX;

/// How much is still taken of a stream.
#[derive(Clone)]
pub(crate) struct Ration(Arc<AtomicUsize>);

impl Default for Ration {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(ALL)))
    }
}

impl Ration {
    /// Takes about so many bytes more, and then none.
    pub(crate) fn limit(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Takes whatever comes.
    pub(crate) fn lift(&self) {
        self.0.store(ALL, Ordering::Relaxed);
    }
}

/// A stream of which a ration is taken.
pub(crate) struct Rationed<S> {
    stream: S,
    ration: Ration,
}

impl<S> Rationed<S> {
    pub(crate) fn new(stream: S, ration: Ration) -> Self {
        Self { stream, ration }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Rationed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.ration.0.load(Ordering::Relaxed) {
            ALL => Pin::new(&mut self.stream).poll_read(cx, buf),
            0 => Poll::Ready(Err(io::Error::other("too much was sent before `auth`"))),
            left => {
                let before = buf.filled().len();
                ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
                self.ration.limit(left.saturating_sub(buf.filled().len() - before));
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Rationed<S> {
    pass! { poll_write poll_write_vectored is_write_vectored poll_flush poll_shutdown }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_ration_is_taken_and_no_more_until_it_is_lifted() {
        let (ours, mut theirs) = duplex(64);
        let ration = Ration::default();
        let mut stream = Rationed::new(ours, ration.clone());
        let mut buf = [0; 4];
        theirs.write_all(b"0123456789abcdef").await.unwrap();
        stream.read_exact(&mut buf).await.unwrap();
        ration.limit(4);
        stream.read_exact(&mut buf).await.unwrap();
        assert!(stream.read_exact(&mut buf).await.is_err());
        ration.lift();
        stream.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"89ab");
    }
}
