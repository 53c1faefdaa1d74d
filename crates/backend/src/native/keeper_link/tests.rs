//! Tests of `keeper_link`.

use paned_keeper::tape::{MIN_CAPACITY, TapeReader, TapeWriter};
use paned_model::Time;
use paned_model::frame::{ExitRecord, FrameDecoder, FrameMessage, InputGuard, SizeHolder, VERSION};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::*;

/// A handle to a simulated keeper, over a tape with five bytes.
struct Played {
    _folder: tempfile::TempDir,
    handle: PaneHandle,
    keeper: UnixStream,
    /// Its owner counts as the live keeper.
    tape: Option<TapeWriter>,
}

fn play() -> Played {
    play_with_window(8)
}

fn play_with_window(frames: u32) -> Played {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape");
    let mut tape = TapeWriter::create(&path, MIN_CAPACITY, Time(1)).unwrap();
    tape.append(b"hello", Time(1)).unwrap();
    let (ours, keeper) = UnixStream::pair().unwrap();
    let welcome = Welcome {
        version: VERSION,
        keeper: 1,
        pid: 2,
        started: Time(1),
        typed: Some(0),
        served: true,
        frames,
        guarded: Some(7),
    };
    let output = Arc::new(TapeReader::open(&path).unwrap());
    let mut handle = start(KeeperConn::from_stream(ours).unwrap(), welcome, output);
    tokio::spawn(std::mem::take(&mut handle.driver));
    Played { _folder: folder, handle, keeper, tape: Some(tape) }
}

impl Played {
    /// Requests a write behind a guard on the tape's end; returns what the keeper receives, if
    /// anything, and the reply.
    async fn guarded(
        &mut self,
        end: u64,
        done: KeeperResponse,
    ) -> (Option<ToKeeper>, Result<InputReport, RefusalReason>) {
        let guard = InputGuard { end: Some(end), typed: None };
        let (reply, answer) = oneshot::channel();
        let command = PaneCommand::GuardedInput(b"x".to_vec(), guard, reply);
        self.handle.commands.send(command).await.unwrap();
        let mut answer = std::pin::pin!(answer);
        let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 256]);
        tokio::select! {
            answer = &mut answer => (None, answer.unwrap()),
            got = self.keeper.read(&mut bytes) => {
                frames.push(&bytes[..got.unwrap()]);
                let received = frames.take().unwrap();
                let mut encoded = Vec::new();
                FromKeeper::Response(done).encode(&mut encoded);
                self.keeper.write_all(&encoded).await.unwrap();
                (received, answer.await.unwrap())
            }
        }
    }
}

#[tokio::test]
async fn the_keeper_decides_whether_a_guard_holds() {
    let mut played = play();
    let moved = KeeperResponse {
        refused: Some(RefusalReason::Stale),
        typed: Some(4),
        ..KeeperResponse::ok(1)
    };
    let (received, answer) = played.guarded(4, moved).await;
    let guard = InputGuard { end: Some(4), typed: None };
    assert_eq!(received, Some(ToKeeper::GuardedInput(1, guard, b"x".to_vec())));
    assert_eq!(answer, Err(RefusalReason::Stale));
    assert_eq!(*played.handle.typed.borrow(), Some(4), "the answer says how often");
    assert_eq!(played.handle.output_flag.guarded(), Some(7), "the keeper had done so many before");
    let done = KeeperResponse { guarded: Some(8), ..KeeperResponse::ok(2) };
    let (_, answer) = played.guarded(5, done).await;
    assert_eq!(answer, Ok(InputReport { long_line: false, guard_atomic: true }));
    assert_eq!(played.handle.output_flag.guarded(), Some(8));
}

#[tokio::test]
async fn parts_are_sent_in_one_request() {
    let mut played = play();
    let (reply, _answer) = oneshot::channel();
    let parts = vec![b"ls".to_vec(), b"\r".to_vec()];
    played.handle.commands.send(PaneCommand::Input(parts.clone(), reply)).await.unwrap();
    let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 256]);
    let got = played.keeper.read(&mut bytes).await.unwrap();
    frames.push(&bytes[..got]);
    assert_eq!(frames.take().unwrap(), Some(ToKeeper::InputParts(1, parts)));
}

impl Played {
    async fn types(&self, bytes: usize) -> Result<InputReport, RefusalReason> {
        let (reply, answer) = oneshot::channel();
        let parts = vec![vec![b'x'; bytes]];
        self.handle.commands.send(PaneCommand::Input(parts, reply)).await.unwrap();
        answer.await.unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_does_not_answer_is_given_up_on_until_it_speaks() {
    let mut played = play();
    let before = Instant::now();
    // More than its socket takes: the second is never sent.
    let late = tokio::join!(played.types(1 << 20), played.types(1), played.types(1));
    let back = Err(RefusalReason::Cancelled);
    assert_eq!(late, (Err(RefusalReason::TimedOut), back, back));
    assert!(REPLY_TIMEOUT <= before.elapsed() && before.elapsed() < 2 * REPLY_TIMEOUT);
    assert!(played.handle.output_flag.is_unresponsive());
    let size = SizeRequest { size: Size::default(), holder: None, force: false };
    let (reply, resized) = oneshot::channel();
    played.handle.commands.send(PaneCommand::Resize(size, reply)).await.unwrap();
    let resized = resized.await.unwrap();
    assert_eq!(resized.map_err(|not| not.why), Err(RefusalReason::Cancelled));
    // The keeper reads on: what was sent arrives, and a probe; what was cancelled does not.
    let (mut frames, mut bytes, mut received) =
        (FrameDecoder::default(), vec![0; 1 << 16], Vec::new());
    while received.len() < 2 {
        let got = played.keeper.read(&mut bytes).await.unwrap();
        frames.push(&bytes[..got]);
        received.extend(std::iter::from_fn(|| frames.take::<ToKeeper>().unwrap()));
    }
    assert!(matches!(&received[..], [ToKeeper::Input(1, text), ToKeeper::Input(4, none)]
        if text.len() == 1 << 20 && none.is_empty()));
    let mut encoded = Vec::new();
    FromKeeper::Response(KeeperResponse::ok(4)).encode(&mut encoded);
    played.keeper.write_all(&encoded).await.unwrap();
    while played.handle.output_flag.is_unresponsive() {
        tokio::task::yield_now().await;
    }
}

impl Played {
    /// The keeper reports this many bytes this many times; returns after each whether an
    /// acknowledgement is due.
    async fn due(&mut self, step: u64, times: usize) -> Vec<bool> {
        let mut due = Vec::new();
        for n in 1..=times {
            let mut encoded = Vec::new();
            FromKeeper::TapeEnd(n as u64 * step).encode(&mut encoded);
            self.keeper.write_all(&encoded).await.unwrap();
            assert_eq!(self.handle.events.recv().await, Some(PaneEvent::Printed));
            self.handle.output_flag.heard();
            due.push(self.handle.output_flag.is_ack_due());
        }
        due
    }
}

#[tokio::test]
async fn a_keeper_that_tells_ahead_is_to_hear_now_and_then_what_was_taken() {
    assert_eq!(play().due(1, 5).await, [false, false, false, true, true]);
    assert_eq!(play_with_window(4).due(1, 3).await, [false, true, true]);
    assert_eq!(play().due(NOTIFY_WINDOW.bytes / 2, 1).await, [true]);
    let mut played = play();
    played.due(1, 4).await;
    played.handle.commands.send(PaneCommand::Ack(4)).await.unwrap();
    let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 256]);
    let got = played.keeper.read(&mut bytes).await.unwrap();
    frames.push(&bytes[..got]);
    assert_eq!(frames.take(), Ok(Some(ToKeeper::Ack(4))));
    assert!(!played.handle.output_flag.is_ack_due());
    assert_eq!(played.due(1, 4).await, [false, false, false, true], "it is counted anew");
}

#[tokio::test]
async fn a_keeper_that_lets_us_go_is_lost_only_if_it_is_gone() {
    for (lives, expected) in [(true, PaneEvent::Detached), (false, PaneEvent::Lost)] {
        let Played { mut handle, keeper, tape, .. } = play();
        let tape = tape.filter(|_| lives);
        drop(keeper);
        assert_eq!(handle.events.recv().await, Some(expected));
        assert_eq!(handle.events.recv().await, None);
        drop(tape);
    }
}

#[tokio::test]
async fn an_end_is_told_however_often_it_was_told_of_output() {
    let mut played = play();
    let mut encoded = Vec::new();
    (1..1000).for_each(|end| FromKeeper::TapeEnd(end).encode(&mut encoded));
    let ending = ExitRecord { exit: None, killed: false, timed_out: false, at: Time(9) };
    FromKeeper::Exited(ending).encode(&mut encoded);
    played.keeper.write_all(&encoded).await.unwrap();
    assert_eq!(played.handle.events.recv().await, Some(PaneEvent::Printed));
    assert_eq!(played.handle.events.recv().await, Some(PaneEvent::Exited(ending)));
}

#[tokio::test]
async fn the_last_size_and_the_last_holder_are_told_however_late() {
    let mut played = play();
    let size = |cols| Size { cols, rows: 9 };
    let mut encoded = Vec::new();
    for cols in 10..100 {
        FromKeeper::Resized(size(cols)).encode(&mut encoded);
        let holder = Some(format!("viewer {cols}"));
        FromKeeper::SizeHolder(SizeHolder { holder, forced: false }).encode(&mut encoded);
    }
    FromKeeper::Typed(1).encode(&mut encoded);
    played.keeper.write_all(&encoded).await.unwrap();
    // The driver has received all of it before we read any event.
    played.handle.typed.changed().await.unwrap();
    let (mut last_size, mut last_holder) = (None, None);
    while (last_size, last_holder.as_deref()) != (Some(size(99)), Some("viewer 99")) {
        let event = tokio::time::timeout(Duration::from_secs(60), played.handle.events.recv());
        match event.await.expect("the last ones come").unwrap() {
            PaneEvent::Resized(size) => last_size = Some(size),
            PaneEvent::SizeHolder(holder) => last_holder = holder,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn others_who_type_are_counted() {
    let mut played = play();
    let mut encoded = Vec::new();
    FromKeeper::Typed(1).encode(&mut encoded);
    played.keeper.write_all(&encoded).await.unwrap();
    played.handle.typed.changed().await.unwrap();
    assert_eq!(*played.handle.typed.borrow(), Some(1));
    let mut encoded = Vec::new();
    FromKeeper::KeysPressed(b"*\r".to_vec()).encode(&mut encoded);
    played.keeper.write_all(&encoded).await.unwrap();
    assert_eq!(played.handle.events.recv().await, Some(PaneEvent::KeysPressed(b"*\r".to_vec())));
}
