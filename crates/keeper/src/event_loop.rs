//! The keeper: one process, one pane, one `poll`.
//!
//! It reads the pty into the tape, reaps the program and records how it ended, and serves its
//! socket. It never blocks on a peer: not on a server that is slow or gone, not on a program that
//! does not read.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use paned_model::Size;
use paned_model::frame::{
    ClientRole, FromKeeper, KeeperResponse, RefusalReason, RequestId, Resize, SizeHolder, ToKeeper,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use rustix::process::setsid;

use crate::drain::DrainUntil;
use crate::input::size_lease::SizeLease;
use crate::pane::KeeperPane;
use crate::peer::{Peer, PeerId};
use crate::peer_uid::is_ours;
use crate::process::{pane_processes, signals, spawn};
use crate::process_title;
use crate::pty::Pty;
use crate::{admission, throttle};

/// The most connections that are accepted in one turn, so that a client that opens many cannot
/// starve the rest.
pub(crate) const MAX_ACCEPTS: usize = 64;
/// How long a keeper whose pane is over waits for slow clients.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs a keeper until its pane is over. Its first client is at the other end of `first`.
pub(crate) fn run(first: UnixStream) -> io::Result<()> {
    let _ = setsid();
    let (signals, _write_end) = signals::watch()?;
    pane_processes::become_subreaper()?;
    let mut first = Peer::new(0, first)?;
    let Some(pane) = await_spawn_request(&mut first)? else {
        return Ok(());
    };
    throttle::set_timer_slack();
    let mut keeper = Keeper {
        pane,
        peers: vec![first],
        lease: SizeLease::default(),
        next_peer_id: 1,
        signals,
        shutdown_deadline: None,
    };
    keeper.send_welcome(0);
    keeper.publish_changes();
    while !keeper.is_done() {
        let ready = keeper.wait()?;
        keeper.handle(&ready);
        keeper.publish_changes();
    }
    keeper.pane.cleanup();
    Ok(())
}

/// Waits for the spawn request and spawns the pane; nothing if that fails.
fn await_spawn_request(first: &mut Peer) -> io::Result<Option<KeeperPane>> {
    // Opened ahead of the request: a keeper may be forked some time before its pane is wanted.
    let pty = Pty::open(Size::default());
    loop {
        poll(&mut [PollFd::new(&*first, PollFlags::IN)], None)?;
        let request = first.receive()?.into_iter().find_map(|message| match message {
            ToKeeper::Spawn(request) => Some(request),
            _ => None,
        });
        let Some(request) = request else { continue };
        first.role = Some(ClientRole::Server);
        process_title::set(&format!("paned: keeper {}", request.id));
        return match spawn::spawn(&request, pty) {
            Ok(spawned) => Ok(Some(KeeperPane::new(&request, spawned))),
            Err(failure) => {
                first.send(&FromKeeper::SpawnFailed(failure));
                first.flush().map(|()| None)
            }
        };
    }
}

struct Keeper {
    pane: KeeperPane,
    peers: Vec<Peer>,
    /// Which client may set the terminal's size.
    lease: SizeLease,
    /// The id of the next connection.
    next_peer_id: PeerId,
    signals: OwnedFd,
    shutdown_deadline: Option<Instant>,
}

/// What `poll` found.
#[derive(Default)]
struct KeeperReadiness {
    signals: bool,
    listener: bool,
    pty_in: bool,
    pty_out: bool,
    peers: Vec<PeerId>,
}

impl Keeper {
    /// Waits for the next thing to do, or for the pane's deadline.
    fn wait(&self) -> io::Result<KeeperReadiness> {
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
        match poll(&mut fds, self.poll_timeout().as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let found: Vec<_> = fds.iter().map(PollFd::revents).collect();
        Ok(self.read_ready(&found, interest))
    }

    fn read_ready(&self, found: &[PollFlags], interest: PollFlags) -> KeeperReadiness {
        let (fixed, rest) = found.split_at(2);
        let (peers, pty) = rest.split_at(self.peers.len());
        let pty = pty.first().copied().unwrap_or(PollFlags::empty());
        let ended = pty.intersects(PollFlags::HUP | PollFlags::ERR);
        let ready = self.peers.iter().zip(peers).filter(|(_, found)| !found.is_empty());
        KeeperReadiness {
            signals: !fixed[0].is_empty(),
            listener: !fixed[1].is_empty(),
            pty_in: pty.contains(PollFlags::IN) || ended && interest.contains(PollFlags::IN),
            pty_out: pty.contains(PollFlags::OUT) || ended,
            peers: ready.map(|(peer, _)| peer.id).collect(),
        }
    }

    fn poll_timeout(&self) -> Option<Timespec> {
        let deadline =
            [self.pane.deadline(), self.shutdown_deadline].into_iter().flatten().min()?;
        let left = deadline.saturating_duration_since(Instant::now());
        Timespec::try_from(left).ok()
    }

    fn handle(&mut self, ready: &KeeperReadiness) {
        let now = Instant::now();
        if ready.signals {
            self.read_signals(now);
        }
        if ready.pty_out {
            self.pane.write_queued(now);
        }
        if ready.pty_in {
            self.pane.drain_until(DrainUntil::Little, now);
        }
        self.pane.tick(now);
        if ready.listener {
            self.accept_peers(now);
        }
        for id in &ready.peers {
            self.read_peer(*id, now);
        }
    }

    fn read_signals(&mut self, now: Instant) {
        let mut bytes = [0; 64];
        while let Ok(got @ 1..) = read(&self.signals, &mut bytes) {
            let terminated = bytes[..got].iter().any(|byte| i32::from(*byte) == libc::SIGTERM);
            // The machine shuts down, or a user ends the keeper: the pane is killed and its exit
            // recorded.
            if terminated {
                self.pane.kill(now, None, None);
            }
        }
        self.pane.reap(now);
    }

    fn accept_peers(&mut self, now: Instant) {
        for _ in 0..MAX_ACCEPTS {
            let Ok((stream, _)) = self.pane.listener.accept() else { return };
            if is_ours(stream.as_fd()) {
                self.evict_unidentified(now);
                self.peers.extend(Peer::new(self.next_peer_id, stream));
                self.next_peer_id += 1;
            }
        }
    }

    /// If too many clients have not sent a hello, disconnects the oldest of them, unless its hello
    /// has arrived meanwhile.
    fn evict_unidentified(&mut self, now: Instant) {
        let Some(id) = admission::next_to_evict(&self.peers) else { return };
        self.read_peer(id, now);
        if self.peers.iter().any(|peer| peer.id == id && peer.role.is_none()) {
            self.disconnect(id, now);
        }
    }

    /// Handles every message of a client. A client that left or sends an invalid frame is
    /// disconnected.
    fn read_peer(&mut self, id: PeerId, now: Instant) {
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) else {
            return;
        };
        match peer.flush_and_receive() {
            Ok(messages) => self.handle_requests(id, messages, now),
            Err(_) => self.disconnect(id, now),
        }
    }

    fn handle_requests(&mut self, id: PeerId, messages: Vec<ToKeeper>, now: Instant) {
        for message in messages {
            self.handle_request(id, message, now);
            // A client that was disconnected for a message: skip the rest of its messages.
            if !self.peers.iter().any(|peer| peer.id == id) {
                return;
            }
        }
    }

    fn disconnect(&mut self, id: PeerId, now: Instant) {
        let Some(index) = self.peers.iter().position(|peer| peer.id == id) else {
            return;
        };
        let gone = self.peers.swap_remove(index);
        self.pane.peer_disconnected(gone.id, gone.role, now);
        if self.lease.peer_disconnected(gone.id) {
            self.broadcast_size_holder();
        }
        if gone.role == Some(ClientRole::Server) {
            self.pane.server_disconnected();
            self.broadcast_server_present(false);
        }
    }

    /// Handles a message of a client, and answers if it is a request.
    fn handle_request(&mut self, id: PeerId, message: ToKeeper, now: Instant) {
        let response = match message {
            ToKeeper::Hello(hello) if !admission::is_admitted(&self.peers, id, hello.role) => {
                self.disconnect(id, now);
                None
            }
            ToKeeper::Hello(hello) => {
                self.register(id, hello.role);
                self.send_welcome(id);
                None
            }
            // A keeper spawns one pane, once.
            ToKeeper::Spawn(_) | ToKeeper::Record(_) => None,
            ToKeeper::Input(request, bytes) => Some(self.input(id, request, &[&bytes], now)),
            ToKeeper::InputParts(request, parts) => {
                let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                Some(self.input(id, request, &parts, now))
            }
            ToKeeper::Signal(signal) => Some(self.pane.signal(&signal, now)),
            ToKeeper::Follow(follow) => {
                self.pane.follow(id, &follow, now);
                None
            }
            ToKeeper::GuardedInput(request, guard, bytes) => {
                Some(self.pane.accept_guarded(request, guard, &bytes, now))
            }
            ToKeeper::Resize(resize) => Some(self.resize(id, &resize, now)),
            ToKeeper::Kill(kill) => {
                let grace = Duration::from_millis(kill.grace_ms);
                self.pane.kill(now, Some(grace), Some((id, kill.id)));
                None
            }
            ToKeeper::Ack(offset) => {
                self.ack(id, offset, now);
                None
            }
            ToKeeper::Throttle(millis) => {
                self.pane.throttle(Duration::from_millis(millis), now);
                None
            }
            ToKeeper::Release(release) => {
                if self.lease.release(id, &release.holder) {
                    self.broadcast_size_holder();
                }
                None
            }
        };
        if let Some(response) = response {
            self.send(id, &FromKeeper::Response(response));
        }
    }

    /// Types a client's input, and notifies the server if that is another client.
    fn input(
        &mut self,
        id: PeerId,
        request: RequestId,
        parts: &[&[u8]],
        now: Instant,
    ) -> KeeperResponse {
        let before = self.pane.typed();
        let response = self.pane.accept(request, parts, now);
        let typed = self.pane.typed();
        if typed != before {
            let typist = self.peers.iter_mut().find(|peer| peer.id == id);
            let bytes = parts.concat();
            let keys = typist.map(|peer| peer.key_filter.keys_pressed(&bytes)).unwrap_or_default();
            let server = |peer: &&mut Peer| peer.id != id && peer.role == Some(ClientRole::Server);
            for peer in self.peers.iter_mut().filter(server) {
                peer.send(&FromKeeper::Typed(typed));
                peer.send(&FromKeeper::KeysPressed(keys.clone()));
            }
        }
        response
    }

    /// Sets the size if the client may, and notifies the others.
    fn resize(&mut self, id: PeerId, resize: &Resize, now: Instant) -> KeeperResponse {
        let Ok(holder_changed) = self.lease.acquire(id, resize.holder.as_deref(), resize.force)
        else {
            let holder = self.lease.holder().map(str::to_owned);
            return KeeperResponse {
                refused: Some(RefusalReason::Held),
                holder,
                ..KeeperResponse::ok(resize.id)
            };
        };
        let response = self.pane.resize(resize.id, resize.size, now);
        let others = self.peers.iter_mut().filter(|peer| peer.id != id && peer.role.is_some());
        for peer in others.filter(|_| response.refused.is_none()) {
            peer.send(&FromKeeper::Resized(resize.size));
        }
        if holder_changed {
            self.broadcast_size_holder();
        }
        response
    }

    /// Notifies clients of the size's holder: the holder, which may have lost it, and all that may
    /// want it.
    fn broadcast_size_holder(&mut self) {
        let holder = self.size_holder();
        for peer in self.peers.iter_mut().filter(|peer| peer.role.is_some()) {
            peer.send(&holder);
        }
    }

    fn size_holder(&self) -> FromKeeper {
        let holder = self.lease.holder().map(str::to_owned);
        FromKeeper::SizeHolder(SizeHolder { holder, forced: self.lease.is_forced() })
    }

    /// Notifies viewers whether a server is connected: without one they answer the program's
    /// queries themselves.
    fn broadcast_server_present(&mut self, present: bool) {
        for peer in self.peers.iter_mut().filter(|peer| peer.role == Some(ClientRole::Viewer)) {
            peer.send(&FromKeeper::ServerPresent(present));
        }
    }

    fn has_server(&self) -> bool {
        self.peers.iter().any(|peer| peer.role == Some(ClientRole::Server))
    }

    /// One server at a time: a new one means that the old one is dead, even if its socket is open.
    fn register(&mut self, id: PeerId, role: ClientRole) {
        if role == ClientRole::Server {
            let old = |peer: &Peer| peer.id != id && peer.role == Some(ClientRole::Server);
            let gone: Vec<_> = self.peers.extract_if(.., |peer| old(peer)).collect();
            if gone.iter().any(|peer| self.lease.peer_disconnected(peer.id)) {
                self.broadcast_size_holder();
            }
            self.pane.server_connected();
            self.broadcast_server_present(true);
        }
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) {
            peer.role = Some(role);
        }
    }

    fn send_welcome(&mut self, id: PeerId) {
        self.send(id, &FromKeeper::Welcome(self.pane.welcome(self.has_server())));
        if self.lease.holder().is_some() {
            self.send(id, &self.size_holder());
        }
        if let Some(ending) = self.pane.ending() {
            self.send(id, &FromKeeper::Exited(ending));
        }
    }

    fn ack(&mut self, id: PeerId, offset: u64, now: Instant) {
        let end = self.pane.end();
        let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) else {
            return;
        };
        peer.acked(end);
        if peer.role == Some(ClientRole::Server) {
            self.pane.server_acked(offset);
        }
        self.pane.follower_acked(id, offset, now);
    }

    fn send(&mut self, id: PeerId, message: &FromKeeper) {
        if let Some(peer) = self.peers.iter_mut().find(|peer| peer.id == id) {
            peer.send(message);
        }
    }

    /// Notifies clients of new output, then of the exit, then answers the requests for a kill.
    fn publish_changes(&mut self) {
        let end = self.pane.end();
        for peer in &mut self.peers {
            peer.notify_end(end);
        }
        if let Some(ending) = self.pane.try_end() {
            self.peers.iter_mut().filter(|peer| peer.role.is_some()).for_each(|peer| {
                peer.send(&FromKeeper::Exited(ending));
            });
        }
        for (id, response) in self.pane.kill_responses() {
            self.send(id, &FromKeeper::Response(response));
        }
        self.flush();
        if self.pane.is_over() && self.shutdown_deadline.is_none() {
            self.shutdown_deadline = Some(Instant::now() + SHUTDOWN_TIMEOUT);
        }
    }

    /// Writes what was queued for each client in this turn: a response and new output wake it only
    /// once.
    fn flush(&mut self) {
        for peer in &mut self.peers {
            let _ = peer.flush();
        }
        let over_limit = self.peers.iter().filter(|peer| peer.is_over_limit());
        for id in over_limit.map(|peer| peer.id).collect::<Vec<_>>() {
            self.disconnect(id, Instant::now());
        }
    }

    fn is_done(&self) -> bool {
        let all_sent = self.peers.iter().all(|peer| !peer.has_unsent());
        self.shutdown_deadline.is_some_and(|deadline| all_sent || deadline <= Instant::now())
    }
}

#[cfg(test)]
mod tests;
