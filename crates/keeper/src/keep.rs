//! The keeper: one process, one pane, one `poll`.
//!
//! It reads the pty into the tape, reaps the program and writes down how it ended, and answers its socket.
//! It never waits for anybody: not for a server that is slow or gone, not for a program that does not read.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use paned_model::Size;
use paned_model::frame::{Done, FromKeeper, Held, Refused, RequestId, Resize, Role, ToKeeper};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::process::setsid;

use crate::drain::Until;
use crate::lease::Lease;
use crate::pane::Pane;
use crate::peer::{Peer, PeerId};
use crate::peer_uid::is_ours;
use crate::pty::Pty;
use crate::{birth, door, pace, procs, signals};

/// So many connections are taken in one go; whoever makes more of them does not keep us from all else.
pub(crate) const AT_ONCE: usize = 64;
/// How long a keeper whose work is done waits for slow listeners.
pub(crate) const GOODBYE: Duration = Duration::from_secs(2);

/// Runs a keeper whose first client is at the other end of `birth`, until its pane is over.
pub(crate) fn run(birth: UnixStream) -> io::Result<()> {
    let _ = setsid();
    let (signals, _write_end) = signals::watch()?;
    procs::adopt_orphans()?;
    let mut first = Peer::new(0, birth)?;
    let Some(pane) = await_birth(&mut first)? else {
        return Ok(());
    };
    pace::be_punctual();
    let (peers, lease) = (vec![first], Lease::default());
    let mut keeper = Keeper { pane, peers, lease, born: 1, signals, goodbye: None };
    keeper.greet(0);
    keeper.settle();
    while !keeper.is_done() {
        let ready = keeper.wait()?;
        keeper.handle(&ready);
        keeper.settle();
    }
    keeper.pane.bury();
    Ok(())
}

/// The first thing a keeper hears is what to bring to life.
fn await_birth(first: &mut Peer) -> io::Result<Option<Pane>> {
    // While nobody waits for it: a keeper may be born some time before its pane.
    let pty = Pty::open(Size::default());
    loop {
        poll(&mut [PollFd::new(&*first, PollFlags::IN)], None)?;
        let born = first.receive()?.into_iter().find_map(|message| match message {
            ToKeeper::Birth(birth) => Some(birth),
            _ => None,
        });
        let Some(birth) = born else { continue };
        first.role = Some(Role::Server);
        return match birth::bear(&birth, pty) {
            Ok(newborn) => Ok(Some(Pane::new(&birth, newborn))),
            Err(stillborn) => {
                first.send(&FromKeeper::Stillborn(stillborn));
                first.flush().map(|()| None)
            }
        };
    }
}

struct Keeper {
    pane: Pane,
    peers: Vec<Peer>,
    /// Who may set the terminal's size.
    lease: Lease,
    /// How many connections there have been; the next one's name.
    born: PeerId,
    signals: OwnedFd,
    goodbye: Option<Instant>,
}

/// What `poll` found.
#[derive(Default)]
struct Ready {
    signals: bool,
    listener: bool,
    pty_in: bool,
    pty_out: bool,
    peers: Vec<PeerId>,
}

impl Keeper {
    /// Waits for the next thing to do, or for the pane's deadline.
    fn wait(&self) -> io::Result<Ready> {
        let mut fds = vec![
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::new(&self.pane.listener, PollFlags::IN),
        ];
        for peer in &self.peers {
            let out = if peer.has_unsent() { PollFlags::OUT } else { PollFlags::empty() };
            fds.push(PollFd::new(peer, PollFlags::IN | out));
        }
        let interest = self.pane.interest();
        if !interest.is_empty() {
            fds.push(PollFd::new(&self.pane.master, interest));
        }
        match poll(&mut fds, self.patience().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let found: Vec<_> = fds.iter().map(PollFd::revents).collect();
        Ok(self.read_ready(&found, interest))
    }

    fn read_ready(&self, found: &[PollFlags], interest: PollFlags) -> Ready {
        let (fixed, rest) = found.split_at(2);
        let (peers, pty) = rest.split_at(self.peers.len());
        let pty = pty.first().copied().unwrap_or(PollFlags::empty());
        let ended = pty.intersects(PollFlags::HUP | PollFlags::ERR);
        let stirred = self.peers.iter().zip(peers).filter(|(_, found)| !found.is_empty());
        Ready {
            signals: !fixed[0].is_empty(),
            listener: !fixed[1].is_empty(),
            pty_in: pty.contains(PollFlags::IN) || ended && interest.contains(PollFlags::IN),
            pty_out: pty.contains(PollFlags::OUT) || ended,
            peers: stirred.map(|(peer, _)| peer.id).collect(),
        }
    }

    fn patience(&self) -> Option<Timespec> {
        let deadline = [self.pane.deadline(), self.goodbye].into_iter().flatten().min()?;
        let left = deadline.saturating_duration_since(Instant::now());
        Timespec::try_from(left).ok()
    }

    fn handle(&mut self, ready: &Ready) {
        let now = Instant::now();
        if ready.signals {
            self.hear_signals(now);
        }
        if ready.pty_out {
            self.pane.type_on(now);
        }
        if ready.pty_in {
            self.pane.drain_until(Until::Little, now);
        }
        self.pane.tick(now);
        if ready.listener {
            self.welcome_peers(now);
        }
        for id in &ready.peers {
            self.hear(*id, now);
        }
    }

    fn hear_signals(&mut self, now: Instant) {
        let mut bytes = [0; 64];
        while let Ok(got @ 1..) = read(&self.signals, &mut bytes) {
            let terminated = bytes[..got].iter().any(|byte| i32::from(*byte) == libc::SIGTERM);
            // The machine goes down, or somebody cleans up: the pane ends properly.
            if terminated {
                self.pane.kill(now, None, None);
            }
        }
        self.pane.reap(now);
    }

    fn welcome_peers(&mut self, now: Instant) {
        for _ in 0..AT_ONCE {
            let Ok((stream, _)) = self.pane.listener.accept() else { return };
            if is_ours(stream.as_fd()) {
                self.make_room(now);
                self.peers.extend(Peer::new(self.born, stream));
                self.born += 1;
            }
        }
    }

    /// Lets go of who is in the way, unless they have said meanwhile who they are.
    fn make_room(&mut self, now: Instant) {
        let Some(id) = door::in_the_way(&self.peers) else { return };
        self.hear(id, now);
        if self.peers.iter().any(|peer| peer.id == id && peer.role.is_none()) {
            self.let_go(id, now);
        }
    }

    /// Everything a client said; one that left or makes no sense is let go.
    fn hear(&mut self, id: PeerId, now: Instant) {
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) else {
            return;
        };
        match peer.hear() {
            Ok(messages) => self.obey_all(id, messages, now),
            Err(_) => self.let_go(id, now),
        }
    }

    fn obey_all(&mut self, id: PeerId, messages: Vec<ToKeeper>, now: Instant) {
        for message in messages {
            self.obey(id, message, now);
            // Who was let go for what they said is not heard on.
            if !self.peers.iter().any(|peer| peer.id == id) {
                return;
            }
        }
    }

    fn let_go(&mut self, id: PeerId, now: Instant) {
        let Some(place) = self.peers.iter().position(|peer| peer.id == id) else {
            return;
        };
        let gone = self.peers.swap_remove(place);
        self.pane.lost_peer(gone.id, gone.role, now);
        if self.lease.lost(gone.id) {
            self.tell_holder();
        }
        if gone.role == Some(Role::Server) {
            self.pane.lost_server();
            self.tell_served(false);
        }
    }

    /// Does as a client says, and answers what is a request.
    fn obey(&mut self, id: PeerId, message: ToKeeper, now: Instant) {
        let answer = match message {
            ToKeeper::Hello(hello) if !door::is_welcome(&self.peers, id, hello.role) => {
                self.let_go(id, now);
                None
            }
            ToKeeper::Hello(hello) => {
                self.introduce(id, hello.role);
                self.greet(id);
                None
            }
            // A pane is born once, and has one keeper.
            ToKeeper::Birth(_) | ToKeeper::Adopt(_) => None,
            ToKeeper::Input(request, bytes) => Some(self.type_in(id, request, &[&bytes], now)),
            ToKeeper::Parts(request, parts) => {
                let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                Some(self.type_in(id, request, &parts, now))
            }
            ToKeeper::Signal(signal) => Some(self.pane.signal(&signal, now)),
            ToKeeper::Follow(follow) => {
                self.pane.follow(id, &follow, now);
                None
            }
            ToKeeper::Guarded(request, guard, bytes) => {
                Some(self.pane.accept_if(request, guard, &bytes, now))
            }
            ToKeeper::Resize(resize) => Some(self.resize(id, &resize, now)),
            ToKeeper::Kill(kill) => {
                let grace = Duration::from_millis(kill.grace_ms);
                self.pane.kill(now, Some(grace), Some((id, kill.id)));
                None
            }
            ToKeeper::Took(offset) => {
                self.took(id, offset, now);
                None
            }
            ToKeeper::Breaks(millis) => {
                self.pane.give_breaks(Duration::from_millis(millis), now);
                None
            }
            ToKeeper::Release(release) => {
                if self.lease.release(id, &release.holder) {
                    self.tell_holder();
                }
                None
            }
        };
        if let Some(done) = answer {
            self.tell(id, &FromKeeper::Done(done));
        }
    }

    /// Types for somebody, and tells the server if it was another.
    fn type_in(&mut self, id: PeerId, request: RequestId, parts: &[&[u8]], now: Instant) -> Done {
        let before = self.pane.typed();
        let done = self.pane.accept(request, parts, now);
        let typed = self.pane.typed();
        if typed != before {
            let typist = self.peers.iter_mut().find(|peer| peer.id == id);
            let bytes = parts.concat();
            let keys = typist.map(|peer| peer.hands.pressed(&bytes)).unwrap_or_default();
            let server = |peer: &&mut Peer| peer.id != id && peer.role == Some(Role::Server);
            for peer in self.peers.iter_mut().filter(server) {
                peer.send(&FromKeeper::Typed(typed));
                peer.send(&FromKeeper::Pressed(keys.clone()));
            }
        }
        done
    }

    /// Sets the size, if it is theirs to set, and tells the others.
    fn resize(&mut self, id: PeerId, resize: &Resize, now: Instant) -> Done {
        let Ok(holder_changed) = self.lease.ask(id, resize.holder.as_deref(), resize.force) else {
            let holder = self.lease.holder().map(str::to_owned);
            return Done { refused: Some(Refused::Held), holder, ..Done::well(resize.id) };
        };
        let done = self.pane.resize(resize.id, resize.size, now);
        let others = self.peers.iter_mut().filter(|peer| peer.id != id && peer.role.is_some());
        for peer in others.filter(|_| done.refused.is_none()) {
            peer.send(&FromKeeper::Resized(resize.size));
        }
        if holder_changed {
            self.tell_holder();
        }
        done
    }

    /// Says who holds the size: the holder, who may have lost it, and all who may want it.
    fn tell_holder(&mut self) {
        let held = self.held();
        for peer in self.peers.iter_mut().filter(|peer| peer.role.is_some()) {
            peer.send(&held);
        }
    }

    fn held(&self) -> FromKeeper {
        let holder = self.lease.holder().map(str::to_owned);
        FromKeeper::Held(Held { holder, forced: self.lease.is_forced() })
    }

    /// Says whether a server is there to those who would answer for it.
    fn tell_served(&mut self, served: bool) {
        for peer in self.peers.iter_mut().filter(|peer| peer.role == Some(Role::Viewer)) {
            peer.send(&FromKeeper::Served(served));
        }
    }

    fn is_served(&self) -> bool {
        self.peers.iter().any(|peer| peer.role == Some(Role::Server))
    }

    /// One server at a time: a new one means that the old one is dead, whatever its socket says.
    fn introduce(&mut self, id: PeerId, role: Role) {
        if role == Role::Server {
            let old = |peer: &Peer| peer.id != id && peer.role == Some(Role::Server);
            let gone: Vec<_> = self.peers.extract_if(.., |peer| old(peer)).collect();
            if gone.iter().any(|peer| self.lease.lost(peer.id)) {
                self.tell_holder();
            }
            self.pane.found_server();
            self.tell_served(true);
        }
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) {
            peer.role = Some(role);
        }
    }

    fn greet(&mut self, id: PeerId) {
        self.tell(id, &FromKeeper::Welcome(self.pane.welcome(self.is_served())));
        if self.lease.holder().is_some() {
            self.tell(id, &self.held());
        }
        if let Some(ending) = self.pane.ending() {
            self.tell(id, &FromKeeper::Exited(ending));
        }
    }

    fn took(&mut self, id: PeerId, offset: u64, now: Instant) {
        let end = self.pane.end();
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) else {
            return;
        };
        peer.heard(end);
        if peer.role == Some(Role::Server) {
            self.pane.server_took(offset);
        }
        self.pane.follower_took(id, offset, now);
    }

    fn tell(&mut self, id: PeerId, message: &FromKeeper) {
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) {
            peer.send(message);
        }
    }

    /// Says what is new: bytes, then the ending, then the answers to those who asked for it.
    fn settle(&mut self) {
        let end = self.pane.end();
        for peer in &mut self.peers {
            peer.tell(end);
        }
        if let Some(ending) = self.pane.try_end() {
            self.peers.iter_mut().filter(|peer| peer.role.is_some()).for_each(|peer| {
                peer.send(&FromKeeper::Exited(ending));
            });
        }
        for (id, done) in self.pane.answers() {
            self.tell(id, &FromKeeper::Done(done));
        }
        self.flush();
        if self.pane.is_over() && self.goodbye.is_none() {
            self.goodbye = Some(Instant::now() + GOODBYE);
        }
    }

    /// Writes to each client what was said to it in this turn: an answer and what was printed wake it once.
    fn flush(&mut self) {
        for peer in &mut self.peers {
            let _ = peer.flush();
        }
        let overdue = self.peers.iter().filter(|peer| peer.is_overdue());
        for id in overdue.map(|peer| peer.id).collect::<Vec<_>>() {
            self.let_go(id, Instant::now());
        }
    }

    fn is_done(&self) -> bool {
        let all_said = self.peers.iter().all(|peer| !peer.has_unsent());
        self.goodbye.is_some_and(|goodbye| all_said || goodbye <= Instant::now())
    }
}

#[cfg(test)]
mod tests;
