//! A stream that goes back to its owner when it is dropped, instead of being closed.
//!
//! The HTTP and WebSocket libraries drop a connection while its client may still be sending.
//! Closing it with unread input would reset the connection, and the client would lose the response
//! that it has not read yet. So the connection's own task gets the stream back and closes it
//! properly.

use std::mem;

use tokio::io::{AsyncRead, AsyncWrite, empty};
use tokio::sync::oneshot;

use crate::transport::delegate_io::delegate_io;
use crate::transport::listener::ConnStream;

/// A stream that is sent back when this is dropped.
pub(crate) struct ReclaimOnDrop {
    stream: Box<dyn ConnStream>,
    /// Where the stream goes on drop.
    reclaim: Option<oneshot::Sender<Box<dyn ConnStream>>>,
}

impl ReclaimOnDrop {
    /// The stream to use, and the receiver that gets it back.
    pub(crate) fn new(
        stream: Box<dyn ConnStream>,
    ) -> (Self, oneshot::Receiver<Box<dyn ConnStream>>) {
        let (reclaim, reclaimed) = oneshot::channel();
        (Self { stream, reclaim: Some(reclaim) }, reclaimed)
    }
}

impl Drop for ReclaimOnDrop {
    fn drop(&mut self) {
        let stream = mem::replace(&mut self.stream, Box::new(empty()));
        if let Some(reclaim) = self.reclaim.take() {
            // If the receiver is gone, the stream is closed here.
            drop(reclaim.send(stream));
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
        let (mut wrapped, mut reclaimed) = ReclaimOnDrop::new(Box::new(ours));
        wrapped.write_all(b"one").await.unwrap();
        assert!(reclaimed.try_recv().is_err());
        drop(wrapped);
        let mut stream = reclaimed.await.unwrap();
        stream.write_all(b"two").await.unwrap();
        drop(stream);
        let mut read = String::new();
        theirs.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "onetwo");
    }
}
