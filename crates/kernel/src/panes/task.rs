//! The task that owns one living pane: it hears the keeper's facts, looks at what was printed, and tells.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use memchr::memchr;
use paned_backend::{Output, OutputFlag, PaneCommand, PaneEvent, PaneHandle, ReplayedScreen};
use paned_model::frame::{ExitRecord, InputGuard, NOTIFY_WINDOW};
use paned_model::{PaneStatus, Time};
use paned_term::screen::UPDATE_TIMEOUT;
use paned_term::{OutputScanner, ScanEvent};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Pane;
use super::exit;
use super::live_screen::{ScreenHints, visible_screen};
use super::record::PaneExit;
use super::recover;
use super::throttle::Throttle;
use super::typing_activity::FloodPacer;
use crate::agents::TypedInput;
use crate::dispatch::draft;
use crate::{Kernel, SelfWake};

const ESC: u8 = 0x1b;
/// How much is looked at in one go.
const PIECE: usize = 64 << 10;
/// How often the tape is looked at for an end while much is drawn.
const LOOK: Duration = Duration::from_millis(50);
/// A title or a bell is told at most so often; a spinner in a title would fill the journal.
const OFTEN: Duration = Duration::from_secs(1);

struct PaneTask {
    kernel: Kernel,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    commands: mpsc::Sender<PaneCommand>,
    signals: OutputScanner,
    processed: u64,
    /// What the keeper was last told of that.
    acknowledged: u64,
    /// How many sizes were heard of.
    sizes_seen: u64,
    /// What was noted last: see [`OutputScanner::changes`].
    modes_noted: u64,
    /// The synchronized update that has not ended, and when it is shown all the same.
    update: Option<u64>,
    update_until: Option<Instant>,
    /// Whether no escape sequence was printed since the very beginning.
    plain: bool,
    /// Whether we are its terminal; an adopted pane has tmux.
    answers_queries: bool,
    /// Whether it has asked something and was not answered yet: within a synchronized update nothing is drawn.
    reply_pending: bool,
    titles: Throttle<()>,
    modes: Throttle<()>,
    bells: Throttle<u64>,
    bell_count: u64,
    /// Whether what was looked at last has come to somebody's ears.
    is_observed: bool,
    news: Arc<OutputFlag>,
    flood_pacer: FloodPacer,
}

enum PaneTaskEvent {
    Fact(Option<PaneEvent>),
    /// There is more to look at, and nothing else has happened.
    Behind,
    Deadline,
}

/// Looks after a pane from now on. What carries its facts and what hears them are one task: they wake each other for
/// everything that is printed.
pub(crate) fn spawn_task(kernel: &Kernel, pane: &Arc<Pane>, link: PaneHandle) {
    let PaneHandle { output, commands, output_flag: news, events: facts, driver: carrier, .. } =
        link;
    let task = PaneTask::new(kernel.clone(), pane.clone(), output, (commands, news));
    tokio::spawn(SelfWake::new(join(carrier, task.run(facts))));
}

impl PaneTask {
    fn new(
        kernel: Kernel,
        pane: Arc<Pane>,
        output: Arc<dyn Output>,
        (commands, news): (mpsc::Sender<PaneCommand>, Arc<OutputFlag>),
    ) -> Self {
        let processed = output.taken().max(output.first());
        let (titles, bells) = (Throttle::new(OFTEN), Throttle::new(OFTEN));
        let (modes, signals) = (Throttle::new(OFTEN), scanner_with_modes(&pane));
        let plain = processed == 0;
        let answers_queries = !pane.is_adopted();
        let sizes = output.sizes(0);
        let sizes_seen =
            sizes.iter().rev().find(|mark| mark.offset < processed).map_or(0, |mark| mark.n);
        // Of an update that began before us nobody knows when.
        pane.lock().stale_until = processed;
        Self {
            kernel,
            pane,
            output,
            commands,
            signals,
            processed,
            acknowledged: processed,
            sizes_seen,
            modes_noted: 0,
            update: None,
            update_until: None,
            plain,
            answers_queries,
            reply_pending: false,
            titles,
            modes,
            bells,
            bell_count: 0,
            is_observed: false,
            news,
            flood_pacer: FloodPacer::default(),
        }
    }

    async fn run(mut self, mut facts: mpsc::Receiver<PaneEvent>) {
        let mut is_behind = self.process_output().await;
        loop {
            let deadlines = [self.titles.deadline(), self.bells.deadline(), self.modes.deadline()];
            let deadline = deadlines.into_iter().chain([self.update_until]).flatten().min();
            let event = tokio::select! {
                biased;
                fact = facts.recv() => PaneTaskEvent::Fact(fact),
                () = tokio::task::yield_now(), if is_behind => PaneTaskEvent::Behind,
                () = sleep_until(deadline) => PaneTaskEvent::Deadline,
            };
            match event {
                PaneTaskEvent::Fact(Some(PaneEvent::Printed)) => {
                    self.news.heard();
                    is_behind = self.process_output().await;
                }
                PaneTaskEvent::Behind => is_behind = self.process_output().await,
                PaneTaskEvent::Fact(Some(PaneEvent::Exited(ending))) => self.ended(ending).await,
                PaneTaskEvent::Fact(Some(PaneEvent::Resized(size))) => {
                    self.pane.set_size(&self.kernel, size);
                }
                PaneTaskEvent::Fact(Some(PaneEvent::SizeHolder(holder))) => {
                    self.pane.set_size_holder(&self.kernel, holder)
                }
                PaneTaskEvent::Fact(Some(PaneEvent::KeysPressed(keys))) => self.on_keys(keys),
                PaneTaskEvent::Fact(Some(PaneEvent::Lost)) => self.lost(),
                PaneTaskEvent::Fact(Some(PaneEvent::Detached)) => {
                    return recover::reconnect(&self.kernel, &self.pane);
                }
                PaneTaskEvent::Fact(None) => return self.disconnect(),
                PaneTaskEvent::Deadline => {
                    self.emit_due();
                    self.answer_queries().await;
                }
            }
        }
    }

    /// Somebody typed into it past us: an agent hears of it.
    fn on_keys(&self, keys: Vec<u8>) {
        self.kernel.panes().typing_activity.typed(&self.pane.id, Instant::now());
        if let Some(agent) = self.kernel.agents().find(&self.pane.id) {
            let typed = TypedInput { bytes: keys, at: self.kernel.now(), end: self.output.end() };
            agent.typing(&typed);
            agent.typed(typed);
        }
    }

    /// Looks at what was printed, as far as it is in one size and not too much; whether there is more. What happens
    /// meanwhile is heard between two looks: a program may print without end what is dear to answer.
    async fn process_output(&mut self) -> bool {
        let before = self.processed;
        let left = self.until_resized(self.output.end()).saturating_sub(before);
        // No larger than needed: most of what is printed is short, and all of it has to be cleared.
        let mut buffer = vec![0; usize::try_from(left).unwrap_or(PIECE).min(PIECE)];
        match self.output.read(before, &mut buffer) {
            Ok(Ok(read)) => self.scan(&buffer[..read]),
            Ok(Err(gap)) => self.skip_to(gap.first),
            Err(error) => {
                tracing::error!(pane = %self.pane.id, %error, "the output of a pane cannot be read");
            }
        }
        self.answer_queries().await;
        self.commit_output(before).await;
        self.emit_due();
        // What comes after this look is told anew.
        before < self.processed && self.processed < self.output.last_seen().1
    }

    /// What was looked at since an offset is noted, and those who want to know are told.
    async fn commit_output(&mut self, before: u64) {
        // A sequence that is not whole yet is looked at again should we be gone by then.
        let settled = self.processed - (self.signals.pending() as u64).min(self.processed);
        // What is remembered of modes is for a screen up to here: to go on from before it would switch them twice.
        self.is_observed |= !self.plain && self.modes_noted != self.signals.changes();
        self.save_modes();
        self.note_update();
        // Whoever follows it first: they wait for this, the keeper only when it has much more.
        self.pane.notify();
        self.pace_flood(self.processed - before).await;
        // Much may have been told of at once and be looked at piece by piece.
        let is_much = NOTIFY_WINDOW.bytes / 2 <= settled.saturating_sub(self.acknowledged);
        if std::mem::take(&mut self.is_observed) || self.news.is_ack_due() || is_much {
            self.acknowledged = settled;
            let _ = self.commands.send(PaneCommand::Ack(settled)).await;
        }
    }

    /// A program that prints much while somebody types elsewhere is to give them room.
    async fn pace_flood(&mut self, printed: u64) {
        let (pane, typists) = (&self.pane.id, &self.kernel.panes().typing_activity);
        if let Some(time) = self.flood_pacer.pause_for(pane, printed, typists, Instant::now()) {
            let _ = self.commands.send(PaneCommand::Throttle(time)).await;
        }
    }

    /// Up to where the output is in one size. Where another one begins here, it is heard of.
    fn until_resized(&mut self, end: u64) -> u64 {
        for mark in self.output.sizes(self.sizes_seen) {
            if self.processed < mark.offset {
                return end.min(mark.offset);
            }
            self.sizes_seen = mark.n;
            self.signals.resized();
        }
        end
    }

    /// Notes since when there is an update.
    fn note_update(&mut self) {
        let update = self.signals.open_update();
        if update != self.update {
            self.update = update;
            self.update_until = update.map(|_| Instant::now() + UPDATE_TIMEOUT);
        }
    }

    /// Gives up on an update whose time is over: whoever looks sees what it has drawn.
    fn expire_update(&mut self) {
        self.update_until = None;
        self.signals.abandon_update();
        self.pane.lock().stale_until = self.processed;
        self.pane.notify();
    }

    /// Notes what a screen that is made later must know.
    fn save_modes(&mut self) {
        let mut state = self.pane.lock();
        if self.plain {
            state.plain_until = self.processed;
            return;
        }
        let changes = self.signals.changes();
        let is_new = std::mem::replace(&mut self.modes_noted, changes) != changes;
        if !is_new && self.output.last_seen().0 == 0 {
            return;
        }
        let setup = self.signals.setup();
        // Also while the beginning is kept: it may be gone by the time that somebody looks.
        state.preamble = [&setup, self.signals.string_opener()].concat();
        if is_new && state.record.modes.as_bytes() != setup {
            state.record.modes = String::from_utf8(setup).unwrap_or_default();
            self.modes.push(());
        }
    }

    fn skip_to(&mut self, first: u64) {
        tracing::warn!(pane = %self.pane.id, from = self.processed, to = first, "output was overwritten unseen");
        self.processed = first;
        self.signals = scanner_with_modes(&self.pane);
        self.plain = false;
    }

    fn scan(&mut self, bytes: &[u8]) {
        self.plain &= memchr(ESC, bytes).is_none();
        let (mut title, mut asked) = (None, false);
        let rung = &mut self.bell_count;
        self.signals.feed(bytes, |signal| match signal {
            ScanEvent::Title(text) => title = Some(text),
            ScanEvent::Bell => *rung += 1,
            ScanEvent::Query => asked = true,
        });
        self.processed += bytes.len() as u64;
        self.is_observed |= title.is_some() || asked || 0 < self.bell_count;
        if let Some(title) = title {
            self.retitle(title);
        }
        self.reply_pending |= asked && self.answers_queries;
        if 0 < self.bell_count {
            self.bells.push(self.bell_count);
        }
    }

    fn retitle(&mut self, title: String) {
        if self.pane.lock().retitle(title) {
            self.titles.push(());
        }
    }

    /// The program asked its terminal something; we are its terminal. Who has ended waits for no answer, and others wait
    /// to hear of that end.
    async fn answer_queries(&mut self) {
        if !self.reply_pending || self.output.ending().is_some() {
            return;
        }
        let replies = |seen: &mut ReplayedScreen, known: &ScreenHints| {
            let owes = visible_screen(seen, known).is_update_held();
            (seen.screen_mut().take_replies(), owes)
        };
        let drawing = self.pane.with_screen(self.output.clone(), self.processed, replies);
        // To draw may take seconds; an end is told before.
        let drawn = tokio::select! {
            biased;
            drawn = drawing => drawn,
            () = until_ended(self.output.as_ref()) => return,
        };
        match drawn {
            Ok((replies, owes)) => {
                self.reply_pending = owes;
                self.reply(replies).await;
            }
            Err(error) => tracing::error!(pane = %self.pane.id, %error, "cannot parse output"),
        }
    }

    async fn reply(&self, replies: Vec<u8>) {
        if !replies.is_empty() {
            let (reply, _) = tokio::sync::oneshot::channel();
            // Behind no condition, and yet not as typing: no person answers these.
            let anyhow = InputGuard::default();
            let _ = self.commands.send(PaneCommand::GuardedInput(replies, anyhow, reply)).await;
        }
    }

    /// Tells of titles and bells whose time has come.
    fn emit_due(&mut self) {
        let now = Instant::now();
        if self.update_until.is_some_and(|until| until <= now) {
            self.expire_update();
        }
        if self.titles.tick(now).is_some() {
            self.emit_title();
        }
        if let Some(count) = self.bells.tick(now) {
            self.emit_bells(count);
        }
        if self.modes.tick(now).is_some() {
            self.persist();
        }
    }

    /// Writes down what is known of it; nobody is told.
    fn persist(&self) {
        let state = self.pane.lock();
        self.kernel.journal().record(Vec::new(), vec![state.record.put()]);
    }

    fn emit_title(&self) {
        let state = self.pane.lock();
        let payload = state.record.event_payload(json!({ "title": state.record.title.text() }));
        let journal = self.kernel.journal();
        journal.record(vec![draft("pane:title", &payload)], vec![state.record.put()]);
    }

    fn emit_bells(&mut self, count: u64) {
        self.bell_count = 0;
        self.kernel.emit("pane:bell", &self.pane.event_payload(json!({ "count": count })));
    }

    /// Bytes, then the end, then the event: in this order for everyone.
    async fn ended(&mut self, ending: ExitRecord) {
        while self.process_output().await {
            tokio::task::yield_now().await;
        }
        if self.titles.flush().is_some() {
            self.emit_title();
        }
        if let Some(count) = self.bells.flush() {
            self.emit_bells(count);
        }
        let status = if ending.killed { PaneStatus::Killed } else { PaneStatus::Exited };
        let end =
            PaneExit { status, exit: ending.exit, timed_out: ending.timed_out, at: ending.at };
        exit::record_exit(&self.kernel, &self.pane, end);
    }

    fn lost(&mut self) {
        exit::record_exit(&self.kernel, &self.pane, exit::lost_exit(self.now()));
        self.disconnect();
    }

    /// The keeper is gone; so is our way to it.
    fn disconnect(&self) {
        self.pane.detach();
        self.pane.notify();
    }

    fn now(&self) -> Time {
        self.kernel.now()
    }
}

/// A reader that goes on in the modes that the program has switched on.
fn scanner_with_modes(pane: &Pane) -> OutputScanner {
    let modes = pane.lock().record.modes.clone();
    let mut signals = OutputScanner::new();
    signals.feed(modes.as_bytes(), |_| {});
    signals
}

/// Waits until the tape says that the program has ended.
async fn until_ended(output: &dyn Output) {
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
