//! What the client tells whoever listens. A listener that is slow misses notices and is told so; it never holds up
//! the client.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::error::Error;
use super::ids::WindowId;
use super::notice::Notice;

/// More notices than this wait for nobody.
const QUEUE: usize = 1024;

/// Where facts arrive.
pub type TmuxEvents = mpsc::Receiver<TmuxEvent>;

/// What happens to the connection and at its other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TmuxEvent {
    /// We can talk to a server. Its process tells whether it is the one from before.
    Connected(TmuxServerInfo),
    /// The connection ended, with the reason. It is tried again at once.
    ClientLost(String),
    /// And again in vain: nobody is there, or nobody answers. A foreign server is looked for from time to time; one
    /// of our own is started when the next command comes.
    ServerGone(Error),
    /// tmux said so.
    Notice(Notice),
    /// Somewhere on a server of our own panes were made, ended or moved; ask which.
    Changed,
    /// Notices were lost, because nobody took them. Ask for everything again.
    Resync,
}

/// The server that we talk to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TmuxServerInfo {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// The name it has for our control client, which is no person.
    pub client: String,
    /// The process of that client.
    pub client_pid: u32,
    /// The window that our client looks at.
    pub(super) window: WindowId,
}

/// Facts on their way.
#[derive(Debug)]
pub(super) struct TmuxEventQueue {
    queue: VecDeque<TmuxEvent>,
    events: mpsc::Sender<TmuxEvent>,
}

impl TmuxEventQueue {
    pub(super) fn new() -> (Self, TmuxEvents) {
        let (facts, receiver) = mpsc::channel(1);
        (Self { queue: VecDeque::new(), events: facts }, receiver)
    }

    /// Tells a fact as soon as somebody takes it.
    pub(super) fn push(&mut self, fact: TmuxEvent) {
        let repeats = matches!(fact, TmuxEvent::Changed | TmuxEvent::Resync);
        if self.events.is_closed() || (repeats && self.queue.back() == Some(&fact)) {
            return;
        }
        if QUEUE <= self.queue.len() {
            self.queue.retain(|fact| !matches!(fact, TmuxEvent::Notice(_) | TmuxEvent::Changed));
            self.push(TmuxEvent::Resync);
            // Only links that come and go a thousand times unheard are left.
            self.queue.truncate(QUEUE);
        }
        self.queue.push_back(fact);
    }

    /// Hands over what waits; done when nothing does, or nobody listens. May be dropped and called again.
    pub(super) async fn deliver(&mut self) {
        while !self.queue.is_empty() {
            let Ok(permit) = self.events.reserve().await else { return self.queue.clear() };
            if let Some(fact) = self.queue.pop_front() {
                permit.send(fact);
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
        let (mut outbox, mut facts) = TmuxEventQueue::new();
        outbox.push(TmuxEvent::ClientLost("x".to_owned()));
        for number in 0..5000 {
            outbox.push(notice(number));
            assert!(outbox.queue.len() <= QUEUE + 1);
        }
        let mut heard = Vec::new();
        while !outbox.is_empty() {
            tokio::select! {
                () = outbox.deliver() => {}
                fact = facts.recv() => heard.push(fact.unwrap()),
            }
        }
        while let Ok(fact) = facts.try_recv() {
            heard.push(fact);
        }
        assert_eq!(heard[0], TmuxEvent::ClientLost("x".to_owned()));
        assert_eq!(heard[1], TmuxEvent::Resync);
        assert_eq!(heard.last(), Some(&notice(4999)));
        assert_eq!(heard.iter().filter(|fact| **fact == TmuxEvent::Resync).count(), 1, "{heard:?}");
    }

    #[tokio::test]
    async fn one_change_is_as_good_as_many() {
        let (mut outbox, facts) = TmuxEventQueue::new();
        outbox.push(TmuxEvent::Changed);
        outbox.push(TmuxEvent::Changed);
        assert_eq!(outbox.queue.len(), 1);
        drop(facts);
        outbox.push(notice(1));
        assert_eq!(outbox.queue.len(), 1, "nobody listens");
        outbox.deliver().await;
        assert!(outbox.is_empty());
    }
}
