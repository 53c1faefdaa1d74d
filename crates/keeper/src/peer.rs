//! One connection of a keeper: frames in, frames out, never waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use paned_model::frame::{
    ClientRole, EMPTY_WINDOW, FrameDecoder, FrameMessage, FromKeeper, NOTIFY_WINDOW, NotifyWindow,
    ToKeeper,
};

use crate::key_filter::KeyFilter;

/// A client that asks for so much without listening to the answers is let go.
const MAX_UNSENT: usize = 1 << 20;

/// A number that names a connection for as long as the keeper lives.
pub(crate) type PeerId = u64;

pub(crate) struct Peer {
    pub(crate) id: PeerId,
    pub(crate) role: Option<ClientRole>,
    /// What it types.
    pub(crate) key_filter: KeyFilter,
    stream: UnixStream,
    frames: FrameDecoder,
    unsent: Vec<u8>,
    /// The end of the tape as this client was last told.
    notified_end: u64,
    /// What it was told since it last said that it heard.
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

    /// Says on what is unsaid, and hears. One that takes nothing any more may have said something before it went.
    pub(crate) fn flush_and_receive(&mut self) -> io::Result<Vec<ToKeeper>> {
        let _ = self.flush();
        self.receive()
    }

    /// Every message that is there. An error is the end of the connection; what was said before it comes
    /// first, by itself.
    pub(crate) fn receive(&mut self) -> io::Result<Vec<ToKeeper>> {
        let mut messages = Vec::new();
        let mut bytes = [0; 4096];
        // What does not fill the room is all there is; should more come, poll says so.
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

    /// Writes what is queued, as far as the client takes it.
    ///
    /// # Errors
    /// When the client is gone. That shows again as a failed read, after all that it has said before.
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

    /// Whether it asks for more than it reads: it is let go then.
    pub(crate) fn is_over_limit(&self) -> bool {
        MAX_UNSENT < self.unsent.len()
    }

    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Tells where the tape ends, unless there is much that the client has not answered to: one wake-up is on its way
    /// at most, however fast the program prints, and a few of a program that prints little.
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

    /// The client has heard; it may be told again.
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

    /// What a client is told of that never answers, while the tape grows by so much each time.
    fn told(step: u64) -> Vec<u64> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        peer.role = Some(ClientRole::Server);
        (1..100).for_each(|n| peer.notify_end(n * step));
        peer.flush().unwrap();
        let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 4096]);
        let got = theirs.read(&mut bytes).unwrap();
        frames.push(&bytes[..got]);
        let said = std::iter::from_fn(|| frames.take().unwrap());
        said.map(|said| if let FromKeeper::TapeEnd(end) = said { end } else { panic!("{said:?}") })
            .collect()
    }

    #[test]
    fn what_a_client_said_before_it_went_is_heard_also_when_it_takes_nothing_any_more() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        // More than is read at once.
        let mut said = Vec::new();
        (0..1000).for_each(|n| ToKeeper::Ack(n).encode(&mut said));
        std::io::Write::write_all(&mut theirs, &said).unwrap();
        drop(theirs);
        peer.send(&FromKeeper::TapeEnd(1));
        assert!(peer.flush().is_err(), "it is gone");
        let mut heard = Vec::new();
        while let Ok(messages) = peer.flush_and_receive() {
            heard.extend(messages);
        }
        assert_eq!(heard, (0..1000).map(ToKeeper::Ack).collect::<Vec<_>>());
    }

    #[test]
    fn a_client_is_told_ahead_of_little_and_once_of_much() {
        assert_eq!(told(1), (1..=u64::from(NOTIFY_WINDOW.frames)).collect::<Vec<_>>());
        assert_eq!(told(NOTIFY_WINDOW.bytes / 2), [NOTIFY_WINDOW.bytes / 2, NOTIFY_WINDOW.bytes]);
        assert_eq!(told(NOTIFY_WINDOW.bytes), [NOTIFY_WINDOW.bytes]);
        assert_eq!(told(1 << 20), [1 << 20]);
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
        let said: Vec<FromKeeper> = std::iter::from_fn(|| frames.take().unwrap()).collect();
        assert_eq!(said, [FromKeeper::TapeEnd(much), FromKeeper::TapeEnd(much + 1)]);
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
