//! Many connections that receive the same events, read by one thread that counts them.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

use crate::error::{Error, IoContext};

/// Each event contains it exactly once, and nothing else does: not the head of a WebSocket frame
/// either, where `~` would mean that a length of two bytes follows.
pub(crate) const MARK: u8 = b'^';
/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The connections, and how much each has received.
pub(crate) struct SubscriberPool {
    listeners: Vec<PoolSubscriber>,
    buffer: Vec<u8>,
}

struct PoolSubscriber {
    stream: TcpStream,
    received: u64,
}

impl SubscriberPool {
    pub(crate) fn new(streams: Vec<TcpStream>) -> Result<Self, Error> {
        for stream in &streams {
            stream.set_nonblocking(true).doing("set up a connection")?;
        }
        let listeners =
            streams.into_iter().map(|stream| PoolSubscriber { stream, received: 0 }).collect();
        Ok(Self { listeners, buffer: vec![0; 256 << 10] })
    }

    /// Reads until each has received this many.
    ///
    /// # Errors
    /// When one receives more, or does not receive as many in time.
    pub(crate) fn receive_each(&mut self, count: u64) -> Result<(), Error> {
        let begun = Instant::now();
        while self.listeners.iter().any(|listener| listener.received < count) {
            if PATIENCE < begun.elapsed() {
                let least = self.listeners.iter().map(|listener| listener.received).min();
                let found = format!("{least:?} of {count} within {} s", PATIENCE.as_secs());
                return Err(Error::Unexpected { what: "what the slowest listener heard", found });
            }
            self.listen()?;
        }
        match self.listeners.iter().map(|listener| listener.received).max() {
            Some(most) if most != count => {
                let found = format!("{most} of {count}");
                Err(Error::Unexpected { what: "what a listener heard", found })
            }
            _ => Ok(()),
        }
    }

    fn listen(&mut self) -> Result<(), Error> {
        let limit = Timespec { tv_sec: 1, tv_nsec: 0 };
        let fds = self.listeners.iter().map(|one| PollFd::new(&one.stream, PollFlags::IN));
        let mut fds: Vec<_> = fds.collect();
        retry_on_intr(|| poll(&mut fds, Some(&limit))).doing("wait for subscribers")?;
        let ready: Vec<_> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let listeners = self.listeners.iter_mut().zip(ready).filter(|(_, ready)| *ready);
        for (listener, _) in listeners {
            listener.receive(&mut self.buffer)?;
        }
        Ok(())
    }
}

impl PoolSubscriber {
    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        match self.stream.read(buffer) {
            Ok(0) => Err(Error::Unexpected { what: "a listener", found: "its end".into() }),
            Ok(got) => {
                self.received += buffer[..got].iter().filter(|byte| **byte == MARK).count() as u64;
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error).doing("hear what is told"),
        }
    }
}
