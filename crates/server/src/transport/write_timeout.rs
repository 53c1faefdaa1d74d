//! A stream with a write time-out.
//!
//! A client that stops reading blocks only its own response, but it would hold its connection
//! forever. Here a write that makes no progress for too long is an error, which ends the
//! connection.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Sleep, sleep};

use crate::transport::delegate_io::delegate_io;

/// A stream whose writes fail when they make no progress for as long as `limit`.
pub(crate) struct WriteTimeout<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, timer: None }
    }

    fn check_timeout(
        &mut self,
        cx: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if wrote.is_ready() {
            self.timer = None;
            return wrote;
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    delegate_io! { poll_read }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.check_timeout(cx, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.check_timeout(cx, wrote)
    }

    delegate_io! { is_write_vectored poll_flush poll_shutdown }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_takes_nothing_is_given_up() {
        let (ours, _theirs) = duplex(4);
        let began = Instant::now();
        let error = WriteTimeout::new(ours, LIMIT).write_all(b"12345").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), LIMIT.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_waited_for_as_long_as_it_takes_something() {
        let (ours, mut theirs) = duplex(1);
        let write = async { WriteTimeout::new(ours, LIMIT).write_all(b"12345").await };
        let read = async {
            for _ in 0..5 {
                sleep(LIMIT - Duration::from_secs(1)).await; // not a wait: the reader is slow
                theirs.read_u8().await.unwrap();
            }
        };
        let (wrote, ()) = tokio::join!(write, read);
        wrote.unwrap();
    }
}
