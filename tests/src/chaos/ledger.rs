//! The ledger: what was asked, what was answered, what was seen, and what may follow from that.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::inputs::Inputs;
use super::log::Log;
use super::program::Kind;
use super::sandbox;

/// What must hold, whatever is broken. Each is counted whenever it was looked at and held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invariant {
    Input,
    Output,
    Events,
    Changes,
    Exits,
    Gone,
    Statuses,
    Alone,
    Alive,
    Deadline,
    Names,
    Left,
}

impl Invariant {
    pub(super) const ALL: [Self; 12] = [
        Self::Input,
        Self::Output,
        Self::Events,
        Self::Changes,
        Self::Exits,
        Self::Gone,
        Self::Statuses,
        Self::Alone,
        Self::Alive,
        Self::Deadline,
        Self::Names,
        Self::Left,
    ];

    /// The promise, and what is counted.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Input => ("an accepted input is read once, in order", "inputs"),
            Self::Output => ("every byte of a tape is what was printed", "bytes"),
            Self::Events => ("event ids are dense, and an event never changes", "events"),
            Self::Changes => ("what was answered stays, what was refused is not there", "looks"),
            Self::Exits => ("an exit code is the program's own", "exits"),
            Self::Gone => ("killed or closed means that no process is left", "ends"),
            Self::Statuses => ("a pane is only what was done to it", "looks"),
            Self::Alone => ("damage costs its own pane or file alone", "damages"),
            Self::Alive => ("the server dies only when it is killed", "looks"),
            Self::Deadline => ("every call is answered within 30 s", "calls"),
            Self::Names => ("no refusal is `internal`", "refusals"),
            Self::Left => ("nothing of ours runs on at the end", "looks"),
        }
    }
}

/// What was done to a pane. Set before it is done, so that it is known when the effect is seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PaneOperations {
    pub(super) exit: bool,
    pub(super) kill: bool,
    pub(super) close: bool,
    pub(super) keeper_killed: bool,
    pub(super) damaged: bool,
}

/// One pane.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) kind: Kind,
    pub(super) code: u8,
    pub(super) keeper: u32,
    pub(super) operations: PaneOperations,
    /// Whether one thread has it for itself: to end it, or to break something of it.
    pub(super) is_claimed: bool,
}

impl Entry {
    /// Whether a pane of this entry may be found like this.
    pub(super) fn allows(&self, status: &str, code: Option<u64>) -> bool {
        if self.operations.damaged {
            return true;
        }
        match status {
            "starting" | "running" => true,
            "exited" => self.operations.exit && code == Some(self.code.into()),
            "killed" => self.operations.kill || self.operations.close,
            "lost" => self.operations.keeper_killed,
            _ => false,
        }
    }
}

/// Shared by all threads.
pub(super) struct Ledger {
    pub(super) log: Log,
    panes: Mutex<BTreeMap<String, Entry>>,
    inputs: Mutex<HashMap<String, Inputs>>,
    held: [AtomicU64; Invariant::ALL.len()],
    failures: Mutex<Vec<(Invariant, String)>>,
    has_failed: AtomicBool,
    figures: Mutex<BTreeMap<&'static str, u64>>,
}

impl Ledger {
    pub(super) fn new(log: Log) -> Self {
        Self {
            log,
            panes: Mutex::default(),
            inputs: Mutex::default(),
            held: Default::default(),
            failures: Mutex::default(),
            has_failed: AtomicBool::new(false),
            figures: Mutex::default(),
        }
    }

    /// It was looked at, so many times, and held.
    pub(super) fn held(&self, invariant: Invariant, count: u64) {
        self.held[invariant as usize].fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn count(&self, invariant: Invariant) -> u64 {
        self.held[invariant as usize].load(Ordering::Relaxed)
    }

    /// It did not hold: the run ends.
    pub(super) fn fail(&self, invariant: Invariant, text: impl Into<String>) {
        let text = text.into();
        self.log.line(&format!("FAILED {invariant:?}: {text}"));
        lock(&self.failures).push((invariant, text));
        self.has_failed.store(true, Ordering::SeqCst);
    }

    /// Counts it as held, or fails.
    pub(super) fn check(&self, invariant: Invariant, holds: bool, text: impl FnOnce() -> String) {
        match holds {
            true => self.held(invariant, 1),
            false => self.fail(invariant, text()),
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst) || sandbox::is_orphaned()
    }

    pub(super) fn failures(&self) -> Vec<(Invariant, String)> {
        lock(&self.failures).clone()
    }

    /// Counts one more of something that is reported at the end.
    pub(super) fn figure(&self, name: &'static str) {
        *lock(&self.figures).entry(name).or_default() += 1;
    }

    pub(super) fn figures(&self) -> BTreeMap<&'static str, u64> {
        lock(&self.figures).clone()
    }

    pub(super) fn add(&self, entry: Entry) {
        lock(&self.inputs).insert(entry.id.clone(), Inputs::default());
        lock(&self.panes).insert(entry.id.clone(), entry);
    }

    pub(super) fn get(&self, id: &str) -> Option<Entry> {
        lock(&self.panes).get(id).cloned()
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        lock(&self.panes).values().cloned().collect()
    }

    /// The panes that are there to be used: nothing was done to them that ends them.
    pub(super) fn open(&self) -> Vec<Entry> {
        let mut entries = self.entries();
        entries.retain(|entry| {
            let deeds = entry.operations;
            !(deeds.exit || deeds.kill || deeds.close || deeds.keeper_killed || deeds.damaged)
        });
        entries
    }

    pub(super) fn change(&self, id: &str, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = lock(&self.panes).get_mut(id) {
            change(entry);
        }
    }

    /// Takes a pane for this thread alone; false when another has it.
    pub(super) fn claim(&self, id: &str) -> bool {
        let mut panes = lock(&self.panes);
        let Some(entry) = panes.get_mut(id) else { return false };
        !std::mem::replace(&mut entry.is_claimed, true)
    }

    pub(super) fn release(&self, id: &str) {
        self.change(id, |entry| entry.is_claimed = false);
    }

    /// Forgets a pane that was closed or removed.
    pub(super) fn remove(&self, id: &str) {
        lock(&self.panes).remove(id);
        lock(&self.inputs).remove(id);
    }

    /// Does something with the inputs of a pane; nothing when it was removed.
    pub(super) fn inputs<T>(&self, id: &str, with: impl FnOnce(&mut Inputs) -> T) -> Option<T> {
        lock(&self.inputs).get_mut(id).map(with)
    }
}

/// A thread that panicked has failed already; what it left is still good enough to report.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
