//! A connection whose reply is read to the end, even when the peer has stopped reading.
//!
//! A server that refuses a request may reply before it has read all of it, and close. The rest
//! cannot be written then, but the reply can still be read.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream whose peer may have stopped reading.
pub(super) struct EarlyReplyStream<S> {
    stream: S,
    /// Whether the peer has stopped reading: writes are discarded, and its reply can still be read.
    is_peer_closed: bool,
}

impl<S> EarlyReplyStream<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, is_peer_closed: false }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for EarlyReplyStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for EarlyReplyStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.is_peer_closed {
            return Poll::Ready(Ok(bytes.len()));
        }
        let wrote = ready!(Pin::new(&mut self.stream).poll_write(context, bytes));
        self.is_peer_closed = wrote.as_ref().is_err_and(|error| {
            matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
        });
        Poll::Ready(if self.is_peer_closed { Ok(bytes.len()) } else { wrote })
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_peer_closed {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut self.stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_peer_closed {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut self.stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    use super::*;

    #[tokio::test]
    async fn an_answer_is_heard_although_the_question_is_not() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut ours = EarlyReplyStream::new(ours);
        ours.write_all(b"question").await.unwrap();
        theirs.write_all(b"no").await.unwrap();
        drop(theirs);
        ours.write_all(&[b'x'; 1 << 20]).await.unwrap();
        ours.flush().await.unwrap();
        let mut answer = [0; 2];
        ours.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"no");
        let more = ours.read(&mut answer).await;
        assert!(!matches!(more, Ok(1..)), "{more:?}");
    }
}
