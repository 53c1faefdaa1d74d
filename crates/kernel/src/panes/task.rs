//! The task that owns one living pane: it receives the keeper's events, scans the output, and
//! publishes events.

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

use super::record::PaneExit;
use super::recover;
use super::screen::live_screen::ScreenHints;
use super::screen::live_screen::visible_screen;
use super::throttle::Throttle;
use super::typing_activity::FloodPacer;
use super::{Pane, PaneChange, TypedInput, exit};
use crate::journal::draft;
use crate::{Kernel, SelfWake};

const ESC: u8 = 0x1b;
/// How much is scanned at a time.
const PIECE: usize = 64 << 10;
/// How often the tape is checked for an exit while much is drawn.
const LOOK: Duration = Duration::from_millis(50);
/// Titles and bells are published at most this often; a spinner in a title would fill the journal.
const OFTEN: Duration = Duration::from_secs(1);

struct PaneTask {
    kernel: Kernel,
    pane: Arc<Pane>,
    output: Arc<dyn Output>,
    commands: mpsc::Sender<PaneCommand>,
    scanner: OutputScanner,
    processed: u64,
    /// The offset that was last acknowledged to the keeper.
    acknowledged: u64,
    /// How many size changes were processed.
    sizes_seen: u64,
    /// The last saved value of [`OutputScanner::changes`].
    modes_noted: u64,
    /// The synchronized update that has not ended, and when it is shown anyway.
    update: Option<u64>,
    update_until: Option<Instant>,
    /// Whether no escape sequence was printed since the very start.
    plain: bool,
    /// Whether we are its terminal; for an adopted pane, tmux is.
    answers_queries: bool,
    /// Whether a query was not answered yet: within a synchronized update nothing is drawn.
    reply_pending: bool,
    titles: Throttle<()>,
    modes: Throttle<()>,
    bells: Throttle<u64>,
    bell_count: u64,
    /// Whether the output that was scanned last had effects that must not be repeated: then it is
    /// acknowledged at once.
    is_observed: bool,
    output_flag: Arc<OutputFlag>,
    flood_pacer: FloodPacer,
}

enum PaneTaskEvent {
    Pane(Option<PaneEvent>),
    /// There is more output to scan, and nothing else has happened.
    Behind,
    Deadline,
}

/// Starts the task of a pane. The backend's driver and this task run as one tokio task: they wake
/// each other for all output.
pub(crate) fn spawn_task(kernel: &Kernel, pane: &Arc<Pane>, handle: PaneHandle) {
    let task = PaneTask::new(kernel.clone(), pane.clone(), &handle);
    let PaneHandle { events, driver, .. } = handle;
    tokio::spawn(SelfWake::new(join(driver, task.run(events))));
}

impl PaneTask {
    fn new(kernel: Kernel, pane: Arc<Pane>, handle: &PaneHandle) -> Self {
        let output = handle.output.clone();
        let processed = output.taken().max(output.first());
        let scanner = scanner_with_modes(&pane);
        let plain = processed == 0;
        let answers_queries = !pane.is_adopted();
        let sizes = output.sizes(0);
        let sizes_seen =
            sizes.iter().rev().find(|mark| mark.offset < processed).map_or(0, |mark| mark.n);
        // An update that began before this task has no known start time, so it counts as stale.
        pane.lock().stale_until = processed;
        Self {
            kernel,
            pane,
            output,
            commands: handle.commands.clone(),
            scanner,
            processed,
            acknowledged: processed,
            sizes_seen,
            modes_noted: 0,
            update: None,
            update_until: None,
            plain,
            answers_queries,
            reply_pending: false,
            titles: Throttle::new(OFTEN),
            modes: Throttle::new(OFTEN),
            bells: Throttle::new(OFTEN),
            bell_count: 0,
            is_observed: false,
            output_flag: handle.output_flag.clone(),
            flood_pacer: FloodPacer::default(),
        }
    }

    async fn run(mut self, mut events: mpsc::Receiver<PaneEvent>) {
        let mut is_behind = self.process_output().await;
        loop {
            let deadlines = [self.titles.deadline(), self.bells.deadline(), self.modes.deadline()];
            let deadline = deadlines.into_iter().chain([self.update_until]).flatten().min();
            let event = tokio::select! {
                biased;
                event = events.recv() => PaneTaskEvent::Pane(event),
                () = tokio::task::yield_now(), if is_behind => PaneTaskEvent::Behind,
                () = sleep_until(deadline) => PaneTaskEvent::Deadline,
            };
            match event {
                PaneTaskEvent::Pane(Some(PaneEvent::Printed)) => {
                    self.output_flag.heard();
                    is_behind = self.process_output().await;
                }
                PaneTaskEvent::Behind => is_behind = self.process_output().await,
                PaneTaskEvent::Pane(Some(PaneEvent::Exited(ending))) => self.ended(ending).await,
                PaneTaskEvent::Pane(Some(PaneEvent::Resized(size))) => {
                    self.pane.set_size(&self.kernel, size);
                }
                PaneTaskEvent::Pane(Some(PaneEvent::SizeHolder(holder))) => {
                    self.pane.set_size_holder(&self.kernel, holder)
                }
                PaneTaskEvent::Pane(Some(PaneEvent::KeysPressed(keys))) => self.on_keys(keys),
                PaneTaskEvent::Pane(Some(PaneEvent::Lost)) => self.lost(),
                PaneTaskEvent::Pane(Some(PaneEvent::Detached)) => {
                    return recover::reconnect(&self.kernel, &self.pane);
                }
                PaneTaskEvent::Pane(None) => return self.disconnect(),
                PaneTaskEvent::Deadline => {
                    self.emit_due();
                    self.answer_queries().await;
                }
            }
        }
    }

    /// A client typed into it at the keeper, not through us.
    fn on_keys(&self, keys: Vec<u8>) {
        self.kernel.panes().typing_activity.typed(&self.pane.id, Instant::now());
        let typed = TypedInput { bytes: keys, at: self.now(), end: self.output.end() };
        self.kernel.panes().report(&self.kernel, &self.pane, &PaneChange::Typed(typed));
    }

    /// Scans the output, as far as it has one size and is not too much. Returns whether there is
    /// more. Other events are handled between two calls: a program may print without end what is
    /// expensive to answer.
    async fn process_output(&mut self) -> bool {
        let before = self.processed;
        let left = self.until_resized(self.output.end()).saturating_sub(before);
        // No larger than needed: most output is short, and the whole buffer has to be zeroed.
        let mut buffer = vec![0; usize::try_from(left).unwrap_or(PIECE).min(PIECE)];
        match self.output.read(before, &mut buffer) {
            Ok(Ok(read)) => self.scan(&buffer[..read]),
            Ok(Err(gap)) => self.skip_to(gap.first),
            Err(error) => {
                tracing::error!(pane = %self.pane.id, %error, "cannot read the output of a pane");
            }
        }
        self.answer_queries().await;
        self.commit_output(before).await;
        self.emit_due();
        // Later output causes a new event.
        before < self.processed && self.processed < self.output.last_seen().1
    }

    /// Saves what was learned from the output since an offset, wakes the watchers, and acknowledges
    /// to the keeper.
    async fn commit_output(&mut self, before: u64) {
        // An incomplete sequence is scanned again if this server restarts before its rest arrives.
        let settled = self.processed - (self.scanner.pending() as u64).min(self.processed);
        // The saved modes are those at this offset: to continue from before it would switch them
        // twice.
        self.is_observed |= !self.plain && self.modes_noted != self.scanner.changes();
        self.save_modes();
        self.note_update();
        // Watchers first: they wait for this, the keeper only when it has much more.
        self.pane.notify();
        if before < self.processed {
            self.kernel.panes().activity.printed();
        }
        self.pace_flood(self.processed - before).await;
        // One event may announce much output, which is scanned piece by piece.
        let is_much = NOTIFY_WINDOW.bytes / 2 <= settled.saturating_sub(self.acknowledged);
        if std::mem::take(&mut self.is_observed) || self.output_flag.is_ack_due() || is_much {
            self.acknowledged = settled;
            let _ = self.commands.send(PaneCommand::Ack(settled)).await;
        }
    }

    /// Slows down a program that prints much while a user types into another pane.
    async fn pace_flood(&mut self, printed: u64) {
        let pane = &self.pane.id;
        let typing = &self.kernel.panes().typing_activity;
        if let Some(time) = self.flood_pacer.pause_for(pane, printed, typing, Instant::now()) {
            let _ = self.commands.send(PaneCommand::Throttle(time)).await;
        }
    }

    /// The offset up to which the output has one size. Passes a size change at the current offset
    /// to the scanner.
    fn until_resized(&mut self, end: u64) -> u64 {
        for mark in self.output.sizes(self.sizes_seen) {
            if self.processed < mark.offset {
                return end.min(mark.offset);
            }
            self.sizes_seen = mark.n;
            self.scanner.resized();
        }
        end
    }

    /// Notes when the current update began.
    fn note_update(&mut self) {
        let update = self.scanner.open_update();
        if update != self.update {
            self.update = update;
            self.update_until = update.map(|_| Instant::now() + UPDATE_TIMEOUT);
        }
    }

    /// Gives up on an update that has timed out: readers see what it has drawn.
    fn expire_update(&mut self) {
        self.update_until = None;
        self.scanner.abandon_update();
        self.pane.lock().stale_until = self.processed;
        self.pane.notify();
    }

    /// Saves what a screen that is created later must know.
    fn save_modes(&mut self) {
        let mut state = self.pane.lock();
        if self.plain {
            state.plain_until = self.processed;
            return;
        }
        let changes = self.scanner.changes();
        let is_new = std::mem::replace(&mut self.modes_noted, changes) != changes;
        if !is_new && self.output.last_seen().0 == 0 {
            return;
        }
        let setup = self.scanner.setup();
        // Also while the start is kept: it may be overwritten before the screen is read.
        state.preamble = [&setup, self.scanner.string_opener()].concat();
        if is_new && state.record.modes.as_bytes() != setup {
            state.record.modes = String::from_utf8(setup).unwrap_or_default();
            self.modes.push(());
        }
    }

    fn skip_to(&mut self, first: u64) {
        tracing::warn!(pane = %self.pane.id, from = self.processed, to = first, "output was overwritten before it was scanned");
        self.processed = first;
        self.scanner = scanner_with_modes(&self.pane);
        self.plain = false;
    }

    fn scan(&mut self, bytes: &[u8]) {
        self.plain &= memchr(ESC, bytes).is_none();
        let mut title = None;
        let mut asked = false;
        let bells = &mut self.bell_count;
        self.scanner.feed(bytes, |event| match event {
            ScanEvent::Title(text) => title = Some(text),
            ScanEvent::Bell => *bells += 1,
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

    /// Answers the program's terminal queries. A program that has exited needs no reply, and its
    /// exit event must not wait.
    async fn answer_queries(&mut self) {
        if !self.reply_pending || self.output.ending().is_some() {
            return;
        }
        let replies = |replayed: &mut ReplayedScreen, hints: &ScreenHints| {
            let is_held = visible_screen(replayed, hints).is_update_held();
            (replayed.screen_mut().take_replies(), is_held)
        };
        let drawing = self.pane.with_screen(self.output.clone(), self.processed, replies);
        // Drawing may take seconds; an exit is published before.
        let drawn = tokio::select! {
            biased;
            drawn = drawing => drawn,
            () = until_ended(self.output.as_ref()) => return,
        };
        match drawn {
            Ok((replies, is_held)) => {
                self.reply_pending = is_held;
                self.reply(replies).await;
            }
            Err(error) => tracing::error!(pane = %self.pane.id, %error, "cannot parse output"),
        }
    }

    async fn reply(&self, replies: Vec<u8>) {
        if !replies.is_empty() {
            let (reply, _) = tokio::sync::oneshot::channel();
            // An empty guard: always written, but not counted as typed input, because no user sends
            // these.
            let guard = InputGuard::default();
            let _ = self.commands.send(PaneCommand::GuardedInput(replies, guard, reply)).await;
        }
    }

    /// Handles all deadlines that have passed: of updates, titles, bells and modes.
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

    /// Writes the record to the journal, without an event.
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

    /// Every client gets the output, then the exit, then the event, in this order.
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

    /// The keeper is gone, and the connection to it.
    fn disconnect(&self) {
        self.pane.detach();
        self.pane.notify();
    }

    fn now(&self) -> Time {
        self.kernel.now()
    }
}

/// A scanner that starts in the modes that the program has set.
fn scanner_with_modes(pane: &Pane) -> OutputScanner {
    let modes = pane.lock().record.modes.clone();
    let mut scanner = OutputScanner::new();
    scanner.feed(modes.as_bytes(), |_| {});
    scanner
}

/// Waits until the tape records the program's exit.
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
