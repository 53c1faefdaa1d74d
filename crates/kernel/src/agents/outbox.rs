//! The messages to all agents: each accepted once, in an order, and not forgotten before it is known what became of it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Delivery, PaneId, PaneRef, Refusal, Time};
use paned_policy::delivery::{AttemptStart, DeliveryWait, Leftover, WhenBusy};
use serde_json::json;
use tokio::sync::watch;

use super::message::{DeliveryStatus, MessageOutcome, MessageTurn, OutboxMessage, hash};
use super::notify;
use crate::Kernel;
use crate::dispatch::draft;
use crate::journal::{CommitTicket, RecordChange};

/// How many messages may wait for one agent.
const MAX_WAITING: usize = 100;
/// How many messages are remembered of which is known what became of them, and for how long, in milliseconds.
const MAX_FINISHED: usize = 1000;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The messages to all agents. Records are made under this lock, so that their order is the order of the changes.
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
    /// Whether its sender knows that it waits its turn, or lost the connection to the server that accepted it.
    has_waited: bool,
}

/// A message to accept.
pub(crate) struct NewMessage {
    /// To whom.
    pub(crate) pane: PaneId,
    /// What.
    pub(crate) text: String,
    /// By what whoever sends it knows it again.
    pub(crate) key: Option<String>,
    /// What is done if the agent is busy.
    pub(crate) when_busy: WhenBusy,
    /// Who is to get the answer.
    pub(crate) notify: Option<PaneRef>,
}

/// That a message was accepted.
pub(crate) struct Receipt {
    /// What everybody calls it.
    pub(crate) id: String,
    /// How it stands.
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

    /// Those of an earlier server.
    pub(crate) fn restore(&self, letters: impl Iterator<Item = OutboxMessage>) {
        let mut letters: Vec<_> = letters.collect();
        letters.sort_by_key(|letter| letter.number);
        let mut inner = self.lock();
        for letter in letters {
            inner.last = inner.last.max(letter.number);
            let tray = inner.queues.entry(letter.pane.clone()).or_default();
            tray.push_back(OutboxEntry { has_waited: true, ..OutboxEntry::new(letter) });
        }
    }

    /// Accepts a message, unless one with its key was accepted before. It is in the journal before its sender is
    /// answered, and before it is typed.
    pub(super) fn accept(
        &self,
        kernel: &Kernel,
        order: NewMessage,
        refused: Option<String>,
    ) -> Result<Receipt, Refusal> {
        let now = kernel.now();
        let mut inner = self.lock();
        let tray = inner.queues.entry(order.pane.clone()).or_default();
        if let Some(known) = find(tray, &order) {
            return known;
        }
        let waiting = tray.iter().filter(|entry| entry.message.is_waiting()).count();
        if MAX_WAITING <= waiting {
            let sentence = format!("{waiting} messages wait for pane `{}` already", order.pane);
            return Err(Refusal::new(Code::Limit, sentence));
        }
        inner.last += 1;
        let letter = new_message(inner.last, order, refused, now);
        let tray = inner.queues.entry(letter.pane.clone()).or_default();
        let mut changes = prune(tray, now);
        changes.push(letter.put());
        let drafts = letter
            .outcome
            .is_some()
            .then(|| delivered_event(kernel, &letter))
            .into_iter()
            .collect();
        kernel.journal().record(drafts, changes);
        tray.push_back(OutboxEntry::new(letter));
        Ok(tray.back().expect("it was just put there").receipt())
    }

    /// The message whose turn it is.
    pub(super) fn next(&self, pane: &PaneId) -> Option<OutboxMessage> {
        let inner = self.lock();
        let mut entries = inner.queues.get(pane)?.iter();
        entries.find(|entry| entry.message.is_waiting()).map(|entry| entry.message.clone())
    }

    /// Whether a message was reported to wait its turn. A question that comes up then must not refuse it: its sender does
    /// not look any more.
    pub(super) fn has_waited(&self, pane: &PaneId, number: u64) -> bool {
        let mut inner = self.lock();
        inner.entry(pane, number).is_some_and(|entry| entry.has_waited)
    }

    /// How many wait for an agent.
    pub(super) fn waiting(&self, pane: &PaneId) -> usize {
        let inner = self.lock();
        let tray = inner.queues.get(pane).into_iter().flatten();
        tray.filter(|entry| entry.message.is_waiting()).count()
    }

    /// Where a message stands among those that wait, counted from 1.
    pub(crate) fn position(&self, pane: &PaneId, id: &str) -> Option<usize> {
        let inner = self.lock();
        let mut waiting = inner.queues.get(pane)?.iter().filter(|entry| entry.message.is_waiting());
        waiting.position(|entry| entry.message.id() == id).map(|at| at + 1)
    }

    /// What the last message may have left in the composer.
    pub(super) fn leftover(&self, pane: &PaneId) -> Option<Leftover> {
        let inner = self.lock();
        let mut told =
            inner.queues.get(pane)?.iter().rev().filter(|entry| !entry.message.is_waiting());
        let typed = told.find(|entry| entry.message.begun.is_some());
        typed.and_then(|entry| entry.message.leftover())
    }

    /// A message is about to be typed, or was not after all.
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

    /// How the message stands whose turn it is; those behind it wait for it.
    pub(super) fn update_status(&self, pane: &PaneId, number: u64, standing: DeliveryWait) {
        let mut inner = self.lock();
        let tray = inner.queues.get_mut(pane).into_iter().flatten();
        let waiting = tray.filter(|entry| entry.message.is_waiting());
        let passing = standing.transient;
        let mut standing = Some(standing);
        for (before, entry) in waiting.skip_while(|entry| entry.message.number < number).enumerate()
        {
            let told = standing
                .take()
                .map_or_else(|| queued_behind(before, passing), DeliveryStatus::from);
            entry.has_waited |= !passing;
            entry.status.send_if_modified(|old| {
                let news = *old != told;
                *old = told;
                news
            });
        }
    }

    /// It is known what became of a message.
    pub(super) fn finish(
        &self,
        kernel: &Kernel,
        pane: &PaneId,
        number: u64,
        fate: MessageOutcome,
        turn: Option<MessageTurn>,
    ) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entry(pane, number) {
            entry.finish(kernel, fate, turn);
        }
    }

    /// An agent's program has ended: nothing more becomes of what waits for it.
    pub(crate) fn close(&self, kernel: &Kernel, pane: &PaneId) {
        let now = kernel.now();
        let mut inner = self.lock();
        let tray = inner.queues.get_mut(pane).into_iter().flatten();
        for entry in tray.filter(|entry| entry.message.is_waiting()) {
            let fate = match entry.message.begun {
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
            entry.finish(kernel, fate, None);
        }
    }

    /// The answer to a message is on its way to whoever asked.
    pub(super) fn mark_answer_returned(&self, kernel: &Kernel, pane: &PaneId, number: u64) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entry(pane, number) {
            entry.message.notify = None;
            kernel.journal().record(Vec::new(), vec![entry.message.put()]);
        }
    }

    /// Goes on with what an earlier server left: nothing becomes of messages to panes that have ended meanwhile, and
    /// answers that were asked for are brought back.
    pub(crate) fn resume(&self, kernel: &Kernel) {
        for pane in self.recipients() {
            // What waits for an agent whose keeper does not answer waits on.
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
                .filter(|letter| wants_answer(letter))
                .cloned()
                .collect()
        };
        owed.iter().for_each(|letter| notify::return_answer(kernel, letter, None));
    }

    /// Everybody for whom messages wait.
    fn recipients(&self) -> Vec<PaneId> {
        let inner = self.lock();
        let waits = |entry: &OutboxEntry| entry.message.is_waiting();
        let waiting = inner.queues.iter().filter(|(_, tray)| tray.iter().any(waits));
        waiting.map(|(pane, _)| pane.clone()).collect()
    }

    /// A pane is forgotten, and with it what was sent to it.
    pub(crate) fn forget(&self, kernel: &Kernel, pane: &PaneId) {
        let mut inner = self.lock();
        let tray = inner.queues.remove(pane).unwrap_or_default();
        let changes: Vec<_> = tray.iter().map(|entry| entry.message.delete()).collect();
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
    fn finish(&mut self, kernel: &Kernel, fate: MessageOutcome, turn: Option<MessageTurn>) {
        let may_stand = matches!(fate.delivery, Delivery::Drafted | Delivery::Unknown);
        self.message.outcome = Some(fate);
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
    order: NewMessage,
    refused: Option<String>,
    now: Time,
) -> OutboxMessage {
    let NewMessage { pane, text, key, when_busy, notify } = order;
    let hash = hash(&text);
    let fate = refused.map(|why| MessageOutcome::with_reason(Delivery::Refused, &why, now));
    let text = if fate.is_some() { String::new() } else { text };
    let (accepted_at, begun) = (now, None);
    OutboxMessage {
        number,
        pane,
        text,
        hash,
        key,
        when_busy,
        notify,
        accepted_at,
        begun,
        outcome: fate,
    }
}

/// The message that was accepted under the same key.
fn find(tray: &VecDeque<OutboxEntry>, order: &NewMessage) -> Option<Result<Receipt, Refusal>> {
    let key = order.key.as_ref()?;
    let known = tray.iter().find(|entry| entry.message.key.as_ref() == Some(key))?;
    if known.message.hash == hash(&order.text) {
        return Some(Ok(known.receipt()));
    }
    let sentence = format!(
        "another text was sent as `{}` before, as message {}; a key is for one text",
        key.escape_debug(),
        known.message.id()
    );
    Some(Err(Refusal::new(Code::Conflict, sentence)))
}

/// Forgets what has been known for long enough.
fn prune(tray: &mut VecDeque<OutboxEntry>, now: Time) -> Vec<RecordChange> {
    let known = tray.iter().filter(|entry| !entry.message.is_waiting()).count();
    let mut surplus = known.saturating_sub(MAX_FINISHED - 1);
    let mut changes = Vec::new();
    tray.retain(|entry| {
        let Some(fate) = &entry.message.outcome else { return true };
        let is_over = 0 < surplus || DAY < now.since(fate.at);
        if is_over {
            surplus = surplus.saturating_sub(1);
            changes.push(entry.message.delete());
        }
        !is_over
    });
    changes
}

fn queued_behind(before: usize, passing: bool) -> DeliveryStatus {
    let why = match before {
        1 => "one message is before it".to_owned(),
        before => format!("{before} messages are before it"),
    };
    DeliveryStatus::from(DeliveryWait { delivery: Delivery::Queued, why, transient: passing })
}

/// Whether somebody waits for the answer to it.
fn wants_answer(letter: &OutboxMessage) -> bool {
    let submitted = |fate: &MessageOutcome| fate.delivery == Delivery::Submitted;
    letter.notify.is_some() && letter.outcome.as_ref().is_some_and(submitted)
}

fn delivered_event(kernel: &Kernel, letter: &OutboxMessage) -> crate::journal::EventDraft {
    let fate = letter.outcome.as_ref();
    let payload = json!({
        "messageId": letter.id(),
        "outcome": fate.map(|fate| fate.delivery),
        "evidence": fate.map(|fate| &fate.evidence),
    });
    draft("agent:delivered", &kernel.event_payload(&letter.pane, payload))
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
