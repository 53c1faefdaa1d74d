//! The send window of a channel: how much it may send before the client acknowledges. Pure.

use std::collections::VecDeque;
use std::ops::Range;

use paned_model::Offset;

/// The most gaps among unacknowledged bytes; bounds the list of ranges.
const MAX_GAPS: usize = 256;

/// The unacknowledged bytes, and how many there may be.
pub(super) struct SendWindow {
    size: u64,
    /// Everything before this was sent or skipped.
    sent_to: u64,
    /// Sent and not acknowledged, oldest first. Adjacent ranges are merged; a gap lies between two.
    unacknowledged: VecDeque<Range<u64>>,
    /// The total length of these ranges.
    in_flight: u64,
}

impl SendWindow {
    /// An empty window; the first byte will be the one at `from`.
    pub(super) fn new(size: u64, from: Offset) -> Self {
        Self { size, sent_to: from.0, unacknowledged: VecDeque::new(), in_flight: 0 }
    }

    /// How many bytes may be sent now.
    pub(super) fn room(&self) -> u64 {
        if MAX_GAPS < self.unacknowledged.len() {
            0
        } else {
            self.size.saturating_sub(self.in_flight)
        }
    }

    /// This many bytes were sent.
    pub(super) fn send(&mut self, bytes: usize) {
        let from = self.sent_to;
        self.sent_to += bytes as u64;
        self.in_flight += bytes as u64;
        match self.unacknowledged.back_mut() {
            Some(last) if last.end == from => last.end = self.sent_to,
            Some(_) | None => self.unacknowledged.push_back(from..self.sent_to),
        }
    }

    /// The bytes up to here are no longer kept and will not be sent.
    pub(super) fn skip(&mut self, to: Offset) {
        self.sent_to = to.0;
    }

    /// The client has everything before this offset. A lower offset than before changes nothing.
    ///
    /// # Errors
    /// With the offset up to which was sent, if that is less.
    pub(super) fn acknowledge(&mut self, offset: Offset) -> Result<(), Offset> {
        if self.sent_to < offset.0 {
            return Err(Offset(self.sent_to));
        }
        while let Some(first) = self.unacknowledged.front_mut()
            && first.start < offset.0
        {
            let taken = offset.0.min(first.end) - first.start;
            first.start += taken;
            self.in_flight -= taken;
            if first.is_empty() {
                self.unacknowledged.pop_front();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// An operation on a window; a send is cut to the room there is, as a channel cuts it.
    #[derive(Clone, Copy, Debug)]
    enum WindowStep {
        Send(u64),
        Skip(u64),
        Acknowledge(u64),
    }

    fn step() -> impl Strategy<Value = WindowStep> {
        prop_oneof![
            (1..20u64).prop_map(WindowStep::Send),
            (1..50u64).prop_map(WindowStep::Skip),
            (0..400u64).prop_map(WindowStep::Acknowledge),
        ]
    }

    /// Takes steps with a window and with a plain set of bytes, which must agree after each.
    fn check(steps: &[WindowStep]) {
        const SIZE: u64 = 64;
        let (mut window, mut set, mut at) = (SendWindow::new(SIZE, Offset(0)), BTreeSet::new(), 0);
        for step in steps {
            match *step {
                WindowStep::Send(wanted) => {
                    let bytes = wanted.min(window.room());
                    if bytes > 0 {
                        window.send(bytes as usize);
                        set.extend(at..at + bytes);
                        at += bytes;
                    }
                }
                WindowStep::Skip(bytes) => {
                    at += bytes;
                    window.skip(Offset(at));
                }
                WindowStep::Acknowledge(offset) => {
                    let expect = if offset <= at { Ok(()) } else { Err(Offset(at)) };
                    assert_eq!(window.acknowledge(Offset(offset)), expect);
                    set.retain(|byte| at < offset || offset <= *byte);
                }
            }
            assert_eq!(window.room(), SIZE - set.len() as u64, "{step:?}");
        }
    }

    proptest! {
        #[test]
        fn the_room_is_what_was_not_acknowledged(steps in prop::collection::vec(step(), 0..60)) {
            check(&steps);
        }
    }

    #[test]
    fn an_acknowledgement_before_a_gap_counts() {
        let mut window = SendWindow::new(10, Offset(100));
        window.send(6);
        window.skip(Offset(1000));
        window.send(4);
        assert_eq!(window.room(), 0);
        assert_eq!(window.acknowledge(Offset(103)), Ok(()));
        assert_eq!(window.room(), 3);
        assert_eq!(window.acknowledge(Offset(500)), Ok(()));
        assert_eq!(window.room(), 6);
        assert_eq!(window.acknowledge(Offset(1005)), Err(Offset(1004)));
    }

    #[test]
    fn too_many_gaps_stop_it_until_some_are_acknowledged() {
        let mut window = SendWindow::new(1 << 20, Offset(0));
        let mut sent = 0;
        while window.room() > 0 {
            window.send(1);
            sent += 1;
            window.skip(Offset(10 * sent));
        }
        assert_eq!(sent, MAX_GAPS as u64 + 1);
        window.acknowledge(Offset(10)).unwrap();
        assert!(window.room() > 0);
    }
}
