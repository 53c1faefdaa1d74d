//! A short connection to a keeper in the role of a viewer. It never is the pane's server, so it
//! does not evict the one that is, and a program never waits for it.

use std::io::ErrorKind;
use std::time::Duration;

use paned_keeper::tape::TapeReader;
use paned_model::frame::{
    FromKeeper, KeeperResponse, Kill, RefusalReason, RequestId, Resize, ToKeeper,
};
use paned_model::{PaneId, Size};
use tokio::time::{Instant, sleep, timeout};

use crate::Error;
use paned_backend::native::{KeeperConn, StateDir};

/// How long a keeper may take to answer.
const REPLY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait before a keeper that refused the connection is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// How long a program may take to exit when asked, and how long we wait for the response.
const GRACE: Duration = Duration::from_secs(2);
const EXIT_TIMEOUT: Duration = Duration::from_secs(15);

/// A connection to a keeper as a viewer.
#[derive(Debug)]
pub(super) struct ViewerConn {
    conn: KeeperConn,
    requests: RequestId,
    held: bool,
    exited: bool,
    printed: bool,
}

impl ViewerConn {
    /// Connects to a pane's keeper; `None` if there is none. A live keeper that refuses the
    /// connection is an error.
    pub(super) async fn connect(state_dir: &StateDir, id: &PaneId) -> Result<Option<Self>, Error> {
        Self::connect_within(state_dir, id, REPLY_TIMEOUT).await
    }

    /// The same, within this time. A keeper that refuses the connection may be about to exit, or
    /// have a free slot in a moment.
    async fn connect_within(
        state_dir: &StateDir,
        id: &PaneId,
        limit: Duration,
    ) -> Result<Option<Self>, Error> {
        let until = Instant::now() + limit;
        loop {
            match KeeperConn::connect_viewer(&state_dir.socket(id)).await {
                Ok(conn) => return Ok(Some(Self::new(conn))),
                Err(error) if error.kind() == ErrorKind::TimedOut => return Err(timed_out()),
                Err(_) if !has_live_keeper(state_dir, id) => return Ok(None),
                Err(_) if Instant::now() < until => sleep(RETRY_INTERVAL).await,
                Err(_) => {
                    let sentence = "the pane's keeper is alive but does not accept connections";
                    return Err(Error::Failed(sentence.to_owned()));
                }
            }
        }
    }

    fn new(conn: KeeperConn) -> Self {
        Self { conn, requests: 0, held: false, exited: false, printed: false }
    }

    /// Waits until the program has printed more; false when it has ended.
    pub(super) async fn printed(&mut self) -> bool {
        while !self.printed && !self.exited {
            match self.conn.recv().await {
                Ok(message) => self.update(&message),
                Err(_) => return false,
            }
        }
        self.printed = false;
        // The keeper notifies again only after this. The offset of a viewer means nothing.
        self.conn.queue(&ToKeeper::Ack(0));
        !self.exited
    }

    /// Types bytes, each piece in a write of its own. The keeper responds when a piece was written,
    /// or is queued for a program that does not read; only then the next one is sent.
    pub(super) async fn write(&mut self, pieces: &[&[u8]]) -> Result<(), Error> {
        for bytes in pieces.iter().filter(|bytes| !bytes.is_empty()) {
            let response =
                self.request(|id| ToKeeper::Input(id, bytes.to_vec()), REPLY_TIMEOUT).await?;
            check(response.as_ref())?;
        }
        Ok(())
    }

    /// Sets the terminal's size, even if a client holds it.
    pub(super) async fn resize(&mut self, size: Size) -> Result<(), Error> {
        let resize = |id| ToKeeper::Resize(Resize { id, size, holder: None, force: true });
        let done = self.request(resize, REPLY_TIMEOUT).await?;
        check(done.as_ref())
    }

    /// Whether a client holds the size.
    pub(super) async fn is_held(&mut self) -> Result<bool, Error> {
        // The keeper sends the holder right after the welcome, and so before this response.
        self.request(|id| ToKeeper::Input(id, Vec::new()), REPLY_TIMEOUT).await?;
        Ok(self.held)
    }

    /// Kills the program and all that it started.
    pub(super) async fn kill(&mut self) -> Result<(), Error> {
        let grace_ms = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
        let response =
            self.request(|id| ToKeeper::Kill(Kill { id, grace_ms }), EXIT_TIMEOUT).await?;
        let survivors = response.map(|response| response.survivors).unwrap_or_default();
        if survivors.is_empty() {
            return self.wait_for_end().await;
        }
        let names: Vec<String> =
            survivors.iter().map(|left| format!("{} ({})", left.command, left.pid)).collect();
        Err(Error::Failed(format!("cannot stop these processes: {}", names.join(", "))))
    }

    /// Waits until the exit record is on the tape: the response to a kill may come a moment before.
    async fn wait_for_end(&mut self) -> Result<(), Error> {
        let ended = async {
            while !self.exited {
                match self.conn.recv().await {
                    Ok(message) => self.update(&message),
                    Err(_) => return,
                }
            }
        };
        timeout(REPLY_TIMEOUT, ended).await.map_err(|_| timed_out())
    }

    fn update(&mut self, message: &FromKeeper) {
        match message {
            FromKeeper::SizeHolder(holder) => self.held = holder.holder.is_some(),
            FromKeeper::Exited(_) => self.exited = true,
            FromKeeper::TapeEnd(_) => self.printed = true,
            FromKeeper::Welcome(_)
            | FromKeeper::SpawnFailed(_)
            | FromKeeper::Resized(_)
            | FromKeeper::Response(_)
            | FromKeeper::Typed(_)
            | FromKeeper::KeysPressed(_)
            | FromKeeper::ServerPresent(_) => {}
        }
    }

    /// The response to one request; `None` if the keeper closed the connection.
    async fn request(
        &mut self,
        request: impl FnOnce(RequestId) -> ToKeeper,
        limit: Duration,
    ) -> Result<Option<KeeperResponse>, Error> {
        self.requests += 1;
        let id = self.requests;
        self.conn.queue(&request(id));
        let received = async {
            loop {
                match self.conn.recv().await {
                    Ok(FromKeeper::Response(response)) if response.id == id => {
                        return Some(response);
                    }
                    Ok(message) => self.update(&message),
                    Err(_) => return None,
                }
            }
        };
        timeout(limit, received).await.map_err(|_| timed_out_after(limit))
    }
}

fn has_live_keeper(state_dir: &StateDir, id: &PaneId) -> bool {
    TapeReader::open(&state_dir.tape(id)).is_ok_and(|tape| tape.has_live_keeper())
}

fn timed_out() -> Error {
    timed_out_after(REPLY_TIMEOUT)
}

fn timed_out_after(limit: Duration) -> Error {
    Error::Timeout { what: "a reply of a pane's keeper", limit }
}

/// The error that a keeper's response means, if any.
fn check(response: Option<&KeeperResponse>) -> Result<(), Error> {
    let gone = || Error::SessionNotFound("the pane's program has just exited".to_owned());
    match response.map(|response| response.refused) {
        Some(None) => Ok(()),
        None | Some(Some(RefusalReason::Gone)) => Err(gone()),
        Some(Some(RefusalReason::Full)) => {
            Err(Error::Failed("the program does not read its input".to_owned()))
        }
        Some(Some(RefusalReason::TimedOut | RefusalReason::Cancelled)) => Err(timed_out()),
        Some(Some(
            RefusalReason::Held
            | RefusalReason::Failed
            | RefusalReason::Stale
            | RefusalReason::Unread,
        )) => Err(Error::Failed("cannot set the terminal's modes".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::{MIN_CAPACITY, TapeWriter};
    use paned_model::Time;
    use paned_model::frame::{FrameDecoder, FrameMessage as _};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use tokio::net::{UnixListener, UnixStream};

    use super::*;

    fn viewer() -> (ViewerConn, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (ViewerConn::new(KeeperConn::from_stream(ours).unwrap()), theirs)
    }

    async fn receive(stream: &mut UnixStream) -> Vec<ToKeeper> {
        let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 4096]);
        let got = stream.read(&mut bytes).await.unwrap();
        frames.push(&bytes[..got]);
        std::iter::from_fn(|| frames.take().unwrap()).collect()
    }

    async fn answer(stream: &mut UnixStream, done: KeeperResponse) {
        let mut bytes = Vec::new();
        FromKeeper::Response(done).encode(&mut bytes);
        stream.write_all(&bytes).await.unwrap();
    }

    #[tokio::test]
    async fn a_keeper_that_turns_us_away_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (state_dir, id) = (StateDir::new(folder.path()), "a".parse().unwrap());
        std::fs::create_dir_all(folder.path().join("panes/a")).unwrap();
        let tape = TapeWriter::create(&state_dir.tape(&id), MIN_CAPACITY, Time(1)).unwrap();
        let listener = UnixListener::bind(state_dir.socket(&id)).unwrap();
        let turn_away = async { drop(listener.accept().await.unwrap()) };
        let (viewer, ()) =
            tokio::join!(ViewerConn::connect_within(&state_dir, &id, Duration::ZERO), turn_away);
        assert!(matches!(viewer, Err(Error::Failed(_))), "{viewer:?}");
        // This one leaves, and closes its connections first.
        let leave = async {
            drop(listener.accept().await.unwrap());
            // not a wait: it takes a moment to leave.
            sleep(RETRY_INTERVAL / 2).await;
            drop((tape, listener));
        };
        let (viewer, ()) = tokio::join!(ViewerConn::connect(&state_dir, &id), leave);
        assert!(matches!(viewer, Ok(None)), "{viewer:?}");
    }

    #[tokio::test]
    async fn a_piece_is_sent_when_the_one_before_was_written() {
        let (mut viewer, mut keeper) = viewer();
        let received = async {
            let mut received = Vec::new();
            for id in 1..=2 {
                received.push(receive(&mut keeper).await);
                answer(&mut keeper, KeeperResponse::ok(id)).await;
            }
            received
        };
        let (written, received) = tokio::join!(viewer.write(&[b"text", b"", b"\r"]), received);
        assert_eq!(written, Ok(()));
        let input = |id, bytes: &[u8]| vec![ToKeeper::Input(id, bytes.to_vec())];
        assert_eq!(received, [input(1, b"text"), input(2, b"\r")]);
    }

    #[tokio::test]
    async fn what_a_keeper_refuses_has_a_name() {
        for (refused, says) in [
            (RefusalReason::Gone, "session not found: the pane's program has just exited"),
            (RefusalReason::Full, "the program does not read its input"),
        ] {
            let (mut viewer, mut keeper) = viewer();
            let done = KeeperResponse { refused: Some(refused), ..KeeperResponse::ok(1) };
            let (written, ()) =
                tokio::join!(viewer.write(&[b"x", b"y"]), answer(&mut keeper, done));
            assert_eq!(written.unwrap_err().to_string(), says);
            assert_eq!(receive(&mut keeper).await.len(), 1, "nothing follows");
        }
        let (mut viewer, keeper) = viewer();
        drop(keeper);
        let gone = viewer.write(&[b"x"]).await;
        assert!(matches!(gone, Err(Error::SessionNotFound(_))), "{gone:?}");
    }

    #[tokio::test]
    async fn a_kill_is_over_when_the_end_is_on_the_tape() {
        let (mut viewer, mut keeper) = viewer();
        answer(&mut keeper, KeeperResponse::ok(1)).await;
        let mut kill = Box::pin(viewer.kill());
        assert!(timeout(Duration::ZERO, &mut kill).await.is_err(), "it was answered too early");
        let exit = paned_model::Exit::Signal(15);
        let at = paned_model::Time(1);
        let ending =
            paned_model::frame::ExitRecord { exit: Some(exit), killed: true, timed_out: false, at };
        let mut bytes = Vec::new();
        FromKeeper::Exited(ending).encode(&mut bytes);
        keeper.write_all(&bytes).await.unwrap();
        assert_eq!(kill.await, Ok(()));
    }

    #[tokio::test]
    async fn survivors_are_named() {
        let (mut viewer, mut keeper) = viewer();
        let left = paned_model::frame::Survivor { pid: 7, command: "stuck".to_owned() };
        let done = KeeperResponse { survivors: vec![left], ..KeeperResponse::ok(1) };
        let (killed, ()) = tokio::join!(viewer.kill(), answer(&mut keeper, done));
        assert_eq!(killed.unwrap_err().to_string(), "cannot stop these processes: stuck (7)");
    }
}
