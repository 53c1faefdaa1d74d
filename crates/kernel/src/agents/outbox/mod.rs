//! The outbox: the messages to all agents. Each is accepted once, has its place in an order, and is
//! kept until its outcome is known.

mod message;
mod notify;

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Delivery, PaneId, Refusal, Time};
use paned_policy::delivery::{AttemptStart, Leftover, Outcome};
use tokio::sync::watch;

pub(crate) use self::message::{MESSAGE, Message, MessageTurn, NewMessage, Receipt};
use self::message::{OutboxEntry, hash};
pub(crate) use self::notify::{answer_of, send_to_agent, wait_turn_end};
use crate::Kernel;
use crate::journal::{CommitTicket, RecordChange};

/// How many messages may wait for one agent.
const MAX_WAITING: usize = 100;
/// How many finished messages are kept for one agent, and for how long, in milliseconds.
const MAX_FINISHED: usize = 1000;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The messages to all agents. Journal records are written under this lock, so that they have the
/// order of the changes.
#[derive(Default)]
pub(crate) struct Outbox {
    inner: Mutex<OutboxInner>,
}

#[derive(Default)]
struct OutboxInner {
    last: u64,
    queues: HashMap<PaneId, VecDeque<OutboxEntry>>,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, OutboxInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the messages of an earlier server.
    pub(crate) fn restore(&self, messages: impl Iterator<Item = Message>) {
        let mut messages: Vec<_> = messages.collect();
        messages.sort_by_key(|message| message.number);
        let mut inner = self.lock();
        for message in messages {
            inner.last = inner.last.max(message.number);
            let queue = inner.queues.entry(message.pane.clone()).or_default();
            queue.push_back(OutboxEntry::new(Message { has_waited: true, ..message }));
        }
    }

    /// Accepts a message, unless one with the same key was accepted before. Its record is in the
    /// journal before the sender gets an answer, and before the text is typed.
    pub(super) fn accept(
        &self,
        kernel: &Kernel,
        message: NewMessage,
        refused: Option<String>,
    ) -> Result<watch::Receiver<Receipt>, Refusal> {
        let now = kernel.now();
        let mut inner = self.lock();
        let queue = inner.queues.entry(message.pane.clone()).or_default();
        if let Some(known) = find(queue, &message) {
            return known;
        }
        let waiting = queue.iter().filter(|entry| entry.message.is_waiting()).count();
        if MAX_WAITING <= waiting {
            let sentence =
                format!("{waiting} messages are already queued for pane `{}`", message.pane);
            return Err(Refusal::new(Code::Limit, sentence));
        }
        let mut changes = prune(queue, now);
        inner.last += 1;
        let mut message = Message::new(inner.last, message, now);
        let mut drafts = Vec::new();
        if let Some(why) = refused {
            message.finish(Outcome::new(Delivery::Refused, why), now);
            drafts.push(message.delivered_event(kernel));
        }
        changes.push(message.put());
        kernel.journal().record(drafts, changes);
        let pane = message.pane.clone();
        let entry = OutboxEntry::new(message);
        let receipt = entry.receipt.subscribe();
        inner.queues.entry(pane).or_default().push_back(entry);
        Ok(receipt)
    }

    /// The next message for an agent.
    pub(super) fn next(&self, pane: &PaneId) -> Option<Message> {
        let inner = self.lock();
        let mut entries = inner.queues.get(pane)?.iter();
        entries.find(|entry| entry.message.is_waiting()).map(|entry| entry.message.clone())
    }

    /// How many messages wait for an agent.
    pub(super) fn waiting(&self, pane: &PaneId) -> usize {
        let inner = self.lock();
        let queue = inner.queues.get(pane).into_iter().flatten();
        queue.filter(|entry| entry.message.is_waiting()).count()
    }

    /// The position of a message among those that wait, counted from 1.
    pub(crate) fn position(&self, pane: &PaneId, id: &str) -> Option<usize> {
        let inner = self.lock();
        let mut waiting = inner.queues.get(pane)?.iter().filter(|entry| entry.message.is_waiting());
        waiting.position(|entry| entry.message.id() == id).map(|at| at + 1)
    }

    /// What the last message may have left in the composer.
    pub(super) fn leftover(&self, pane: &PaneId) -> Option<Leftover> {
        let inner = self.lock();
        let mut finished =
            inner.queues.get(pane)?.iter().rev().filter(|entry| !entry.message.is_waiting());
        let typed = finished.find(|entry| entry.message.begun.is_some());
        typed.and_then(|entry| entry.message.leftover())
    }

    /// Records that a message is about to be typed; with `None`, that it was not typed after all.
    pub(super) fn begin(
        &self,
        kernel: &Kernel,
        pane: &PaneId,
        number: u64,
        begun: Option<AttemptStart>,
    ) -> Option<CommitTicket> {
        let mut inner = self.lock();
        let entry = inner.entry(pane, number)?;
        if entry.message.begun == begun {
            return None;
        }
        entry.message.begun = begun;
        Some(kernel.journal().record(Vec::new(), vec![entry.message.put()]))
    }

    /// Reports why the current message waits; the messages behind it wait for it.
    pub(super) fn report_wait(&self, pane: &PaneId, number: u64, outcome: Outcome) {
        let mut inner = self.lock();
        let queue = inner.queues.get_mut(pane).into_iter().flatten();
        let waiting = queue.filter(|entry| entry.message.is_waiting());
        let behind = waiting.skip_while(|entry| entry.message.number < number);
        for (before, entry) in behind.enumerate() {
            let outcome = match before {
                0 => outcome.clone(),
                1 => queued_behind("one message is ahead of it".to_owned(), &outcome),
                _ => queued_behind(format!("{before} messages are ahead of it"), &outcome),
            };
            entry.message.has_waited |= !outcome.transient;
            entry.receipt.send_if_modified(|receipt| {
                let is_new = receipt.outcome != outcome;
                receipt.outcome = outcome;
                is_new
            });
        }
    }

    /// Sets the outcome of a message.
    pub(super) fn finish(
        &self,
        kernel: &Kernel,
        pane: &PaneId,
        number: u64,
        outcome: Outcome,
        turn: Option<MessageTurn>,
    ) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entry(pane, number) {
            entry.finish(kernel, outcome, turn);
        }
    }

    /// Cancels a message of which nothing is typed. `is_untouched` says that of the message that
    /// the agent's task works on; of all others, the record does.
    pub(super) fn cancel(
        &self,
        kernel: &Kernel,
        pane: &PaneId,
        number: u64,
        is_untouched: bool,
    ) -> Result<(), Refusal> {
        let mut inner = self.lock();
        let Some(entry) = inner.entry(pane, number) else {
            return Err(no_message(pane, &format!("m{number}")));
        };
        let conflict =
            |why: &str| Err(Refusal::new(Code::Conflict, format!("message m{number} {why}")));
        match (&entry.message.outcome, &entry.message.begun) {
            (Some(_), _) => {
                conflict("is no longer queued; the event `agent:delivered` has its outcome")
            }
            (None, Some(_)) if !is_untouched => conflict("is being typed; it cannot be cancelled"),
            (None, _) => {
                let why = "it was cancelled while it was queued; nothing was typed";
                entry.finish(kernel, Outcome::new(Delivery::Refused, why), None);
                Ok(())
            }
        }
    }

    /// An agent's program has ended: finishes all messages that wait for it.
    pub(crate) fn close(&self, kernel: &Kernel, pane: &PaneId) {
        let mut inner = self.lock();
        let queue = inner.queues.get_mut(pane).into_iter().flatten();
        for entry in queue.filter(|entry| entry.message.is_waiting()) {
            let (delivery, why) = match entry.message.begun {
                None => (Delivery::Refused, "its program has exited; nothing was typed"),
                Some(_) => (Delivery::Unknown, "its program exited while the text was being typed"),
            };
            let outcome = Outcome::new(delivery, why);
            entry.finish(kernel, outcome, None);
        }
    }

    /// The answer to a message was sent to the pane that asked for it.
    pub(super) fn mark_answer_returned(&self, kernel: &Kernel, pane: &PaneId, number: u64) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entry(pane, number) {
            entry.message.notify = None;
            kernel.journal().record(Vec::new(), vec![entry.message.put()]);
        }
    }

    /// Continues after a restart of the server: finishes the messages to agents that have ended
    /// meanwhile, and returns the answers that are still owed.
    pub(crate) fn resume(&self, kernel: &Kernel) {
        let recipients: Vec<PaneId> = {
            let waits = |entry: &OutboxEntry| entry.message.is_waiting();
            let inner = self.lock();
            let waiting = inner.queues.iter().filter(|(_, queue)| queue.iter().any(waits));
            waiting.map(|(pane, _)| pane.clone()).collect()
        };
        for pane in recipients {
            // Messages to an agent whose keeper does not answer keep waiting.
            let is_silent =
                kernel.panes().get(&pane).is_ok_and(|pane| pane.check_responsive().is_err());
            if !is_silent && kernel.agents().find(&pane).is_none() {
                self.close(kernel, &pane);
            }
        }
        let owed: Vec<Message> = {
            let inner = self.lock();
            let messages = inner.queues.values().flatten().map(|entry| &entry.message);
            messages.filter(|message| message.wants_answer()).cloned().collect()
        };
        owed.iter().for_each(|message| notify::return_answer(kernel, message, None));
    }

    /// A pane is removed: deletes its messages.
    pub(crate) fn forget(&self, kernel: &Kernel, pane: &PaneId) {
        let mut inner = self.lock();
        let queue = inner.queues.remove(pane).unwrap_or_default();
        let changes: Vec<_> = queue.iter().map(|entry| entry.message.delete()).collect();
        if !changes.is_empty() {
            kernel.journal().record(Vec::new(), changes);
        }
    }
}

impl OutboxInner {
    fn entry(&mut self, pane: &PaneId, number: u64) -> Option<&mut OutboxEntry> {
        self.queues.get_mut(pane)?.iter_mut().find(|entry| entry.message.number == number)
    }
}

/// The refusal of a message that there is not.
pub(super) fn no_message(pane: &PaneId, id: &str) -> Refusal {
    Refusal::not_found(format!("no message `{}` to the agent in pane `{pane}`", id.escape_debug()))
}

/// The message that was accepted with the same key; a refusal if its text differs.
fn find(
    queue: &VecDeque<OutboxEntry>,
    message: &NewMessage,
) -> Option<Result<watch::Receiver<Receipt>, Refusal>> {
    let key = message.key.as_ref()?;
    let known = queue.iter().find(|entry| entry.message.key.as_ref() == Some(key))?;
    if known.message.hash == hash(&message.text) {
        return Some(Ok(known.receipt.subscribe()));
    }
    let sentence = format!(
        "the key `{}` was already used for another text (message {}); use a new key for each text",
        key.escape_debug(),
        known.message.id()
    );
    Some(Err(Refusal::new(Code::Conflict, sentence)))
}

/// Removes the oldest finished messages.
fn prune(queue: &mut VecDeque<OutboxEntry>, now: Time) -> Vec<RecordChange> {
    let known = queue.iter().filter(|entry| !entry.message.is_waiting()).count();
    let mut surplus = known.saturating_sub(MAX_FINISHED - 1);
    let mut changes = Vec::new();
    queue.retain(|entry| {
        let Some(outcome) = &entry.message.outcome else { return true };
        let is_over = 0 < surplus || outcome.at.is_some_and(|at| DAY < now.since(at));
        if is_over {
            surplus = surplus.saturating_sub(1);
            changes.push(entry.message.delete());
        }
        !is_over
    });
    changes
}

/// The outcome of a message behind one that waits.
fn queued_behind(why: String, first: &Outcome) -> Outcome {
    Outcome { transient: first.transient, ..Outcome::new(Delivery::Queued, why) }
}

#[cfg(test)]
mod tests {
    use paned_policy::delivery::WhenBusy;

    use super::*;

    fn message(number: u64) -> Message {
        let new = NewMessage {
            pane: "a".parse().unwrap(),
            text: format!("message {number}"),
            key: None,
            when_busy: WhenBusy::Queue,
            notify: None,
        };
        Message::new(number, new, Time(1))
    }

    /// Whether each message of the pane has waited.
    fn waited(outbox: &Outbox, pane: &PaneId) -> Vec<bool> {
        outbox.lock().queues[pane].iter().map(|entry| entry.message.has_waited).collect()
    }

    #[test]
    fn what_was_reported_to_wait_has_waited_and_so_has_all_behind_it() {
        let outbox = Outbox::default();
        let pane: PaneId = "a".parse().unwrap();
        let entries = [1, 2].map(|number| OutboxEntry::new(message(number)));
        outbox.lock().queues.insert(pane.clone(), entries.into());
        outbox.report_wait(&pane, 1, Outcome::transient("it is busy"));
        assert_eq!(waited(&outbox, &pane), [false, false]);
        outbox.report_wait(&pane, 1, Outcome::new(Delivery::Queued, "it is busy"));
        assert_eq!(waited(&outbox, &pane), [true, true]);
    }

    #[test]
    fn what_an_earlier_server_accepted_has_waited() {
        let outbox = Outbox::default();
        outbox.restore([message(1)].into_iter());
        assert_eq!(waited(&outbox, &"a".parse().unwrap()), [true]);
    }
}
