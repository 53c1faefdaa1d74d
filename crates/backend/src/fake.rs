//! A backend in memory for tests, which drive its panes: the same events in the same order, without
//! processes or files.

mod output;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use paned_model::frame::{ExitRecord, InputGuard, RefusalReason, Survivor};
use paned_model::{Exit, PaneId, Size, Time};
use tokio::sync::{Notify, mpsc, watch};

use crate::{
    Backend, BoxedFuture, Driver, Error, InputReport, Output, OutputFlag, PaneCommand, PaneEvent,
    PaneHandle, PendingRecovery, ProcessFingerprint, RecoveredPane, RecoveredState, ResizeError,
    SizeRequest, SpawnSpec, UnresponsivePane, program,
};

/// The process ids of panes and keepers, above those that Linux gives: no process has them.
pub const FAKE_PID: u32 = 1 << 23;
/// The same for their keepers.
pub const FAKE_KEEPER_PID: u32 = FAKE_PID - 1;

/// A backend in memory. Clones share one state, so that a second kernel finds the first one's
/// panes.
#[derive(Clone, Debug, Default)]
pub struct FakeBackend {
    panes: Arc<Mutex<BTreeMap<PaneId, Arc<FakePane>>>>,
}

/// One pane of a [`FakeBackend`].
#[derive(Debug)]
pub struct FakePane {
    /// How it was spawned.
    pub spec: SpawnSpec,
    state: Mutex<FakePaneState>,
    /// Ends the driver of the current handle.
    disconnect: Notify,
    /// Wakes those who wait for an unresponsive keeper.
    answered: Notify,
}

#[derive(Debug, Default)]
struct FakePaneState {
    printed: Vec<u8>,
    /// The offsets from which on a new time holds.
    times: Vec<(u64, Time)>,
    /// The first offset that is still kept.
    first: u64,
    typed: Vec<u8>,
    /// How often input was typed.
    typed_count: u64,
    /// Where the output ended at the last input.
    last_input: u64,
    echoes: Vec<Range<u64>>,
    counter: Option<watch::Sender<Option<u64>>>,
    taken: u64,
    /// How many acknowledgements it got.
    ack_count: u64,
    output_flag: Arc<OutputFlag>,
    /// How many throttle commands it got.
    breaks: u64,
    /// The sizes it was given after the first one, and where.
    sizes: Vec<(u64, Size)>,
    holder: Option<String>,
    ending: Option<ExitRecord>,
    lost: bool,
    /// Whether its keeper does not respond new connections.
    unresponsive: bool,
    survivors: Vec<Survivor>,
    /// Whether the keeper dies when it is asked to kill.
    dies_at_kill: bool,
    outbox: Option<mpsc::Sender<PaneEvent>>,
}

impl FakeBackend {
    /// A pane by its id.
    #[must_use]
    pub fn pane(&self, id: &str) -> Option<Arc<FakePane>> {
        let id: PaneId = id.parse().ok()?;
        self.lock().get(&id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PaneId, Arc<FakePane>>> {
        self.panes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, mut spec: SpawnSpec) -> Result<PaneHandle, Error> {
        program::resolve(&mut spec)?;
        let cwd = spec.cwd.clone();
        if spec.program.ends_with("/refused") {
            return Err(Error::Refused("cannot run it".into()));
        }
        let id = spec.id.clone();
        let mut panes = self.lock();
        if panes.contains_key(&id) {
            return Err(Error::NameTaken(id));
        }
        let pane = Arc::new(FakePane {
            spec,
            state: Mutex::default(),
            disconnect: Notify::new(),
            answered: Notify::new(),
        });
        panes.insert(id, pane.clone());
        drop(panes);
        Ok(PaneHandle { cwd, ..pane.handle() })
    }
}

impl Backend for FakeBackend {
    fn spawn(&self, spec: SpawnSpec) -> BoxedFuture<'_, Result<PaneHandle, Error>> {
        Box::pin(async move { self.start(spec) })
    }

    fn recover(&self) -> BoxedFuture<'_, Result<Vec<RecoveredPane>, Error>> {
        let panes = self.lock();
        // By the name that it has now.
        let found =
            panes.iter().map(|(id, pane)| RecoveredPane { id: id.clone(), ..pane.recovered() });
        let found = found.collect();
        drop(panes);
        Box::pin(async move { Ok(found) })
    }

    fn reconnect(&self, id: PaneId) -> BoxedFuture<'_, RecoveredState> {
        let pane = self.lock().get(&id).cloned();
        Box::pin(async move { pane.map_or(RecoveredState::Lost(None), |pane| pane.state()) })
    }

    fn end(
        &self,
        id: PaneId,
        _: ProcessFingerprint,
        _: Duration,
    ) -> BoxedFuture<'_, Result<Vec<Survivor>, Error>> {
        let pane = self.pane(id.as_str());
        Box::pin(async move { Ok(pane.map(|pane| pane.end_by_force()).unwrap_or_default()) })
    }

    fn launch_record(&self, id: PaneId) -> BoxedFuture<'_, Result<Option<String>, Error>> {
        let record = self.lock().get(&id).and_then(|pane| pane.spec.launch_record.clone());
        Box::pin(async { Ok(record) })
    }

    fn rename(&self, from: PaneId, to: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        let mut panes = self.lock();
        if let Some(pane) = panes.remove(&from) {
            panes.insert(to, pane);
        }
        Box::pin(async { Ok(()) })
    }

    fn remove(&self, id: PaneId) -> BoxedFuture<'_, Result<(), Error>> {
        self.lock().remove(&id);
        Box::pin(async { Ok(()) })
    }
}

impl FakePane {
    /// The program prints.
    pub fn print(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        inner.printed.extend_from_slice(bytes);
        inner.emit(PaneEvent::Printed);
    }

    /// The program prints at a time that the test chooses; output without one is as old as the
    /// pane.
    pub fn print_at(&self, bytes: &[u8], time: Time) {
        let mut inner = self.lock();
        let from = inner.printed.len() as u64;
        inner.times.push((from, time));
        drop(inner);
        self.print(bytes);
    }

    /// Drops the output before this offset.
    pub fn drop_before(&self, offset: u64) {
        self.lock().first = offset;
    }

    /// The program ends by itself.
    pub fn exit(&self, exit: Exit) {
        self.lock().end(ExitRecord {
            exit: Some(exit),
            killed: false,
            timed_out: false,
            at: Time(7),
        });
    }

    /// The keeper dies.
    pub fn kill_keeper(&self) {
        let mut inner = self.lock();
        inner.lost = true;
        inner.emit(PaneEvent::Lost);
        inner.outbox = None;
        self.answered.notify_one();
    }

    /// Kills what is left, the keeper too; returns the survivors.
    fn end_by_force(&self) -> Vec<Survivor> {
        let survivors = self.lock().survivors.clone();
        let is_over = self.lock().lost || self.lock().ending.is_some();
        if survivors.is_empty() && !is_over {
            self.kill_keeper();
        }
        survivors
    }

    /// The keeper was not dead after all: the loss was reported wrongly.
    pub fn revive_keeper(&self) {
        self.lock().lost = false;
    }

    /// The keeper is alive and closes the connection of its server.
    pub fn part(&self) {
        let mut inner = self.lock();
        inner.emit(PaneEvent::Detached);
        inner.outbox = None;
    }

    /// The keeper is alive and does not answer new connections from now on.
    pub fn stop_answering(&self) {
        self.lock().unresponsive = true;
    }

    /// The keeper answers again, also connections that waited.
    pub fn resume_answering(&self) {
        self.lock().unresponsive = false;
        self.answered.notify_one();
    }

    /// The keeper reads nothing any more, and no event says so.
    pub fn stop_listening(&self) {
        self.disconnect.notify_one();
    }

    /// What was typed so far.
    #[must_use]
    pub fn typed(&self) -> Vec<u8> {
        self.lock().typed.clone()
    }

    /// Prints this as the echo of typed text, the text of the line before it included.
    pub fn echo(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        let line = inner.printed.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let end = inner.printed.len() + bytes.len();
        inner.echoes.push(line as u64..end as u64);
        drop(inner);
        self.print(bytes);
    }

    /// Another client types: in a view, or in its own tmux.
    pub fn type_in(&self, bytes: &[u8]) {
        self.lock().accept(bytes);
    }

    /// The last offset that the kernel acknowledged.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.lock().taken
    }

    /// How many acknowledgements the kernel has sent.
    #[must_use]
    pub fn ack_count(&self) -> u64 {
        self.lock().ack_count
    }

    /// The keeper sends notifications without waiting for acknowledgements.
    pub fn notify_without_ack(&self) {
        self.lock().output_flag.set_ack_due(false);
    }

    /// How many throttle commands the kernel has sent.
    #[must_use]
    pub fn breaks(&self) -> u64 {
        self.lock().breaks
    }

    /// From now on a kill leaves these survivors.
    pub fn leave_survivors(&self, survivors: Vec<Survivor>) {
        self.lock().survivors = survivors;
    }

    /// From now on the keeper dies when it is asked to kill, and does not answer.
    pub fn die_at_kill(&self) {
        self.lock().dies_at_kill = true;
    }

    fn lock(&self) -> MutexGuard<'_, FakePaneState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recovered(self: &Arc<Self>) -> RecoveredPane {
        RecoveredPane {
            id: self.spec.id.clone(),
            record: self.spec.record.clone(),
            state: self.state(),
        }
    }

    fn state(self: &Arc<Self>) -> RecoveredState {
        let (ending, lost, unresponsive) = {
            let inner = self.lock();
            (inner.ending, inner.lost, inner.unresponsive)
        };
        match ending {
            Some(ending) => RecoveredState::Ended(self.clone(), ending),
            None if lost => RecoveredState::Lost(Some(self.clone())),
            None if unresponsive => RecoveredState::Unresponsive(self.unresponsive()),
            None => RecoveredState::Alive(self.handle()),
        }
    }

    fn unresponsive(self: &Arc<Self>) -> UnresponsivePane {
        let pane = self.clone();
        let pending = PendingRecovery::new(async move {
            pane.answered.notified().await;
            pane.state()
        });
        let output: Arc<dyn Output> = self.clone();
        UnresponsivePane {
            pid: Some(FAKE_PID),
            keeper: Some(FAKE_KEEPER_PID),
            output: Some(output),
            pending,
        }
    }

    fn handle(self: &Arc<Self>) -> PaneHandle {
        let (commands, mut inbox) = mpsc::channel(64);
        let (outbox, events) = mpsc::channel(64);
        let (counter, typed) = watch::channel(Some(self.lock().typed_count));
        self.lock().outbox = Some(outbox);
        self.lock().counter = Some(counter);
        let pane = self.clone();
        let driver = Driver::new(async move {
            loop {
                tokio::select! {
                    Some(command) = inbox.recv() => pane.handle_command(command),
                    () = pane.disconnect.notified() => return,
                    else => return,
                }
            }
        });
        let output_flag = Arc::new(OutputFlag::new(true, None));
        self.lock().output_flag = output_flag.clone();
        PaneHandle {
            pid: FAKE_PID,
            keeper: FAKE_KEEPER_PID,
            started: Time(1),
            cwd: None,
            output: self.clone(),
            commands,
            events,
            typed,
            output_flag,
            driver,
        }
    }

    fn handle_command(&self, command: PaneCommand) {
        let mut inner = self.lock();
        let gone = if inner.ending.is_some() { Err(RefusalReason::Gone) } else { Ok(()) };
        match command {
            PaneCommand::Ack(offset) => {
                inner.taken = offset;
                inner.ack_count += 1;
            }
            PaneCommand::Input(bytes, reply) => {
                inner.accept(&bytes.concat());
                let _ = reply.send(gone.map(|()| InputReport::default()));
            }
            PaneCommand::GuardedInput(bytes, guard, reply) => {
                let typed = InputReport { guard_atomic: true, ..InputReport::default() };
                let written = inner.accept_guarded(guard, &bytes);
                let _ = reply.send(gone.and(written).map(|()| typed));
            }
            PaneCommand::Resize(request, reply) => {
                let _ = reply.send(gone.map_err(Into::into).and_then(|()| inner.resize(request)));
            }
            PaneCommand::Release(holder) => {
                if inner.holder.take_if(|held| *held == holder).is_some() {
                    inner.emit(PaneEvent::SizeHolder(None));
                }
            }
            PaneCommand::Kill(..) if inner.dies_at_kill => {
                drop(inner);
                self.kill_keeper();
            }
            PaneCommand::Kill(_, reply) => {
                let survivors = inner.survivors.clone();
                if survivors.is_empty() {
                    let exit = Some(Exit::Signal(15));
                    inner.end(ExitRecord { exit, killed: true, timed_out: false, at: Time(8) });
                }
                let _ = reply.send(survivors);
            }
            PaneCommand::Throttle(_) => inner.breaks += 1,
            // This pane was not adopted: dropping the reply says so.
            PaneCommand::Detach(_) => {}
        }
    }
}

impl FakePaneState {
    fn emit(&self, event: PaneEvent) {
        if let Some(outbox) = &self.outbox {
            let _ = outbox.try_send(event);
        }
    }

    fn accept(&mut self, bytes: &[u8]) {
        self.typed.extend(bytes);
        self.last_input = self.printed.len() as u64;
        self.typed_count += 1;
        if let Some(counter) = &self.counter {
            counter.send_replace(Some(self.typed_count));
        }
    }

    fn accept_guarded(&mut self, guard: InputGuard, bytes: &[u8]) -> Result<(), RefusalReason> {
        let holds = guard.end.is_none_or(|end| end == self.printed.len() as u64);
        if !holds || guard.typed.is_some_and(|typed| typed != self.typed_count) {
            return Err(RefusalReason::Stale);
        }
        self.typed.extend(bytes);
        self.last_input = self.printed.len() as u64;
        Ok(())
    }

    fn resize(&mut self, request: SizeRequest) -> Result<(), ResizeError> {
        let SizeRequest { size, holder, force } = request;
        if self.holder.is_some() && self.holder != holder && !force {
            return Err(ResizeError { why: RefusalReason::Held, holder: self.holder.clone() });
        }
        self.sizes.push((self.printed.len() as u64, size));
        if self.holder != holder {
            self.holder.clone_from(&holder);
            self.emit(PaneEvent::SizeHolder(holder));
        }
        Ok(())
    }

    fn end(&mut self, ending: ExitRecord) {
        if self.ending.is_none() {
            self.ending = Some(ending);
            self.emit(PaneEvent::Exited(ending));
        }
    }
}
