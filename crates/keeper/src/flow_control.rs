//! Backpressure: how far the program may print ahead of clients that must not miss output.
//!
//! While a server is connected, bytes it has not acknowledged are not overwritten: the pty backs up
//! instead. A server that is silent for too long is treated as gone, so that a hung one never stops
//! a program.
//!
//! A follower wants every byte, as `paned run` does, and the program waits for it as it would for a
//! pipe: for as long as its connection lives, also while the follower is stopped. Only once the
//! program has ended, or is being ended, a silent follower is treated as gone, so that the exit is
//! reported.

use std::time::{Duration, Instant};

use crate::peer::PeerId;
use crate::tape::TapeWriter;

/// How long a silent server may block a program.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an announced follower may take to connect.
const FOLLOWER_TIMEOUT: Duration = Duration::from_secs(10);

/// Which clients block the program, and since when.
pub(crate) struct FlowControl {
    server: ServerPresence,
    blocked_since: Option<Instant>,
    followers: Vec<TapeFollower>,
    /// Until when to wait for an announced follower.
    awaited_until: Option<Instant>,
    /// Since when the program has ended, or is being ended.
    ended_since: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ServerPresence {
    Gone,
    Listening,
    /// Connected, but silent for too long.
    Unresponsive,
}

/// A client that wants every byte.
struct TapeFollower {
    peer: PeerId,
    acked: u64,
    last_seen: Instant,
}

impl FlowControl {
    /// A keeper starts with its server connected, and maybe with an announced follower.
    pub(crate) fn new(followed: bool, now: Instant) -> Self {
        Self {
            server: ServerPresence::Listening,
            blocked_since: None,
            followers: Vec::new(),
            awaited_until: followed.then(|| now + FOLLOWER_TIMEOUT),
            ended_since: None,
        }
    }

    pub(crate) fn attach(&mut self) {
        self.server = ServerPresence::Listening;
        self.blocked_since = None;
    }

    pub(crate) fn detach(&mut self) {
        self.server = ServerPresence::Gone;
        self.blocked_since = None;
    }

    /// The server has acknowledged more.
    pub(crate) fn server_acked(&mut self) {
        self.attach();
    }

    /// Adds a follower: from now on it misses nothing after the offset.
    pub(crate) fn follow(&mut self, peer: PeerId, from: u64, now: Instant) {
        self.awaited_until = None;
        self.peer_disconnected(peer);
        self.followers.push(TapeFollower { peer, acked: from, last_seen: now });
    }

    /// A follower has acknowledged more, or shows that it is alive.
    pub(crate) fn follower_acked(&mut self, peer: PeerId, offset: u64, now: Instant) {
        for follower in self.followers.iter_mut().filter(|follower| follower.peer == peer) {
            follower.acked = follower.acked.max(offset);
            follower.last_seen = now;
        }
    }

    /// A connection is gone.
    pub(crate) fn peer_disconnected(&mut self, peer: PeerId) {
        self.followers.retain(|follower| follower.peer != peer);
    }

    /// The program has ended, or is being ended.
    pub(crate) fn program_ended(&mut self, now: Instant) {
        self.ended_since.get_or_insert(now);
    }

    /// How many bytes may be written now.
    pub(crate) fn room(&self, tape: &TapeWriter) -> u64 {
        let awaited = self.awaited_until.map(|_| tape.room_from(0));
        let followers = self.followers.iter().map(|follower| tape.room_from(follower.acked));
        followers.chain(awaited).fold(self.server_room(tape), u64::min)
    }

    fn server_room(&self, tape: &TapeWriter) -> u64 {
        match self.server {
            ServerPresence::Listening => tape.room_from(tape.taken()),
            ServerPresence::Gone | ServerPresence::Unresponsive => u64::MAX,
        }
    }

    /// When to check again whether a client that blocks the program has timed out.
    pub(crate) fn deadline(&self, tape: &TapeWriter) -> Option<Instant> {
        if self.room(tape) != 0 {
            return None;
        }
        let server = (self.server_room(tape) == 0)
            .then(|| self.blocked_since.map_or_else(Instant::now, |since| since + SERVER_TIMEOUT));
        let followers =
            self.followers.iter().filter_map(|follower| self.follower_deadline(follower, tape));
        followers.chain(server).chain(self.awaited_until).min()
    }

    /// Until when to wait for a follower that blocks the end of a program.
    fn follower_deadline(&self, follower: &TapeFollower, tape: &TapeWriter) -> Option<Instant> {
        let ended = self.ended_since.filter(|_| tape.room_from(follower.acked) == 0);
        ended.map(|ended| ended.max(follower.last_seen) + SERVER_TIMEOUT)
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, tape: &TapeWriter, now: Instant) {
        self.awaited_until.take_if(|until| *until <= now);
        let is_late = |follower: &TapeFollower| {
            self.follower_deadline(follower, tape).is_some_and(|at| at <= now)
        };
        let late: Vec<_> =
            self.followers.iter().filter(|it| is_late(it)).map(|it| it.peer).collect();
        late.into_iter().for_each(|peer| self.peer_disconnected(peer));
        if self.server_room(tape) != 0 {
            self.blocked_since = None;
            return;
        }
        let since = *self.blocked_since.get_or_insert(now);
        if since + SERVER_TIMEOUT <= now {
            self.server = ServerPresence::Unresponsive;
        }
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Time;

    use super::*;
    use crate::tape::MIN_CAPACITY;

    fn full_tape(dir: &tempfile::TempDir) -> TapeWriter {
        let mut tape = TapeWriter::create(&dir.path().join("tape"), MIN_CAPACITY, Time(0)).unwrap();
        while tape.room_from(0) != 0 {
            tape.append(&[b'x'; 4096], Time(0)).unwrap();
        }
        tape
    }

    #[test]
    fn a_listening_server_keeps_what_it_has_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let mut tape = full_tape(&dir);
        let mut flow = FlowControl::new(false, Instant::now());
        assert_eq!(flow.room(&tape), 0);
        tape.set_acked(10_000);
        flow.server_acked();
        assert_eq!(flow.room(&tape), 8192);
    }

    #[test]
    fn a_server_that_is_gone_or_deaf_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        let tape = full_tape(&dir);
        let now = Instant::now();
        let mut flow = FlowControl::new(false, now);
        flow.tick(&tape, now);
        assert_eq!(flow.deadline(&tape), Some(now + SERVER_TIMEOUT));
        flow.tick(&tape, now + SERVER_TIMEOUT - Duration::from_millis(1));
        assert_eq!(flow.room(&tape), 0);
        flow.tick(&tape, now + SERVER_TIMEOUT);
        assert_eq!((flow.room(&tape), flow.deadline(&tape)), (u64::MAX, None));
        flow.attach();
        assert_eq!(flow.room(&tape), 0);
        flow.detach();
        assert_eq!(flow.room(&tape), u64::MAX);
    }

    /// A flow without a server, with one follower that has taken nothing of a full tape.
    fn held_by(peer: PeerId, now: Instant) -> FlowControl {
        let mut flow = FlowControl::new(true, now);
        flow.detach();
        flow.follow(peer, 0, now);
        flow
    }

    #[test]
    fn a_program_waits_for_its_follower_however_long_it_takes() {
        let (dir, now) = (tempfile::tempdir().unwrap(), Instant::now());
        let tape = full_tape(&dir);
        let mut flow = held_by(7, now);
        flow.tick(&tape, now + 100 * SERVER_TIMEOUT);
        assert_eq!((flow.room(&tape), flow.deadline(&tape)), (0, None));
        flow.follower_acked(8, 10_000, now);
        assert_eq!(flow.room(&tape), 0, "another says so");
        flow.follower_acked(7, 10_000, now);
        assert_eq!(flow.room(&tape), 8192);
        flow.peer_disconnected(7);
        assert_eq!(flow.room(&tape), u64::MAX);
    }

    #[test]
    fn the_end_of_a_program_waits_for_a_follower_that_is_heard_of() {
        let (dir, now) = (tempfile::tempdir().unwrap(), Instant::now());
        let tape = full_tape(&dir);
        let mut flow = held_by(7, now);
        flow.program_ended(now);
        flow.follower_acked(7, 0, now + SERVER_TIMEOUT / 2);
        assert_eq!(flow.deadline(&tape), Some(now + SERVER_TIMEOUT / 2 + SERVER_TIMEOUT));
        flow.tick(&tape, now + SERVER_TIMEOUT);
        assert_eq!(flow.room(&tape), 0);
        flow.tick(&tape, now + SERVER_TIMEOUT / 2 + SERVER_TIMEOUT);
        assert_eq!(flow.room(&tape), u64::MAX);
    }

    #[test]
    fn a_follower_that_was_announced_is_awaited_for_a_while() {
        let (dir, now) = (tempfile::tempdir().unwrap(), Instant::now());
        let tape = full_tape(&dir);
        let mut flow = FlowControl::new(true, now);
        flow.detach();
        assert_eq!((flow.room(&tape), flow.deadline(&tape)), (0, Some(now + FOLLOWER_TIMEOUT)));
        flow.tick(&tape, now + FOLLOWER_TIMEOUT);
        assert_eq!(flow.room(&tape), u64::MAX);
    }
}
