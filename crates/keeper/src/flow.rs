//! How far the program may print ahead of the server.
//!
//! While a server is there, bytes it has not looked at are not overwritten: the pty backs up instead. A
//! server that says nothing for a while is treated as gone, so that a hung one never stops a program.

use std::time::{Duration, Instant};

use crate::tape::Writer;

/// How long a silent server may hold a program up.
const FUSE: Duration = Duration::from_secs(5);

/// Whether and since when a server holds the program up.
pub(crate) struct Flow {
    server: Server,
    held_since: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Server {
    Gone,
    Listening,
    /// Connected, but silent for too long.
    Deaf,
}

impl Flow {
    /// A keeper is born with its server.
    pub(crate) fn new() -> Self {
        Self { server: Server::Listening, held_since: None }
    }

    pub(crate) fn attach(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn detach(&mut self) {
        *self = Self { server: Server::Gone, held_since: None };
    }

    /// The server has looked at more.
    pub(crate) fn taken(&mut self) {
        self.attach();
    }

    /// How many bytes may be written now.
    pub(crate) fn room(&self, tape: &Writer) -> u64 {
        match self.server {
            Server::Listening => tape.room_from(tape.taken()),
            Server::Gone | Server::Deaf => u64::MAX,
        }
    }

    /// When the server's patience with us, and ours with it, is to be looked at again.
    pub(crate) fn deadline(&self, tape: &Writer) -> Option<Instant> {
        let full = self.server == Server::Listening && self.room(tape) == 0;
        full.then(|| self.held_since.map_or_else(Instant::now, |since| since + FUSE))
    }

    /// Time passed.
    pub(crate) fn tick(&mut self, tape: &Writer, now: Instant) {
        if self.room(tape) != 0 {
            self.held_since = None;
            return;
        }
        let since = *self.held_since.get_or_insert(now);
        if since + FUSE <= now {
            self.server = Server::Deaf;
        }
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Time;

    use super::*;
    use crate::tape::MIN_CAPACITY;

    fn full_tape(dir: &tempfile::TempDir) -> Writer {
        let mut tape = Writer::create(&dir.path().join("tape"), MIN_CAPACITY, Time(0)).unwrap();
        while tape.room_from(0) != 0 {
            tape.append(&[b'x'; 4096], Time(0)).unwrap();
        }
        tape
    }

    #[test]
    fn a_listening_server_keeps_what_it_has_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let mut tape = full_tape(&dir);
        let mut flow = Flow::new();
        assert_eq!(flow.room(&tape), 0);
        tape.set_taken(10_000);
        flow.taken();
        assert_eq!(flow.room(&tape), 8192);
    }

    #[test]
    fn a_server_that_is_gone_or_deaf_holds_nobody_up() {
        let dir = tempfile::tempdir().unwrap();
        let tape = full_tape(&dir);
        let mut flow = Flow::new();
        let now = Instant::now();
        flow.tick(&tape, now);
        assert_eq!(flow.deadline(&tape), Some(now + FUSE));
        flow.tick(&tape, now + FUSE - Duration::from_millis(1));
        assert_eq!(flow.room(&tape), 0);
        flow.tick(&tape, now + FUSE);
        assert_eq!((flow.room(&tape), flow.deadline(&tape)), (u64::MAX, None));
        flow.attach();
        assert_eq!(flow.room(&tape), 0);
        flow.detach();
        assert_eq!(flow.room(&tape), u64::MAX);
    }
}
