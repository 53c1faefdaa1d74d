//! One pane's life: its bytes, its program, its end.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use paned_model::frame::{
    self, ClientRole, ExitRecord, Follow, InputGuard, KeeperResponse, NOTIFY_WINDOW, RefusalReason,
    RequestId, SpawnRequest, VERSION, Welcome,
};
use paned_model::{Exit, Size, Time};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};

use crate::drain::{self, Drain, DrainUntil};
use crate::flow_control::FlowControl;
use crate::input::PtyInput;
use crate::kill::{KillOutcome, KillProgress, KillStep};
use crate::owned_file::OwnedFile;
use crate::pane_processes::{self, KillSignal};
use crate::peer::PeerId;
use crate::restore::PaneFiles;
use crate::spawn::SpawnedPane;
use crate::tape::TapeWriter;
use crate::throttle::{BREAK, FloodThrottle};
use crate::{pty, time};

/// How often a full disk is tried again.
const DISK_RETRY: Duration = Duration::from_millis(250);
/// How often a terminal that the living program has closed is looked at again.
const HANGUP_RETRY: Duration = Duration::from_secs(1);
/// The longest time for which breaks can be asked for at once.
const MAX_THROTTLE: Duration = Duration::from_secs(60);

pub(crate) struct KeeperPane {
    pub(crate) master: OwnedFd,
    pub(crate) listener: UnixListener,
    socket: OwnedFile,
    files: PaneFiles,
    tape: TapeWriter,
    child: Pid,
    started: Time,
    grace: Duration,
    drain: Drain,
    flow: FlowControl,
    throttle: FloodThrottle,
    input: PtyInput,
    /// Whose the program is: it ends when they leave.
    owner: Option<PeerId>,
    /// Do not look at the pty before this.
    retry_read_at: Option<Instant>,
    times_out_at: Option<Instant>,
    timed_out: bool,
    killing: Option<KillProgress>,
    killed: Option<KillOutcome>,
    exit_stage: ExitStage,
    /// Whether any process of the pane is left.
    no_process_left: bool,
}

/// How far the end has come. Each step happens once, in this order.
enum ExitStage {
    Running,
    /// The program has ended; what it printed is still being read.
    Reaped(Exit),
    /// All of it is on the tape.
    Drained(Exit),
    /// Written down.
    Ended(ExitRecord),
}

impl KeeperPane {
    pub(crate) fn new(birth: &SpawnRequest, newborn: SpawnedPane) -> Self {
        let timeout = birth.timeout_ms.map(Duration::from_millis);
        Self {
            master: newborn.master,
            listener: newborn.listener,
            socket: newborn.socket,
            files: PaneFiles::new(&birth.tape, &birth.socket),
            tape: newborn.tape,
            child: newborn.child,
            started: newborn.started,
            grace: Duration::from_millis(birth.grace_ms),
            drain: Drain::new(),
            flow: FlowControl::new(birth.followed, Instant::now()),
            throttle: FloodThrottle::new(Instant::now()),
            input: PtyInput::default(),
            owner: None,
            retry_read_at: None,
            times_out_at: timeout.map(|timeout| Instant::now() + timeout),
            timed_out: false,
            killing: None,
            killed: None,
            exit_stage: ExitStage::Running,
            no_process_left: false,
        }
    }

    pub(crate) fn welcome(&self, served: bool) -> Welcome {
        Welcome {
            version: VERSION,
            keeper: std::process::id(),
            pid: self.child.as_raw_nonzero().get().unsigned_abs(),
            started: self.started,
            typed: Some(self.typed()),
            served: Some(served),
            ahead: true,
            frames: Some(NOTIFY_WINDOW.frames),
            guarded: Some(self.input.guarded()),
        }
    }

    /// How often somebody has typed.
    pub(crate) fn typed(&self) -> u64 {
        self.input.typed()
    }

    /// The offset after the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.tape.end()
    }

    pub(crate) fn ending(&self) -> Option<ExitRecord> {
        match self.exit_stage {
            ExitStage::Ended(ending) => Some(ending),
            ExitStage::Running | ExitStage::Reaped(_) | ExitStage::Drained(_) => None,
        }
    }

    /// What the pty is to be watched for.
    pub(crate) fn interest(&self) -> PollFlags {
        if self.retry_read_at.is_some()
            || matches!(self.exit_stage, ExitStage::Drained(_) | ExitStage::Ended(_))
        {
            return PollFlags::empty();
        }
        let mut interest = PollFlags::empty();
        interest.set(PollFlags::IN, self.flow.room(&self.tape) != 0);
        interest.set(PollFlags::OUT, self.input.is_due());
        interest
    }

    /// When [`KeeperPane::tick`] wants to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let looking = self.killing.as_ref().map(KillProgress::deadline);
        let holding = self.flow.deadline(&self.tape);
        let deadlines =
            [looking, holding, self.input.deadline(), self.retry_read_at, self.times_out_at];
        deadlines.into_iter().flatten().min()
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.flow.tick(&self.tape, now);
        self.input.tick(&self.master, self.tape.end(), now);
        if self.retry_read_at.is_some_and(|until| until <= now) {
            self.retry_read_at = None;
            self.drain(now);
        }
        if self.times_out_at.is_some_and(|at| at <= now) {
            self.times_out_at = None;
            self.timed_out = true;
            self.kill(now, None, None);
        }
        if self.killing.as_ref().is_some_and(|killing| killing.deadline() <= now) {
            self.check_kill(now);
        }
    }

    /// Gives the program breaks for so long, if it prints without end.
    pub(crate) fn throttle(&mut self, time: Duration, now: Instant) {
        self.throttle.throttle_until(now + time.min(MAX_THROTTLE));
    }

    /// How much of what is printed may be read now.
    fn room(&self, now: Instant) -> u64 {
        let room = self.flow.room(&self.tape);
        match self.exit_stage {
            ExitStage::Running => room.min(self.throttle.room(now)),
            ExitStage::Reaped(_) | ExitStage::Drained(_) | ExitStage::Ended(_) => room,
        }
    }

    /// Moves what was printed to the tape: all of it, so far.
    pub(crate) fn drain(&mut self, now: Instant) {
        self.drain_until(DrainUntil::Empty, now);
    }

    /// Moves what was printed to the tape.
    pub(crate) fn drain_until(&mut self, until: DrainUntil, now: Instant) {
        let (room, before) = (self.room(now), self.tape.end());
        let (pty, until) = (self.master.as_fd(), (room, until));
        let drained = self.drain.run(pty, &mut self.tape, until, time::now());
        match (drained, &self.exit_stage) {
            // The disk is full: the program waits, and nothing is lost.
            (Err(_), _) => {
                self.tape.set_stalled();
                self.retry_read_at = Some(now + DISK_RETRY);
            }
            (Ok(drain::PtyReadState::More | drain::PtyReadState::Empty), ExitStage::Running) => {
                if self.throttle.printed(self.tape.end() - before, now) {
                    self.retry_read_at = Some(Instant::now() + BREAK);
                }
            }
            (Ok(drain::PtyReadState::More), _) => {}
            (
                Ok(drain::PtyReadState::Empty | drain::PtyReadState::HungUp),
                ExitStage::Reaped(exit),
            ) => {
                self.exit_stage = ExitStage::Drained(*exit);
            }
            // The program lives and has closed its terminal; it may open it again.
            (Ok(drain::PtyReadState::HungUp), ExitStage::Running) => {
                self.retry_read_at = Some(now + HANGUP_RETRY)
            }
            (
                Ok(drain::PtyReadState::Empty | drain::PtyReadState::HungUp),
                ExitStage::Drained(_) | ExitStage::Ended(_),
            ) => {}
        }
    }

    /// Takes what somebody typed, all or none; each part is read by itself.
    pub(crate) fn accept(
        &mut self,
        id: RequestId,
        parts: &[&[u8]],
        now: Instant,
    ) -> KeeperResponse {
        let done = self.queue_input(id, parts, now);
        if done.refused.is_none() {
            self.input.count(parts);
        }
        KeeperResponse { typed: Some(self.typed()), ..done }
    }

    /// The same behind a guard: what has happened up to now is known before it is judged.
    pub(crate) fn accept_guarded(
        &mut self,
        id: RequestId,
        guard: InputGuard,
        bytes: &[u8],
        now: Instant,
    ) -> KeeperResponse {
        self.drain(now);
        let done = match self.check(guard, now) {
            None => self.queue_input(id, &[bytes], now),
            refused => KeeperResponse { refused, ..KeeperResponse::ok(id) },
        };
        // What the terminal replies to a query comes without a condition, and at any time.
        if done.refused.is_none() && guard != InputGuard::default() {
            self.input.count_guarded();
        }
        KeeperResponse { typed: Some(self.typed()), guarded: Some(self.input.guarded()), ..done }
    }

    fn check(&self, guard: InputGuard, now: Instant) -> Option<RefusalReason> {
        let stands = guard.end.is_none_or(|end| end == self.end());
        if !stands || guard.typed.is_some_and(|typed| typed != self.typed()) {
            return Some(RefusalReason::Stale);
        }
        let is_unread = || self.input.is_unread(&self.master, self.end(), now);
        (guard.end.is_some() && is_unread()).then_some(RefusalReason::Unread)
    }

    fn queue_input(&mut self, id: RequestId, parts: &[&[u8]], now: Instant) -> KeeperResponse {
        let is_long = match self.is_running() {
            true => self.input.accept(&self.master, parts),
            false => Err(RefusalReason::Gone),
        };
        self.write_queued(now);
        KeeperResponse {
            refused: is_long.err(),
            long_line: is_long == Ok(true),
            ..KeeperResponse::ok(id)
        }
    }

    fn is_running(&self) -> bool {
        matches!(self.exit_stage, ExitStage::Running)
    }

    /// Gives the program what it takes of what was typed.
    pub(crate) fn write_queued(&mut self, now: Instant) {
        self.input.write_queued(&self.master, self.tape.end(), now);
    }

    /// Has the program get a signal.
    pub(crate) fn signal(
        &mut self,
        request: &frame::SignalRequest,
        now: Instant,
    ) -> KeeperResponse {
        let id = request.id;
        let refuse = |refused| KeeperResponse { refused: Some(refused), ..KeeperResponse::ok(id) };
        if !self.is_running() {
            return refuse(RefusalReason::Gone);
        }
        let Some(signal) = Signal::from_named_raw(request.signal.into()) else {
            return refuse(RefusalReason::Failed);
        };
        // Behind what is typed ahead, a key would come too late.
        match pty::key_for(&self.master, signal).filter(|_| self.input.is_empty()) {
            Some(key) => self.queue_input(id, &[&[key]], now),
            None => {
                pane_processes::signal(&self.master, self.child, signal);
                KeeperResponse::ok(id)
            }
        }
    }

    /// Sets the size. What was printed before is on the tape first, so that it is known what was for which size.
    pub(crate) fn resize(&mut self, id: RequestId, size: Size, now: Instant) -> KeeperResponse {
        self.drain(now);
        let refused = match (size.check(), pty::resize(&self.master, size)) {
            (Ok(_), Ok(())) => {
                self.tape.set_size(size);
                None
            }
            (Err(_), _) | (_, Err(_)) => Some(RefusalReason::Failed),
        };
        KeeperResponse { refused, ..KeeperResponse::ok(id) }
    }

    pub(crate) fn server_acked(&mut self, offset: u64) {
        self.tape.set_acked(offset);
        self.flow.server_acked();
    }

    /// No server is there. The next one finds the program by its files, whatever something else has deleted.
    pub(crate) fn server_disconnected(&mut self) {
        if self.is_running()
            && let Ok(Some((listener, socket))) = self.files.restore(&mut self.tape)
        {
            self.listener = listener;
            self.socket = socket;
        }
    }

    pub(crate) fn server_connected(&mut self) {
        // It reads the header next, whatever something else has written there.
        let _ = self.tape.refresh();
        self.flow.attach();
    }

    /// Somebody must not miss anything, and may be the one for whom the program runs.
    pub(crate) fn follow(&mut self, peer: PeerId, follow: &Follow, now: Instant) {
        self.flow.follow(peer, follow.from, now);
        if follow.owns {
            self.owner = Some(peer);
        }
    }

    pub(crate) fn follower_acked(&mut self, peer: PeerId, offset: u64, now: Instant) {
        self.flow.follower_acked(peer, offset, now);
    }

    pub(crate) fn peer_disconnected(
        &mut self,
        peer: PeerId,
        role: Option<ClientRole>,
        now: Instant,
    ) {
        if role == Some(ClientRole::Server) {
            self.flow.detach();
        }
        self.flow.peer_disconnected(peer);
        if self.owner.take_if(|owner| *owner == peer).is_some() {
            self.kill(now, None, None);
        }
    }

    /// Ends the program and all that it started.
    pub(crate) fn kill(
        &mut self,
        now: Instant,
        grace: Option<Duration>,
        asked_by: Option<(PeerId, RequestId)>,
    ) {
        let grace = grace.unwrap_or(self.grace);
        self.flow.program_ended(now);
        if self.killing.is_none() {
            let how = if grace.is_zero() { KillSignal::ForceKill } else { KillSignal::Terminate };
            pane_processes::push(self.child, how);
        }
        let killing = self.killing.get_or_insert_with(|| KillProgress::new(now, grace));
        killing.shorten_grace(now, grace);
        killing.asked_by.extend(asked_by);
        self.reap(now);
    }

    /// Collects whoever has ended, and looks whether a kill is over.
    pub(crate) fn reap(&mut self, now: Instant) {
        self.no_process_left = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.child => self.reaped(status, now),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        if self.no_process_left && pane_processes::KEEPS_ALL {
            self.finish_kill(Vec::new());
        }
    }

    fn reaped(&mut self, status: WaitStatus, now: Instant) {
        let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
        let exit = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Exit::Code(byte(code)),
            (None, Some(signal)) => Exit::Signal(byte(signal)),
            // Stopped or continued; it has not ended.
            (None, None) => return,
        };
        self.exit_stage = ExitStage::Reaped(exit);
        self.flow.program_ended(now);
        self.times_out_at = None;
        self.retry_read_at = None;
        self.drain(now);
    }

    /// Looks whether a kill is over, and does what is next if it is not. One empty look is no end: what forks and exits all
    /// the time is missed by it.
    fn check_kill(&mut self, now: Instant) {
        self.reap(now);
        let Some(killing) = &mut self.killing else {
            return;
        };
        let step = killing.next_step(now);
        let left = match step {
            KillStep::GiveUp => Some(pane_processes::of_pane(self.child)),
            KillStep::Wait | KillStep::Remind | KillStep::ForceKill
                if pane_processes::KEEPS_ALL =>
            {
                None
            }
            KillStep::Wait | KillStep::Remind | KillStep::ForceKill => {
                Some(pane_processes::of_pane(self.child)).filter(Vec::is_empty)
            }
        };
        match left {
            Some(left) if !left.is_empty() || pane_processes::is_over() => {
                // The last one may have ended while we looked, and its end comes before the answer.
                self.reap(now);
                self.finish_kill(left);
            }
            Some(_) | None if step == KillStep::Wait => {}
            Some(_) | None if step == KillStep::Remind => {
                pane_processes::push(self.child, KillSignal::Remind)
            }
            Some(_) | None => {
                pane_processes::push(self.child, KillSignal::ForceKill);
                self.reap(now);
            }
        }
    }

    fn finish_kill(&mut self, left: Vec<pane_processes::PaneProcess>) {
        let Some(killing) = self.killing.take() else {
            return;
        };
        let survivors = left.into_iter().map(Into::into).collect();
        let earlier = self.killed.take().map(|killed| killed.asked_by).unwrap_or_default();
        let asked_by = earlier.into_iter().chain(killing.asked_by).collect();
        self.killed = Some(KillOutcome { asked_by, survivors });
    }

    /// Writes the ending down once everything before it has happened; answers it that one time.
    pub(crate) fn try_end(&mut self) -> Option<ExitRecord> {
        let ExitStage::Drained(exit) = self.exit_stage else {
            return None;
        };
        if self.killing.is_some() || self.drain.is_stuck() {
            return None;
        }
        let killed = self.killed.as_ref().is_some_and(|killed| killed.survivors.is_empty());
        let ending =
            ExitRecord { exit: Some(exit), killed, timed_out: self.timed_out, at: time::now() };
        self.tape.set_ending(ending);
        self.exit_stage = ExitStage::Ended(ending);
        Some(ending)
    }

    /// The answers to those who asked for a kill that is over.
    pub(crate) fn kill_responses(&mut self) -> Vec<(PeerId, KeeperResponse)> {
        let told = matches!(self.exit_stage, ExitStage::Running | ExitStage::Ended(_))
            && self.killing.is_none();
        let Some(killed) = self.killed.as_mut().filter(|_| told) else {
            return Vec::new();
        };
        let done =
            |id| KeeperResponse { survivors: killed.survivors.clone(), ..KeeperResponse::ok(id) };
        let asked_by = std::mem::take(&mut killed.asked_by);
        asked_by.into_iter().map(|(peer, id)| (peer, done(id))).collect()
    }

    /// Whether nothing of the pane is left to look after.
    pub(crate) fn is_over(&self) -> bool {
        self.no_process_left
            && self.killing.is_none()
            && matches!(self.exit_stage, ExitStage::Ended(_))
    }

    /// Takes the socket away. The tape stays.
    pub(crate) fn cleanup(&self) {
        self.socket.remove();
    }
}
