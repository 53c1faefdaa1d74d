//! The load: writers that type numbered lines, and callers that meanwhile send requests of all
//! kinds.

use paned_model::Code;
use serde_json::{Value, json};

use super::client::Outcome;
use super::inputs::{self, InputAnswer};
use super::ledger::{Entry, Invariant};
use super::run_state::{ChaosRun, pause};
use crate::SeededRng;

/// Types into mirrors until the run is over.
pub(super) fn write(world: &ChaosRun, writer: u64) {
    let mut dice = world.rng(100 + writer);
    let filler = "0123456789".repeat(300);
    while world.is_running() {
        let length = match dice.below(40) {
            0 => dice.below(3000),
            _ => dice.below(120),
        };
        let choice = dice.below(1 << 20);
        let mirrors: Vec<Entry> =
            world.ledger.open().into_iter().filter(|entry| entry.kind.is_mirror()).collect();
        let Some(pane) = pick(&mirrors, choice) else {
            pause(&mut dice, 50);
            continue;
        };
        let burst = 1 + dice.below(8);
        for _ in 0..burst {
            let filler = &filler[..usize::try_from(length).unwrap_or(0)];
            if !write_once(world, &pane.id, writer, filler) {
                pause(&mut dice, 40);
            }
        }
        pause(&mut dice, 12);
    }
}

/// Types one line; false when it was not accepted.
fn write_once(world: &ChaosRun, pane: &str, writer: u64, filler: &str) -> bool {
    let Some(n) = world.ledger.inputs(pane, |inputs| inputs.ask(writer)).flatten() else {
        return false;
    };
    let text = inputs::text(writer, n, filler);
    let outcome = world.call("pane:write", &json!({ "paneId": pane, "text": text }));
    let answer = match &outcome {
        Outcome::Accepted(_) => InputAnswer::Accepted,
        // It says itself that it may still arrive.
        Outcome::Refused(refusal) if refusal.code == Code::Timeout => InputAnswer::Open,
        Outcome::Refused(_) => InputAnswer::Refused,
        Outcome::Unanswered(_) => InputAnswer::Open,
    };
    if answer != InputAnswer::Accepted {
        world.ledger.log.line(&format!("input {n} into {pane}: {}", outcome.words()));
    }
    let checked = world.ledger.inputs(pane, |inputs| inputs.answered(writer, n, answer));
    if let Some(Err(error)) = checked {
        world.ledger.fail(Invariant::Input, format!("{pane}: {error}"));
    }
    if answer == InputAnswer::Accepted {
        world.ledger.figure("accepted inputs");
    }
    answer == InputAnswer::Accepted
}

/// Asks for all kinds of things: only that each is answered in time, and never with `internal`.
pub(super) fn ask(world: &ChaosRun, asker: u64) {
    let mut dice = world.rng(200 + asker);
    while world.is_running() {
        let kind = dice.below(8);
        let size = dice.below(60);
        let choice = dice.below(1 << 20);
        let panes = world.ledger.open();
        if let Some(pane) = pick(&panes, choice) {
            let (name, params) = question(kind, size, &pane.id);
            let outcome = world.call(name, &params);
            if !matches!(outcome, Outcome::Accepted(_)) {
                world.ledger.log.line(&format!("{name} of {}: {}", pane.id, outcome.words()));
            }
        }
        pause(&mut dice, 60);
    }
}

fn question(kind: u64, size: u64, pane: &str) -> (&'static str, Value) {
    match kind {
        0 => ("pane:screen", json!({ "paneId": pane })),
        1 => ("pane:read", json!({ "paneId": pane, "tail": 20 })),
        2 => {
            let size = json!({ "cols": 60 + size, "rows": 20 });
            ("pane:resize", json!({ "paneId": pane, "size": size, "force": true }))
        }
        3 => ("pane:search", json!({ "pattern": "ready", "limit": 5 })),
        4 => ("pane:wait", json!({ "paneId": pane, "pattern": "never printed", "timeoutMs": 500 })),
        5 => ("server:status", json!({})),
        6 => ("session:list", json!({})),
        _ => ("pane:get", json!({ "paneId": pane })),
    }
}

/// One of several, by a number that does not depend on how many there are.
pub(super) fn pick(entries: &[Entry], choice: u64) -> Option<&Entry> {
    let at = choice.checked_rem(entries.len() as u64)?;
    entries.get(usize::try_from(at).unwrap_or(0))
}

/// Looks at all panes again and again: each is only what was done to it.
pub(super) fn watch(world: &ChaosRun) {
    let mut dice: SeededRng = world.rng(300);
    while world.is_running() {
        look(world);
        pause(&mut dice, 300);
    }
}

/// Looks at all panes once; false when it was not answered.
pub(super) fn look(world: &ChaosRun) -> bool {
    let expected: Vec<String> = world.ledger.entries().into_iter().map(|entry| entry.id).collect();
    let Outcome::Accepted(list) = world.call("pane:list", &json!({})) else { return false };
    let found: Vec<&Value> = list.as_array().into_iter().flatten().collect();
    for id in &expected {
        // Read after the list was made: what was done meanwhile is in it.
        let Some(entry) = world.ledger.get(id) else { continue };
        let Some(pane) = found.iter().find(|pane| pane["id"] == id.as_str()) else {
            let is_asked = entry.operations.close || entry.operations.damaged;
            let text = || format!("{id} is not listed, and was not closed");
            world.ledger.check(Invariant::Statuses, is_asked, text);
            continue;
        };
        let status = pane["status"].as_str().unwrap_or_default();
        let allowed = entry.allows(status, pane["exitCode"].as_u64());
        world
            .ledger
            .check(Invariant::Statuses, allowed, || format!("{id} is {pane}, and was: {entry:?}"));
    }
    true
}
