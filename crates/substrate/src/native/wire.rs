//! Frames between us and a keeper, for whoever talks to one: the server, and those who look on.

use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::time::Duration;

use paned_model::frame::{Frames, FromKeeper, Hello, Message, Role, ToKeeper, VERSION, Welcome};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long a keeper may take to answer. One that does not is as good as gone.
const ANSWER: Duration = Duration::from_secs(5);

/// A connection to a keeper: frames over its socket.
#[derive(Debug)]
pub struct Wire {
    stream: UnixStream,
    frames: Frames,
    unsent: Vec<u8>,
}

impl Wire {
    pub(super) fn new(stream: StdStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::over(UnixStream::from_std(stream)?))
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
        let mut wire = Self::over(UnixStream::connect(socket).await?);
        wire.say(&ToKeeper::Hello(Hello { version: VERSION, role: Role::Viewer }));
        let said = wire.hear_until(|said| matches!(said, FromKeeper::Welcome(_))).await?;
        match said {
            FromKeeper::Welcome(welcome) => Ok((wire, welcome)),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }

    pub(crate) fn over(stream: UnixStream) -> Self {
        Self { stream, frames: Frames::default(), unsent: Vec::new() }
    }

    /// Puts a message on the way; [`Wire::hear`] sends it.
    pub fn say(&mut self, message: &ToKeeper) {
        message.encode(&mut self.unsent);
    }

    /// Sends what the socket takes without waiting.
    pub(super) fn flush_now(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.stream.try_write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
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
            while !self.unsent.is_empty() {
                self.stream.writable().await?;
                self.flush_now()?;
            }
            Ok(())
        };
        timeout(ANSWER, sent).await.unwrap_or(Err(ErrorKind::TimedOut.into()))
    }

    /// Waits until there is something to hear, or until what is unsent may be sent.
    async fn receive(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        let (mut from, to) = self.stream.split();
        let got = tokio::select! {
            // A read that does not fill its room is known to be the last: there is no second one to find out.
            got = from.read(&mut bytes) => got?,
            ready = to.writable(), if !self.unsent.is_empty() => return ready,
        };
        match got {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            got => {
                self.frames.push(&bytes[..got]);
                Ok(())
            }
        }
    }
}
