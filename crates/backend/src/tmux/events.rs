//! Events of the client for its subscriber. A slow subscriber misses notices and gets a resync
//! event; it never blocks the client.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::error::Error;
use super::ids::WindowId;
use super::notice::Notice;

/// How many events may wait; beyond that, notices are dropped.
const QUEUE: usize = 1024;

/// The receiver of events.
pub type TmuxEvents = mpsc::Receiver<TmuxEvent>;

/// What happens to the connection and on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmuxEvent {
    /// Connected to a server. Its pid tells whether it is the same one as before.
    Connected(TmuxServerInfo),
    /// The connection was lost, with the reason. The next attempt follows at once.
    ClientLost(String),
    /// The attempt failed too: no server is there, or it does not answer. A foreign server is tried
    /// again from time to time; one of our own is started when the next command comes.
    ServerGone(Error),
    /// A notification from tmux.
    Notice(Notice),
    /// Panes were made, ended or moved on a server of our own; query which.
    Changed,
    /// Notices were dropped, because the subscriber was slow. Query everything again.
    Resync,
}

/// The server that we talk to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxServerInfo {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its name for our control client, which is not a user's client.
    pub client: String,
    /// The process of that client.
    pub client_pid: u32,
    /// What tmux says is wrong with the user's configuration, when it was loaded just now.
    pub config_errors: Vec<String>,
    /// The current window of our client.
    pub(super) window: WindowId,
}

/// Events that wait for the subscriber.
#[derive(Debug)]
pub(super) struct TmuxEventQueue {
    queue: VecDeque<TmuxEvent>,
    events: mpsc::Sender<TmuxEvent>,
}

impl TmuxEventQueue {
    pub(super) fn new() -> (Self, TmuxEvents) {
        let (events, receiver) = mpsc::channel(1);
        (Self { queue: VecDeque::new(), events }, receiver)
    }

    /// Queues an event for the subscriber.
    pub(super) fn push(&mut self, event: TmuxEvent) {
        let repeats = matches!(event, TmuxEvent::Changed | TmuxEvent::Resync);
        if self.events.is_closed() || (repeats && self.queue.back() == Some(&event)) {
            return;
        }
        if QUEUE <= self.queue.len() {
            self.queue.retain(|event| !matches!(event, TmuxEvent::Notice(_) | TmuxEvent::Changed));
            self.push(TmuxEvent::Resync);
            // Only connection events are left; if even those are more than the queue holds, the
            // rest is cut.
            self.queue.truncate(QUEUE);
        }
        self.queue.push_back(event);
    }

    /// Delivers what waits; done when the queue is empty, or the subscriber is gone. Cancel-safe.
    pub(super) async fn deliver(&mut self) {
        while !self.queue.is_empty() {
            let Ok(permit) = self.events.reserve().await else { return self.queue.clear() };
            if let Some(event) = self.queue.pop_front() {
                permit.send(event);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(number: u32) -> TmuxEvent {
        TmuxEvent::Notice(Notice::WindowAdded(
            WindowId(number),
            crate::tmux::notice::WindowScope::Attached,
        ))
    }

    #[tokio::test]
    async fn a_slow_listener_is_told_that_it_missed_something() {
        let (mut outbox, mut events) = TmuxEventQueue::new();
        outbox.push(TmuxEvent::ClientLost("x".to_owned()));
        for number in 0..5000 {
            outbox.push(notice(number));
            assert!(outbox.queue.len() <= QUEUE + 1);
        }
        let mut received = Vec::new();
        while !outbox.is_empty() {
            tokio::select! {
                () = outbox.deliver() => {}
                event = events.recv() => received.push(event.unwrap()),
            }
        }
        while let Ok(event) = events.try_recv() {
            received.push(event);
        }
        assert_eq!(received[0], TmuxEvent::ClientLost("x".to_owned()));
        assert_eq!(received[1], TmuxEvent::Resync);
        assert_eq!(received.last(), Some(&notice(4999)));
        assert_eq!(
            received.iter().filter(|event| **event == TmuxEvent::Resync).count(),
            1,
            "{received:?}"
        );
    }

    #[tokio::test]
    async fn one_change_is_as_good_as_many() {
        let (mut outbox, events) = TmuxEventQueue::new();
        outbox.push(TmuxEvent::Changed);
        outbox.push(TmuxEvent::Changed);
        assert_eq!(outbox.queue.len(), 1);
        drop(events);
        outbox.push(notice(1));
        assert_eq!(outbox.queue.len(), 1, "nobody listens");
        outbox.deliver().await;
        assert!(outbox.is_empty());
    }
}
