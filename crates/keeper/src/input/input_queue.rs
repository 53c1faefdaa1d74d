//! Input that waits to be written to the pty.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::{Errno, write};

use crate::pty;

/// How many bytes may wait for a program that does not read: the longest accepted text, and the
/// marks of a bracketed paste.
pub(crate) const MAX_QUEUED: usize = (1 << 20) + 64;

/// How long written bytes may take through the pty until [`pty::has_unread`] sees them. On a busy
/// machine that takes a while.
pub(crate) const PTY_DELAY: Duration = Duration::from_millis(20);
/// After that delay, how often to check whether the program has read a part.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// After this time the next part is written even if the program has not read the last one.
const READ_TIMEOUT: Duration = Duration::from_millis(500);

/// Bytes on their way into the pty, in the order they were accepted. One request's bytes are never
/// mixed with another's.
#[derive(Default)]
pub(crate) struct InputQueue {
    bytes: VecDeque<u8>,
    /// Bytes written so far.
    written: u64,
    /// Where parts end, counted like `written`. The program must read the bytes before an end
    /// separately.
    ends: VecDeque<u64>,
    pause: Option<PartPause>,
}

/// A part was written; the next one waits until the program has read it. The kernel sends no
/// notification of that, so it is polled.
struct PartPause {
    poll_at: Instant,
    give_up_at: Instant,
}

impl InputQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Whether queued bytes wait only for space in the pty.
    pub(crate) fn is_due(&self) -> bool {
        !self.bytes.is_empty() && self.pause.is_none()
    }

    /// When to call [`InputQueue::write`] although the pty has space.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.pause.as_ref().filter(|_| !self.bytes.is_empty()).map(|pause| pause.poll_at)
    }

    /// Queues a whole request or nothing of it.
    pub(crate) fn accept(&mut self, parts: &[&[u8]]) -> bool {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if MAX_QUEUED < self.bytes.len() + length {
            return false;
        }
        for (at, part) in parts.iter().filter(|part| !part.is_empty()).enumerate() {
            if 0 < at {
                self.ends.push_back(self.written + self.bytes.len() as u64);
            }
            self.bytes.extend(*part);
        }
        true
    }

    /// Writes as much as the pty accepts now.
    pub(crate) fn write(&mut self, pty: &OwnedFd, now: Instant) {
        while !self.bytes.is_empty() && !self.is_paused(pty, now) {
            // In canonical mode the terminal delivers whole lines, however they were written.
            if !self.ends.is_empty() && pty::edits_lines(pty) {
                self.ends.clear();
            }
            let bytes = self.bytes.as_slices().0;
            let part = self.ends.front().map_or(usize::MAX, |end| (end - self.written) as usize);
            match write(pty, &bytes[..bytes.len().min(part)]) {
                Ok(wrote) => self.wrote(wrote, now),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // No process has the terminal open any more.
                Err(_) => *self = Self::default(),
            }
        }
        self.bytes.shrink_to(4096);
    }

    fn wrote(&mut self, count: usize, now: Instant) {
        self.bytes.drain(..count);
        self.written += count as u64;
        if self.ends.pop_front_if(|end| *end == self.written).is_some() {
            self.pause =
                Some(PartPause { poll_at: now + PTY_DELAY, give_up_at: now + READ_TIMEOUT });
        }
    }

    fn is_paused(&mut self, pty: &OwnedFd, now: Instant) -> bool {
        let Some(pause) = &mut self.pause else {
            return false;
        };
        if pause.poll_at <= now {
            if pause.give_up_at <= now || !pty::has_unread(pty) {
                self.pause = None;
                return false;
            }
            pause.poll_at = now + POLL_INTERVAL;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use paned_model::Size;
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::read;
    use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

    use super::*;
    use crate::pty::Pty;

    /// A terminal in raw mode, and the program's side of it.
    fn terminal() -> (Pty, OwnedFd) {
        let pty = Pty::open(Size::default()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let slave = open(pty.slave.as_c_str(), flags, Mode::empty()).unwrap();
        let mut modes = tcgetattr(&slave).unwrap();
        modes.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        (pty, slave)
    }

    fn take(slave: &OwnedFd) -> Vec<u8> {
        let mut bytes = [0; 64];
        let got = read(slave, &mut bytes).unwrap();
        bytes[..got].to_vec()
    }

    #[test]
    fn a_part_is_read_before_the_next_one_comes() {
        let (pty, slave) = terminal();
        let (mut typing, mut now) = (InputQueue::default(), Instant::now());
        assert!(typing.accept(&[b"text", b"", b"\r"]) && typing.accept(&[b"other"]));
        typing.write(&pty.master, now);
        assert!(!typing.is_due() && typing.deadline() == Some(now + PTY_DELAY));
        // Not read yet, however long ago it was written, within reason.
        while !pty::has_unread(&pty.master) {
            std::thread::yield_now();
        }
        now += PTY_DELAY;
        typing.write(&pty.master, now);
        assert_eq!(take(&slave), b"text");
        now += POLL_INTERVAL;
        typing.write(&pty.master, now);
        assert!(typing.is_empty() && typing.deadline().is_none());
        while !take(&slave).ends_with(b"other") {}
    }

    #[test]
    fn a_program_that_does_not_read_holds_nothing_up_for_long() {
        let (pty, slave) = terminal();
        let (mut typing, now) = (InputQueue::default(), Instant::now());
        assert!(typing.accept(&[b"text", b"\r"]));
        typing.write(&pty.master, now);
        typing.write(&pty.master, now + READ_TIMEOUT);
        assert!(typing.is_empty());
        assert_eq!(take(&slave)[..4], *b"text");
    }

    #[test]
    fn a_terminal_that_edits_lines_gets_all_at_once() {
        let pty = Pty::open(Size::default()).unwrap();
        let mut typing = InputQueue::default();
        assert!(typing.accept(&[b"text", b"\r"]));
        typing.write(&pty.master, Instant::now());
        assert!(typing.is_empty());
    }

    #[test]
    fn a_request_is_taken_whole_or_not_at_all() {
        let mut typing = InputQueue::default();
        assert!(typing.accept(&[&vec![b'x'; MAX_QUEUED - 1]]));
        assert!(!typing.accept(&[b"a", b"\r"]));
        assert!(typing.accept(&[b"a"]) && typing.ends.is_empty());
    }
}
