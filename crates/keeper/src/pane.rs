//! The state of one pane: its output, its program, its exit.

mod kill;

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
use crate::input::guarded::PtyInput;
use crate::owned_file::OwnedFile;
use crate::peer::PeerId;
use crate::process::kill::{KillOutcome, KillProgress};
use crate::process::pane_processes;
use crate::process::spawn::SpawnedPane;
use crate::restore::PaneFiles;
use crate::tape::TapeWriter;
use crate::throttle::{BREAK, FloodThrottle};
use crate::{pty, time};

/// How often a write to a full disk is retried.
const DISK_RETRY: Duration = Duration::from_millis(250);
/// How often a terminal that the running program has closed is read again.
const HANGUP_RETRY: Duration = Duration::from_secs(1);
/// The longest throttling that one request can ask for.
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
    /// The client that owns the program: when it disconnects, the program is killed.
    owner: Option<PeerId>,
    /// Do not read the pty before this.
    retry_read_at: Option<Instant>,
    times_out_at: Option<Instant>,
    timed_out: bool,
    killing: Option<KillProgress>,
    killed: Option<KillOutcome>,
    exit_stage: ExitStage,
    /// Whether no process of the pane is left.
    no_process_left: bool,
}

/// How far the exit has been handled. Each step happens once, in this order.
enum ExitStage {
    Running,
    /// The program has ended; what it printed is still being read.
    Reaped(Exit),
    /// All of it is on the tape.
    Drained(Exit),
    /// The exit is recorded on the tape.
    Ended(ExitRecord),
}

impl KeeperPane {
    pub(crate) fn new(request: &SpawnRequest, spawned: SpawnedPane) -> Self {
        let timeout = request.timeout_ms.map(Duration::from_millis);
        Self {
            master: spawned.master,
            listener: spawned.listener,
            socket: spawned.socket,
            files: PaneFiles::new(&request.tape, &request.socket),
            tape: spawned.tape,
            child: spawned.child,
            started: spawned.started,
            grace: Duration::from_millis(request.grace_ms),
            drain: Drain::new(request.size.cols),
            flow: FlowControl::new(request.followed, Instant::now()),
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
            served,
            frames: NOTIFY_WINDOW.frames,
            guarded: Some(self.input.guarded()),
        }
    }

    /// Number of writes with user input.
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

    /// The events to poll the pty for.
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
        let kill_poll = self.killing.as_ref().map(KillProgress::deadline);
        let flow_timeout = self.flow.deadline(&self.tape);
        let deadlines =
            [kill_poll, flow_timeout, self.input.deadline(), self.retry_read_at, self.times_out_at];
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

    /// Throttles the program for this long, if it floods its terminal with output.
    pub(crate) fn throttle(&mut self, time: Duration, now: Instant) {
        self.throttle.throttle_until(now + time.min(MAX_THROTTLE));
    }

    /// How many bytes of output may be read now.
    fn room(&self, now: Instant) -> u64 {
        let room = self.flow.room(&self.tape);
        match self.exit_stage {
            ExitStage::Running => room.min(self.throttle.room(now)),
            ExitStage::Reaped(_) | ExitStage::Drained(_) | ExitStage::Ended(_) => room,
        }
    }

    /// Moves all output so far to the tape.
    pub(crate) fn drain(&mut self, now: Instant) {
        self.drain_until(DrainUntil::Empty, now);
    }

    /// Moves output to the tape.
    pub(crate) fn drain_until(&mut self, until: DrainUntil, now: Instant) {
        let room = self.room(now);
        let before = self.tape.end();
        let pty = self.master.as_fd();
        let drained = self.drain.run(pty, &mut self.tape, room, until, time::now());
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
            // The program runs and has closed its terminal; it may open it again.
            (Ok(drain::PtyReadState::HungUp), ExitStage::Running) => {
                self.retry_read_at = Some(now + HANGUP_RETRY)
            }
            (
                Ok(drain::PtyReadState::Empty | drain::PtyReadState::HungUp),
                ExitStage::Drained(_) | ExitStage::Ended(_),
            ) => {}
        }
    }

    /// Queues a client's input, all parts or none; the program reads each part separately.
    pub(crate) fn accept(
        &mut self,
        id: RequestId,
        parts: &[&[u8]],
        now: Instant,
    ) -> KeeperResponse {
        let is_typed = PtyInput::is_typed(parts);
        let done = self.queue_input(id, parts, is_typed, now);
        if done.refused.is_none() && is_typed {
            self.input.count();
        }
        KeeperResponse { typed: Some(self.typed()), ..done }
    }

    /// The same behind a guard. All output so far is read before the guard is checked.
    pub(crate) fn accept_guarded(
        &mut self,
        id: RequestId,
        guard: InputGuard,
        bytes: &[u8],
        now: Instant,
    ) -> KeeperResponse {
        self.drain(now);
        // A terminal's reply to a query has no condition, and may come at any time.
        let is_reply = guard == InputGuard::default();
        let done = match self.check(guard, now) {
            None => self.queue_input(id, &[bytes], !is_reply, now),
            refused => KeeperResponse { refused, ..KeeperResponse::ok(id) },
        };
        if done.refused.is_none() && !is_reply {
            self.input.count_guarded();
        }
        KeeperResponse { typed: Some(self.typed()), guarded: Some(self.input.guarded()), ..done }
    }

    fn check(&self, guard: InputGuard, now: Instant) -> Option<RefusalReason> {
        let is_at_end = guard.end.is_none_or(|end| end == self.end());
        if !is_at_end || guard.typed.is_some_and(|typed| typed != self.typed()) {
            return Some(RefusalReason::Stale);
        }
        let is_unread = || self.input.is_unread(&self.master, self.end(), now);
        (guard.end.is_some() && is_unread()).then_some(RefusalReason::Unread)
    }

    fn queue_input(
        &mut self,
        id: RequestId,
        parts: &[&[u8]],
        is_typed: bool,
        now: Instant,
    ) -> KeeperResponse {
        let is_long = match self.is_running() {
            true => self.accept_parts(parts, is_typed, now),
            false => Err(RefusalReason::Gone),
        };
        self.write_queued(now);
        KeeperResponse {
            refused: is_long.err(),
            long_line: is_long == Ok(true),
            ..KeeperResponse::ok(id)
        }
    }

    /// Queues all parts or none. Answers whether a line is too long. Of what is typed, it records
    /// where the output ends before the program can see it. What was printed before is read first:
    /// it is no reaction to the input.
    fn accept_parts(
        &mut self,
        parts: &[&[u8]],
        is_typed: bool,
        now: Instant,
    ) -> Result<bool, RefusalReason> {
        if is_typed {
            self.drain(now);
        }
        let modes = pty::modes(&self.master);
        let is_long = self.input.accept(modes.as_ref(), parts)?;
        if is_typed {
            let mode = pty::echo_mode(modes.as_ref());
            self.drain.echo.typed(&parts.concat(), mode, self.tape.end());
            self.tape.set_input();
        }
        Ok(is_long)
    }

    fn is_running(&self) -> bool {
        matches!(self.exit_stage, ExitStage::Running)
    }

    /// Writes queued input to the pty, as much as it accepts now.
    pub(crate) fn write_queued(&mut self, now: Instant) {
        self.input.write_queued(&self.master, self.tape.end(), now);
    }

    /// Sends the program a signal: as a key where the terminal has one for it, else directly.
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
        // Behind queued input, a key would arrive too late.
        match pty::key_for(&self.master, signal).filter(|_| self.input.is_empty()) {
            Some(key) => self.queue_input(id, &[&[key]], false, now),
            None => {
                pane_processes::signal(&self.master, self.child, signal);
                KeeperResponse::ok(id)
            }
        }
    }

    /// Sets the size. Output so far goes to the tape first, so that the tape records which output
    /// was for which size.
    pub(crate) fn resize(&mut self, id: RequestId, size: Size, now: Instant) -> KeeperResponse {
        self.drain(now);
        let refused = match (size.check(), pty::resize(&self.master, size)) {
            (Ok(_), Ok(())) => {
                self.tape.set_size(size);
                self.drain.echo.set_cols(size.cols);
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

    /// The server has disconnected. The next one finds the program by its files, so those that were
    /// deleted are restored.
    pub(crate) fn server_disconnected(&mut self) {
        if self.is_running()
            && let Ok(Some((listener, socket))) = self.files.restore(&mut self.tape)
        {
            self.listener = listener;
            self.socket = socket;
        }
    }

    pub(crate) fn server_connected(&mut self) {
        // The server reads the header next. Write it again, in case another process has overwritten
        // it.
        let _ = self.tape.refresh();
        self.flow.attach();
    }

    /// Adds a follower, which must not miss any output and may own the program.
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

    /// Reaps processes that have ended, and checks whether a kill is over.
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

    /// Records the exit once everything before it has happened. Answers it that one time.
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

    /// Whether no process is left and the exit is recorded.
    pub(crate) fn is_over(&self) -> bool {
        self.no_process_left
            && self.killing.is_none()
            && matches!(self.exit_stage, ExitStage::Ended(_))
    }

    /// Removes the socket. The tape stays.
    pub(crate) fn cleanup(&self) {
        self.socket.remove();
    }
}
