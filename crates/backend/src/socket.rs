//! A Unix socket whose owner is not woken by its own writes.

use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::io::{Errno, writev};
use rustix::net::{SendFlags, Shutdown, send, shutdown};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};

/// A Unix socket.
///
/// The kernel reports a socket as writable each time the peer has read something, so a task that
/// waits for both directions is woken by each of its own writes. Therefore it is registered as the
/// end of a pipe: for reading always, for writing only while it is full.
#[derive(Debug)]
pub struct UnixSocket {
    stream: Receiver,
    /// Reports writability; set while the socket is full.
    writable: Option<Sender>,
}

impl UnixSocket {
    pub(crate) fn new(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let stream = Receiver::from_owned_fd_unchecked(OwnedFd::from(stream))?;
        Ok(Self { stream, writable: None })
    }

    /// Wraps a stream.
    ///
    /// # Errors
    /// When the runtime cannot register it.
    pub fn from_stream(stream: UnixStream) -> io::Result<Self> {
        Self::new(stream.into_std()?)
    }

    /// Sends as much as fits without waiting.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] when it is full; then [`UnixSocket::poll_writable`] waits. Any
    /// other error when the peer is gone.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|stream| send(stream, bytes, SendFlags::NOSIGNAL))
    }

    /// Waits until it is writable, if it was full at the last send.
    pub(crate) fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writable.as_ref().map_or(Poll::Ready(Ok(())), |writable| writable.poll_write_ready(cx))
    }

    fn attempt(
        &mut self,
        send: impl Fn(&Receiver) -> rustix::io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match send(&self.stream) {
                Ok(sent) => {
                    self.writable = None;
                    return Ok(sent);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    self.watch_writable()?;
                    return Err(ErrorKind::WouldBlock.into());
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Registers for writability: a new registration each time, because the old one may hold a
    /// stale readiness.
    fn watch_writable(&mut self) -> io::Result<()> {
        self.writable = None;
        let stream = self.stream.as_fd().try_clone_to_owned()?;
        self.writable = Some(Sender::from_owned_fd_unchecked(stream)?);
        Ok(())
    }

    fn poll_attempt(
        &mut self,
        cx: &mut Context<'_>,
        send: impl Fn(&Receiver) -> rustix::io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.poll_writable(cx))?;
            match self.attempt(&send) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                sent => return Poll::Ready(sent),
            }
        }
    }
}

impl AsyncRead for UnixSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for UnixSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_attempt(cx, |stream| send(stream, bytes, SendFlags::NOSIGNAL))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_attempt(cx, |stream| writev(stream, parts))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(shutdown(&self.stream, Shutdown::Write).map_err(Into::into))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::time::timeout;

    use super::*;

    /// More than any socket holds.
    const MUCH: usize = 4 << 20;
    const PATIENCE: Duration = Duration::from_secs(60);

    fn pair() -> (UnixSocket, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (UnixSocket::from_stream(ours).unwrap(), theirs)
    }

    #[tokio::test]
    async fn what_does_not_fit_is_sent_as_soon_as_there_is_room() {
        let (mut ours, mut theirs) = pair();
        let words: Vec<u8> = (0..MUCH).map(|n| (n / 7) as u8).collect();
        let saying = async {
            let (first, rest) = words.split_at(MUCH / 2);
            ours.write_all(first).await.unwrap();
            let mut rest = rest;
            while !rest.is_empty() {
                let (one, two) = rest.split_at(rest.len() / 3);
                let sent = ours.write_vectored(&[IoSlice::new(one), IoSlice::new(two)]).await;
                rest = &rest[sent.unwrap()..];
            }
            ours.shutdown().await.unwrap();
        };
        let mut received = Vec::new();
        let both = async { tokio::join!(saying, theirs.read_to_end(&mut received)) };
        timeout(PATIENCE, both).await.unwrap().1.unwrap();
        assert!(received == words);
    }
}
