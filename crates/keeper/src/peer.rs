//! One connection of a keeper: frames in, frames out, never waiting.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use paned_model::frame::{AHEAD, Ahead, Frames, FromKeeper, HEARD, Message, Role, ToKeeper};

use crate::hands::Hands;

/// A client that asks for so much without listening to the answers is let go.
const MAX_UNSENT: usize = 1 << 20;

/// A number that names a connection for as long as the keeper lives.
pub(crate) type PeerId = u64;

pub(crate) struct Peer {
    pub(crate) id: PeerId,
    pub(crate) role: Option<Role>,
    /// What it types.
    pub(crate) hands: Hands,
    stream: UnixStream,
    frames: Frames,
    unsent: Vec<u8>,
    /// The end of the tape as this client was last told.
    told: u64,
    /// What it was told since it last said that it heard.
    unheard: Ahead,
}

impl Peer {
    pub(crate) fn new(id: PeerId, stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            id,
            role: None,
            hands: Hands::default(),
            stream,
            frames: Frames::default(),
            unsent: Vec::new(),
            told: 0,
            unheard: HEARD,
        })
    }

    /// Says on what is unsaid, and hears. One that takes nothing any more may have said something before it went.
    pub(crate) fn hear(&mut self) -> io::Result<Vec<ToKeeper>> {
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
    pub(crate) fn is_overdue(&self) -> bool {
        MAX_UNSENT < self.unsent.len()
    }

    pub(crate) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Tells where the tape ends, unless there is much that the client has not answered to: one wake-up is on its way
    /// at most, however fast the program prints, and a few of a program that prints little.
    pub(crate) fn tell(&mut self, end: u64) {
        let Ahead { bytes, frames } = self.unheard;
        let is_ahead = AHEAD.bytes <= bytes || AHEAD.frames <= frames;
        if self.role.is_none() || is_ahead || end <= self.told {
            return;
        }
        self.unheard = Ahead { bytes: bytes + (end - self.told), frames: frames + 1 };
        self.told = end;
        self.send(&FromKeeper::Wrote(end));
    }

    /// The client has heard; it may be told again.
    pub(crate) fn heard(&mut self, end: u64) {
        self.unheard = HEARD;
        self.tell(end);
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
        peer.role = Some(Role::Server);
        (1..100).for_each(|n| peer.tell(n * step));
        peer.flush().unwrap();
        let (mut frames, mut bytes) = (Frames::default(), [0; 4096]);
        let got = theirs.read(&mut bytes).unwrap();
        frames.push(&bytes[..got]);
        let said = std::iter::from_fn(|| frames.take().unwrap());
        said.map(|said| if let FromKeeper::Wrote(end) = said { end } else { panic!("{said:?}") })
            .collect()
    }

    #[test]
    fn what_a_client_said_before_it_went_is_heard_also_when_it_takes_nothing_any_more() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        // More than is read at once.
        let mut said = Vec::new();
        (0..1000).for_each(|n| ToKeeper::Took(n).encode(&mut said));
        std::io::Write::write_all(&mut theirs, &said).unwrap();
        drop(theirs);
        peer.send(&FromKeeper::Wrote(1));
        assert!(peer.flush().is_err(), "it is gone");
        let mut heard = Vec::new();
        while let Ok(messages) = peer.hear() {
            heard.extend(messages);
        }
        assert_eq!(heard, (0..1000).map(ToKeeper::Took).collect::<Vec<_>>());
    }

    #[test]
    fn a_client_is_told_ahead_of_little_and_once_of_much() {
        assert_eq!(told(1), (1..=u64::from(AHEAD.frames)).collect::<Vec<_>>());
        assert_eq!(told(AHEAD.bytes / 2), [AHEAD.bytes / 2, AHEAD.bytes]);
        assert_eq!(told(AHEAD.bytes), [AHEAD.bytes]);
        assert_eq!(told(1 << 20), [1 << 20]);
    }

    #[test]
    fn who_heard_is_told_what_is_new() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        peer.role = Some(Role::Server);
        let much = AHEAD.bytes;
        peer.tell(much);
        peer.tell(much + 1);
        peer.heard(much + 1);
        peer.flush().unwrap();
        let (mut frames, mut bytes) = (Frames::default(), [0; 4096]);
        let got = theirs.read(&mut bytes).unwrap();
        frames.push(&bytes[..got]);
        let said: Vec<FromKeeper> = std::iter::from_fn(|| frames.take().unwrap()).collect();
        assert_eq!(said, [FromKeeper::Wrote(much), FromKeeper::Wrote(much + 1)]);
    }

    #[test]
    fn who_asks_for_much_and_reads_nothing_is_overdue() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut peer = Peer::new(0, ours).unwrap();
        while !peer.is_overdue() {
            (0..1000).for_each(|n| peer.send(&FromKeeper::Wrote(n)));
            peer.flush().unwrap();
        }
    }
}
