//! The connection to one keeper, and what owns it.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use paned_model::Size;
use paned_model::frame::{
    AHEAD, Ahead, Done, FRAMES, FromKeeper, Guard, HEARD, Kill, Refused, Release, RequestId,
    Resize, Survivor, ToKeeper, Welcome,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, Sleep, sleep_until};

use super::wire::Wire;
use crate::{ANSWER, Carrier, Command, Fact, Link, News, NotResized, Output, Resizing, Typed};

/// One wake-up, one ending and one loss always fit; of sizes, holders and keys that come faster than they are heard, some
/// go unheard, but never the last size and the last holder.
const FACTS: usize = 16;
/// How many of these are kept for what must not go unheard.
const URGENT: usize = 4;
const COMMANDS: usize = 64;

/// A link over a connection.
pub(super) fn start(wire: Wire, welcome: Welcome, output: Arc<dyn Output>) -> Link {
    let (commands, inbox) = mpsc::channel(COMMANDS);
    let (outbox, facts) = mpsc::channel(FACTS);
    let (count, typed) = watch::channel(welcome.typed);
    let news = Arc::new(News::new(!welcome.ahead, welcome.guarded));
    let task = Task {
        wire,
        output: output.clone(),
        outbox,
        typed: count,
        knows_parts: welcome.served.is_some(),
        waiting: HashMap::new(),
        deadlines: VecDeque::new(),
        requests: 0,
        exited: false,
        ahead: welcome.ahead,
        frames: welcome.frames.unwrap_or(FRAMES),
        unsaid: HEARD,
        told: 0,
        news: news.clone(),
        late: Late::default(),
    };
    let carrier = Carrier::new(task.run(inbox));
    Link {
        pid: welcome.pid,
        keeper: welcome.keeper,
        started: welcome.started,
        output,
        commands,
        facts,
        typed,
        news,
        carrier,
    }
}

struct Task {
    wire: Wire,
    output: Arc<dyn Output>,
    outbox: mpsc::Sender<Fact>,
    /// How often somebody has typed; nothing if the keeper does not count, and knows no guards.
    typed: watch::Sender<Option<u64>>,
    /// Whether the keeper is new enough to type in parts.
    knows_parts: bool,
    waiting: HashMap<RequestId, Waiting>,
    /// Until when requests are to be answered, the first one first. Some of them may be answered by now.
    deadlines: VecDeque<(Instant, RequestId)>,
    requests: RequestId,
    exited: bool,
    /// Whether the keeper tells ahead of what it heard that we took.
    ahead: bool,
    /// In how many frames.
    frames: u32,
    /// What it has told since then, and up to where.
    unsaid: Ahead,
    told: u64,
    news: Arc<News>,
    late: Late,
}

/// The last size and the last holder, where there was no room to tell of them.
#[derive(Default, PartialEq, Eq)]
struct Late {
    size: Option<Size>,
    holder: Option<Option<String>>,
}

/// Somebody who waits for an answer.
enum Waiting {
    Typing(oneshot::Sender<Result<Typed, Refused>>),
    Consent(oneshot::Sender<Result<(), NotResized>>),
    Survivors(oneshot::Sender<Vec<Survivor>>),
    /// Only whether there is an answer.
    Probe,
}

enum Event {
    Said(io::Result<FromKeeper>),
    Asked(Option<Command>),
    /// There is room for what is late.
    Room,
    /// The first deadline has come.
    Deadline,
}

impl Task {
    async fn run(mut self, mut inbox: mpsc::Receiver<Command>) {
        // Set anew only when it has fired: most requests are answered long before, and a timer for each would cost more
        // than the request.
        let mut timer: Pin<Box<Sleep>> = Box::pin(sleep_until(Instant::now()));
        loop {
            let is_late = self.late != Late::default();
            let is_timed = !self.deadlines.is_empty();
            let event = tokio::select! {
                said = self.wire.hear() => Event::Said(said),
                asked = inbox.recv() => Event::Asked(asked),
                _ = self.outbox.reserve_many(URGENT + 1), if is_late => Event::Room,
                () = &mut timer, if is_timed => Event::Deadline,
            };
            match event {
                Event::Said(Ok(message)) => self.hear(message),
                Event::Said(Err(_)) => return self.part(),
                Event::Asked(Some(command)) => self.ask(command),
                // The kernel lets the pane go; the keeper goes on without us.
                Event::Asked(None) => return,
                Event::Room => self.tell_late(),
                Event::Deadline => {
                    if let Some(next) = self.expire(Instant::now()) {
                        timer.as_mut().reset(next);
                    }
                }
            }
        }
    }

    fn hear(&mut self, message: FromKeeper) {
        self.news.set_unresponsive(false);
        match message {
            FromKeeper::Wrote(end) => {
                self.wrote(end);
                if self.news.tell() {
                    self.tell(Fact::Wrote);
                }
            }
            FromKeeper::Resized(size) => self.tell(Fact::Resized(size)),
            FromKeeper::Held(held) => self.tell(Fact::Held(held.holder)),
            FromKeeper::Exited(ending) if !self.exited => {
                self.exited = true;
                self.tell(Fact::Exited(ending));
            }
            FromKeeper::Done(done) => self.answer(done),
            FromKeeper::Typed(count) => self.count(Some(count)),
            FromKeeper::Pressed(keys) => self.tell(Fact::Pressed(keys)),
            FromKeeper::Exited(_)
            | FromKeeper::Welcome(_)
            | FromKeeper::Stillborn(_)
            | FromKeeper::Served(_) => {}
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
        let why = if self.wire.take_back(id) { Refused::TakenBack } else { Refused::Late };
        match self.waiting.remove(&id) {
            Some(Waiting::Typing(reply)) => drop(reply.send(Err(why))),
            Some(Waiting::Consent(reply)) => drop(reply.send(Err(why.into()))),
            Some(Waiting::Survivors(_) | Waiting::Probe) | None => {}
        }
        if !self.news.is_unresponsive() {
            self.news.set_unresponsive(true);
            self.probe();
        }
    }

    /// Asks for something that changes nothing, so that the keeper says something as soon as it can.
    fn probe(&mut self) {
        self.requests += 1;
        self.waiting.insert(self.requests, Waiting::Probe);
        self.wire.say(&ToKeeper::Input(self.requests, Vec::new()));
    }

    /// To hear what was taken costs a keeper as much as to tell, so it tells on for a while without; what it has not
    /// heard of, whoever comes after us looks at again.
    fn wrote(&mut self, end: u64) {
        let Ahead { bytes, frames } = &mut self.unsaid;
        (*bytes, *frames) = (*bytes + end.saturating_sub(self.told), *frames + 1);
        if AHEAD.bytes / 2 <= *bytes || self.frames / 2 <= *frames {
            self.news.set_due(true);
        }
        self.told = end;
    }

    /// The keeper is gone: with its work done, or killed. The tape knows which. Or it lives, and has another server.
    fn part(&mut self) {
        let is_kept = self.output.is_kept();
        match self.output.ending() {
            Some(ending) if !self.exited => self.tell(Fact::Exited(ending)),
            None if !is_kept => self.tell(Fact::Lost),
            Some(_) | None => {}
        }
        if is_kept {
            self.tell(Fact::Parted);
        }
    }

    fn tell(&mut self, fact: Fact) {
        let has_room = URGENT < self.outbox.capacity();
        match fact {
            Fact::Resized(size) if !has_room || self.late.size.is_some() => {
                self.late.size = Some(size);
            }
            Fact::Held(holder) if !has_room || self.late.holder.is_some() => {
                self.late.holder = Some(holder);
            }
            Fact::Pressed(_) if !has_room => {}
            fact => drop(self.outbox.try_send(fact)),
        }
    }

    fn tell_late(&mut self) {
        let Late { size, holder } = std::mem::take(&mut self.late);
        let late = size.map(Fact::Resized).into_iter().chain(holder.map(Fact::Held));
        late.for_each(|fact| drop(self.outbox.try_send(fact)));
    }

    fn ask(&mut self, command: Command) {
        self.requests += 1;
        let id = self.requests;
        let message = match command {
            Command::Took(offset) => {
                self.unsaid = HEARD;
                self.news.set_due(!self.ahead);
                ToKeeper::Took(offset)
            }
            Command::Breaks(time) => ToKeeper::Breaks(millis(time)),
            Command::Input(parts, reply) => {
                self.waiting.insert(id, Waiting::Typing(reply));
                self.typing(id, parts)
            }
            Command::Guarded(bytes, guard, reply) => {
                let Some(message) = self.guarded(id, bytes, guard) else {
                    let _ = reply.send(Err(Refused::Moved));
                    return;
                };
                self.waiting.insert(id, Waiting::Typing(reply));
                message
            }
            Command::Resize(Resizing { size, holder, force }, reply) => {
                self.waiting.insert(id, Waiting::Consent(reply));
                ToKeeper::Resize(Resize { id, size, holder, force })
            }
            // It is nobody else's: dropping the answer says so.
            Command::LetGo(_) => return,
            Command::Release(holder) => ToKeeper::Release(Release { holder }),
            Command::Kill(grace, reply) => {
                self.waiting.insert(id, Waiting::Survivors(reply));
                ToKeeper::Kill(Kill { id, grace_ms: millis(grace) })
            }
        };
        match self.waiting.get(&id) {
            // A kill takes as long as the program's grace, and has a deadline of its own.
            Some(Waiting::Survivors(_)) | None => self.wire.say(&message),
            Some(_) => {
                self.wire.request(id, &message);
                self.deadlines.push_back((Instant::now() + ANSWER, id));
            }
        }
    }

    /// How a keeper is asked to type. One that is too old to know parts gets them as one: together rather than apart.
    fn typing(&self, id: RequestId, parts: Vec<Vec<u8>>) -> ToKeeper {
        match 1 < parts.len() && self.knows_parts {
            true => ToKeeper::Parts(id, parts),
            false => ToKeeper::Input(id, parts.concat()),
        }
    }

    /// How a keeper is asked to type behind a guard. One that is too old to know guards would pass over the whole
    /// frame: then the look is here, a moment before the write.
    fn guarded(&self, id: RequestId, bytes: Vec<u8>, guard: Guard) -> Option<ToKeeper> {
        if self.typed.borrow().is_some() {
            return Some(ToKeeper::Guarded(id, guard, bytes));
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

    fn answer(&mut self, done: Done) {
        self.count(done.typed);
        self.news.set_guarded(done.guarded);
        // Whoever asked may have stopped waiting.
        match self.waiting.remove(&done.id) {
            Some(Waiting::Typing(reply)) => {
                let refereed = self.typed.borrow().is_some();
                let typed = Typed { long_line: done.long_line, refereed };
                let _ = reply.send(done.refused.map_or(Ok(typed), Err));
            }
            Some(Waiting::Consent(reply)) => {
                let holder = done.holder;
                let _ =
                    reply.send(done.refused.map_or(Ok(()), |why| Err(NotResized { why, holder })));
            }
            Some(Waiting::Survivors(reply)) => {
                let _ = reply.send(done.survivors);
            }
            Some(Waiting::Probe) | None => {}
        }
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::{MIN_CAPACITY, Reader, Writer};
    use paned_model::Time;
    use paned_model::frame::{Ending, Frames, Held, Message, VERSION};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    use super::*;

    /// A link to a keeper that is played by hand, over a tape with five bytes.
    struct Played {
        _folder: tempfile::TempDir,
        link: Link,
        keeper: UnixStream,
        /// Whoever has it is the keeper.
        tape: Option<Writer>,
    }

    fn play(typed: Option<u64>) -> Played {
        play_ahead(typed, None)
    }

    fn play_ahead(typed: Option<u64>, frames: Option<u32>) -> Played {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let mut tape = Writer::create(&path, MIN_CAPACITY, Time(1)).unwrap();
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
        let output = Arc::new(Reader::open(&path).unwrap());
        let mut link = start(Wire::over(ours).unwrap(), welcome, output);
        tokio::spawn(std::mem::take(&mut link.carrier));
        Played { _folder: folder, link, keeper, tape: Some(tape) }
    }

    impl Played {
        /// Asks for a write behind a guard on the tape's end; answers what the keeper hears of it, if anything.
        async fn guarded(
            &mut self,
            end: u64,
            done: Done,
        ) -> (Option<ToKeeper>, Result<Typed, Refused>) {
            let guard = Guard { end: Some(end), typed: None };
            let (reply, answer) = oneshot::channel();
            let command = Command::Guarded(b"x".to_vec(), guard, reply);
            self.link.commands.send(command).await.unwrap();
            let mut answer = std::pin::pin!(answer);
            let (mut frames, mut bytes) = (Frames::default(), [0; 256]);
            tokio::select! {
                answer = &mut answer => (None, answer.unwrap()),
                got = self.keeper.read(&mut bytes) => {
                    frames.push(&bytes[..got.unwrap()]);
                    let heard = frames.take().unwrap();
                    let mut said = Vec::new();
                    FromKeeper::Done(done).encode(&mut said);
                    self.keeper.write_all(&said).await.unwrap();
                    (heard, answer.await.unwrap())
                }
            }
        }
    }

    #[tokio::test]
    async fn a_keeper_that_knows_guards_is_the_referee() {
        let mut played = play(Some(3));
        let moved = Done { refused: Some(Refused::Moved), typed: Some(4), ..Done::well(1) };
        let (heard, answer) = played.guarded(4, moved).await;
        let guard = Guard { end: Some(4), typed: None };
        assert_eq!(heard, Some(ToKeeper::Guarded(1, guard, b"x".to_vec())));
        assert_eq!(answer, Err(Refused::Moved));
        assert_eq!(*played.link.typed.borrow(), Some(4), "the answer says how often");
        assert_eq!(played.link.news.guarded(), Some(7), "the keeper had done so many before");
        let done = Done { guarded: Some(8), ..Done::well(2) };
        let (_, answer) = played.guarded(5, done).await;
        assert_eq!(answer, Ok(Typed { long_line: false, refereed: true }));
        assert_eq!(played.link.news.guarded(), Some(8));
    }

    #[tokio::test]
    async fn with_an_old_keeper_the_look_is_just_before_the_write() {
        let mut played = play(None);
        let (heard, answer) = played.guarded(4, Done::well(1)).await;
        assert_eq!((heard, answer), (None, Err(Refused::Moved)));
        let (heard, answer) = played.guarded(5, Done::well(2)).await;
        assert_eq!(heard, Some(ToKeeper::Input(2, b"x".to_vec())));
        assert_eq!(answer, Ok(Typed { long_line: false, refereed: false }));
        assert_eq!(*played.link.typed.borrow(), None);
    }

    #[tokio::test]
    async fn an_old_keeper_gets_all_parts_in_one() {
        for (typed, heard) in [
            (Some(0), ToKeeper::Parts(1, vec![b"ls".to_vec(), b"\r".to_vec()])),
            (None, ToKeeper::Input(1, b"ls\r".to_vec())),
        ] {
            let mut played = play(typed);
            let (reply, _answer) = oneshot::channel();
            let parts = vec![b"ls".to_vec(), b"\r".to_vec()];
            played.link.commands.send(Command::Input(parts, reply)).await.unwrap();
            let (mut frames, mut bytes) = (Frames::default(), [0; 256]);
            let got = played.keeper.read(&mut bytes).await.unwrap();
            frames.push(&bytes[..got]);
            assert_eq!(frames.take().unwrap(), Some(heard));
        }
    }

    impl Played {
        async fn types(&self, bytes: usize) -> Result<Typed, Refused> {
            let (reply, answer) = oneshot::channel();
            let parts = vec![vec![b'x'; bytes]];
            self.link.commands.send(Command::Input(parts, reply)).await.unwrap();
            answer.await.unwrap()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_keeper_that_does_not_answer_is_given_up_on_until_it_speaks() {
        let mut played = play(Some(0));
        let before = Instant::now();
        // More than its socket takes: the second is never sent.
        let late = tokio::join!(played.types(1 << 20), played.types(1), played.types(1));
        let back = Err(Refused::TakenBack);
        assert_eq!(late, (Err(Refused::Late), back, back));
        assert!(ANSWER <= before.elapsed() && before.elapsed() < 2 * ANSWER);
        assert!(played.link.news.is_unresponsive());
        let size = Resizing { size: Size::default(), holder: None, force: false };
        let (reply, resized) = oneshot::channel();
        played.link.commands.send(Command::Resize(size, reply)).await.unwrap();
        let resized = resized.await.unwrap();
        assert_eq!(resized.map_err(|not| not.why), Err(Refused::TakenBack));
        // It goes on: what was sent comes, and a question whether it is there; what was taken back does not.
        let (mut frames, mut bytes, mut heard) = (Frames::default(), vec![0; 1 << 16], Vec::new());
        while heard.len() < 2 {
            let got = played.keeper.read(&mut bytes).await.unwrap();
            frames.push(&bytes[..got]);
            heard.extend(std::iter::from_fn(|| frames.take::<ToKeeper>().unwrap()));
        }
        assert!(matches!(&heard[..], [ToKeeper::Input(1, text), ToKeeper::Input(4, none)]
            if text.len() == 1 << 20 && none.is_empty()));
        let mut said = Vec::new();
        FromKeeper::Done(Done::well(4)).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        while played.link.news.is_unresponsive() {
            tokio::task::yield_now().await;
        }
    }

    impl Played {
        /// The keeper tells of so many bytes so many times; answers when it is due to say that they were taken.
        async fn due(&mut self, step: u64, times: usize) -> Vec<bool> {
            let mut due = Vec::new();
            for n in 1..=times {
                let mut said = Vec::new();
                FromKeeper::Wrote(n as u64 * step).encode(&mut said);
                self.keeper.write_all(&said).await.unwrap();
                assert_eq!(self.link.facts.recv().await, Some(Fact::Wrote));
                self.link.news.heard();
                due.push(self.link.news.is_due());
            }
            due
        }
    }

    #[tokio::test]
    async fn a_keeper_that_tells_ahead_is_to_hear_now_and_then_what_was_taken() {
        assert_eq!(play(Some(0)).due(1, 5).await, [false, false, false, true, true]);
        assert_eq!(play_ahead(Some(0), Some(4)).due(1, 3).await, [false, true, true]);
        assert_eq!(play(Some(0)).due(AHEAD.bytes / 2, 1).await, [true]);
        assert_eq!(play(None).due(1, 1).await, [true], "an old one");
        let mut played = play(Some(0));
        played.due(1, 4).await;
        played.link.commands.send(Command::Took(4)).await.unwrap();
        let (mut frames, mut bytes) = (Frames::default(), [0; 256]);
        let got = played.keeper.read(&mut bytes).await.unwrap();
        frames.push(&bytes[..got]);
        assert_eq!(frames.take(), Ok(Some(ToKeeper::Took(4))));
        assert!(!played.link.news.is_due());
        assert_eq!(played.due(1, 4).await, [false, false, false, true], "it is counted anew");
    }

    #[tokio::test]
    async fn a_keeper_that_lets_us_go_is_lost_only_if_it_is_gone() {
        for (lives, told) in [(true, Fact::Parted), (false, Fact::Lost)] {
            let Played { mut link, keeper, tape, .. } = play(Some(0));
            let tape = tape.filter(|_| lives);
            drop(keeper);
            assert_eq!(link.facts.recv().await, Some(told));
            assert_eq!(link.facts.recv().await, None);
            drop(tape);
        }
    }

    #[tokio::test]
    async fn an_end_is_told_however_often_it_was_told_of_output() {
        let mut played = play(Some(0));
        let mut said = Vec::new();
        (1..1000).for_each(|end| FromKeeper::Wrote(end).encode(&mut said));
        let ending = Ending { exit: None, killed: false, timed_out: false, at: Time(9) };
        FromKeeper::Exited(ending).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        assert_eq!(played.link.facts.recv().await, Some(Fact::Wrote));
        assert_eq!(played.link.facts.recv().await, Some(Fact::Exited(ending)));
    }

    #[tokio::test]
    async fn the_last_size_and_the_last_holder_are_told_however_late() {
        let mut played = play(Some(0));
        let size = |cols| Size { cols, rows: 9 };
        let mut said = Vec::new();
        for cols in 10..100 {
            FromKeeper::Resized(size(cols)).encode(&mut said);
            let holder = Some(format!("viewer {cols}"));
            FromKeeper::Held(Held { holder, forced: false }).encode(&mut said);
        }
        FromKeeper::Typed(1).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        // All of it was heard by the carrier before any of it is heard by us.
        played.link.typed.changed().await.unwrap();
        let (mut last_size, mut last_holder) = (None, None);
        while (last_size, last_holder.as_deref()) != (Some(size(99)), Some("viewer 99")) {
            let fact = tokio::time::timeout(Duration::from_secs(60), played.link.facts.recv());
            match fact.await.expect("the last ones come").unwrap() {
                Fact::Resized(size) => last_size = Some(size),
                Fact::Held(holder) => last_holder = holder,
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
        FromKeeper::Pressed(b"*\r".to_vec()).encode(&mut said);
        played.keeper.write_all(&said).await.unwrap();
        assert_eq!(played.link.facts.recv().await, Some(Fact::Pressed(b"*\r".to_vec())));
    }
}
