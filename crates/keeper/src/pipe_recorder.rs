//! The scribe: writes down what a pane of somebody's tmux prints.
//!
//! tmux starts it for one pane (`pipe-pane`) and gives it what the pane prints on its standard input. It makes a
//! tape of that and answers a keeper's socket, so that a server finds it again as it finds its keepers. It owns no
//! pty: it cannot type, resize or kill, and refuses to. It never waits for a server, because tmux would keep in memory
//! what it does not take. It goes when the pane does, or when the server lets the pane go.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use paned_model::Time;
use paned_model::frame::{
    ClientRole, ExitRecord, FromKeeper, KeeperResponse, NOTIFY_WINDOW, RecordRequest,
    RefusalReason, Resize, ToKeeper, VERSION, Welcome,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::setsid;
use rustix::stdio::stdin;

use crate::drain::{Drain, DrainUntil, PtyReadState};
use crate::event_loop::{MAX_ACCEPTS, SHUTDOWN_TIMEOUT};
use crate::peer::{Peer, PeerId};
use crate::peer_uid::is_ours;
use crate::process_watch::ProcessWatch;
use crate::spawn::listen;
use crate::tape::TapeWriter;
use crate::{admission, signals, time};

/// How long a server may take to say what to write and where.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(10);
/// A program that has ended and whose pane is quiet for so long has printed its last: a pane that tmux keeps although
/// its program has ended has no other end.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// So long after its output has ended, a program is expected to. One that has not lives where we cannot see it.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// How often a full disk is tried again.
const DISK_RETRY: Duration = Duration::from_millis(250);

/// Writes down what comes in on standard input, as whoever waits for it at this socket says; then listens there itself.
///
/// # Errors
/// When nobody waits, or the tape cannot be made.
pub fn run(socket: &Path) -> io::Result<()> {
    let _ = setsid();
    signals::ignore_hangups();
    fcntl_setfl(stdin(), fcntl_getfl(stdin())? | OFlags::NONBLOCK)?;
    let (server, adopt, before) = await_record_request(socket)?;
    let (listener, socket) = listen(socket)?;
    let mut scribe = PipeRecorder::new(listener, server, &adopt, &before)?;
    scribe.publish_changes();
    while !scribe.is_done() {
        let ready = scribe.wait()?;
        scribe.handle(&ready);
        scribe.publish_changes();
    }
    socket.remove();
    Ok(())
}

/// The first thing a scribe hears is what was printed before it came, and where to write.
fn await_record_request(socket: &Path) -> io::Result<(Peer, RecordRequest, Vec<u8>)> {
    let until = Instant::now() + SPAWN_TIMEOUT;
    let mut server = Peer::new(0, UnixStream::connect(socket)?)?;
    let mut before = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let patience = Timespec::try_from(left).map_err(io::Error::other)?;
        if poll(&mut [PollFd::new(&server, PollFlags::IN)], Some(&patience))? == 0 {
            return Err(ErrorKind::TimedOut.into());
        }
        for message in server.receive()? {
            match message {
                ToKeeper::Input(_, bytes) => before.extend(bytes),
                ToKeeper::Record(adopt) => {
                    server.role = Some(ClientRole::Server);
                    return Ok((server, *adopt, before));
                }
                _ => {}
            }
        }
    }
}

struct PipeRecorder {
    listener: UnixListener,
    peers: Vec<Peer>,
    next_peer_id: PeerId,
    tape: TapeWriter,
    drain: Drain,
    pid: u32,
    started: Time,
    program: ProcessWatch,
    state: RecorderState,
    /// When output last came or ended, or the program did.
    last_activity: Instant,
    /// Whether more output may come.
    open: bool,
    /// Do not look at the output before this: the disk is full.
    retry_read_at: Option<Instant>,
    shutdown_deadline: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecorderState {
    Running,
    /// The program has ended; its last output may still come.
    Ended,
    /// All is written.
    Finished,
    /// Nothing is to be told: the server has let it go, or it lives on unseen.
    Detached,
}

/// What `poll` found.
#[derive(Default)]
struct RecorderReadiness {
    listener: bool,
    program: bool,
    output: bool,
    peers: Vec<PeerId>,
}

impl PipeRecorder {
    fn new(
        listener: UnixListener,
        server: Peer,
        adopt: &RecordRequest,
        before: &[u8],
    ) -> io::Result<Self> {
        let started = time::now();
        let mut tape = TapeWriter::create(Path::new(&adopt.tape), adopt.capacity, started)?;
        tape.set_size(adopt.size);
        tape.set_pid(adopt.pid);
        let mut rest = before;
        while !rest.is_empty() {
            rest = &rest[tape.append(rest, started)?..];
        }
        let mut scribe = Self {
            listener,
            peers: vec![server],
            next_peer_id: 1,
            tape,
            drain: Drain::new(),
            pid: adopt.pid,
            started,
            program: ProcessWatch::new(adopt.pid),
            state: RecorderState::Running,
            last_activity: Instant::now(),
            open: true,
            retry_read_at: None,
            shutdown_deadline: None,
        };
        scribe.send_welcome(0);
        Ok(scribe)
    }

    fn wait(&self) -> io::Result<RecorderReadiness> {
        let (stdin, writes) = (stdin(), self.can_record());
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        for peer in &self.peers {
            let out = if peer.has_unsent() { PollFlags::OUT } else { PollFlags::empty() };
            fds.push(PollFd::new(peer, PollFlags::IN | out));
        }
        if writes {
            fds.push(PollFd::from_borrowed_fd(stdin, PollFlags::IN));
        }
        let program = self.program.fd().filter(|_| self.state == RecorderState::Running);
        fds.extend(program.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        match poll(&mut fds, self.poll_timeout().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let found: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let (peers, rest) = found[1..].split_at(self.peers.len());
        let stirred = self.peers.iter().zip(peers).filter(|(_, found)| **found);
        Ok(RecorderReadiness {
            listener: found[0],
            output: writes && rest.first() == Some(&true),
            program: program.is_some() && rest.last() == Some(&true),
            peers: stirred.map(|(peer, _)| peer.id).collect(),
        })
    }

    fn can_record(&self) -> bool {
        self.open && self.retry_read_at.is_none() && self.shutdown_deadline.is_none()
    }

    fn poll_timeout(&self) -> Option<Timespec> {
        let deadline = [self.deadline(), self.retry_read_at, self.shutdown_deadline]
            .into_iter()
            .flatten()
            .min();
        Timespec::try_from(deadline?.saturating_duration_since(Instant::now())).ok()
    }

    /// When the pane may be over.
    fn deadline(&self) -> Option<Instant> {
        match (self.state, self.open) {
            (RecorderState::Running, true) => self.program.next_check(),
            (RecorderState::Running, false) => {
                let looks = self.program.next_check();
                looks.into_iter().chain([self.last_activity + EXIT_TIMEOUT]).min()
            }
            (RecorderState::Ended, true) => Some(self.last_activity + QUIET_PERIOD),
            (RecorderState::Ended, false)
            | (RecorderState::Finished | RecorderState::Detached, _) => None,
        }
    }

    fn handle(&mut self, ready: &RecorderReadiness) {
        let now = Instant::now();
        self.retry_read_at.take_if(|until| *until <= now);
        if ready.output || (self.open && self.drain.is_stuck() && self.retry_read_at.is_none()) {
            self.write(now);
        }
        if self.state == RecorderState::Running && (ready.program || self.program.is_gone()) {
            (self.state, self.last_activity) = (RecorderState::Ended, now);
        }
        if ready.listener {
            self.accept_peers();
        }
        for id in &ready.peers {
            self.read_peer(*id);
        }
        self.check_end(now);
    }

    /// Moves what came to the tape.
    fn write(&mut self, now: Instant) {
        self.last_activity = now;
        match self.drain.run(stdin(), &mut self.tape, (u64::MAX, DrainUntil::Empty), time::now()) {
            Ok(PtyReadState::More | PtyReadState::Empty) => {}
            Ok(PtyReadState::HungUp) => self.open = false,
            Err(_) => {
                self.tape.set_stalled();
                self.retry_read_at = Some(now + DISK_RETRY);
            }
        }
    }

    /// Whether it is over, and how.
    fn check_end(&mut self, now: Instant) {
        if self.retry_read_at.is_some() {
            return;
        }
        self.state = match (self.state, self.open) {
            (RecorderState::Ended, false) => RecorderState::Finished,
            (RecorderState::Ended, true) if self.last_activity + QUIET_PERIOD <= now => {
                RecorderState::Finished
            }
            (RecorderState::Running, false) if self.last_activity + EXIT_TIMEOUT <= now => {
                RecorderState::Detached
            }
            (life, _) => life,
        };
    }

    fn accept_peers(&mut self) {
        for _ in 0..MAX_ACCEPTS {
            let Ok((stream, _)) = self.listener.accept() else { return };
            if is_ours(stream.as_fd()) {
                self.evict_unidentified();
                self.peers.extend(Peer::new(self.next_peer_id, stream));
                self.next_peer_id += 1;
            }
        }
    }

    /// Lets go of who is in the way, unless they have said meanwhile who they are.
    fn evict_unidentified(&mut self) {
        let Some(id) = admission::next_to_evict(&self.peers) else { return };
        self.read_peer(id);
        self.peers.retain(|peer| peer.id != id || peer.role.is_some());
    }

    fn read_peer(&mut self, id: PeerId) {
        let Some(place) = self.peers.iter().position(|peer| peer.id == id) else {
            return;
        };
        let peer = &mut self.peers[place];
        match peer.flush_and_receive() {
            Ok(messages) => {
                messages.into_iter().for_each(|message| self.handle_request(id, message))
            }
            Err(_) => drop(self.peers.swap_remove(place)),
        }
    }

    fn handle_request(&mut self, id: PeerId, message: ToKeeper) {
        let is_server = self.peer(id).is_some_and(|peer| peer.role == Some(ClientRole::Server));
        let answer = match message {
            ToKeeper::Hello(hello) if !admission::is_admitted(&self.peers, id, hello.role) => {
                return self.peers.retain(|peer| peer.id != id);
            }
            ToKeeper::Hello(hello) => {
                self.register(id, hello.role);
                return self.send_welcome(id);
            }
            ToKeeper::Ack(offset) => return self.ack(id, offset, is_server),
            // It never waits for anybody, so nobody can follow it.
            ToKeeper::Spawn(_)
            | ToKeeper::Record(_)
            | ToKeeper::Release(_)
            | ToKeeper::Follow(_)
            | ToKeeper::Throttle(_) => return,
            // tmux types, and only for the server.
            ToKeeper::Input(request, _)
            | ToKeeper::GuardedInput(request, ..)
            | ToKeeper::InputParts(request, _) => refuse(request, RefusalReason::Failed),
            ToKeeper::Signal(signal) => refuse(signal.id, RefusalReason::Failed),
            ToKeeper::Resize(resize) if is_server => self.record_resize(id, &resize),
            ToKeeper::Resize(resize) => refuse(resize.id, RefusalReason::Held),
            ToKeeper::Kill(kill) if is_server => {
                self.state = RecorderState::Detached;
                KeeperResponse::ok(kill.id)
            }
            ToKeeper::Kill(kill) => refuse(kill.id, RefusalReason::Failed),
        };
        self.send(id, &FromKeeper::Response(answer));
    }

    /// tmux has given the pane another size, as the server tells.
    fn record_resize(&mut self, id: PeerId, resize: &Resize) -> KeeperResponse {
        self.tape.set_size(resize.size);
        for peer in self.peers.iter_mut().filter(|peer| peer.id != id && peer.role.is_some()) {
            peer.send(&FromKeeper::Resized(resize.size));
        }
        KeeperResponse::ok(resize.id)
    }

    /// One server at a time: a new one means that the old one is dead.
    fn register(&mut self, id: PeerId, role: ClientRole) {
        if role == ClientRole::Server {
            let _ = self.tape.refresh();
            self.peers.retain(|peer| peer.id == id || peer.role != Some(ClientRole::Server));
        }
        if let Some(peer) = self.peer(id) {
            peer.role = Some(role);
        }
    }

    fn send_welcome(&mut self, id: PeerId) {
        let keeper = std::process::id();
        let (version, pid, started) = (VERSION, self.pid, self.started);
        let welcome = Welcome {
            version,
            keeper,
            pid,
            started,
            typed: None,
            served: None,
            ahead: true,
            frames: Some(NOTIFY_WINDOW.frames),
            guarded: None,
        };
        self.send(id, &FromKeeper::Welcome(welcome));
    }

    fn ack(&mut self, id: PeerId, offset: u64, is_server: bool) {
        let end = self.tape.end();
        if is_server {
            self.tape.set_acked(offset);
        }
        if let Some(peer) = self.peer(id) {
            peer.acked(end);
        }
    }

    fn peer(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.peers.iter_mut().find(|peer| peer.id == id)
    }

    fn send(&mut self, id: PeerId, message: &FromKeeper) {
        if let Some(peer) = self.peer(id) {
            peer.send(message);
        }
    }

    /// Says what is new: bytes, then the ending.
    fn publish_changes(&mut self) {
        let end = self.tape.end();
        for peer in &mut self.peers {
            peer.notify_end(end);
        }
        if self.shutdown_deadline.is_none()
            && !matches!(self.state, RecorderState::Running | RecorderState::Ended)
        {
            self.shutdown_deadline = Some(Instant::now() + SHUTDOWN_TIMEOUT);
            self.send_exit();
        }
        for peer in &mut self.peers {
            let _ = peer.flush();
        }
        self.peers.retain(|peer| !peer.is_over_limit());
    }

    fn send_exit(&mut self) {
        if self.state == RecorderState::Finished {
            // Only tmux was told how it ended.
            let ending =
                ExitRecord { exit: None, killed: false, timed_out: false, at: time::now() };
            self.tape.set_ending(ending);
            for peer in self.peers.iter_mut().filter(|peer| peer.role.is_some()) {
                peer.send(&FromKeeper::Exited(ending));
            }
        }
    }

    fn is_done(&self) -> bool {
        let all_said = self.peers.iter().all(|peer| !peer.has_unsent());
        self.shutdown_deadline.is_some_and(|goodbye| all_said || goodbye <= Instant::now())
    }
}

fn refuse(request: u64, why: RefusalReason) -> KeeperResponse {
    KeeperResponse { refused: Some(why), ..KeeperResponse::ok(request) }
}
