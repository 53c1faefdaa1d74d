//! Frames between us and a pane's keeper.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;

use paned_model::frame::{Frames, FromKeeper, Hello, Message, Role, ToKeeper, VERSION};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long a keeper may take to answer. One that does not is as good as gone.
const ANSWER: Duration = Duration::from_secs(5);

/// A connection to a keeper, as somebody who looks on.
pub(super) struct Wire {
    stream: UnixStream,
    frames: Frames,
    unsent: Vec<u8>,
}

impl Wire {
    /// Connects to a keeper and waits for its welcome.
    ///
    /// # Errors
    /// When nobody is there, or does not answer in time.
    pub(super) async fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket).await?;
        let mut wire = Self { stream, frames: Frames::default(), unsent: Vec::new() };
        wire.say(&ToKeeper::Hello(Hello { version: VERSION, role: Role::Viewer }));
        wire.hear_until(|said| matches!(said, FromKeeper::Welcome(_))).await?;
        Ok(wire)
    }

    /// Puts a message on the way; hearing sends it.
    pub(super) fn say(&mut self, message: &ToKeeper) {
        message.encode(&mut self.unsent);
    }

    /// Hears on until this is said, and answers it. What comes before it, a later word tells again.
    ///
    /// # Errors
    /// When the keeper goes away, or does not say it in time.
    pub(super) async fn hear_until(
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

    /// The next message; sends meanwhile. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// When the keeper goes away, or does not speak our language.
    pub(super) async fn hear(&mut self) -> io::Result<FromKeeper> {
        loop {
            if let Some(message) = self.frames.take().map_err(io::Error::other)? {
                return Ok(message);
            }
            self.send()?;
            let unsent = !self.unsent.is_empty();
            let interest =
                if unsent { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
            self.stream.ready(interest).await?;
            self.receive()?;
        }
    }

    /// Sends all that is on the way.
    ///
    /// # Errors
    /// When the keeper goes away, or takes nothing for too long.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        let sent = async {
            while !self.unsent.is_empty() {
                self.stream.writable().await?;
                self.send()?;
            }
            Ok(())
        };
        timeout(ANSWER, sent).await.unwrap_or(Err(ErrorKind::TimedOut.into()))
    }

    /// Sends what the socket takes without waiting.
    fn send(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.stream.try_write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        match self.stream.try_read(&mut bytes) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(got) => {
                self.frames.push(&bytes[..got]);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }
}
