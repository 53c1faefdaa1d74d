//! The task that owns one living pane: it hears the keeper's facts, looks at what was printed, and tells.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use memchr::memchr;
use paned_model::frame::{AHEAD, Ending, Guard};
use paned_model::{Status, Time};
use paned_substrate::{Command, Drawn, Fact, Link, News, Output};
use paned_term::screen::UPDATE_PATIENCE;
use paned_term::{Signal, Signals};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Pane;
use super::adopt;
use super::end;
use super::lens::{Known, settled};
use super::record::End;
use super::throttle::Throttle;
use super::typists::Consideration;
use crate::agents::Typed;
use crate::dispatch::draft;
use crate::{AtOnce, Kernel};

const ESC: u8 = 0x1b;
/// How much is looked at in one go.
const PIECE: usize = 64 << 10;
/// How often the tape is looked at for an end while much is drawn.
const LOOK: Duration = Duration::from_millis(50);
/// A title or a bell is told at most so often; a spinner in a title would fill the journal.
const OFTEN: Duration = Duration::from_secs(1);

struct Task {
    kernel: Kernel,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    commands: mpsc::Sender<Command>,
    signals: Signals,
    looked: u64,
    /// What the keeper was last told of that.
    took: u64,
    /// How many sizes were heard of.
    sized: u64,
    /// What was noted last: see [`Signals::changes`].
    noted: u64,
    /// The synchronized update that has not ended, and when it is shown all the same.
    update: Option<u64>,
    update_until: Option<Instant>,
    /// Whether no escape sequence was printed since the very beginning.
    plain: bool,
    /// Whether we are its terminal; an adopted pane has tmux.
    answers: bool,
    /// Whether it has asked something and was not answered yet: within a synchronized update nothing is drawn.
    owes: bool,
    titles: Throttle<()>,
    modes: Throttle<()>,
    bells: Throttle<u64>,
    rung: u64,
    /// Whether what was looked at last has come to somebody's ears.
    told: bool,
    news: Arc<News>,
    consideration: Consideration,
}

enum Event {
    Fact(Option<Fact>),
    /// There is more to look at, and nothing else has happened.
    Behind,
    Deadline,
}

/// Looks after a pane from now on. What carries its facts and what hears them are one task: they wake each other for
/// everything that is printed.
pub(crate) fn mind(kernel: &Kernel, pane: &Arc<Pane>, link: Link) {
    let Link { output, commands, news, facts, carrier, .. } = link;
    let task = Task::new(kernel.clone(), pane.clone(), output, (commands, news));
    tokio::spawn(AtOnce::new(join(carrier, task.run(facts))));
}

impl Task {
    fn new(
        kernel: Kernel,
        pane: Arc<Pane>,
        output: Arc<dyn Output>,
        (commands, news): (mpsc::Sender<Command>, Arc<News>),
    ) -> Self {
        let looked = output.taken().max(output.first());
        let (titles, bells) = (Throttle::new(OFTEN), Throttle::new(OFTEN));
        let (modes, signals) = (Throttle::new(OFTEN), in_modes(&pane));
        let plain = looked == 0;
        let answers = !pane.is_adopted();
        let sizes = output.sizes(0);
        let sized = sizes.iter().rev().find(|mark| mark.offset < looked).map_or(0, |mark| mark.n);
        // Of an update that began before us nobody knows when.
        pane.lock().stale_until = looked;
        Self {
            kernel,
            pane,
            output,
            commands,
            signals,
            looked,
            took: looked,
            sized,
            noted: 0,
            update: None,
            update_until: None,
            plain,
            answers,
            owes: false,
            titles,
            modes,
            bells,
            rung: 0,
            told: false,
            news,
            consideration: Consideration::default(),
        }
    }

    async fn run(mut self, mut facts: mpsc::Receiver<Fact>) {
        let mut is_behind = self.look().await;
        loop {
            let deadlines = [self.titles.deadline(), self.bells.deadline(), self.modes.deadline()];
            let deadline = deadlines.into_iter().chain([self.update_until]).flatten().min();
            let event = tokio::select! {
                biased;
                fact = facts.recv() => Event::Fact(fact),
                () = tokio::task::yield_now(), if is_behind => Event::Behind,
                () = sleep_until(deadline) => Event::Deadline,
            };
            match event {
                Event::Fact(Some(Fact::Wrote)) => {
                    self.news.heard();
                    is_behind = self.look().await;
                }
                Event::Behind => is_behind = self.look().await,
                Event::Fact(Some(Fact::Exited(ending))) => self.ended(ending).await,
                Event::Fact(Some(Fact::Resized(size))) => {
                    self.pane.resized(&self.kernel, size);
                }
                Event::Fact(Some(Fact::Held(holder))) => self.pane.held(&self.kernel, holder),
                Event::Fact(Some(Fact::Pressed(keys))) => self.pressed(keys),
                Event::Fact(Some(Fact::Lost)) => self.lost(),
                Event::Fact(Some(Fact::Parted)) => return adopt::again(&self.kernel, &self.pane),
                Event::Fact(None) => return self.part(),
                Event::Deadline => {
                    self.tell();
                    self.answer().await;
                }
            }
        }
    }

    /// Somebody typed into it past us: an agent hears of it.
    fn pressed(&self, keys: Vec<u8>) {
        self.kernel.panes().typists.typed(&self.pane.id, Instant::now());
        if let Some(agent) = self.kernel.agents().listener(&self.pane.id) {
            let typed = Typed { bytes: keys, at: self.kernel.now(), end: self.output.end() };
            agent.typing(&typed);
            agent.typed(typed);
        }
    }

    /// Looks at what was printed, as far as it is in one size and not too much; whether there is more. What happens
    /// meanwhile is heard between two looks: a program may print without end what is dear to answer.
    async fn look(&mut self) -> bool {
        let before = self.looked;
        let left = self.until_resized(self.output.end()).saturating_sub(before);
        // No larger than needed: most of what is printed is short, and all of it has to be cleared.
        let mut buffer = vec![0; usize::try_from(left).unwrap_or(PIECE).min(PIECE)];
        match self.output.read(before, &mut buffer) {
            Ok(Ok(read)) => self.hear(&buffer[..read]),
            Ok(Err(gap)) => self.skip_to(gap.first),
            Err(error) => {
                tracing::error!(pane = %self.pane.id, %error, "the output of a pane cannot be read");
            }
        }
        self.answer().await;
        self.settle(before).await;
        self.tell();
        // What comes after this look is told anew.
        before < self.looked && self.looked < self.output.last_seen().1
    }

    /// What was looked at since an offset is noted, and those who want to know are told.
    async fn settle(&mut self, before: u64) {
        // A sequence that is not whole yet is looked at again should we be gone by then.
        let settled = self.looked - (self.signals.pending() as u64).min(self.looked);
        // What is remembered of modes is for a screen up to here: to go on from before it would switch them twice.
        self.told |= !self.plain && self.noted != self.signals.changes();
        self.note();
        self.note_update();
        // Whoever follows it first: they wait for this, the keeper only when it has much more.
        self.pane.stir();
        self.consider_others(self.looked - before).await;
        // Much may have been told of at once and be looked at piece by piece.
        let is_much = AHEAD.bytes / 2 <= settled.saturating_sub(self.took);
        if std::mem::take(&mut self.told) || self.news.is_due() || is_much {
            self.took = settled;
            let _ = self.commands.send(Command::Took(settled)).await;
        }
    }

    /// A program that prints much while somebody types elsewhere is to give them room.
    async fn consider_others(&mut self, printed: u64) {
        let (pane, typists) = (&self.pane.id, &self.kernel.panes().typists);
        if let Some(time) = self.consideration.weigh(pane, printed, typists, Instant::now()) {
            let _ = self.commands.send(Command::Breaks(time)).await;
        }
    }

    /// Up to where the output is in one size. Where another one begins here, it is heard of.
    fn until_resized(&mut self, end: u64) -> u64 {
        for mark in self.output.sizes(self.sized) {
            if self.looked < mark.offset {
                return end.min(mark.offset);
            }
            self.sized = mark.n;
            self.signals.resized();
        }
        end
    }

    /// Notes since when there is an update.
    fn note_update(&mut self) {
        let update = self.signals.update();
        if update != self.update {
            self.update = update;
            self.update_until = update.map(|_| Instant::now() + UPDATE_PATIENCE);
        }
    }

    /// Gives up on an update whose time is over: whoever looks sees what it has drawn.
    fn give_up(&mut self) {
        self.update_until = None;
        self.signals.settle();
        self.pane.lock().stale_until = self.looked;
        self.pane.stir();
    }

    /// Notes what a screen that is made later must know.
    fn note(&mut self) {
        let mut state = self.pane.lock();
        if self.plain {
            state.plain_until = self.looked;
            return;
        }
        let changes = self.signals.changes();
        let is_new = std::mem::replace(&mut self.noted, changes) != changes;
        if !is_new && self.output.last_seen().0 == 0 {
            return;
        }
        let setup = self.signals.setup();
        // Also while the beginning is kept: it may be gone by the time that somebody looks.
        state.preamble = [&setup, self.signals.opening()].concat();
        if is_new && state.record.modes.as_bytes() != setup {
            state.record.modes = String::from_utf8(setup).unwrap_or_default();
            self.modes.push(());
        }
    }

    fn skip_to(&mut self, first: u64) {
        tracing::warn!(pane = %self.pane.id, from = self.looked, to = first, "output was overwritten unseen");
        self.looked = first;
        self.signals = in_modes(&self.pane);
        self.plain = false;
    }

    fn hear(&mut self, bytes: &[u8]) {
        self.plain &= memchr(ESC, bytes).is_none();
        let (mut title, mut asked) = (None, false);
        let rung = &mut self.rung;
        self.signals.feed(bytes, |signal| match signal {
            Signal::Title(text) => title = Some(text),
            Signal::Bell => *rung += 1,
            Signal::Query => asked = true,
        });
        self.looked += bytes.len() as u64;
        self.told |= title.is_some() || asked || 0 < self.rung;
        if let Some(title) = title {
            self.retitle(title);
        }
        self.owes |= asked && self.answers;
        if 0 < self.rung {
            self.bells.push(self.rung);
        }
    }

    fn retitle(&mut self, title: String) {
        if self.pane.lock().retitle(title) {
            self.titles.push(());
        }
    }

    /// The program asked its terminal something; we are its terminal. Who has ended waits for no answer, and others wait
    /// to hear of that end.
    async fn answer(&mut self) {
        if !self.owes || self.output.ending().is_some() {
            return;
        }
        let replies = |seen: &mut Drawn, known: &Known| {
            let owes = settled(seen, known).is_held();
            (seen.screen_mut().take_replies(), owes)
        };
        let drawing = self.pane.focus(self.output.clone(), self.looked, replies);
        // To draw may take seconds; an end is told before.
        let drawn = tokio::select! {
            biased;
            drawn = drawing => drawn,
            () = has_ended(self.output.as_ref()) => return,
        };
        match drawn {
            Ok((replies, owes)) => {
                self.owes = owes;
                self.reply(replies).await;
            }
            Err(error) => tracing::error!(pane = %self.pane.id, %error, "cannot parse output"),
        }
    }

    async fn reply(&self, replies: Vec<u8>) {
        if !replies.is_empty() {
            let (reply, _) = tokio::sync::oneshot::channel();
            // Behind no condition, and yet not as typing: no person answers these.
            let anyhow = Guard::default();
            let _ = self.commands.send(Command::Guarded(replies, anyhow, reply)).await;
        }
    }

    /// Tells of titles and bells whose time has come.
    fn tell(&mut self) {
        let now = Instant::now();
        if self.update_until.is_some_and(|until| until <= now) {
            self.give_up();
        }
        if self.titles.tick(now).is_some() {
            self.tell_title();
        }
        if let Some(count) = self.bells.tick(now) {
            self.tell_bells(count);
        }
        if self.modes.tick(now).is_some() {
            self.remember();
        }
    }

    /// Writes down what is known of it; nobody is told.
    fn remember(&self) {
        let state = self.pane.lock();
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    fn tell_title(&self) {
        let state = self.pane.lock();
        let payload = state.record.about(json!({ "title": state.record.title.text() }));
        let journal = self.kernel.journal();
        journal.record(vec![draft("pane:title", &payload)], vec![state.record.put()]);
    }

    fn tell_bells(&mut self, count: u64) {
        self.rung = 0;
        self.kernel.emit("pane:bell", &self.pane.about(json!({ "count": count })));
    }

    /// Bytes, then the end, then the event: in this order for everyone.
    async fn ended(&mut self, ending: Ending) {
        while self.look().await {
            tokio::task::yield_now().await;
        }
        if self.titles.flush().is_some() {
            self.tell_title();
        }
        if let Some(count) = self.bells.flush() {
            self.tell_bells(count);
        }
        let status = if ending.killed { Status::Killed } else { Status::Exited };
        let end = End { status, exit: ending.exit, timed_out: ending.timed_out, at: ending.at };
        end::record(&self.kernel, &self.pane, end);
    }

    fn lost(&mut self) {
        end::record(&self.kernel, &self.pane, end::lost(self.now()));
        self.part();
    }

    /// The keeper is gone; so is our way to it.
    fn part(&self) {
        self.pane.unlink();
        self.pane.stir();
    }

    fn now(&self) -> Time {
        self.kernel.now()
    }
}

/// A reader that goes on in the modes that the program has switched on.
fn in_modes(pane: &Pane) -> Signals {
    let modes = pane.lock().record.modes.clone();
    let mut signals = Signals::new();
    signals.feed(modes.as_bytes(), |_| {});
    signals
}

/// Waits until the tape says that the program has ended.
async fn has_ended(output: &dyn Output) {
    while output.ending().is_none() {
        tokio::time::sleep(LOOK).await;
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
