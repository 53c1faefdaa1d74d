//! One pane's life: its bytes, its program, its end.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use paned_model::frame::{
    self, AHEAD, Birth, Done, Ending, Follow, Guard, Refused, RequestId, Role, VERSION, Welcome,
};
use paned_model::{Exit, Size, Time};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, wait};

use crate::birth::Newborn;
use crate::drain::{self, Drain, Until};
use crate::flow::Flow;
use crate::input::Input;
use crate::killing::{Killed, Killing, Step};
use crate::own::Own;
use crate::pace::{BREAK, Pace};
use crate::peer::PeerId;
use crate::procs::{self, Push};
use crate::restore::Files;
use crate::tape::Writer;
use crate::{clock, pty};

/// How often a full disk is tried again.
const STALL: Duration = Duration::from_millis(250);
/// How often a terminal that the living program has closed is looked at again.
const HUNG: Duration = Duration::from_secs(1);
/// The longest time for which breaks can be asked for at once.
const BREAKS: Duration = Duration::from_secs(60);

pub(crate) struct Pane {
    pub(crate) master: OwnedFd,
    pub(crate) listener: UnixListener,
    socket: Own,
    files: Files,
    tape: Writer,
    child: Pid,
    started: Time,
    grace: Duration,
    drain: Drain,
    flow: Flow,
    pace: Pace,
    input: Input,
    /// Whose the program is: it ends when they leave.
    owner: Option<PeerId>,
    /// Do not look at the pty before this.
    rest_until: Option<Instant>,
    times_out_at: Option<Instant>,
    timed_out: bool,
    killing: Option<Killing>,
    killed: Option<Killed>,
    end: End,
    /// Whether any process of the pane is left.
    alone: bool,
}

/// How far the end has come. Each step happens once, in this order.
enum End {
    Running,
    /// The program has ended; what it printed is still being read.
    Reaped(Exit),
    /// All of it is on the tape.
    Drained(Exit),
    /// Written down.
    Ended(Ending),
}

impl Pane {
    pub(crate) fn new(birth: &Birth, newborn: Newborn) -> Self {
        let timeout = birth.timeout_ms.map(Duration::from_millis);
        Self {
            master: newborn.master,
            listener: newborn.listener,
            socket: newborn.socket,
            files: Files::new(&birth.tape, &birth.socket),
            tape: newborn.tape,
            child: newborn.child,
            started: newborn.started,
            grace: Duration::from_millis(birth.grace_ms),
            drain: Drain::new(),
            flow: Flow::new(birth.followed, Instant::now()),
            pace: Pace::new(Instant::now()),
            input: Input::default(),
            owner: None,
            rest_until: None,
            times_out_at: timeout.map(|timeout| Instant::now() + timeout),
            timed_out: false,
            killing: None,
            killed: None,
            end: End::Running,
            alone: false,
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
            frames: Some(AHEAD.frames),
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

    pub(crate) fn ending(&self) -> Option<Ending> {
        match self.end {
            End::Ended(ending) => Some(ending),
            End::Running | End::Reaped(_) | End::Drained(_) => None,
        }
    }

    /// What the pty is to be watched for.
    pub(crate) fn interest(&self) -> PollFlags {
        if self.rest_until.is_some() || matches!(self.end, End::Drained(_) | End::Ended(_)) {
            return PollFlags::empty();
        }
        let mut interest = PollFlags::empty();
        interest.set(PollFlags::IN, self.flow.room(&self.tape) != 0);
        interest.set(PollFlags::OUT, self.input.is_due());
        interest
    }

    /// When [`Pane::tick`] wants to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let looking = self.killing.as_ref().map(Killing::deadline);
        let holding = self.flow.deadline(&self.tape);
        let deadlines =
            [looking, holding, self.input.deadline(), self.rest_until, self.times_out_at];
        deadlines.into_iter().flatten().min()
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.flow.tick(&self.tape, now);
        self.input.tick(&self.master, self.tape.end(), now);
        if self.rest_until.is_some_and(|until| until <= now) {
            self.rest_until = None;
            self.drain(now);
        }
        if self.times_out_at.is_some_and(|at| at <= now) {
            self.times_out_at = None;
            self.timed_out = true;
            self.kill(now, None, None);
        }
        if self.killing.as_ref().is_some_and(|killing| killing.deadline() <= now) {
            self.look(now);
        }
    }

    /// Gives the program breaks for so long, if it prints without end.
    pub(crate) fn give_breaks(&mut self, time: Duration, now: Instant) {
        self.pace.give_breaks(now + time.min(BREAKS));
    }

    /// How much of what is printed may be read now.
    fn room(&self, now: Instant) -> u64 {
        let room = self.flow.room(&self.tape);
        match self.end {
            End::Running => room.min(self.pace.room(now)),
            End::Reaped(_) | End::Drained(_) | End::Ended(_) => room,
        }
    }

    /// Moves what was printed to the tape: all of it, so far.
    pub(crate) fn drain(&mut self, now: Instant) {
        self.drain_until(Until::Empty, now);
    }

    /// Moves what was printed to the tape.
    pub(crate) fn drain_until(&mut self, until: Until, now: Instant) {
        let (room, before) = (self.room(now), self.tape.end());
        let (pty, until) = (self.master.as_fd(), (room, until));
        let drained = self.drain.run(pty, &mut self.tape, until, clock::now());
        match (drained, &self.end) {
            // The disk is full: the program waits, and nothing is lost.
            (Err(_), _) => {
                self.tape.set_stalled();
                self.rest_until = Some(now + STALL);
            }
            (Ok(drain::Pty::More | drain::Pty::Empty), End::Running) => {
                if self.pace.printed(self.tape.end() - before, now) {
                    self.rest_until = Some(Instant::now() + BREAK);
                }
            }
            (Ok(drain::Pty::More), _) => {}
            (Ok(drain::Pty::Empty | drain::Pty::Hung), End::Reaped(exit)) => {
                self.end = End::Drained(*exit);
            }
            // The program lives and has closed its terminal; it may open it again.
            (Ok(drain::Pty::Hung), End::Running) => self.rest_until = Some(now + HUNG),
            (Ok(drain::Pty::Empty | drain::Pty::Hung), End::Drained(_) | End::Ended(_)) => {}
        }
    }

    /// Takes what somebody typed, all or none; each part is read by itself.
    pub(crate) fn accept(&mut self, id: RequestId, parts: &[&[u8]], now: Instant) -> Done {
        let done = self.take_in(id, parts, now);
        if done.refused.is_none() {
            self.input.count(parts);
        }
        Done { typed: Some(self.typed()), ..done }
    }

    /// The same behind a guard: what has happened up to now is known before it is judged.
    pub(crate) fn accept_if(
        &mut self,
        id: RequestId,
        guard: Guard,
        bytes: &[u8],
        now: Instant,
    ) -> Done {
        self.drain(now);
        let done = match self.check(guard, now) {
            None => self.take_in(id, &[bytes], now),
            refused => Done { refused, ..Done::well(id) },
        };
        // What the terminal replies to a query comes without a condition, and at any time.
        if done.refused.is_none() && guard != Guard::default() {
            self.input.count_guarded();
        }
        Done { typed: Some(self.typed()), guarded: Some(self.input.guarded()), ..done }
    }

    fn check(&self, guard: Guard, now: Instant) -> Option<Refused> {
        let stands = guard.end.is_none_or(|end| end == self.end());
        if !stands || guard.typed.is_some_and(|typed| typed != self.typed()) {
            return Some(Refused::Moved);
        }
        let is_unread = || self.input.is_unread(&self.master, self.end(), now);
        (guard.end.is_some() && is_unread()).then_some(Refused::Unread)
    }

    fn take_in(&mut self, id: RequestId, parts: &[&[u8]], now: Instant) -> Done {
        let is_long = match self.is_running() {
            true => self.input.accept(&self.master, parts),
            false => Err(Refused::Gone),
        };
        self.type_on(now);
        Done { refused: is_long.err(), long_line: is_long == Ok(true), ..Done::well(id) }
    }

    fn is_running(&self) -> bool {
        matches!(self.end, End::Running)
    }

    /// Gives the program what it takes of what was typed.
    pub(crate) fn type_on(&mut self, now: Instant) {
        self.input.type_on(&self.master, self.tape.end(), now);
    }

    /// Has the program get a signal.
    pub(crate) fn signal(&mut self, request: &frame::Signal, now: Instant) -> Done {
        let id = request.id;
        let refuse = |refused| Done { refused: Some(refused), ..Done::well(id) };
        if !self.is_running() {
            return refuse(Refused::Gone);
        }
        let Some(signal) = Signal::from_named_raw(request.signal.into()) else {
            return refuse(Refused::Failed);
        };
        // Behind what is typed ahead, a key would come too late.
        match pty::key_for(&self.master, signal).filter(|_| self.input.is_empty()) {
            Some(key) => self.take_in(id, &[&[key]], now),
            None => {
                procs::signal(&self.master, self.child, signal);
                Done::well(id)
            }
        }
    }

    /// Sets the size. What was printed before is on the tape first, so that it is known what was for which size.
    pub(crate) fn resize(&mut self, id: RequestId, size: Size, now: Instant) -> Done {
        self.drain(now);
        let refused = match (size.check(), pty::resize(&self.master, size)) {
            (Ok(_), Ok(())) => {
                self.tape.set_size(size);
                None
            }
            (Err(_), _) | (_, Err(_)) => Some(Refused::Failed),
        };
        Done { refused, ..Done::well(id) }
    }

    pub(crate) fn server_took(&mut self, offset: u64) {
        self.tape.set_taken(offset);
        self.flow.taken();
    }

    /// No server is there. The next one finds the program by its files, whatever something else has deleted.
    pub(crate) fn lost_server(&mut self) {
        if self.is_running()
            && let Ok(Some((listener, socket))) = self.files.restore(&mut self.tape)
        {
            self.listener = listener;
            self.socket = socket;
        }
    }

    pub(crate) fn found_server(&mut self) {
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

    pub(crate) fn follower_took(&mut self, peer: PeerId, offset: u64, now: Instant) {
        self.flow.followed(peer, offset, now);
    }

    pub(crate) fn lost_peer(&mut self, peer: PeerId, role: Option<Role>, now: Instant) {
        if role == Some(Role::Server) {
            self.flow.detach();
        }
        self.flow.lost(peer);
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
        self.flow.over(now);
        if self.killing.is_none() {
            let how = if grace.is_zero() { Push::Make } else { Push::Ask };
            procs::push(self.child, how);
        }
        let killing = self.killing.get_or_insert_with(|| Killing::new(now, grace));
        killing.hurry(now, grace);
        killing.asked_by.extend(asked_by);
        self.reap(now);
    }

    /// Collects whoever has ended, and looks whether a kill is over.
    pub(crate) fn reap(&mut self, now: Instant) {
        self.alone = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.child => self.reaped(status, now),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        if self.alone && procs::KEEPS_ALL {
            self.kill_is_over(Vec::new());
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
        self.end = End::Reaped(exit);
        self.flow.over(now);
        self.times_out_at = None;
        self.rest_until = None;
        self.drain(now);
    }

    /// Looks whether a kill is over, and does what is next if it is not. One empty look is no end: what forks and exits all
    /// the time is missed by it.
    fn look(&mut self, now: Instant) {
        self.reap(now);
        let Some(killing) = &mut self.killing else {
            return;
        };
        let step = killing.look(now);
        let left = match step {
            Step::GiveUp => Some(procs::of_pane(self.child)),
            Step::Wait | Step::Remind | Step::Make if procs::KEEPS_ALL => None,
            Step::Wait | Step::Remind | Step::Make => {
                Some(procs::of_pane(self.child)).filter(Vec::is_empty)
            }
        };
        match left {
            Some(left) if !left.is_empty() || procs::is_over() => {
                // The last one may have ended while we looked, and its end comes before the answer.
                self.reap(now);
                self.kill_is_over(left);
            }
            Some(_) | None if step == Step::Wait => {}
            Some(_) | None if step == Step::Remind => procs::push(self.child, Push::Remind),
            Some(_) | None => {
                procs::push(self.child, Push::Make);
                self.reap(now);
            }
        }
    }

    fn kill_is_over(&mut self, left: Vec<procs::Process>) {
        let Some(killing) = self.killing.take() else {
            return;
        };
        let survivors = left.into_iter().map(Into::into).collect();
        let earlier = self.killed.take().map(|killed| killed.asked_by).unwrap_or_default();
        let asked_by = earlier.into_iter().chain(killing.asked_by).collect();
        self.killed = Some(Killed { asked_by, survivors });
    }

    /// Writes the ending down once everything before it has happened; answers it that one time.
    pub(crate) fn try_end(&mut self) -> Option<Ending> {
        let End::Drained(exit) = self.end else {
            return None;
        };
        if self.killing.is_some() || self.drain.is_stuck() {
            return None;
        }
        let killed = self.killed.as_ref().is_some_and(|killed| killed.survivors.is_empty());
        let ending =
            Ending { exit: Some(exit), killed, timed_out: self.timed_out, at: clock::now() };
        self.tape.set_ending(ending);
        self.end = End::Ended(ending);
        Some(ending)
    }

    /// The answers to those who asked for a kill that is over.
    pub(crate) fn answers(&mut self) -> Vec<(PeerId, Done)> {
        let told = matches!(self.end, End::Running | End::Ended(_)) && self.killing.is_none();
        let Some(killed) = self.killed.as_mut().filter(|_| told) else {
            return Vec::new();
        };
        let done = |id| Done { survivors: killed.survivors.clone(), ..Done::well(id) };
        let asked_by = std::mem::take(&mut killed.asked_by);
        asked_by.into_iter().map(|(peer, id)| (peer, done(id))).collect()
    }

    /// Whether nothing of the pane is left to look after.
    pub(crate) fn is_over(&self) -> bool {
        self.alone && self.killing.is_none() && matches!(self.end, End::Ended(_))
    }

    /// Takes the socket away. The tape stays.
    pub(crate) fn bury(&self) {
        self.socket.remove();
    }
}
