//! Frames between a client and a keeper. The client is the server or a viewer.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream as StdStream;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use paned_model::frame::{
    ClientRole, FrameDecoder, FrameMessage, FromKeeper, Hello, RequestId, ToKeeper, VERSION,
    Welcome,
};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::UnixStream;
use tokio::time::timeout;

use crate::UnixSocket;

/// How long a keeper may take to answer before it counts as gone.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to a keeper: frames over its socket.
#[derive(Debug)]
pub struct KeeperConn {
    socket: UnixSocket,
    frames: FrameDecoder,
    unsent: Vec<u8>,
    /// How many bytes were sent, ever.
    sent: u64,
    /// The requests in `unsent`, oldest first.
    requests: VecDeque<UnsentRequest>,
}

/// The position of a request in the stream of all bytes ever queued.
#[derive(Debug)]
struct UnsentRequest {
    id: RequestId,
    from: u64,
    length: u64,
}

impl KeeperConn {
    pub(super) fn new(stream: StdStream) -> io::Result<Self> {
        Ok(Self {
            socket: UnixSocket::new(stream)?,
            frames: FrameDecoder::default(),
            unsent: Vec::new(),
            sent: 0,
            requests: VecDeque::new(),
        })
    }

    /// Connects to a keeper as a viewer, and waits for its welcome.
    ///
    /// # Errors
    /// When no keeper is there, or it does not answer in time.
    pub async fn connect_viewer(socket: &Path) -> io::Result<Self> {
        Self::connect_with_welcome(socket).await.map(|(conn, _)| conn)
    }

    /// The same, with the keeper's welcome.
    ///
    /// # Errors
    /// As [`KeeperConn::connect_viewer`].
    pub async fn connect_with_welcome(socket: &Path) -> io::Result<(Self, Welcome)> {
        let mut conn = Self::from_stream(UnixStream::connect(socket).await?)?;
        conn.queue(&ToKeeper::Hello(Hello { version: VERSION, role: ClientRole::Viewer }));
        let message = conn.recv_until(|message| matches!(message, FromKeeper::Welcome(_))).await?;
        match message {
            FromKeeper::Welcome(welcome) => Ok((conn, welcome)),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }

    /// Checks that the peer runs as this user or root: only then is it a keeper.
    pub fn from_stream(stream: UnixStream) -> io::Result<Self> {
        let peer = stream.peer_cred()?.uid();
        if peer != 0 && peer != rustix::process::geteuid().as_raw() {
            return Err(ErrorKind::PermissionDenied.into());
        }
        Self::new(stream.into_std()?)
    }

    /// Queues a message; [`KeeperConn::recv`] sends it.
    pub fn queue(&mut self, message: &ToKeeper) {
        message.encode(&mut self.unsent);
    }

    /// Queues a request that [`KeeperConn::cancel`] can take back.
    pub(super) fn queue_request(&mut self, id: RequestId, message: &ToKeeper) {
        let from = self.sent + self.unsent.len() as u64;
        self.queue(message);
        let length = self.sent + self.unsent.len() as u64 - from;
        self.requests.push_back(UnsentRequest { id, from, length });
    }

    /// Removes a request from the queue if no byte of it was sent; returns whether it was removed.
    pub(super) fn cancel(&mut self, id: RequestId) -> bool {
        let is_it = |request: &UnsentRequest| request.id == id && self.sent <= request.from;
        let Some(index) = self.requests.iter().position(is_it) else {
            return false;
        };
        let Some(UnsentRequest { from, length, .. }) = self.requests.remove(index) else {
            return false;
        };
        let start = usize::try_from(from - self.sent).unwrap_or(usize::MAX);
        let end = usize::try_from(from - self.sent + length).unwrap_or(usize::MAX);
        self.unsent.drain(start..end);
        for later in self.requests.iter_mut().skip(index) {
            later.from -= length;
        }
        true
    }

    /// Sends as much as the socket takes without waiting.
    pub(super) fn flush_now(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.try_send(&self.unsent) {
                Ok(sent) => self.has_sent(sent),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn has_sent(&mut self, count: usize) {
        self.unsent.drain(..count);
        self.sent += count as u64;
        while self.requests.pop_front_if(|first| first.from < self.sent).is_some() {}
    }

    /// The next message; sends what is queued meanwhile. Cancel-safe.
    ///
    /// # Errors
    /// When the keeper goes away, or violates the protocol.
    pub async fn recv(&mut self) -> io::Result<FromKeeper> {
        loop {
            if let Some(message) = self.frames.take().map_err(io::Error::other)? {
                return Ok(message);
            }
            if self.flush_now().is_err() {
                // The keeper reads no more. Messages that it sent before are still delivered; then
                // comes end of file.
                self.unsent.clear();
                self.requests.clear();
            }
            self.receive().await?;
        }
    }

    /// Receives until a message matches, and returns it. Messages before it are dropped; later
    /// messages repeat what they said.
    ///
    /// # Errors
    /// When the keeper goes away, or does not send it in time.
    pub async fn recv_until(
        &mut self,
        mut is_it: impl FnMut(&FromKeeper) -> bool,
    ) -> io::Result<FromKeeper> {
        let received = async {
            loop {
                let message = self.recv().await?;
                if is_it(&message) {
                    return Ok(message);
                }
            }
        };
        timeout(REPLY_TIMEOUT, received).await.unwrap_or(Err(ErrorKind::TimedOut.into()))
    }

    /// Sends all that is queued.
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
                poll_fn(|cx| self.socket.poll_writable(cx)).await?;
            }
        };
        timeout(REPLY_TIMEOUT, sent).await.unwrap_or(Err(ErrorKind::TimedOut.into()))
    }

    /// Waits until there is something to read, or until what is unsent can be sent.
    async fn receive(&mut self) -> io::Result<()> {
        let Self { socket, frames, unsent, .. } = self;
        let is_full = !unsent.is_empty();
        poll_fn(|cx| {
            if is_full && socket.poll_writable(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            poll_recv(socket, frames, cx)
        })
        .await
    }
}

/// Reads what is available. A read that does not fill the buffer was the last one: no second read
/// is needed to find out.
fn poll_recv(
    socket: &mut UnixSocket,
    frames: &mut FrameDecoder,
    cx: &mut Context<'_>,
) -> Poll<io::Result<()>> {
    // Not zeroed first: most polls find nothing to read.
    let mut bytes = [MaybeUninit::uninit(); 4096];
    let mut bytes = ReadBuf::uninit(&mut bytes);
    ready!(Pin::new(socket).poll_read(cx, &mut bytes))?;
    if bytes.filled().is_empty() {
        return Poll::Ready(Err(ErrorKind::UnexpectedEof.into()));
    }
    frames.push(bytes.filled());
    Poll::Ready(Ok(()))
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
        let mut conn = KeeperConn::from_stream(ours).unwrap();
        let mut expect = Vec::new();
        for id in 0..MUCH / (64 << 10) {
            let message = ToKeeper::Input(id as u64, vec![b'x'; 64 << 10]);
            message.encode(&mut expect);
            conn.queue(&message);
        }
        let mut received = vec![0; expect.len()];
        let reading = async {
            keeper.read_exact(&mut received).await.unwrap();
            let mut encoded = Vec::new();
            FromKeeper::TapeEnd(7).encode(&mut encoded);
            keeper.write_all(&encoded).await.unwrap();
        };
        let (answer, ()) = tokio::join!(timeout(REPLY_TIMEOUT, conn.recv()), reading);
        assert_eq!(answer.unwrap().unwrap(), FromKeeper::TapeEnd(7));
        assert!(received == expect && conn.unsent.is_empty());
    }

    #[tokio::test]
    async fn what_was_not_sent_can_be_taken_back_and_the_rest_stays_whole() {
        let (ours, mut keeper) = UnixStream::pair().unwrap();
        let mut conn = KeeperConn::from_stream(ours).unwrap();
        let input = |id: u64| ToKeeper::Input(id, vec![b'x'; 64 << 10]);
        for id in 0..64 {
            conn.queue_request(id, &input(id));
        }
        conn.flush_now().unwrap();
        let taken: Vec<u64> = (0..64).filter(|id| id % 3 != 0 && conn.cancel(*id)).collect();
        assert!(!conn.cancel(0) && !conn.cancel(taken[0]), "sent, and taken already");
        assert!(30 < taken.len() && !taken.contains(&1), "{taken:?}");
        conn.queue(&ToKeeper::Ack(7));
        let receiving = async {
            let (mut frames, mut received) = (FrameDecoder::default(), Vec::new());
            let mut bytes = vec![0; 64 << 10];
            while received.last() != Some(&ToKeeper::Ack(7)) {
                let got = keeper.read(&mut bytes).await.unwrap();
                frames.push(&bytes[..got]);
                received.extend(std::iter::from_fn(|| frames.take::<ToKeeper>().unwrap()));
            }
            received
        };
        let (sent, received) = tokio::join!(conn.flush(), receiving);
        sent.unwrap();
        let mut expect: Vec<_> = (0..64).filter(|id| !taken.contains(id)).map(input).collect();
        expect.push(ToKeeper::Ack(7));
        assert!(received == expect);
    }

    #[tokio::test]
    async fn who_hears_nothing_is_waited_for_without_a_look() {
        let (ours, _keeper) = UnixStream::pair().unwrap();
        let mut conn = KeeperConn::from_stream(ours).unwrap();
        conn.queue(&ToKeeper::Input(1, vec![b'x'; MUCH]));
        let mut looks = 0;
        let hearing = async { conn.recv().await.map(drop) };
        let mut hearing = std::pin::pin!(hearing);
        let counted = std::future::poll_fn(|cx| {
            looks += 1;
            hearing.as_mut().poll(cx)
        });
        assert!(timeout(Duration::from_millis(200), counted).await.is_err());
        assert!(looks < 10, "{looks} looks");
    }
}
