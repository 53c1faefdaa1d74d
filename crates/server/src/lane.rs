//! A queue of raw frames that bypasses the WebSocket library.
//!
//! The library encodes each frame for each socket separately. An event is encoded once for all
//! sockets, and a batch of events goes out as one buffer: past the library, through a queue that
//! the stream below it drains before it writes anything else. Frames stay whole and in order as
//! long as nothing is queued while the library holds a part of a frame.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::delegate_io::delegate_io;

/// Bytes that are written before anything else.
#[derive(Clone, Default)]
pub(crate) struct RawFrameQueue(Arc<Mutex<VecDeque<Bytes>>>);

impl RawFrameQueue {
    /// Queues bytes for the next flush. The caller must have flushed everything before them.
    pub(crate) fn push(&self, bytes: Bytes) {
        self.lock().push_back(bytes);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream with a queue of raw frames.
pub(crate) struct RawFrameStream<S> {
    stream: S,
    queue: RawFrameQueue,
}

impl<S: AsyncWrite + Unpin> RawFrameStream<S> {
    pub(crate) fn new(stream: S, queue: RawFrameQueue) -> Self {
        Self { stream, queue }
    }

    /// Writes everything in the queue.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut queue = self.queue.lock();
        while let Some(bytes) = queue.front_mut() {
            if bytes.has_remaining() {
                match ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    written => bytes.advance(written),
                }
            }
            if !bytes.has_remaining() {
                queue.pop_front();
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RawFrameStream<S> {
    delegate_io! { poll_read }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for RawFrameStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_drain(cx))?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    delegate_io! { is_write_vectored poll_shutdown }
}

#[cfg(test)]
mod tests {
    use std::slice;
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::timeout;

    use super::*;

    /// A stream with a queue, into which `capacity` bytes fit before the other end must read.
    fn queued(capacity: usize) -> (RawFrameStream<DuplexStream>, RawFrameQueue, DuplexStream) {
        let (queue, (ours, theirs)) = (RawFrameQueue::default(), duplex(capacity));
        (RawFrameStream::new(ours, queue.clone()), queue, theirs)
    }

    async fn read(theirs: &mut DuplexStream, count: usize) -> String {
        let mut bytes = vec![0; count];
        let read = timeout(Duration::from_secs(10), theirs.read_exact(&mut bytes)).await;
        read.expect("not as much came").unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn what_is_in_the_lane_goes_first() {
        let (mut stream, queue, mut theirs) = queued(64);
        queue.push(Bytes::from_static(b"one "));
        queue.push(Bytes::new());
        queue.push(Bytes::from_static(b"two "));
        stream.write_all(b"three ").await.unwrap();
        queue.push(Bytes::from_static(b"four "));
        let vectored = stream.write_vectored(slice::from_ref(&IoSlice::new(b"five "))).await;
        assert_eq!(vectored.unwrap(), 5);
        queue.push(Bytes::from_static(b"six"));
        stream.flush().await.unwrap();
        assert_eq!(read(&mut theirs, 27).await, "one two three four five six");
    }

    #[tokio::test]
    async fn nothing_comes_between_the_parts_of_what_is_in_the_lane() {
        let (mut stream, queue, mut theirs) = queued(4);
        queue.push(Bytes::from_static(b"123456"));
        assert!(stream.flush().now_or_never().is_none());
        assert!(stream.write_all(b"789").now_or_never().is_none());
        assert_eq!(read(&mut theirs, 4).await, "1234");
        stream.write_all(b"789").now_or_never().unwrap_or(Ok(())).unwrap();
        assert_eq!(read(&mut theirs, 4).await, "5678");
    }

    #[tokio::test]
    async fn a_stream_that_ended_ends_the_lane() {
        let (mut stream, queue, theirs) = queued(4);
        drop(theirs);
        queue.push(Bytes::from_static(b"1"));
        assert!(stream.flush().await.is_err());
    }
}
