//! The pipe recorder: records the output of an adopted tmux pane.
//!
//! tmux starts it for one pane (`pipe-pane`) and pipes the pane's output to its standard input. It
//! records that on a tape and listens on a keeper's socket, so that a server finds it again as it
//! finds its keepers. It owns no pty: it cannot type, resize or kill, and refuses such requests. It
//! never waits for a server, because tmux would buffer in memory what is not read. It exits when
//! the pane ends, or when the server releases the pane.

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
use crate::process::process_watch::ProcessWatch;
use crate::process::signals;
use crate::process::spawn::listen;
use crate::tape::TapeWriter;
use crate::{admission, time};

/// How long to wait for the server's record request.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(10);
/// The output of an ended program is complete when its pane was quiet for this long. tmux may keep
/// a pane whose program has ended, and its pipe does not close then.
const QUIET_PERIOD: Duration = Duration::from_millis(100);
/// How long to wait for a program's end after its output has ended. If it still runs then, it runs
/// where the recorder cannot see it.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);
/// How often a write to a full disk is retried.
const DISK_RETRY: Duration = Duration::from_millis(250);

/// Connects to the server that waits on this socket, takes its record request, records standard
/// input, and from then on listens on the socket itself.
///
/// # Errors
/// When no server waits there, or the tape cannot be made.
pub fn run(socket: &Path) -> io::Result<()> {
    let _ = setsid();
    signals::ignore_hangups();
    fcntl_setfl(stdin(), fcntl_getfl(stdin())? | OFlags::NONBLOCK)?;
    let (server, request, before) = await_record_request(socket)?;
    let (listener, socket) = listen(socket)?;
    let mut recorder = PipeRecorder::new(listener, server, &request, &before)?;
    recorder.publish_changes();
    while !recorder.is_done() {
        let ready = recorder.wait()?;
        recorder.handle(&ready);
        recorder.publish_changes();
    }
    socket.remove();
    Ok(())
}

/// Waits for the record request. Input before it is what the pane had printed so far.
fn await_record_request(socket: &Path) -> io::Result<(Peer, RecordRequest, Vec<u8>)> {
    let until = Instant::now() + SPAWN_TIMEOUT;
    let mut server = Peer::new(0, UnixStream::connect(socket)?)?;
    let mut before = Vec::new();
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
        if poll(&mut [PollFd::new(&server, PollFlags::IN)], Some(&timeout))? == 0 {
            return Err(ErrorKind::TimedOut.into());
        }
        for message in server.receive()? {
            match message {
                ToKeeper::Input(_, bytes) => before.extend(bytes),
                ToKeeper::Record(request) => {
                    server.role = Some(ClientRole::Server);
                    return Ok((server, *request, before));
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
    /// Do not read output before this: the disk is full.
    retry_read_at: Option<Instant>,
    shutdown_deadline: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecorderState {
    Running,
    /// The program has ended; its last output may still come.
    Ended,
    /// All output is recorded.
    Finished,
    /// No exit is reported: the server has released the pane, or the program runs on unseen.
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
        request: &RecordRequest,
        before: &[u8],
    ) -> io::Result<Self> {
        let started = time::now();
        let mut tape = TapeWriter::create(Path::new(&request.tape), request.capacity, started)?;
        tape.set_size(request.size);
        request.max_lines.into_iter().for_each(|most| tape.limit_lines(most));
        tape.set_pid(request.pid);
        let mut rest = before;
        while !rest.is_empty() {
            rest = &rest[tape.append(rest, started)?..];
        }
        let mut recorder = Self {
            listener,
            peers: vec![server],
            next_peer_id: 1,
            tape,
            drain: Drain::new(request.size.cols),
            pid: request.pid,
            started,
            program: ProcessWatch::new(request.pid),
            state: RecorderState::Running,
            last_activity: Instant::now(),
            open: true,
            retry_read_at: None,
            shutdown_deadline: None,
        };
        recorder.send_welcome(0);
        Ok(recorder)
    }

    fn wait(&self) -> io::Result<RecorderReadiness> {
        let stdin = stdin();
        let can_record = self.can_record();
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        for peer in &self.peers {
            let out = if peer.has_unsent() { PollFlags::OUT } else { PollFlags::empty() };
            fds.push(PollFd::new(peer, PollFlags::IN | out));
        }
        if can_record {
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
        let ready = self.peers.iter().zip(peers).filter(|(_, found)| **found);
        Ok(RecorderReadiness {
            listener: found[0],
            output: can_record && rest.first() == Some(&true),
            program: program.is_some() && rest.last() == Some(&true),
            peers: ready.map(|(peer, _)| peer.id).collect(),
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

    /// When to check next whether the pane is over.
    fn deadline(&self) -> Option<Instant> {
        match (self.state, self.open) {
            (RecorderState::Running, true) => self.program.next_check(),
            (RecorderState::Running, false) => {
                let check = self.program.next_check();
                check.into_iter().chain([self.last_activity + EXIT_TIMEOUT]).min()
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
            self.state = RecorderState::Ended;
            self.last_activity = now;
        }
        if ready.listener {
            self.accept_peers();
        }
        for id in &ready.peers {
            self.read_peer(*id);
        }
        self.check_end(now);
    }

    /// Moves output to the tape.
    fn write(&mut self, now: Instant) {
        self.last_activity = now;
        let until = DrainUntil::Empty;
        match self.drain.run(stdin(), &mut self.tape, u64::MAX, until, time::now()) {
            Ok(PtyReadState::More | PtyReadState::Empty) => {}
            Ok(PtyReadState::HungUp) => self.open = false,
            Err(_) => {
                self.tape.set_stalled();
                self.retry_read_at = Some(now + DISK_RETRY);
            }
        }
    }

    /// Checks whether recording is over, and why.
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
            (state, _) => state,
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

    /// If too many clients have not sent a hello, disconnects the oldest of them, unless its hello
    /// has arrived meanwhile.
    fn evict_unidentified(&mut self) {
        let Some(id) = admission::next_to_evict(&self.peers) else { return };
        self.read_peer(id);
        self.peers.retain(|peer| peer.id != id || peer.role.is_some());
    }

    fn read_peer(&mut self, id: PeerId) {
        let Some(index) = self.peers.iter().position(|peer| peer.id == id) else {
            return;
        };
        let peer = &mut self.peers[index];
        match peer.flush_and_receive() {
            Ok(messages) => {
                messages.into_iter().for_each(|message| self.handle_request(id, message))
            }
            Err(_) => drop(self.peers.swap_remove(index)),
        }
    }

    fn handle_request(&mut self, id: PeerId, message: ToKeeper) {
        let is_server = self.peer(id).is_some_and(|peer| peer.role == Some(ClientRole::Server));
        let response = match message {
            ToKeeper::Hello(hello) if !admission::is_admitted(&self.peers, id, hello.role) => {
                return self.peers.retain(|peer| peer.id != id);
            }
            ToKeeper::Hello(hello) => {
                self.register(id, hello.role);
                return self.send_welcome(id);
            }
            ToKeeper::Ack(offset) => return self.ack(id, offset, is_server),
            // It never waits for a client, so it has no followers.
            ToKeeper::Spawn(_)
            | ToKeeper::Record(_)
            | ToKeeper::Release(_)
            | ToKeeper::Follow(_)
            | ToKeeper::Throttle(_) => return,
            // tmux does the typing, and only for the server.
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
        self.send(id, &FromKeeper::Response(response));
    }

    /// Records the size that tmux has given the pane, as the server reports it.
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
        let welcome = Welcome {
            version: VERSION,
            keeper: std::process::id(),
            pid: self.pid,
            started: self.started,
            typed: None,
            served: true,
            frames: NOTIFY_WINDOW.frames,
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

    /// Notifies clients of new output, then of the exit.
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
            // Only tmux knows the exit status.
            let ending =
                ExitRecord { exit: None, killed: false, timed_out: false, at: time::now() };
            self.tape.set_ending(ending);
            for peer in self.peers.iter_mut().filter(|peer| peer.role.is_some()) {
                peer.send(&FromKeeper::Exited(ending));
            }
        }
    }

    fn is_done(&self) -> bool {
        let all_sent = self.peers.iter().all(|peer| !peer.has_unsent());
        self.shutdown_deadline.is_some_and(|deadline| all_sent || deadline <= Instant::now())
    }
}

fn refuse(request: u64, why: RefusalReason) -> KeeperResponse {
    KeeperResponse { refused: Some(why), ..KeeperResponse::ok(request) }
}
