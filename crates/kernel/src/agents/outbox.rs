//! The outbox: the messages to all agents. Each is accepted once, has its place in an order, and is
//! kept until its outcome is known.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Delivery, PaneId, PaneRef, Refusal, Time};
use paned_policy::delivery::{AttemptStart, DeliveryWait, Leftover, WhenBusy};
use serde_json::json;
use tokio::sync::watch;

use super::message::{DeliveryStatus, MessageOutcome, MessageTurn, OutboxMessage, hash};
use super::notify;
use crate::Kernel;
use crate::journal::{CommitTicket, RecordChange, draft};

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

struct OutboxEntry {
    message: OutboxMessage,
    status: watch::Sender<DeliveryStatus>,
    /// Whether its sender was told that it waits, or was a client of an earlier server.
    has_waited: bool,
}

/// A message to accept.
pub(crate) struct NewMessage {
    /// The pane of the agent.
    pub(crate) pane: PaneId,
    /// The prompt.
    pub(crate) text: String,
    /// The idempotency key of the sender.
    pub(crate) key: Option<String>,
    /// What to do if the agent is busy.
    pub(crate) when_busy: WhenBusy,
    /// The pane that gets the answer.
    pub(crate) notify: Option<PaneRef>,
}

/// The receipt of an accepted message.
pub(crate) struct Receipt {
    /// The id of the message in the API.
    pub(crate) id: String,
    /// Its delivery status.
    pub(crate) told: watch::Receiver<DeliveryStatus>,
}

impl OutboxEntry {
    fn new(message: OutboxMessage) -> Self {
        let status = watch::Sender::new(message.told());
        Self { message, status, has_waited: false }
    }

    fn receipt(&self) -> Receipt {
        Receipt { id: self.message.id(), told: self.status.subscribe() }
    }
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, OutboxInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the messages of an earlier server.
    pub(crate) fn restore(&self, messages: impl Iterator<Item = OutboxMessage>) {
        let mut messages: Vec<_> = messages.collect();
        messages.sort_by_key(|message| message.number);
        let mut inner = self.lock();
        for message in messages {
            inner.last = inner.last.max(message.number);
            let queue = inner.queues.entry(message.pane.clone()).or_default();
            queue.push_back(OutboxEntry { has_waited: true, ..OutboxEntry::new(message) });
        }
    }

    /// Accepts a message, unless one with the same key was accepted before. Its record is in the
    /// journal before the sender gets an answer, and before the text is typed.
    pub(super) fn accept(
        &self,
        kernel: &Kernel,
        message: NewMessage,
        refused: Option<String>,
    ) -> Result<Receipt, Refusal> {
        let now = kernel.now();
        let mut inner = self.lock();
        let queue = inner.queues.entry(message.pane.clone()).or_default();
        if let Some(known) = find(queue, &message) {
            return known;
        }
        let waiting = queue.iter().filter(|entry| entry.message.is_waiting()).count();
        if MAX_WAITING <= waiting {
            let sentence = format!("{waiting} messages wait for pane `{}` already", message.pane);
            return Err(Refusal::new(Code::Limit, sentence));
        }
        inner.last += 1;
        let message = new_message(inner.last, message, refused, now);
        let queue = inner.queues.entry(message.pane.clone()).or_default();
        let mut changes = prune(queue, now);
        changes.push(message.put());
        let drafts = message
            .outcome
            .is_some()
            .then(|| delivered_event(kernel, &message))
            .into_iter()
            .collect();
        kernel.journal().record(drafts, changes);
        queue.push_back(OutboxEntry::new(message));
        Ok(queue.back().expect("it was just put there").receipt())
    }

    /// The next message for an agent.
    pub(super) fn next(&self, pane: &PaneId) -> Option<OutboxMessage> {
        let inner = self.lock();
        let mut entries = inner.queues.get(pane)?.iter();
        entries.find(|entry| entry.message.is_waiting()).map(|entry| entry.message.clone())
    }

    /// Whether a message was reported as waiting. A dialog that appears after that must not refuse
    /// it: its sender does not read the status any more.
    pub(super) fn has_waited(&self, pane: &PaneId, number: u64) -> bool {
        let mut inner = self.lock();
        inner.entry(pane, number).is_some_and(|entry| entry.has_waited)
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

    /// Sets the status of the current message; the messages behind it wait for it.
    pub(super) fn update_status(&self, pane: &PaneId, number: u64, wait: DeliveryWait) {
        let mut inner = self.lock();
        let queue = inner.queues.get_mut(pane).into_iter().flatten();
        let waiting = queue.filter(|entry| entry.message.is_waiting());
        let is_transient = wait.transient;
        let mut wait = Some(wait);
        for (before, entry) in waiting.skip_while(|entry| entry.message.number < number).enumerate()
        {
            let status = wait
                .take()
                .map_or_else(|| queued_behind(before, is_transient), DeliveryStatus::from);
            entry.has_waited |= !is_transient;
            entry.status.send_if_modified(|old| {
                let changed = *old != status;
                *old = status;
                changed
            });
        }
    }

    /// Sets the outcome of a message.
    pub(super) fn finish(
        &self,
        kernel: &Kernel,
        pane: &PaneId,
        number: u64,
        outcome: MessageOutcome,
        turn: Option<MessageTurn>,
    ) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entry(pane, number) {
            entry.finish(kernel, outcome, turn);
        }
    }

    /// An agent's program has ended: finishes all messages that wait for it.
    pub(crate) fn close(&self, kernel: &Kernel, pane: &PaneId) {
        let now = kernel.now();
        let mut inner = self.lock();
        let queue = inner.queues.get_mut(pane).into_iter().flatten();
        for entry in queue.filter(|entry| entry.message.is_waiting()) {
            let outcome = match entry.message.begun {
                None => MessageOutcome::with_reason(
                    Delivery::Refused,
                    "its program has ended; nothing was typed",
                    now,
                ),
                Some(_) => {
                    let why = "its program ended when the text was being typed";
                    MessageOutcome::with_reason(Delivery::Unknown, why, now)
                }
            };
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
        for pane in self.recipients() {
            // Messages to an agent whose keeper does not answer keep waiting.
            let is_silent =
                kernel.panes().get(&pane).is_ok_and(|pane| pane.check_responsive().is_err());
            if !is_silent && kernel.agents().find(&pane).is_none() {
                self.close(kernel, &pane);
            }
        }
        let owed: Vec<OutboxMessage> = {
            let inner = self.lock();
            let entries = inner.queues.values().flatten();
            entries
                .map(|entry| &entry.message)
                .filter(|message| wants_answer(message))
                .cloned()
                .collect()
        };
        owed.iter().for_each(|message| notify::return_answer(kernel, message, None));
    }

    /// The panes that have waiting messages.
    fn recipients(&self) -> Vec<PaneId> {
        let inner = self.lock();
        let waits = |entry: &OutboxEntry| entry.message.is_waiting();
        let waiting = inner.queues.iter().filter(|(_, queue)| queue.iter().any(waits));
        waiting.map(|(pane, _)| pane.clone()).collect()
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

impl OutboxEntry {
    fn finish(&mut self, kernel: &Kernel, outcome: MessageOutcome, turn: Option<MessageTurn>) {
        let may_stand = matches!(outcome.delivery, Delivery::Drafted | Delivery::Unknown);
        self.message.outcome = Some(outcome);
        if !may_stand {
            self.message.text = String::new();
        }
        let drafts = vec![delivered_event(kernel, &self.message)];
        kernel.journal().record(drafts, vec![self.message.put()]);
        self.status.send_replace(DeliveryStatus { turn, ..self.message.told() });
        if wants_answer(&self.message) {
            notify::return_answer(kernel, &self.message, turn);
        }
    }
}

fn new_message(
    number: u64,
    message: NewMessage,
    refused: Option<String>,
    now: Time,
) -> OutboxMessage {
    let NewMessage { pane, text, key, when_busy, notify } = message;
    let hash = hash(&text);
    let outcome = refused.map(|why| MessageOutcome::with_reason(Delivery::Refused, &why, now));
    let text = if outcome.is_some() { String::new() } else { text };
    OutboxMessage {
        number,
        pane,
        text,
        hash,
        key,
        when_busy,
        notify,
        accepted_at: now,
        begun: None,
        outcome,
    }
}

/// The message that was accepted with the same key; a refusal if its text differs.
fn find(queue: &VecDeque<OutboxEntry>, message: &NewMessage) -> Option<Result<Receipt, Refusal>> {
    let key = message.key.as_ref()?;
    let known = queue.iter().find(|entry| entry.message.key.as_ref() == Some(key))?;
    if known.message.hash == hash(&message.text) {
        return Some(Ok(known.receipt()));
    }
    let sentence = format!(
        "another text was sent as `{}` before, as message {}; a key is for one text",
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
        let is_over = 0 < surplus || DAY < now.since(outcome.at);
        if is_over {
            surplus = surplus.saturating_sub(1);
            changes.push(entry.message.delete());
        }
        !is_over
    });
    changes
}

fn queued_behind(before: usize, is_transient: bool) -> DeliveryStatus {
    let why = match before {
        1 => "one message is before it".to_owned(),
        before => format!("{before} messages are before it"),
    };
    DeliveryStatus::from(DeliveryWait { delivery: Delivery::Queued, why, transient: is_transient })
}

/// Whether a pane waits for the answer to a message.
fn wants_answer(message: &OutboxMessage) -> bool {
    let submitted = |outcome: &MessageOutcome| outcome.delivery == Delivery::Submitted;
    message.notify.is_some() && message.outcome.as_ref().is_some_and(submitted)
}

fn delivered_event(kernel: &Kernel, message: &OutboxMessage) -> crate::journal::EventDraft {
    let outcome = message.outcome.as_ref();
    let payload = json!({
        "messageId": message.id(),
        "outcome": outcome.map(|outcome| outcome.delivery),
        "evidence": outcome.map(|outcome| &outcome.evidence),
    });
    draft("agent:delivered", &kernel.event_payload(&message.pane, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u64) -> OutboxMessage {
        let order = NewMessage {
            pane: "a".parse().unwrap(),
            text: format!("message {number}"),
            key: None,
            when_busy: WhenBusy::Queue,
            notify: None,
        };
        new_message(number, order, None, Time(1))
    }

    fn standing(passing: bool) -> DeliveryWait {
        DeliveryWait {
            delivery: Delivery::Queued,
            why: "it is busy".to_owned(),
            transient: passing,
        }
    }

    #[test]
    fn what_was_reported_to_wait_has_waited_and_so_has_all_behind_it() {
        let post = Outbox::default();
        let pane: PaneId = "a".parse().unwrap();
        let entries = [1, 2].map(|number| OutboxEntry::new(message(number)));
        post.lock().queues.insert(pane.clone(), entries.into());
        post.update_status(&pane, 1, standing(true));
        assert!(!post.has_waited(&pane, 1) && !post.has_waited(&pane, 2));
        post.update_status(&pane, 1, standing(false));
        assert!(post.has_waited(&pane, 1) && post.has_waited(&pane, 2));
    }

    #[test]
    fn what_an_earlier_server_accepted_has_waited() {
        let post = Outbox::default();
        post.restore([message(1)].into_iter());
        assert!(post.has_waited(&"a".parse().unwrap(), 1));
    }
}
