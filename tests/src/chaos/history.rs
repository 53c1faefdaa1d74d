//! Readers of events: ids rise by one, an event never changes, and none is missing.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::ledger::{Invariant, lock};
use super::run_state::{ChaosRun, pause};
use crate::{Events, ReceivedEvent};

/// The name of the events that the changers record.
pub(super) const TICK: &str = "chaos:tick";
/// The name of the last event that is looked at.
const END: &str = "chaos:end";

/// What is known of the events so far.
#[derive(Default)]
pub(super) struct History {
    /// A hash of name and payload by id; 0 where none was seen.
    seen: Mutex<Vec<u64>>,
    /// Ticks that were answered: their id, by recorder and number.
    accepted: Mutex<HashMap<(u64, u64), u64>>,
    /// Ticks that were refused.
    refused: Mutex<HashSet<(u64, u64)>>,
    /// The last event that readers wait for, once the run is over.
    end: AtomicU64,
}

impl History {
    /// A tick was answered.
    pub(super) fn accept(&self, tick: (u64, u64), id: u64) {
        lock(&self.accepted).insert(tick, id);
    }

    /// A tick was refused.
    pub(super) fn refuse(&self, tick: (u64, u64)) {
        lock(&self.refused).insert(tick);
    }

    /// Notes an event; an error when it was another before.
    fn note(&self, told: &ReceivedEvent) -> Result<(), String> {
        let Some(id) = told.id else { return Err(format!("an event without an id: {told:?}")) };
        let mut hasher = DefaultHasher::new();
        (&told.name, lasting(told).to_string()).hash(&mut hasher);
        let hash = hasher.finish() | 1;
        let at = usize::try_from(id).unwrap_or(0);
        let mut seen = lock(&self.seen);
        if seen.len() <= at {
            seen.resize(at + 1024, 0);
        }
        match std::mem::replace(&mut seen[at], hash) {
            0 => Ok(()),
            before if before == hash => Ok(()),
            _ => Err(format!("event {id} is another than it was: {told:?}")),
        }
    }

    fn end(&self) -> u64 {
        self.end.load(Ordering::SeqCst)
    }
}

/// The part of an event that never changes. What a pane printed is removed from its events when the
/// pane is forgotten.
fn lasting(told: &ReceivedEvent) -> Value {
    let mut data = told.data.clone();
    let repeats = ["pane:notice", "pane:title", "agent:state"].contains(&told.name.as_str());
    if let Some(fields) = data.as_object_mut().filter(|_| repeats) {
        fields.retain(|name, _| !["text", "title", "dialog"].contains(&name.as_str()));
    }
    data
}

/// Follows all events until the end of the run, over connections that are cut and opened again.
pub(super) fn follow(world: &ChaosRun, history: &History, reader: u64) {
    let mut dice = world.rng(500 + reader);
    let mut last = 0;
    while !world.ledger.has_failed() {
        let frames = 200 + dice.below(8000);
        match Events::try_open(&world.socket, "*", Some(last)) {
            Ok(mut events) => read(world, history, &mut events, &mut last, frames),
            Err(error) => world.ledger.log.line(&format!("no events: {error}")),
        }
        if 0 < history.end() && history.end() <= last {
            return;
        }
        pause(&mut dice, 50);
    }
}

/// Reads so many events, or until the connection ends.
fn read(world: &ChaosRun, history: &History, events: &mut Events, last: &mut u64, frames: u64) {
    for _ in 0..frames {
        let Ok(told) = events.try_next() else { return };
        match history.note(&told) {
            Ok(()) if told.id == Some(*last + 1) => world.ledger.held(Invariant::Events, 1),
            Ok(()) => {
                let text = format!("after event {last} came {told:?}");
                world.ledger.fail(Invariant::Events, text);
            }
            Err(error) => world.ledger.fail(Invariant::Events, error),
        }
        *last = told.id.unwrap_or(*last);
        let is_last = 0 < history.end() && history.end() <= *last;
        if is_last || world.ledger.has_failed() {
            return;
        }
    }
}

/// Records the last event; readers end when they have it.
pub(super) fn finish(world: &ChaosRun, history: &History) {
    let params = json!({ "name": END, "payload": {} });
    match world.call("event:emit", &params).accepted().and_then(|answer| answer["id"].as_u64()) {
        Some(id) => {
            history.end.store(id, Ordering::SeqCst);
            // One more: a reader that had read the last event before it was stored as the end would
            // wait for ever.
            let _ = world.call("event:emit", &params);
        }
        None => world.ledger.fail(Invariant::Changes, "the last event could not be recorded"),
    }
}

/// Reads the whole journal once more, and compares it with all that was seen and answered.
pub(super) fn audit(world: &ChaosRun, history: &History) {
    let mut events = match Events::try_open(&world.socket, "*", Some(0)) {
        Ok(events) => events,
        Err(error) => {
            world.ledger.fail(Invariant::Events, format!("the journal cannot be read: {error}"));
            return;
        }
    };
    let mut last = 0;
    let mut ticks: HashMap<(u64, u64), u64> = HashMap::new();
    while last < history.end() && !world.ledger.has_failed() {
        let told = match events.try_next() {
            Ok(told) => told,
            Err(error) => {
                let text = format!("the journal ends after event {last}: {error}");
                world.ledger.fail(Invariant::Events, text);
                return;
            }
        };
        let is_next = told.id == Some(last + 1);
        world.ledger.check(Invariant::Events, is_next, || format!("after {last}: {told:?}"));
        if let Err(error) = history.note(&told) {
            world.ledger.fail(Invariant::Events, error);
        }
        last = told.id.unwrap_or(last);
        if let Some(tick) = tick(&told)
            && let Some(first) = ticks.insert(tick, last)
        {
            let text = format!("tick {tick:?} is there twice: events {first} and {last}");
            world.ledger.fail(Invariant::Changes, text);
        }
    }
    // An audit that was cut short has not seen all of them.
    if !world.ledger.has_failed() {
        compare(world, history, &ticks);
    }
}

fn tick(told: &ReceivedEvent) -> Option<(u64, u64)> {
    let number = |name: &str| told.data.get(name).and_then(Value::as_u64);
    (told.name == TICK).then(|| Some((number("recorder")?, number("n")?))).flatten()
}

fn compare(world: &ChaosRun, history: &History, ticks: &HashMap<(u64, u64), u64>) {
    for (tick, id) in lock(&history.accepted).iter() {
        let found = ticks.get(tick);
        let text = || format!("tick {tick:?} was answered as event {id}, and is {found:?}");
        world.ledger.check(Invariant::Changes, found == Some(id), text);
    }
    for tick in lock(&history.refused).iter() {
        let found = ticks.get(tick);
        let text = || format!("tick {tick:?} was refused, and is event {found:?}");
        world.ledger.check(Invariant::Changes, found.is_none(), text);
    }
}
