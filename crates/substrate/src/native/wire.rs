//! Frames between us and a keeper, for whoever talks to one: the server, and those who look on.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use paned_keeper::fds::Along;
use paned_model::frame::{Frames, FromKeeper, Hello, Message, Role, ToKeeper, VERSION, Welcome};
use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::Socket;

/// How long a keeper may take to answer. One that does not is as good as gone.
const ANSWER: Duration = Duration::from_secs(5);

/// A connection to a keeper: frames over its socket.
#[derive(Debug)]
pub struct Wire {
    socket: Socket<AsyncFd<OwnedFd>>,
    frames: Frames,
    unsent: Vec<u8>,
    /// What came with the last of what was heard.
    along: Option<OwnedFd>,
}

impl Wire {
    pub(super) fn new(stream: StdStream) -> io::Result<Self> {
        let (frames, unsent, along) = (Frames::default(), Vec::new(), None);
        Ok(Self { socket: Socket::for_more(stream)?, frames, unsent, along })
    }

    /// Comes to a keeper as somebody who looks on, and waits for its welcome.
    ///
    /// # Errors
    /// When nobody is there, or does not answer in time.
    pub async fn visit(socket: &Path) -> io::Result<Self> {
        Self::meet(socket).await.map(|(wire, _)| wire)
    }

    /// The same, with what the keeper says of itself.
    ///
    /// # Errors
    /// As [`Wire::visit`].
    pub async fn meet(socket: &Path) -> io::Result<(Self, Welcome)> {
        let mut wire = Self::over(UnixStream::connect(socket).await?)?;
        wire.say(&ToKeeper::Hello(Hello { version: VERSION, role: Role::Viewer }));
        let said = wire.hear_until(|said| matches!(said, FromKeeper::Welcome(_))).await?;
        match said {
            FromKeeper::Welcome(welcome) => Ok((wire, welcome)),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }

    pub(crate) fn over(stream: UnixStream) -> io::Result<Self> {
        Self::new(stream.into_std()?)
    }

    /// Puts a message on the way; [`Wire::hear`] sends it.
    pub fn say(&mut self, message: &ToKeeper) {
        message.encode(&mut self.unsent);
    }

    /// Sends what the socket takes without waiting.
    pub(super) fn flush_now(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.try_send(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The next message; sends meanwhile. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// When the keeper goes away, or does not speak our language.
    pub async fn hear(&mut self) -> io::Result<FromKeeper> {
        loop {
            if let Some(message) = self.frames.take().map_err(io::Error::other)? {
                return Ok(message);
            }
            if self.flush_now().is_err() {
                // Nobody hears us any more. What was said before still counts, and the end comes after it.
                self.unsent.clear();
            }
            self.receive().await?;
        }
    }

    /// Hears on until this is said, and answers it. What comes before it, a later word tells again.
    ///
    /// # Errors
    /// When the keeper goes away, or does not say it in time.
    pub async fn hear_until(
        &mut self,
        mut is_it: impl FnMut(&FromKeeper) -> bool,
    ) -> io::Result<FromKeeper> {
        let heard = async {
            loop {
                let said = self.hear().await?;
                if is_it(&said) {
                    return Ok(said);
                }
            }
        };
        timeout(ANSWER, heard).await.unwrap_or(Err(ErrorKind::TimedOut.into()))
    }

    /// Sends all that is on the way.
    ///
    /// # Errors
    /// When the keeper goes away, or takes nothing for too long.
    pub async fn flush(&mut self) -> io::Result<()> {
        let sent = async {
            loop {
                self.flush_now()?;
                if self.unsent.is_empty() {
                    return Ok(());
                }
                poll_fn(|cx| self.socket.poll_room(cx)).await?;
            }
        };
        timeout(ANSWER, sent).await.unwrap_or(Err(ErrorKind::TimedOut.into()))
    }

    /// The descriptor that has come, if it was not taken yet.
    pub(super) fn take_along(&mut self) -> Option<OwnedFd> {
        self.along.take()
    }

    /// Waits until there is something to hear, or until what is unsent may be sent.
    async fn receive(&mut self) -> io::Result<()> {
        poll_fn(|cx| {
            if !self.unsent.is_empty() && self.socket.poll_room(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            self.poll_hear(cx)
        })
        .await
    }

    /// Reads what is there.
    fn poll_hear(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, frames, along, .. } = self;
        let got = ready!(socket.poll_receive(cx, |bytes, came| {
            if let Along::Descriptor(fd) = came {
                *along = Some(fd);
            }
            frames.push(bytes);
            bytes.len()
        }))?;
        Poll::Ready(if got == 0 { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// More than any socket holds.
    const MUCH: usize = 4 << 20;

    #[tokio::test]
    async fn what_does_not_fit_is_sent_as_soon_as_there_is_room() {
        let (ours, mut keeper) = UnixStream::pair().unwrap();
        let mut wire = Wire::over(ours).unwrap();
        let mut expect = Vec::new();
        for id in 0..MUCH / (64 << 10) {
            let message = ToKeeper::Input(id as u64, vec![b'x'; 64 << 10]);
            message.encode(&mut expect);
            wire.say(&message);
        }
        let mut heard = vec![0; expect.len()];
        let reading = async {
            keeper.read_exact(&mut heard).await.unwrap();
            let mut said = Vec::new();
            FromKeeper::Wrote(7).encode(&mut said);
            keeper.write_all(&said).await.unwrap();
        };
        let (said, ()) = tokio::join!(timeout(ANSWER, wire.hear()), reading);
        assert_eq!(said.unwrap().unwrap(), FromKeeper::Wrote(7));
        assert!(heard == expect && wire.unsent.is_empty());
    }

    #[tokio::test]
    async fn who_hears_nothing_is_waited_for_without_a_look() {
        let (ours, _keeper) = UnixStream::pair().unwrap();
        let mut wire = Wire::over(ours).unwrap();
        wire.say(&ToKeeper::Input(1, vec![b'x'; MUCH]));
        let mut looks = 0;
        let hearing = async { wire.hear().await.map(drop) };
        let mut hearing = std::pin::pin!(hearing);
        let counted = std::future::poll_fn(|cx| {
            looks += 1;
            hearing.as_mut().poll(cx)
        });
        assert!(timeout(Duration::from_millis(200), counted).await.is_err());
        assert!(looks < 10, "{looks} looks");
    }
}
