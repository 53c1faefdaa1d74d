//! Events that were sent and are not handled yet, in order. A value.

use std::collections::VecDeque;
use std::time::Duration;

use paned_model::EventId;
use tokio::time::Instant;

/// How many events are sent ahead of the first that is not answered.
const SIZE: usize = 64;

/// The events on their way.
pub(crate) struct EventWindow {
    sent: VecDeque<SentEvent>,
    timeout: Duration,
    /// Since when the first of them is the first.
    first_since: Instant,
}

struct SentEvent {
    event: EventId,
    name: String,
    /// The request that carries it.
    request: u64,
    is_handled: bool,
}

impl EventWindow {
    /// An empty window. The first event of it may take this long.
    pub(crate) fn new(timeout: Duration, now: Instant) -> Self {
        Self { sent: VecDeque::new(), timeout, first_since: now }
    }

    /// How many more events can be sent.
    pub(crate) fn room(&self) -> usize {
        SIZE - self.sent.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// An event was sent with this request.
    pub(crate) fn push(&mut self, event: EventId, name: String, request: u64, now: Instant) {
        if self.sent.is_empty() {
            self.first_since = now;
        }
        self.sent.push_back(SentEvent { event, name, request, is_handled: false });
    }

    /// The request was answered. Returns the event up to which all are handled, if that changed.
    pub(crate) fn answer(&mut self, request: u64, now: Instant) -> Option<EventId> {
        let sent = self.sent.iter_mut().find(|sent| sent.request == request)?;
        sent.is_handled = true;
        let mut handled = None;
        while self.sent.front().is_some_and(|first| first.is_handled) {
            handled = self.sent.pop_front().map(|first| first.event);
            self.first_since = now;
        }
        handled
    }

    /// When the first event has taken too long. The others wait for it: most programs handle one
    /// event after the other.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (!self.sent.is_empty()).then(|| self.first_since + self.timeout)
    }

    /// The request and the name of the first event.
    pub(crate) fn first(&self) -> Option<(u64, &str)> {
        self.sent.front().map(|first| (first.request, first.name.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handled_is_up_to_the_first_that_is_not() {
        let now = Instant::now();
        let mut window = EventWindow::new(Duration::from_secs(5), now);
        for event in 1..=4 {
            window.push(EventId(event * 10), String::new(), event, now);
        }
        assert_eq!(window.room(), SIZE - 4);
        assert_eq!(window.answer(2, now), None);
        assert_eq!(window.answer(1, now), Some(EventId(20)));
        assert_eq!(window.answer(1, now), None, "it is gone");
        assert_eq!(window.answer(4, now), None);
        assert_eq!(window.answer(3, now), Some(EventId(40)));
        assert!(window.is_empty() && window.deadline().is_none());
    }

    #[test]
    fn each_event_has_its_time_from_when_it_is_the_first() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut window = EventWindow::new(5 * second, start);
        window.push(EventId(1), "a:b".into(), 1, start);
        window.push(EventId(2), "a:b".into(), 2, start);
        assert_eq!(window.deadline(), Some(start + 5 * second));
        window.answer(1, start + 4 * second);
        assert_eq!(window.deadline(), Some(start + 9 * second));
        window.answer(2, start + 5 * second);
        window.push(EventId(3), "c:d".into(), 3, start + 20 * second);
        assert_eq!(window.first(), Some((3, "c:d")));
        assert_eq!(window.deadline(), Some(start + 25 * second));
    }
}
