//! Panes in memory, moved by a test's hand: the same facts in the same order, and no outside at all.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use paned_model::frame::{Ending, Guard, Refused, Survivor};
use paned_model::{Exit, PaneId, Size, Time};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    Boxed, Carrier, Command, Error, Fact, Found, Gap, Ground, Later, Link, Mark, News, NotResized,
    Order, Output, Resizing, Silent, SizeMark, Stamp, State, Traces, Typed,
};

/// A ground in memory. Clones are the same one, so that a second kernel finds the first one's panes.
#[derive(Clone, Debug, Default)]
pub struct Fake {
    panes: Arc<Mutex<BTreeMap<PaneId, Arc<FakePane>>>>,
}

/// One pane of a [`Fake`].
#[derive(Debug)]
pub struct FakePane {
    /// How it was ordered.
    pub order: Order,
    inner: Mutex<Inner>,
    /// Ends what its keeper hears.
    deafened: Notify,
    /// Something became of a keeper that did not answer.
    spoke: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    printed: Vec<u8>,
    /// From which offsets on it was printed when.
    times: Vec<(u64, Time)>,
    /// The first offset that is still kept.
    first: u64,
    typed: Vec<u8>,
    /// How often somebody has typed.
    hands: u64,
    counter: Option<watch::Sender<Option<u64>>>,
    taken: u64,
    /// How often it heard that.
    takes: u64,
    news: Arc<News>,
    /// How often it was told to give its program breaks.
    breaks: u64,
    /// The sizes it was given after the first one, and where.
    sizes: Vec<(u64, Size)>,
    holder: Option<String>,
    ending: Option<Ending>,
    lost: bool,
    /// Whether its keeper answers nobody who comes.
    silent: bool,
    survivors: Vec<Survivor>,
    outbox: Option<mpsc::Sender<Fact>>,
}

impl Fake {
    /// A pane by its name.
    #[must_use]
    pub fn pane(&self, id: &str) -> Option<Arc<FakePane>> {
        let id: PaneId = id.parse().ok()?;
        self.lock().get(&id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PaneId, Arc<FakePane>>> {
        self.panes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, order: Order) -> Result<Link, Error> {
        if order.program.ends_with("/refused") {
            return Err(Error::Refused("cannot run it".into()));
        }
        let id = order.id.clone();
        let (deafened, spoke) = (Notify::new(), Notify::new());
        let pane = Arc::new(FakePane { order, inner: Mutex::default(), deafened, spoke });
        if self.lock().insert(id.clone(), pane.clone()).is_some() {
            return Err(Error::Taken(id));
        }
        Ok(pane.link())
    }
}

impl Ground for Fake {
    fn spawn(&self, order: Order) -> Boxed<'_, Result<Link, Error>> {
        Box::pin(async move { self.start(order) })
    }

    fn adopt(&self) -> Boxed<'_, Result<Vec<Found>, Error>> {
        let found = self.lock().values().map(FakePane::found).collect();
        Box::pin(async move { Ok(found) })
    }

    fn reach(&self, id: PaneId) -> Boxed<'_, State> {
        let pane = self.lock().get(&id).cloned();
        Box::pin(async move { pane.map_or(State::Lost(None), |pane| pane.state()) })
    }

    fn end(&self, id: PaneId, _: Traces, _: Duration) -> Boxed<'_, Result<Vec<Survivor>, Error>> {
        let pane = self.pane(id.as_str());
        Box::pin(async move { Ok(pane.map(|pane| pane.end_by_force()).unwrap_or_default()) })
    }

    fn forget(&self, id: PaneId) -> Boxed<'_, Result<(), Error>> {
        self.lock().remove(&id);
        Box::pin(async { Ok(()) })
    }
}

impl FakePane {
    /// The program prints.
    pub fn print(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        inner.printed.extend_from_slice(bytes);
        inner.tell(Fact::Wrote);
    }

    /// The program prints at a time of the test's choice; what has none is as old as the pane.
    pub fn print_at(&self, bytes: &[u8], time: Time) {
        let mut inner = self.lock();
        let from = inner.printed.len() as u64;
        inner.times.push((from, time));
        drop(inner);
        self.print(bytes);
    }

    /// Everything before this offset is no longer kept.
    pub fn drop_before(&self, offset: u64) {
        self.lock().first = offset;
    }

    /// The program ends by itself.
    pub fn exit(&self, exit: Exit) {
        self.lock().end(Ending { exit: Some(exit), killed: false, timed_out: false, at: Time(7) });
    }

    /// The keeper dies.
    pub fn lose(&self) {
        let mut inner = self.lock();
        inner.lost = true;
        inner.tell(Fact::Lost);
        inner.outbox = None;
        self.spoke.notify_one();
    }

    /// Whoever is left is killed, the keeper too; answers who outlived that.
    fn end_by_force(&self) -> Vec<Survivor> {
        let survivors = self.lock().survivors.clone();
        let is_over = self.lock().lost || self.lock().ending.is_some();
        if survivors.is_empty() && !is_over {
            self.lose();
        }
        survivors
    }

    /// The keeper was not dead: who was told so was told wrong.
    pub fn find(&self) {
        self.lock().lost = false;
    }

    /// The keeper lives, and lets its server go.
    pub fn part(&self) {
        let mut inner = self.lock();
        inner.tell(Fact::Parted);
        inner.outbox = None;
    }

    /// The keeper lives, and answers nobody who comes from now on.
    pub fn hush(&self) {
        self.lock().silent = true;
    }

    /// The keeper answers again, also those who have waited.
    pub fn speak(&self) {
        self.lock().silent = false;
        self.spoke.notify_one();
    }

    /// The keeper hears nothing any more, and nobody has noticed yet.
    pub fn deafen(&self) {
        self.deafened.notify_one();
    }

    /// What was typed so far.
    #[must_use]
    pub fn typed(&self) -> Vec<u8> {
        self.lock().typed.clone()
    }

    /// Somebody else types: at a view, or in a tmux of theirs.
    pub fn type_in(&self, bytes: &[u8]) {
        self.lock().accept(bytes);
    }

    /// What the kernel says it has looked at.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.lock().taken
    }

    /// How often the kernel has said so.
    #[must_use]
    pub fn takes(&self) -> u64 {
        self.lock().takes
    }

    /// The keeper tells on without hearing what was taken.
    pub fn tell_ahead(&self) {
        self.lock().news.set_due(false);
    }

    /// How often the kernel has asked for breaks of a program that prints much.
    #[must_use]
    pub fn breaks(&self) -> u64 {
        self.lock().breaks
    }

    /// From now on a kill leaves these behind.
    pub fn survive(&self, survivors: Vec<Survivor>) {
        self.lock().survivors = survivors;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(self: &Arc<Self>) -> Found {
        let (id, record) = (self.order.id.clone(), self.order.record.clone());
        Found { id, record, state: self.state() }
    }

    fn state(self: &Arc<Self>) -> State {
        let (ending, lost, silent) = {
            let inner = self.lock();
            (inner.ending, inner.lost, inner.silent)
        };
        match ending {
            Some(ending) => State::Ended(self.clone(), ending),
            None if lost => State::Lost(Some(self.clone())),
            None if silent => State::Silent(self.silent()),
            None => State::Alive(self.link()),
        }
    }

    fn silent(self: &Arc<Self>) -> Silent {
        let pane = self.clone();
        let later = Later::new(async move {
            pane.spoke.notified().await;
            pane.state()
        });
        let output: Arc<dyn Output> = self.clone();
        Silent { pid: Some(4242), keeper: Some(4241), output: Some(output), later }
    }

    fn link(self: &Arc<Self>) -> Link {
        let (commands, mut inbox) = mpsc::channel(64);
        let (outbox, facts) = mpsc::channel(64);
        let (counter, typed) = watch::channel(Some(self.lock().hands));
        (self.lock().outbox, self.lock().counter) = (Some(outbox), Some(counter));
        let pane = self.clone();
        let carrier = Carrier::new(async move {
            loop {
                tokio::select! {
                    Some(command) = inbox.recv() => pane.obey(command),
                    () = pane.deafened.notified() => return,
                    else => return,
                }
            }
        });
        let news = Arc::new(News::new(true, None));
        self.lock().news = news.clone();
        Link {
            pid: 4242,
            keeper: 4241,
            started: Time(1),
            output: self.clone(),
            commands,
            facts,
            typed,
            news,
            carrier,
        }
    }

    fn obey(&self, command: Command) {
        let mut inner = self.lock();
        let gone = if inner.ending.is_some() { Err(Refused::Gone) } else { Ok(()) };
        match command {
            Command::Took(offset) => {
                inner.taken = offset;
                inner.takes += 1;
            }
            Command::Input(bytes, reply) => {
                inner.accept(&bytes.concat());
                let _ = reply.send(gone.map(|()| Typed::default()));
            }
            Command::Guarded(bytes, guard, reply) => {
                let typed = Typed { refereed: true, ..Typed::default() };
                let written = inner.accept_if(guard, &bytes);
                let _ = reply.send(gone.and(written).map(|()| typed));
            }
            Command::Resize(resizing, reply) => {
                let _ = reply.send(gone.map_err(Into::into).and_then(|()| inner.resize(resizing)));
            }
            Command::Release(holder) => {
                if inner.holder.take_if(|held| *held == holder).is_some() {
                    inner.tell(Fact::Held(None));
                }
            }
            Command::Kill(_, reply) => {
                let survivors = inner.survivors.clone();
                if survivors.is_empty() {
                    let exit = Some(Exit::Signal(15));
                    inner.end(Ending { exit, killed: true, timed_out: false, at: Time(8) });
                }
                let _ = reply.send(survivors);
            }
            Command::Breaks(_) => inner.breaks += 1,
            // Nobody else's pane: dropping the answer says so.
            Command::LetGo(_) => {}
        }
    }
}

impl Inner {
    fn tell(&self, fact: Fact) {
        if let Some(outbox) = &self.outbox {
            let _ = outbox.try_send(fact);
        }
    }

    fn accept(&mut self, bytes: &[u8]) {
        self.typed.extend(bytes);
        self.hands += 1;
        if let Some(counter) = &self.counter {
            counter.send_replace(Some(self.hands));
        }
    }

    fn accept_if(&mut self, guard: Guard, bytes: &[u8]) -> Result<(), Refused> {
        let stands = guard.end.is_none_or(|end| end == self.printed.len() as u64);
        if !stands || guard.typed.is_some_and(|typed| typed != self.hands) {
            return Err(Refused::Moved);
        }
        self.typed.extend(bytes);
        Ok(())
    }

    fn resize(&mut self, resizing: Resizing) -> Result<(), NotResized> {
        let Resizing { size, holder, force } = resizing;
        if self.holder.is_some() && self.holder != holder && !force {
            return Err(NotResized { why: Refused::Held, holder: self.holder.clone() });
        }
        self.sizes.push((self.printed.len() as u64, size));
        if self.holder != holder {
            self.holder.clone_from(&holder);
            self.tell(Fact::Held(holder));
        }
        Ok(())
    }

    fn end(&mut self, ending: Ending) {
        if self.ending.is_none() {
            self.ending = Some(ending);
            self.tell(Fact::Exited(ending));
        }
    }
}

impl Output for FakePane {
    fn first(&self) -> u64 {
        self.lock().first
    }

    fn end(&self) -> u64 {
        self.lock().printed.len() as u64
    }

    fn lines(&self) -> u64 {
        self.lock().printed.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    fn taken(&self) -> u64 {
        self.lock().taken
    }

    fn size(&self) -> Size {
        self.lock().sizes.last().map_or(self.order.size, |(_, size)| *size)
    }

    fn sizes(&self, after: u64) -> Vec<SizeMark> {
        let inner = self.lock();
        let all = [(0, self.order.size)].into_iter().chain(inner.sizes.iter().copied());
        let marks = all.zip(1..).map(|((offset, size), n)| SizeMark { n, offset, size });
        marks.filter(|mark| after < mark.n).collect()
    }

    fn ending(&self) -> Option<Ending> {
        self.lock().ending
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, Gap>> {
        let inner = self.lock();
        if offset < inner.first {
            return Ok(Err(Gap { first: inner.first }));
        }
        let from = inner.printed.len().min(offset as usize);
        let rest = &inner.printed[from..];
        let wanted = rest.len().min(buffer.len());
        buffer[..wanted].copy_from_slice(&rest[..wanted]);
        Ok(Ok(wanted))
    }

    fn mark(&self, _: u64) -> io::Result<Result<Mark, Gap>> {
        Ok(Ok(Mark { offset: 0, lines: 0, time: Time(1) }))
    }

    fn time(&self, offset: u64) -> io::Result<Result<Stamp, Gap>> {
        let inner = self.lock();
        let later = inner.times.partition_point(|(from, _)| *from <= offset);
        let time = later.checked_sub(1).map_or(Time(1), |at| inner.times[at].1);
        let until = inner.times.get(later).map_or(u64::MAX, |(from, _)| *from);
        Ok(Ok(Stamp { time, until }))
    }
}
