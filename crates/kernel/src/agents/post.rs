//! The messages to all agents: each accepted once, in an order, and not forgotten before it is known what became of it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use paned_model::{Code, Delivery, PaneId, PaneRef, Refusal, Time};
use paned_policy::delivery::{Begun, Leftover, Standing, WhenBusy};
use serde_json::json;
use tokio::sync::watch;

use super::letter::{Fate, Letter, Told, Turn, hash};
use super::notify;
use crate::Kernel;
use crate::dispatch::draft;
use crate::journal::{Change, Ticket};

/// How many messages may wait for one agent.
const WAITING: usize = 100;
/// How many messages are remembered of which is known what became of them, and for how long, in milliseconds.
const REMEMBERED: usize = 1000;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// The messages to all agents. Records are made under this lock, so that their order is the order of the changes.
#[derive(Default)]
pub(crate) struct Post {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: u64,
    trays: HashMap<PaneId, VecDeque<Entry>>,
}

struct Entry {
    letter: Letter,
    told: watch::Sender<Told>,
    /// Whether its sender knows that it waits its turn, or lost the connection to the server that accepted it.
    has_waited: bool,
}

/// A message to accept.
pub(crate) struct Order {
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
    pub(crate) told: watch::Receiver<Told>,
}

impl Entry {
    fn new(letter: Letter) -> Self {
        let told = watch::Sender::new(letter.told());
        Self { letter, told, has_waited: false }
    }

    fn receipt(&self) -> Receipt {
        Receipt { id: self.letter.id(), told: self.told.subscribe() }
    }
}

impl Post {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of an earlier server.
    pub(crate) fn restore(&self, letters: impl Iterator<Item = Letter>) {
        let mut letters: Vec<_> = letters.collect();
        letters.sort_by_key(|letter| letter.number);
        let mut inner = self.lock();
        for letter in letters {
            inner.last = inner.last.max(letter.number);
            let tray = inner.trays.entry(letter.pane.clone()).or_default();
            tray.push_back(Entry { has_waited: true, ..Entry::new(letter) });
        }
    }

    /// Accepts a message, unless one with its key was accepted before. It is in the journal before its sender is
    /// answered, and before it is typed.
    pub(super) fn accept(
        &self,
        kernel: &Kernel,
        order: Order,
        refused: Option<String>,
    ) -> Result<Receipt, Refusal> {
        let now = kernel.now();
        let mut inner = self.lock();
        let tray = inner.trays.entry(order.pane.clone()).or_default();
        if let Some(known) = find(tray, &order) {
            return known;
        }
        let waiting = tray.iter().filter(|entry| entry.letter.is_waiting()).count();
        if WAITING <= waiting {
            let sentence = format!("{waiting} messages wait for pane `{}` already", order.pane);
            return Err(Refusal::new(Code::Limit, sentence));
        }
        inner.last += 1;
        let letter = letter(inner.last, order, refused, now);
        let tray = inner.trays.entry(letter.pane.clone()).or_default();
        let mut changes = prune(tray, now);
        changes.push(letter.put());
        let drafts =
            letter.fate.is_some().then(|| delivered(kernel, &letter)).into_iter().collect();
        kernel.journal().record(drafts, changes);
        tray.push_back(Entry::new(letter));
        Ok(tray.back().expect("it was just put there").receipt())
    }

    /// The message whose turn it is.
    pub(super) fn next(&self, pane: &PaneId) -> Option<Letter> {
        let inner = self.lock();
        let mut entries = inner.trays.get(pane)?.iter();
        entries.find(|entry| entry.letter.is_waiting()).map(|entry| entry.letter.clone())
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
        let tray = inner.trays.get(pane).into_iter().flatten();
        tray.filter(|entry| entry.letter.is_waiting()).count()
    }

    /// Where a message stands among those that wait, counted from 1.
    pub(crate) fn position(&self, pane: &PaneId, id: &str) -> Option<usize> {
        let inner = self.lock();
        let mut waiting = inner.trays.get(pane)?.iter().filter(|entry| entry.letter.is_waiting());
        waiting.position(|entry| entry.letter.id() == id).map(|at| at + 1)
    }

    /// What the last message may have left in the composer.
    pub(super) fn leftover(&self, pane: &PaneId) -> Option<Leftover> {
        let inner = self.lock();
        let mut told =
            inner.trays.get(pane)?.iter().rev().filter(|entry| !entry.letter.is_waiting());
        let typed = told.find(|entry| entry.letter.begun.is_some());
        typed.and_then(|entry| entry.letter.leftover())
    }

    /// A message is about to be typed, or was not after all.
    pub(super) fn begin(
        &self,
        kernel: &Kernel,
        pane: &PaneId,
        number: u64,
        begun: Option<Begun>,
    ) -> Option<Ticket> {
        let mut inner = self.lock();
        let entry = inner.entry(pane, number)?;
        if entry.letter.begun == begun {
            return None;
        }
        entry.letter.begun = begun;
        Some(kernel.journal().record(Vec::new(), vec![entry.letter.put()]))
    }

    /// How the message stands whose turn it is; those behind it wait for it.
    pub(super) fn stand(&self, pane: &PaneId, number: u64, standing: Standing) {
        let mut inner = self.lock();
        let tray = inner.trays.get_mut(pane).into_iter().flatten();
        let waiting = tray.filter(|entry| entry.letter.is_waiting());
        let passing = standing.passing;
        let mut standing = Some(standing);
        for (before, entry) in waiting.skip_while(|entry| entry.letter.number < number).enumerate()
        {
            let told = standing.take().map_or_else(|| behind(before, passing), Told::from);
            entry.has_waited |= !passing;
            entry.told.send_if_modified(|old| {
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
        fate: Fate,
        turn: Option<Turn>,
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
        let tray = inner.trays.get_mut(pane).into_iter().flatten();
        for entry in tray.filter(|entry| entry.letter.is_waiting()) {
            let fate = match entry.letter.begun {
                None => Fate::because(
                    Delivery::Refused,
                    "its program has ended; nothing was typed",
                    now,
                ),
                Some(_) => {
                    let why = "its program ended when the text was being typed";
                    Fate::because(Delivery::Unknown, why, now)
                }
            };
            entry.finish(kernel, fate, None);
        }
    }

    /// The answer to a message is on its way to whoever asked.
    pub(super) fn brought_back(&self, kernel: &Kernel, pane: &PaneId, number: u64) {
        let mut inner = self.lock();
        if let Some(entry) = inner.entry(pane, number) {
            entry.letter.notify = None;
            kernel.journal().record(Vec::new(), vec![entry.letter.put()]);
        }
    }

    /// Goes on with what an earlier server left: nothing becomes of messages to panes that have ended meanwhile, and
    /// answers that were asked for are brought back.
    pub(crate) fn resume(&self, kernel: &Kernel) {
        for pane in self.addressees() {
            // What waits for an agent whose keeper does not answer waits on.
            let is_silent = kernel.panes().get(&pane).is_ok_and(|pane| pane.check_heard().is_err());
            if !is_silent && kernel.agents().listener(&pane).is_none() {
                self.close(kernel, &pane);
            }
        }
        let owed: Vec<Letter> = {
            let inner = self.lock();
            let entries = inner.trays.values().flatten();
            entries.map(|entry| &entry.letter).filter(|letter| is_owed(letter)).cloned().collect()
        };
        owed.iter().for_each(|letter| notify::bring_back(kernel, letter, None));
    }

    /// Everybody for whom messages wait.
    fn addressees(&self) -> Vec<PaneId> {
        let inner = self.lock();
        let waits = |entry: &Entry| entry.letter.is_waiting();
        let waiting = inner.trays.iter().filter(|(_, tray)| tray.iter().any(waits));
        waiting.map(|(pane, _)| pane.clone()).collect()
    }

    /// A pane is forgotten, and with it what was sent to it.
    pub(crate) fn forget(&self, kernel: &Kernel, pane: &PaneId) {
        let mut inner = self.lock();
        let tray = inner.trays.remove(pane).unwrap_or_default();
        let changes: Vec<_> = tray.iter().map(|entry| entry.letter.delete()).collect();
        if !changes.is_empty() {
            kernel.journal().record(Vec::new(), changes);
        }
    }
}

impl Inner {
    fn entry(&mut self, pane: &PaneId, number: u64) -> Option<&mut Entry> {
        self.trays.get_mut(pane)?.iter_mut().find(|entry| entry.letter.number == number)
    }
}

impl Entry {
    fn finish(&mut self, kernel: &Kernel, fate: Fate, turn: Option<Turn>) {
        let may_stand = matches!(fate.word, Delivery::Drafted | Delivery::Unknown);
        self.letter.fate = Some(fate);
        if !may_stand {
            self.letter.text = String::new();
        }
        let drafts = vec![delivered(kernel, &self.letter)];
        kernel.journal().record(drafts, vec![self.letter.put()]);
        self.told.send_replace(Told { turn, ..self.letter.told() });
        if is_owed(&self.letter) {
            notify::bring_back(kernel, &self.letter, turn);
        }
    }
}

fn letter(number: u64, order: Order, refused: Option<String>, now: Time) -> Letter {
    let Order { pane, text, key, when_busy, notify } = order;
    let hash = hash(&text);
    let fate = refused.map(|why| Fate::because(Delivery::Refused, &why, now));
    let text = if fate.is_some() { String::new() } else { text };
    let (accepted_at, begun) = (now, None);
    Letter { number, pane, text, hash, key, when_busy, notify, accepted_at, begun, fate }
}

/// The message that was accepted under the same key.
fn find(tray: &VecDeque<Entry>, order: &Order) -> Option<Result<Receipt, Refusal>> {
    let key = order.key.as_ref()?;
    let known = tray.iter().find(|entry| entry.letter.key.as_ref() == Some(key))?;
    if known.letter.hash == hash(&order.text) {
        return Some(Ok(known.receipt()));
    }
    let sentence = format!(
        "another text was sent as `{}` before, as message {}; a key is for one text",
        key.escape_debug(),
        known.letter.id()
    );
    Some(Err(Refusal::new(Code::Conflict, sentence)))
}

/// Forgets what has been known for long enough.
fn prune(tray: &mut VecDeque<Entry>, now: Time) -> Vec<Change> {
    let known = tray.iter().filter(|entry| !entry.letter.is_waiting()).count();
    let mut surplus = known.saturating_sub(REMEMBERED - 1);
    let mut changes = Vec::new();
    tray.retain(|entry| {
        let Some(fate) = &entry.letter.fate else { return true };
        let is_over = 0 < surplus || DAY < now.since(fate.at);
        if is_over {
            surplus = surplus.saturating_sub(1);
            changes.push(entry.letter.delete());
        }
        !is_over
    });
    changes
}

fn behind(before: usize, passing: bool) -> Told {
    let why = match before {
        1 => "one message is before it".to_owned(),
        before => format!("{before} messages are before it"),
    };
    Told::from(Standing { word: Delivery::Queued, why, passing })
}

/// Whether somebody waits for the answer to it.
fn is_owed(letter: &Letter) -> bool {
    let submitted = |fate: &Fate| fate.word == Delivery::Submitted;
    letter.notify.is_some() && letter.fate.as_ref().is_some_and(submitted)
}

fn delivered(kernel: &Kernel, letter: &Letter) -> crate::journal::Draft {
    let fate = letter.fate.as_ref();
    let payload = json!({
        "messageId": letter.id(),
        "outcome": fate.map(|fate| fate.word),
        "evidence": fate.map(|fate| &fate.evidence),
    });
    draft("agent:delivered", &kernel.about(&letter.pane, payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u64) -> Letter {
        let order = Order {
            pane: "a".parse().unwrap(),
            text: format!("message {number}"),
            key: None,
            when_busy: WhenBusy::Queue,
            notify: None,
        };
        letter(number, order, None, Time(1))
    }

    fn standing(passing: bool) -> Standing {
        Standing { word: Delivery::Queued, why: "it is busy".to_owned(), passing }
    }

    #[test]
    fn what_was_reported_to_wait_has_waited_and_so_has_all_behind_it() {
        let post = Post::default();
        let pane: PaneId = "a".parse().unwrap();
        let entries = [1, 2].map(|number| Entry::new(message(number)));
        post.lock().trays.insert(pane.clone(), entries.into());
        post.stand(&pane, 1, standing(true));
        assert!(!post.has_waited(&pane, 1) && !post.has_waited(&pane, 2));
        post.stand(&pane, 1, standing(false));
        assert!(post.has_waited(&pane, 1) && post.has_waited(&pane, 2));
    }

    #[test]
    fn what_an_earlier_server_accepted_has_waited() {
        let post = Post::default();
        post.restore([message(1)].into_iter());
        assert!(post.has_waited(&"a".parse().unwrap(), 1));
    }
}
