//! One connection of a keeper: frames in, frames out, never blocking.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use paned_model::frame::{
    ClientRole, EMPTY_WINDOW, FrameDecoder, FrameMessage, FromKeeper, NOTIFY_WINDOW, NotifyWindow,
    ToKeeper,
};

use crate::input::key_filter::KeyFilter;

/// A client that leaves more bytes than this unread is disconnected.
const MAX_UNSENT: usize = 1 << 20;

/// Identifies a connection for as long as the keeper runs.
pub(crate) type PeerId = u64;

pub(crate) struct Peer {
    pub(crate) id: PeerId,
    pub(crate) role: Option<ClientRole>,
    /// Separates its user input from terminal reports.
    pub(crate) key_filter: KeyFilter,
    stream: UnixStream,
    frames: FrameDecoder,
    unsent: Vec<u8>,
    /// The end of the tape that this client was last notified of.
    notified_end: u64,
    /// What it was notified of since its last ack.
    unacked: NotifyWindow,
}

impl Peer {
    pub(crate) fn new(id: PeerId, stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            id,
            role: None,
            key_filter: KeyFilter::default(),
            stream,
            frames: FrameDecoder::default(),
            unsent: Vec::new(),
            notified_end: 0,
            unacked: EMPTY_WINDOW,
        })
    }

    /// Writes what is queued, then reads. A failed write is ignored: the client may have sent
    /// messages before it closed the connection.
    pub(crate) fn flush_and_receive(&mut self) -> io::Result<Vec<ToKeeper>> {
        let _ = self.flush();
        self.receive()
    }

    /// Reads every message that has arrived. An error means the end of the connection; messages
    /// that came before it are returned first, without the error.
    pub(crate) fn receive(&mut self) -> io::Result<Vec<ToKeeper>> {
        let mut messages = Vec::new();
        let mut bytes = [0; 4096];
        // A read that does not fill the buffer has emptied the socket; if more comes, poll reports
        // it.
        let mut more = true;
        while more {
            match self.stream.read(&mut bytes) {
                Ok(0) if messages.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(0) => return Ok(messages),
                Ok(got) => {
                    self.frames.push(&bytes[..got]);
                    more = got == bytes.len();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(messages),
                Err(error) if messages.is_empty() => return Err(error),
                Err(_) => return Ok(messages),
            }
            while let Some(message) = self.frames.take().map_err(io::Error::other)? {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    /// Queues a message; [`Peer::flush`] writes all that is queued at once.
    pub(crate) fn send(&mut self, message: &FromKeeper) {
        message.encode(&mut self.unsent);
    }

    /// Writes what is queued, as much as the client accepts now.
    ///
    /// # Errors
    /// When the client is gone. Reading fails, too, but only after all messages that the client has
    /// sent.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the client has left too much unread, and must be disconnected.
    pub(crate) fn is_over_limit(&self) -> bool {
        MAX_UNSENT < self.unsent.len()
    }

    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Notifies the client of the tape's end, unless the notify window is full: at most one wake-up
    /// is in flight however fast the program prints, and a few if it prints little.
    pub(crate) fn notify_end(&mut self, end: u64) {
        let NotifyWindow { bytes, frames } = self.unacked;
        let is_ahead = NOTIFY_WINDOW.bytes <= bytes || NOTIFY_WINDOW.frames <= frames;
        if self.role.is_none() || is_ahead || end <= self.notified_end {
            return;
        }
        self.unacked =
            NotifyWindow { bytes: bytes + (end - self.notified_end), frames: frames + 1 };
        self.notified_end = end;
        self.send(&FromKeeper::TapeEnd(end));
    }

    /// The client has acknowledged; it may be notified again.
    pub(crate) fn acked(&mut self, end: u64) {
        self.unacked = EMPTY_WINDOW;
        self.notify_end(end);
    }
}

impl AsFd for Peer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The notifications that a client gets if it never acks, while the tape grows by `step` each
    /// time.
    fn notified(step: u64) -> Vec<u64> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        peer.role = Some(ClientRole::Server);
        (1..100).for_each(|n| peer.notify_end(n * step));
        peer.flush().unwrap();
        let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 4096]);
        let got = theirs.read(&mut bytes).unwrap();
        frames.push(&bytes[..got]);
        let messages = std::iter::from_fn(|| frames.take().unwrap());
        let end_of = |message| match message {
            FromKeeper::TapeEnd(end) => end,
            other => panic!("{other:?}"),
        };
        messages.map(end_of).collect()
    }

    #[test]
    fn what_a_client_said_before_it_went_is_heard_also_when_it_takes_nothing_any_more() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        // More than is read at once.
        let mut sent = Vec::new();
        (0..1000).for_each(|n| ToKeeper::Ack(n).encode(&mut sent));
        std::io::Write::write_all(&mut theirs, &sent).unwrap();
        drop(theirs);
        peer.send(&FromKeeper::TapeEnd(1));
        assert!(peer.flush().is_err(), "it is gone");
        let mut received = Vec::new();
        while let Ok(messages) = peer.flush_and_receive() {
            received.extend(messages);
        }
        assert_eq!(received, (0..1000).map(ToKeeper::Ack).collect::<Vec<_>>());
    }

    #[test]
    fn a_client_is_told_ahead_of_little_and_once_of_much() {
        assert_eq!(notified(1), (1..=u64::from(NOTIFY_WINDOW.frames)).collect::<Vec<_>>());
        assert_eq!(
            notified(NOTIFY_WINDOW.bytes / 2),
            [NOTIFY_WINDOW.bytes / 2, NOTIFY_WINDOW.bytes]
        );
        assert_eq!(notified(NOTIFY_WINDOW.bytes), [NOTIFY_WINDOW.bytes]);
        assert_eq!(notified(1 << 20), [1 << 20]);
    }

    #[test]
    fn who_heard_is_told_what_is_new() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        peer.role = Some(ClientRole::Server);
        let much = NOTIFY_WINDOW.bytes;
        peer.notify_end(much);
        peer.notify_end(much + 1);
        peer.acked(much + 1);
        peer.flush().unwrap();
        let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 4096]);
        let got = theirs.read(&mut bytes).unwrap();
        frames.push(&bytes[..got]);
        let messages: Vec<FromKeeper> = std::iter::from_fn(|| frames.take().unwrap()).collect();
        assert_eq!(messages, [FromKeeper::TapeEnd(much), FromKeeper::TapeEnd(much + 1)]);
    }

    #[test]
    fn who_asks_for_much_and_reads_nothing_is_overdue() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        while !peer.is_over_limit() {
            (0..1000).for_each(|n| peer.send(&FromKeeper::TapeEnd(n)));
            peer.flush().unwrap();
        }
    }
}
