//! The connection to one keeper, and what owns it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use paned_model::Size;
use paned_model::frame::{
    DEFAULT_WINDOW_FRAMES, EMPTY_WINDOW, FromKeeper, InputGuard, KeeperResponse, Kill,
    NOTIFY_WINDOW, NotifyWindow, RefusalReason, Release, RequestId, Resize, Survivor, ToKeeper,
    Welcome,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, Sleep, sleep_until};

use super::keeper_conn::KeeperConn;
use crate::{
    Driver, InputReport, Output, OutputFlag, PaneCommand, PaneEvent, PaneHandle, REPLY_TIMEOUT,
    ResizeError, SizeRequest,
};

/// One wake-up, one ending and one loss always fit; of sizes, holders and keys that come faster than they are heard, some
/// go unheard, but never the last size and the last holder.
const MAX_EVENTS: usize = 16;
/// How many of these are kept for what must not go unheard.
const RESERVED_EVENTS: usize = 4;
const MAX_COMMANDS: usize = 64;

/// A link over a connection.
pub(super) fn start(wire: KeeperConn, welcome: Welcome, output: Arc<dyn Output>) -> PaneHandle {
    let (commands, inbox) = mpsc::channel(MAX_COMMANDS);
    let (outbox, facts) = mpsc::channel(MAX_EVENTS);
    let (count, typed) = watch::channel(welcome.typed);
    let news = Arc::new(OutputFlag::new(!welcome.ahead, welcome.guarded));
    let task = KeeperLinkTask {
        conn: wire,
        output: output.clone(),
        outbox,
        typed: count,
        knows_parts: welcome.served.is_some(),
        waiting: HashMap::new(),
        deadlines: VecDeque::new(),
        requests: 0,
        exited: false,
        has_window: welcome.ahead,
        window_frames: welcome.frames.unwrap_or(DEFAULT_WINDOW_FRAMES),
        unacked: EMPTY_WINDOW,
        notified_end: 0,
        output_flag: news.clone(),
        deferred: DeferredEvents::default(),
    };
    let carrier = Driver::new(task.run(inbox));
    PaneHandle {
        pid: welcome.pid,
        keeper: welcome.keeper,
        started: welcome.started,
        output,
        commands,
        events: facts,
        typed,
        output_flag: news,
        driver: carrier,
    }
}

struct KeeperLinkTask {
    conn: KeeperConn,
    output: Arc<dyn Output>,
    outbox: mpsc::Sender<PaneEvent>,
    /// How often somebody has typed; nothing if the keeper does not count, and knows no guards.
    typed: watch::Sender<Option<u64>>,
    /// Whether the keeper is new enough to type in parts.
    knows_parts: bool,
    waiting: HashMap<RequestId, PendingReply>,
    /// Until when requests are to be answered, the first one first. Some of them may be answered by now.
    deadlines: VecDeque<(Instant, RequestId)>,
    requests: RequestId,
    exited: bool,
    /// Whether the keeper tells ahead of what it heard that we took.
    has_window: bool,
    /// In how many frames.
    window_frames: u32,
    /// What it has told since then, and up to where.
    unacked: NotifyWindow,
    notified_end: u64,
    output_flag: Arc<OutputFlag>,
    deferred: DeferredEvents,
}

/// The last size and the last holder, where there was no room to tell of them.
#[derive(Default, PartialEq, Eq)]
struct DeferredEvents {
    size: Option<Size>,
    holder: Option<Option<String>>,
}

/// Somebody who waits for an answer.
enum PendingReply {
    Input(oneshot::Sender<Result<InputReport, RefusalReason>>),
    Resize(oneshot::Sender<Result<(), ResizeError>>),
    Survivors(oneshot::Sender<Vec<Survivor>>),
    /// Only whether there is an answer.
    Probe,
}

enum KeeperLinkEvent {
    Message(io::Result<FromKeeper>),
    Command(Option<PaneCommand>),
    /// There is room for what is late.
    DeferredRoom,
    /// The first deadline has come.
    Deadline,
}

impl KeeperLinkTask {
    async fn run(mut self, mut inbox: mpsc::Receiver<PaneCommand>) {
        // Set anew only when it has fired: most requests are answered long before, and a timer for each would cost more
        // than the request.
        let mut timer: Pin<Box<Sleep>> = Box::pin(sleep_until(Instant::now()));
        loop {
            let is_late = self.deferred != DeferredEvents::default();
            let is_timed = !self.deadlines.is_empty();
            let event = tokio::select! {
                said = self.conn.recv() => KeeperLinkEvent::Message(said),
                asked = inbox.recv() => KeeperLinkEvent::Command(asked),
                _ = self.outbox.reserve_many(RESERVED_EVENTS + 1), if is_late => KeeperLinkEvent::DeferredRoom,
                () = &mut timer, if is_timed => KeeperLinkEvent::Deadline,
            };
            match event {
                KeeperLinkEvent::Message(Ok(message)) => self.handle_message(message),
                KeeperLinkEvent::Message(Err(_)) => return self.on_disconnect(),
                KeeperLinkEvent::Command(Some(command)) => self.send_command(command),
                // The kernel lets the pane go; the keeper goes on without us.
                KeeperLinkEvent::Command(None) => return,
                KeeperLinkEvent::DeferredRoom => self.emit_deferred(),
                KeeperLinkEvent::Deadline => {
                    if let Some(next) = self.expire(Instant::now()) {
                        timer.as_mut().reset(next);
                    }
                }
            }
        }
    }

    fn handle_message(&mut self, message: FromKeeper) {
        self.output_flag.set_unresponsive(false);
        match message {
            FromKeeper::TapeEnd(end) => {
                self.wrote(end);
                if self.output_flag.should_notify() {
                    self.emit(PaneEvent::Printed);
                }
            }
            FromKeeper::Resized(size) => self.emit(PaneEvent::Resized(size)),
            FromKeeper::SizeHolder(held) => self.emit(PaneEvent::SizeHolder(held.holder)),
            FromKeeper::Exited(ending) if !self.exited => {
                self.exited = true;
                self.emit(PaneEvent::Exited(ending));
            }
            FromKeeper::Response(done) => self.answer(done),
            FromKeeper::Typed(count) => self.count(Some(count)),
            FromKeeper::KeysPressed(keys) => self.emit(PaneEvent::KeysPressed(keys)),
            FromKeeper::Exited(_)
            | FromKeeper::Welcome(_)
            | FromKeeper::SpawnFailed(_)
            | FromKeeper::ServerPresent(_) => {}
        }
    }

    /// Gives up on requests that were not answered in time, and takes back what was not sent; answers the next deadline.
    fn expire(&mut self, now: Instant) -> Option<Instant> {
        while let Some((deadline, id)) = self.deadlines.front().copied() {
            let is_answered = !self.waiting.contains_key(&id);
            if !is_answered && now < deadline {
                return Some(deadline);
            }
            self.deadlines.pop_front();
            if !is_answered {
                self.give_up(id);
            }
        }
        None
    }

    fn give_up(&mut self, id: RequestId) {
        let why =
            if self.conn.cancel(id) { RefusalReason::Cancelled } else { RefusalReason::TimedOut };
        match self.waiting.remove(&id) {
            Some(PendingReply::Input(reply)) => drop(reply.send(Err(why))),
            Some(PendingReply::Resize(reply)) => drop(reply.send(Err(why.into()))),
            Some(PendingReply::Survivors(_) | PendingReply::Probe) | None => {}
        }
        if !self.output_flag.is_unresponsive() {
            self.output_flag.set_unresponsive(true);
            self.probe();
        }
    }

    /// Asks for something that changes nothing, so that the keeper says something as soon as it can.
    fn probe(&mut self) {
        self.requests += 1;
        self.waiting.insert(self.requests, PendingReply::Probe);
        self.conn.queue(&ToKeeper::Input(self.requests, Vec::new()));
    }

    /// To hear what was taken costs a keeper as much as to tell, so it tells on for a while without; what it has not
    /// heard of, whoever comes after us looks at again.
    fn wrote(&mut self, end: u64) {
        let NotifyWindow { bytes, frames } = &mut self.unacked;
        (*bytes, *frames) = (*bytes + end.saturating_sub(self.notified_end), *frames + 1);
        if NOTIFY_WINDOW.bytes / 2 <= *bytes || self.window_frames / 2 <= *frames {
            self.output_flag.set_ack_due(true);
        }
        self.notified_end = end;
    }

    /// The keeper is gone: with its work done, or killed. The tape knows which. Or it lives, and has another server.
    fn on_disconnect(&mut self) {
        let is_kept = self.output.has_live_keeper();
        match self.output.ending() {
            Some(ending) if !self.exited => self.emit(PaneEvent::Exited(ending)),
            None if !is_kept => self.emit(PaneEvent::Lost),
            Some(_) | None => {}
        }
        if is_kept {
            self.emit(PaneEvent::Detached);
        }
    }

    fn emit(&mut self, fact: PaneEvent) {
        let has_room = RESERVED_EVENTS < self.outbox.capacity();
        match fact {
            PaneEvent::Resized(size) if !has_room || self.deferred.size.is_some() => {
                self.deferred.size = Some(size);
            }
            PaneEvent::SizeHolder(holder) if !has_room || self.deferred.holder.is_some() => {
                self.deferred.holder = Some(holder);
            }
            PaneEvent::KeysPressed(_) if !has_room => {}
            fact => drop(self.outbox.try_send(fact)),
        }
    }

    fn emit_deferred(&mut self) {
        let DeferredEvents { size, holder } = std::mem::take(&mut self.deferred);
        let late =
            size.map(PaneEvent::Resized).into_iter().chain(holder.map(PaneEvent::SizeHolder));
        late.for_each(|fact| drop(self.outbox.try_send(fact)));
    }

    fn send_command(&mut self, command: PaneCommand) {
        self.requests += 1;
        let id = self.requests;
        let message = match command {
            PaneCommand::Ack(offset) => {
                self.unacked = EMPTY_WINDOW;
                self.output_flag.set_ack_due(!self.has_window);
                ToKeeper::Ack(offset)
            }
            PaneCommand::Throttle(time) => ToKeeper::Throttle(millis(time)),
            PaneCommand::Input(parts, reply) => {
                self.waiting.insert(id, PendingReply::Input(reply));
                self.input_message(id, parts)
            }
            PaneCommand::GuardedInput(bytes, guard, reply) => {
                let Some(message) = self.guarded_message(id, bytes, guard) else {
                    let _ = reply.send(Err(RefusalReason::Stale));
                    return;
                };
                self.waiting.insert(id, PendingReply::Input(reply));
                message
            }
            PaneCommand::Resize(SizeRequest { size, holder, force }, reply) => {
                self.waiting.insert(id, PendingReply::Resize(reply));
                ToKeeper::Resize(Resize { id, size, holder, force })
            }
            // It is nobody else's: dropping the answer says so.
            PaneCommand::Detach(_) => return,
            PaneCommand::Release(holder) => ToKeeper::Release(Release { holder }),
            PaneCommand::Kill(grace, reply) => {
                self.waiting.insert(id, PendingReply::Survivors(reply));
                ToKeeper::Kill(Kill { id, grace_ms: millis(grace) })
            }
        };
        match self.waiting.get(&id) {
            // A kill takes as long as the program's grace, and has a deadline of its own.
            Some(PendingReply::Survivors(_)) | None => self.conn.queue(&message),
            Some(_) => {
                self.conn.queue_request(id, &message);
                self.deadlines.push_back((Instant::now() + REPLY_TIMEOUT, id));
            }
        }
    }

    /// How a keeper is asked to type. One that is too old to know parts gets them as one: together rather than apart.
    fn input_message(&self, id: RequestId, parts: Vec<Vec<u8>>) -> ToKeeper {
        match 1 < parts.len() && self.knows_parts {
            true => ToKeeper::InputParts(id, parts),
            false => ToKeeper::Input(id, parts.concat()),
        }
    }

    /// How a keeper is asked to type behind a guard. One that is too old to know guards would pass over the whole
    /// frame: then the look is here, a moment before the write.
    fn guarded_message(
        &self,
        id: RequestId,
        bytes: Vec<u8>,
        guard: InputGuard,
    ) -> Option<ToKeeper> {
        if self.typed.borrow().is_some() {
            return Some(ToKeeper::GuardedInput(id, guard, bytes));
        }
        let holds = guard.end.is_none_or(|end| end == self.output.end());
        holds.then_some(ToKeeper::Input(id, bytes))
    }

    fn count(&self, typed: Option<u64>) {
        self.typed.send_if_modified(|known| {
            let news = known.is_some() && typed.is_some() && *known < typed;
            if news {
                *known = typed;
            }
            news
        });
    }

    fn answer(&mut self, done: KeeperResponse) {
        self.count(done.typed);
        self.output_flag.set_guarded(done.guarded);
        // Whoever asked may have stopped waiting.
        match self.waiting.remove(&done.id) {
            Some(PendingReply::Input(reply)) => {
                let refereed = self.typed.borrow().is_some();
                let typed = InputReport { long_line: done.long_line, guard_atomic: refereed };
                let _ = reply.send(done.refused.map_or(Ok(typed), Err));
            }
            Some(PendingReply::Resize(reply)) => {
                let holder = done.holder;
                let _ =
                    reply.send(done.refused.map_or(Ok(()), |why| Err(ResizeError { why, holder })));
            }
            Some(PendingReply::Survivors(reply)) => {
                let _ = reply.send(done.survivors);
            }
            Some(PendingReply::Probe) | None => {}
        }
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::{MIN_CAPACITY, TapeReader, TapeWriter};
    use paned_model::Time;
    use paned_model::frame::{ExitRecord, FrameDecoder, FrameMessage, SizeHolder, VERSION};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    use super::*;

    /// A link to a keeper that is played by hand, over a tape with five bytes.
    struct Played {
        _folder: tempfile::TempDir,
        link: PaneHandle,
        keeper: UnixStream,
        /// Whoever has it is the keeper.
        tape: Option<TapeWriter>,
    }

    fn play(typed: Option<u64>) -> Played {
        play_ahead(typed, None)
    }

    fn play_ahead(typed: Option<u64>, frames: Option<u32>) -> Played {
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
            typed,
            served: typed.map(|_| true),
            ahead: typed.is_some(),
            frames,
            guarded: typed.map(|_| 7),
        };
        let output = Arc::new(TapeReader::open(&path).unwrap());
        let mut link = start(KeeperConn::from_stream(ours).unwrap(), welcome, output);
        tokio::spawn(std::mem::take(&mut link.driver));
        Played { _folder: folder, link, keeper, tape: Some(tape) }
    }

    impl Played {
        /// Asks for a write behind a guard on the tape's end; answers what the keeper hears of it, if anything.
        async fn guarded(
            &mut self,
            end: u64,
            done: KeeperResponse,
        ) -> (Option<ToKeeper>, Result<InputReport, RefusalReason>) {
            let guard = InputGuard { end: Some(end), typed: None };
            let (reply, answer) = oneshot::channel();
            let command = PaneCommand::GuardedInput(b"x".to_vec(), guard, reply);
            self.link.commands.send(command).await.unwrap();
            let mut answer = std::pin::pin!(answer);
            let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 256]);
            tokio::select! {
                answer = &mut answer => (None, answer.unwrap()),
                got = self.keeper.read(&mut bytes) => {
                    frames.push(&bytes[..got.unwrap()]);
                    let heard = frames.take().unwrap();
                    let mut said = Vec::new();
                    FromKeeper::Response(done).encode(&mut said);
                    self.keeper.write_all(&said).await.unwrap();
                    (heard, answer.await.unwrap())
                }
            }
        }
    }

    #[tokio::test]
    async fn a_keeper_that_knows_guards_is_the_referee() {
        let mut played = play(Some(3));
        let moved = KeeperResponse {
            refused: Some(RefusalReason::Stale),
            typed: Some(4),
            ..KeeperResponse::ok(1)
        };
        let (heard, answer) = played.guarded(4, moved).await;
        let guard = InputGuard { end: Some(4), typed: None };
        assert_eq!(heard, Some(ToKeeper::GuardedInput(1, guard, b"x".to_vec())));
        assert_eq!(answer, Err(RefusalReason::Stale));
        assert_eq!(*played.link.typed.borrow(), Some(4), "the answer says how often");
        assert_eq!(
            played.link.output_flag.guarded(),
            Some(7),
            "the keeper had done so many before"
        );
        let done = KeeperResponse { guarded: Some(8), ..KeeperResponse::ok(2) };
        let (_, answer) = played.guarded(5, done).await;
        assert_eq!(answer, Ok(InputReport { long_line: false, guard_atomic: true }));
        assert_eq!(played.link.output_flag.guarded(), Some(8));
    }

    #[tokio::test]
    async fn with_an_old_keeper_the_look_is_just_before_the_write() {
        let mut played = play(None);
        let (heard, answer) = played.guarded(4, KeeperResponse::ok(1)).await;
        assert_eq!((heard, answer), (None, Err(RefusalReason::Stale)));
        let (heard, answer) = played.guarded(5, KeeperResponse::ok(2)).await;
        assert_eq!(heard, Some(ToKeeper::Input(2, b"x".to_vec())));
        assert_eq!(answer, Ok(InputReport { long_line: false, guard_atomic: false }));
        assert_eq!(*played.link.typed.borrow(), None);
    }

    #[tokio::test]
    async fn an_old_keeper_gets_all_parts_in_one() {
        for (typed, heard) in [
            (Some(0), ToKeeper::InputParts(1, vec![b"ls".to_vec(), b"\r".to_vec()])),
            (None, ToKeeper::Input(1, b"ls\r".to_vec())),
        ] {
            let mut played = play(typed);
            let (reply, _answer) = oneshot::channel();
            let parts = vec![b"ls".to_vec(), b"\r".to_vec()];
            played.link.commands.send(PaneCommand::Input(parts, reply)).await.unwrap();
            let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 256]);
            let got = played.keeper.read(&mut bytes).await.unwrap();
            frames.push(&bytes[..got]);
            assert_eq!(frames.take().unwrap(), Some(heard));
        }
    }

    impl Played {
        async fn types(&self, bytes: usize) -> Result<InputReport, RefusalReason> {
            let (reply, answer) = oneshot::channel();
            let parts = vec![vec![b'x'; bytes]];
            self.link.commands.send(PaneCommand::Input(parts, reply)).await.unwrap();
            answer.await.unwrap()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_keeper_that_does_not_answer_is_given_up_on_until_it_speaks() {
        let mut played = play(Some(0));
        let before = Instant::now();
        // More than its socket takes: the second is never sent.
        let late = tokio::join!(played.types(1 << 20), played.types(1), played.types(1));
        let back = Err(RefusalReason::Cancelled);
        assert_eq!(late, (Err(RefusalReason::TimedOut), back, back));
        assert!(REPLY_TIMEOUT <= before.elapsed() && before.elapsed() < 2 * REPLY_TIMEOUT);
        assert!(played.link.output_flag.is_unresponsive());
        let size = SizeRequest { size: Size::default(), holder: None, force: false };
        let (reply, resized) = oneshot::channel();
        played.link.commands.send(PaneCommand::Resize(size, reply)).await.unwrap();
        let resized = resized.await.unwrap();
        assert_eq!(resized.map_err(|not| not.why), Err(RefusalReason::Cancelled));
        // It goes on: what was sent comes, and a question whether it is there; what was taken back does not.
        let (mut frames, mut bytes, mut heard) =
            (FrameDecoder::default(), vec![0; 1 << 16], Vec::new());
        while heard.len() < 2 {
            let got = played.keeper.read(&mut bytes).await.unwrap();
            frames.push(&bytes[..got]);
            heard.extend(std::iter::from_fn(|| frames.take::<ToKeeper>().unwrap()));
        }
        assert!(matches!(&heard[..], [ToKeeper::Input(1, text), ToKeeper::Input(4, none)]
            if text.len() == 1 << 20 && none.is_empty()));
        let mut said = Vec::new();
        FromKeeper::Response(KeeperResponse::ok(4)).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        while played.link.output_flag.is_unresponsive() {
            tokio::task::yield_now().await;
        }
    }

    impl Played {
        /// The keeper tells of so many bytes so many times; answers when it is due to say that they were taken.
        async fn due(&mut self, step: u64, times: usize) -> Vec<bool> {
            let mut due = Vec::new();
            for n in 1..=times {
                let mut said = Vec::new();
                FromKeeper::TapeEnd(n as u64 * step).encode(&mut said);
                self.keeper.write_all(&said).await.unwrap();
                assert_eq!(self.link.events.recv().await, Some(PaneEvent::Printed));
                self.link.output_flag.heard();
                due.push(self.link.output_flag.is_ack_due());
            }
            due
        }
    }

    #[tokio::test]
    async fn a_keeper_that_tells_ahead_is_to_hear_now_and_then_what_was_taken() {
        assert_eq!(play(Some(0)).due(1, 5).await, [false, false, false, true, true]);
        assert_eq!(play_ahead(Some(0), Some(4)).due(1, 3).await, [false, true, true]);
        assert_eq!(play(Some(0)).due(NOTIFY_WINDOW.bytes / 2, 1).await, [true]);
        assert_eq!(play(None).due(1, 1).await, [true], "an old one");
        let mut played = play(Some(0));
        played.due(1, 4).await;
        played.link.commands.send(PaneCommand::Ack(4)).await.unwrap();
        let (mut frames, mut bytes) = (FrameDecoder::default(), [0; 256]);
        let got = played.keeper.read(&mut bytes).await.unwrap();
        frames.push(&bytes[..got]);
        assert_eq!(frames.take(), Ok(Some(ToKeeper::Ack(4))));
        assert!(!played.link.output_flag.is_ack_due());
        assert_eq!(played.due(1, 4).await, [false, false, false, true], "it is counted anew");
    }

    #[tokio::test]
    async fn a_keeper_that_lets_us_go_is_lost_only_if_it_is_gone() {
        for (lives, told) in [(true, PaneEvent::Detached), (false, PaneEvent::Lost)] {
            let Played { mut link, keeper, tape, .. } = play(Some(0));
            let tape = tape.filter(|_| lives);
            drop(keeper);
            assert_eq!(link.events.recv().await, Some(told));
            assert_eq!(link.events.recv().await, None);
            drop(tape);
        }
    }

    #[tokio::test]
    async fn an_end_is_told_however_often_it_was_told_of_output() {
        let mut played = play(Some(0));
        let mut said = Vec::new();
        (1..1000).for_each(|end| FromKeeper::TapeEnd(end).encode(&mut said));
        let ending = ExitRecord { exit: None, killed: false, timed_out: false, at: Time(9) };
        FromKeeper::Exited(ending).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        assert_eq!(played.link.events.recv().await, Some(PaneEvent::Printed));
        assert_eq!(played.link.events.recv().await, Some(PaneEvent::Exited(ending)));
    }

    #[tokio::test]
    async fn the_last_size_and_the_last_holder_are_told_however_late() {
        let mut played = play(Some(0));
        let size = |cols| Size { cols, rows: 9 };
        let mut said = Vec::new();
        for cols in 10..100 {
            FromKeeper::Resized(size(cols)).encode(&mut said);
            let holder = Some(format!("viewer {cols}"));
            FromKeeper::SizeHolder(SizeHolder { holder, forced: false }).encode(&mut said);
        }
        FromKeeper::Typed(1).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        // All of it was heard by the carrier before any of it is heard by us.
        played.link.typed.changed().await.unwrap();
        let (mut last_size, mut last_holder) = (None, None);
        while (last_size, last_holder.as_deref()) != (Some(size(99)), Some("viewer 99")) {
            let fact = tokio::time::timeout(Duration::from_secs(60), played.link.events.recv());
            match fact.await.expect("the last ones come").unwrap() {
                PaneEvent::Resized(size) => last_size = Some(size),
                PaneEvent::SizeHolder(holder) => last_holder = holder,
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn others_who_type_are_counted() {
        let mut played = play(Some(0));
        let mut said = Vec::new();
        FromKeeper::Typed(1).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        played.link.typed.changed().await.unwrap();
        assert_eq!(*played.link.typed.borrow(), Some(1));
        let mut said = Vec::new();
        FromKeeper::KeysPressed(b"*\r".to_vec()).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        assert_eq!(played.link.events.recv().await, Some(PaneEvent::KeysPressed(b"*\r".to_vec())));
    }
}
