//! A stream that is given back when whoever uses it is done, and not closed.
//!
//! The libraries that speak HTTP and WebSocket drop a connection in the middle of what its client sends. Closing it then
//! would take back what was said last: the system tells the client that the connection was reset, and throws away what
//! it has not read. The connection's own task gets the stream back here, and hangs up as one should.

use std::mem;

use tokio::io::{AsyncRead, AsyncWrite, empty};
use tokio::sync::oneshot;

use crate::delegate_io::delegate_io;
use crate::listener::ConnStream;

/// A stream that is given back when this is dropped.
pub(crate) struct ReclaimOnDrop {
    stream: Box<dyn ConnStream>,
    /// Until then.
    reclaim: Option<oneshot::Sender<Box<dyn ConnStream>>>,
}

impl ReclaimOnDrop {
    /// A stream to use, and where it is given back.
    pub(crate) fn new(
        stream: Box<dyn ConnStream>,
    ) -> (Self, oneshot::Receiver<Box<dyn ConnStream>>) {
        let (back, given) = oneshot::channel();
        (Self { stream, reclaim: Some(back) }, given)
    }
}

impl Drop for ReclaimOnDrop {
    fn drop(&mut self) {
        let stream = mem::replace(&mut self.stream, Box::new(empty()));
        if let Some(back) = self.reclaim.take() {
            // Nobody may want it; then it is closed here.
            drop(back.send(stream));
        }
    }
}

impl AsyncRead for ReclaimOnDrop {
    delegate_io! { poll_read }
}

impl AsyncWrite for ReclaimOnDrop {
    delegate_io! { poll_write poll_write_vectored is_write_vectored poll_flush poll_shutdown }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn a_stream_outlives_whoever_used_it() {
        let (ours, mut theirs) = duplex(64);
        let (mut lent, mut back) = ReclaimOnDrop::new(Box::new(ours));
        lent.write_all(b"one").await.unwrap();
        assert!(back.try_recv().is_err());
        drop(lent);
        let mut stream = back.await.unwrap();
        stream.write_all(b"two").await.unwrap();
        drop(stream);
        let mut read = String::new();
        theirs.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "onetwo");
    }
}
