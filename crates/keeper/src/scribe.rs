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
    AHEAD, Adopt, Done, Ending, FromKeeper, Refused, Resize, Role, ToKeeper, VERSION, Welcome,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::setsid;
use rustix::stdio::stdin;

use crate::birth::listen;
use crate::drain::{Drain, Pty, Until};
use crate::keep::{AT_ONCE, GOODBYE};
use crate::peer::{Peer, PeerId};
use crate::peer_uid::is_ours;
use crate::tape::Writer;
use crate::watched::Watched;
use crate::{clock, door, signals};

/// How long a server may take to say what to write and where.
const BIRTH: Duration = Duration::from_secs(10);
/// A program that has ended and whose pane is quiet for so long has printed its last: a pane that tmux keeps although
/// its program has ended has no other end.
const QUIET: Duration = Duration::from_millis(100);
/// So long after its output has ended, a program is expected to. One that has not lives where we cannot see it.
const LINGER: Duration = Duration::from_millis(200);
/// How often a full disk is tried again.
const STALL: Duration = Duration::from_millis(250);

/// Writes down what comes in on standard input, as whoever waits for it at this socket says; then listens there itself.
///
/// # Errors
/// When nobody waits, or the tape cannot be made.
pub fn run(socket: &Path) -> io::Result<()> {
    let _ = setsid();
    signals::ignore_hangups();
    fcntl_setfl(stdin(), fcntl_getfl(stdin())? | OFlags::NONBLOCK)?;
    let (server, adopt, before) = await_birth(socket)?;
    let (listener, socket) = listen(socket)?;
    let mut scribe = Scribe::new(listener, server, &adopt, &before)?;
    scribe.settle();
    while !scribe.is_done() {
        let ready = scribe.wait()?;
        scribe.handle(&ready);
        scribe.settle();
    }
    socket.remove();
    Ok(())
}

/// The first thing a scribe hears is what was printed before it came, and where to write.
fn await_birth(socket: &Path) -> io::Result<(Peer, Adopt, Vec<u8>)> {
    let until = Instant::now() + BIRTH;
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
                ToKeeper::Adopt(adopt) => {
                    server.role = Some(Role::Server);
                    return Ok((server, *adopt, before));
                }
                _ => {}
            }
        }
    }
}

struct Scribe {
    listener: UnixListener,
    peers: Vec<Peer>,
    born: PeerId,
    tape: Writer,
    drain: Drain,
    pid: u32,
    started: Time,
    program: Watched,
    life: Life,
    /// When output last came or ended, or the program did.
    stirred: Instant,
    /// Whether more output may come.
    open: bool,
    /// Do not look at the output before this: the disk is full.
    rest_until: Option<Instant>,
    goodbye: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Running,
    /// The program has ended; its last output may still come.
    Ended,
    /// All is written.
    Told,
    /// Nothing is to be told: the server has let it go, or it lives on unseen.
    Left,
}

/// What `poll` found.
#[derive(Default)]
struct Ready {
    listener: bool,
    program: bool,
    output: bool,
    peers: Vec<PeerId>,
}

impl Scribe {
    fn new(listener: UnixListener, server: Peer, adopt: &Adopt, before: &[u8]) -> io::Result<Self> {
        let started = clock::now();
        let mut tape = Writer::create(Path::new(&adopt.tape), adopt.capacity, started)?;
        tape.set_size(adopt.size);
        tape.set_pid(adopt.pid);
        let mut rest = before;
        while !rest.is_empty() {
            rest = &rest[tape.append(rest, started)?..];
        }
        let mut scribe = Self {
            listener,
            peers: vec![server],
            born: 1,
            tape,
            drain: Drain::new(),
            pid: adopt.pid,
            started,
            program: Watched::new(adopt.pid),
            life: Life::Running,
            stirred: Instant::now(),
            open: true,
            rest_until: None,
            goodbye: None,
        };
        scribe.greet(0);
        Ok(scribe)
    }

    fn wait(&self) -> io::Result<Ready> {
        let (stdin, writes) = (stdin(), self.writes());
        let mut fds = vec![PollFd::new(&self.listener, PollFlags::IN)];
        for peer in &self.peers {
            let out = if peer.has_unsent() { PollFlags::OUT } else { PollFlags::empty() };
            fds.push(PollFd::new(peer, PollFlags::IN | out));
        }
        if writes {
            fds.push(PollFd::from_borrowed_fd(stdin, PollFlags::IN));
        }
        let program = self.program.fd().filter(|_| self.life == Life::Running);
        fds.extend(program.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        match poll(&mut fds, self.patience().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let found: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let (peers, rest) = found[1..].split_at(self.peers.len());
        let stirred = self.peers.iter().zip(peers).filter(|(_, found)| **found);
        Ok(Ready {
            listener: found[0],
            output: writes && rest.first() == Some(&true),
            program: program.is_some() && rest.last() == Some(&true),
            peers: stirred.map(|(peer, _)| peer.id).collect(),
        })
    }

    fn writes(&self) -> bool {
        self.open && self.rest_until.is_none() && self.goodbye.is_none()
    }

    fn patience(&self) -> Option<Timespec> {
        let deadline = [self.deadline(), self.rest_until, self.goodbye].into_iter().flatten().min();
        Timespec::try_from(deadline?.saturating_duration_since(Instant::now())).ok()
    }

    /// When the pane may be over.
    fn deadline(&self) -> Option<Instant> {
        match (self.life, self.open) {
            (Life::Running, true) => self.program.look_again(),
            (Life::Running, false) => {
                let looks = self.program.look_again();
                looks.into_iter().chain([self.stirred + LINGER]).min()
            }
            (Life::Ended, true) => Some(self.stirred + QUIET),
            (Life::Ended, false) | (Life::Told | Life::Left, _) => None,
        }
    }

    fn handle(&mut self, ready: &Ready) {
        let now = Instant::now();
        self.rest_until.take_if(|until| *until <= now);
        if ready.output || (self.open && self.drain.is_stuck() && self.rest_until.is_none()) {
            self.write(now);
        }
        if self.life == Life::Running && (ready.program || self.program.is_gone()) {
            (self.life, self.stirred) = (Life::Ended, now);
        }
        if ready.listener {
            self.welcome_peers();
        }
        for id in &ready.peers {
            self.hear(*id);
        }
        self.judge(now);
    }

    /// Moves what came to the tape.
    fn write(&mut self, now: Instant) {
        self.stirred = now;
        match self.drain.run(stdin(), &mut self.tape, (u64::MAX, Until::Empty), clock::now()) {
            Ok(Pty::More | Pty::Empty) => {}
            Ok(Pty::Hung) => self.open = false,
            Err(_) => {
                self.tape.set_stalled();
                self.rest_until = Some(now + STALL);
            }
        }
    }

    /// Whether it is over, and how.
    fn judge(&mut self, now: Instant) {
        if self.rest_until.is_some() {
            return;
        }
        self.life = match (self.life, self.open) {
            (Life::Ended, false) => Life::Told,
            (Life::Ended, true) if self.stirred + QUIET <= now => Life::Told,
            (Life::Running, false) if self.stirred + LINGER <= now => Life::Left,
            (life, _) => life,
        };
    }

    fn welcome_peers(&mut self) {
        for _ in 0..AT_ONCE {
            let Ok((stream, _)) = self.listener.accept() else { return };
            if is_ours(stream.as_fd()) {
                self.make_room();
                self.peers.extend(Peer::new(self.born, stream));
                self.born += 1;
            }
        }
    }

    /// Lets go of who is in the way, unless they have said meanwhile who they are.
    fn make_room(&mut self) {
        let Some(id) = door::in_the_way(&self.peers) else { return };
        self.hear(id);
        self.peers.retain(|peer| peer.id != id || peer.role.is_some());
    }

    fn hear(&mut self, id: PeerId) {
        let Some(place) = self.peers.iter().position(|peer| peer.id == id) else {
            return;
        };
        let peer = &mut self.peers[place];
        match peer.hear() {
            Ok(messages) => messages.into_iter().for_each(|message| self.obey(id, message)),
            Err(_) => drop(self.peers.swap_remove(place)),
        }
    }

    fn obey(&mut self, id: PeerId, message: ToKeeper) {
        let is_server = self.peer(id).is_some_and(|peer| peer.role == Some(Role::Server));
        let answer = match message {
            ToKeeper::Hello(hello) if !door::is_welcome(&self.peers, id, hello.role) => {
                return self.peers.retain(|peer| peer.id != id);
            }
            ToKeeper::Hello(hello) => {
                self.introduce(id, hello.role);
                return self.greet(id);
            }
            ToKeeper::Took(offset) => return self.took(id, offset, is_server),
            // It never waits for anybody, so nobody can follow it.
            ToKeeper::Birth(_)
            | ToKeeper::Adopt(_)
            | ToKeeper::Release(_)
            | ToKeeper::Follow(_)
            | ToKeeper::Breaks(_) => return,
            // tmux types, and only for the server.
            ToKeeper::Input(request, _)
            | ToKeeper::Guarded(request, ..)
            | ToKeeper::Parts(request, _) => refuse(request, Refused::Failed),
            ToKeeper::Signal(signal) => refuse(signal.id, Refused::Failed),
            ToKeeper::Resize(resize) if is_server => self.resized(id, &resize),
            ToKeeper::Resize(resize) => refuse(resize.id, Refused::Held),
            ToKeeper::Kill(kill) if is_server => {
                self.life = Life::Left;
                Done::well(kill.id)
            }
            ToKeeper::Kill(kill) => refuse(kill.id, Refused::Failed),
        };
        self.tell(id, &FromKeeper::Done(answer));
    }

    /// tmux has given the pane another size, as the server tells.
    fn resized(&mut self, id: PeerId, resize: &Resize) -> Done {
        self.tape.set_size(resize.size);
        for peer in self.peers.iter_mut().filter(|peer| peer.id != id && peer.role.is_some()) {
            peer.send(&FromKeeper::Resized(resize.size));
        }
        Done::well(resize.id)
    }

    /// One server at a time: a new one means that the old one is dead.
    fn introduce(&mut self, id: PeerId, role: Role) {
        if role == Role::Server {
            let _ = self.tape.refresh();
            self.peers.retain(|peer| peer.id == id || peer.role != Some(Role::Server));
        }
        if let Some(peer) = self.peer(id) {
            peer.role = Some(role);
        }
    }

    fn greet(&mut self, id: PeerId) {
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
            frames: Some(AHEAD.frames),
            guarded: None,
        };
        self.tell(id, &FromKeeper::Welcome(welcome));
    }

    fn took(&mut self, id: PeerId, offset: u64, is_server: bool) {
        let end = self.tape.end();
        if is_server {
            self.tape.set_taken(offset);
        }
        if let Some(peer) = self.peer(id) {
            peer.heard(end);
        }
    }

    fn peer(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.peers.iter_mut().find(|peer| peer.id == id)
    }

    fn tell(&mut self, id: PeerId, message: &FromKeeper) {
        if let Some(peer) = self.peer(id) {
            peer.send(message);
        }
    }

    /// Says what is new: bytes, then the ending.
    fn settle(&mut self) {
        let end = self.tape.end();
        for peer in &mut self.peers {
            peer.tell(end);
        }
        if self.goodbye.is_none() && !matches!(self.life, Life::Running | Life::Ended) {
            self.goodbye = Some(Instant::now() + GOODBYE);
            self.tell_end();
        }
        for peer in &mut self.peers {
            let _ = peer.flush();
        }
        self.peers.retain(|peer| !peer.is_overdue());
    }

    fn tell_end(&mut self) {
        if self.life == Life::Told {
            // Only tmux was told how it ended.
            let ending = Ending { exit: None, killed: false, timed_out: false, at: clock::now() };
            self.tape.set_ending(ending);
            for peer in self.peers.iter_mut().filter(|peer| peer.role.is_some()) {
                peer.send(&FromKeeper::Exited(ending));
            }
        }
    }

    fn is_done(&self) -> bool {
        let all_said = self.peers.iter().all(|peer| !peer.has_unsent());
        self.goodbye.is_some_and(|goodbye| all_said || goodbye <= Instant::now())
    }
}

fn refuse(request: u64, why: Refused) -> Done {
    Done { refused: Some(why), ..Done::well(request) }
}
