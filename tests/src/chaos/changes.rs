//! Threads that change panes. A change that was answered is there afterwards, whatever was killed
//! in between; a change that was refused is not.

use std::collections::{BTreeMap, BTreeSet};

use paned_model::Code;
use serde_json::{Value, json};

use super::client::Outcome;
use super::history::{History, TICK};
use super::ledger::Invariant;
use super::load::pick;
use super::run_state::{ChaosRun, pause};

/// One thing that only one changer writes: an entry of a pane's meta, or its title.
#[derive(Clone, Debug, Default)]
struct WrittenValue {
    /// The value that must be there, unless a later one is.
    accepted: Option<u64>,
    /// Values of calls that were not answered, after that.
    open: Vec<u64>,
}

impl WrittenValue {
    fn allows(&self, found: Option<u64>) -> bool {
        found == self.accepted || found.is_some_and(|found| self.open.contains(&found))
    }
}

/// What one changer has changed.
pub(super) struct Changer<'a> {
    world: &'a ChaosRun,
    history: &'a History,
    number: u64,
    next: u64,
    /// By pane and by what of it.
    values: BTreeMap<(String, &'static str), WrittenValue>,
    /// Grants by label, and whether the call was answered.
    grants: BTreeMap<String, bool>,
    refused_grants: BTreeSet<String>,
}

/// Changes things until the run is over; answers what must be there.
pub(super) fn change<'a>(world: &'a ChaosRun, history: &'a History, number: u64) -> Changer<'a> {
    let mut changer = Changer {
        world,
        history,
        number,
        next: 0,
        values: BTreeMap::new(),
        grants: BTreeMap::new(),
        refused_grants: BTreeSet::new(),
    };
    let mut dice = world.rng(600 + number);
    while world.is_running() {
        let kind = dice.below(20);
        let choice = dice.below(1 << 20);
        changer.next += 1;
        match kind {
            0..=4 => changer.emit(),
            5..=9 => changer.set("meta", choice),
            10..=12 => changer.set("title", choice),
            13 => changer.grant(),
            14 => changer.look_at_grants(),
            _ => changer.look_at_one(choice),
        }
        pause(&mut dice, 40);
    }
    changer
}

impl Changer<'_> {
    fn emit(&self) {
        let n = self.next;
        let payload = json!({ "recorder": self.number, "n": n });
        let outcome = self.world.call("event:emit", &json!({ "name": TICK, "payload": payload }));
        match &outcome {
            Outcome::Accepted(answer) => {
                self.history.accept((self.number, n), answer["id"].as_u64().unwrap_or(0));
                self.world.ledger.figure("accepted changes");
            }
            Outcome::Refused(_) => self.history.refuse((self.number, n)),
            Outcome::Unanswered(_) => {}
        }
        self.note("event:emit", &outcome);
    }

    fn set(&mut self, what: &'static str, choice: u64) {
        let panes = self.world.ledger.open();
        let Some(pane) = pick(&panes, choice) else { return };
        let n = self.next;
        let (name, params) = match what {
            "title" => (
                "pane:rename",
                json!({ "paneId": pane.id, "title": format!("{}-{n}", self.number) }),
            ),
            _ => {
                let key = format!("changer{}", self.number);
                ("pane:set-meta", json!({ "paneId": pane.id, "key": key, "value": n }))
            }
        };
        // Titles have several changers; only the one that a pane's number belongs to writes it.
        if what == "title" && !self.owns(&pane.id) {
            return;
        }
        let outcome = self.world.call(name, &params);
        let fact = self.values.entry((pane.id.clone(), what)).or_default();
        match &outcome {
            Outcome::Accepted(_) => {
                *fact = WrittenValue { accepted: Some(n), open: Vec::new() };
                self.world.ledger.figure("accepted changes");
            }
            Outcome::Refused(refusal) if refusal.code == Code::Timeout => fact.open.push(n),
            Outcome::Refused(_) => {}
            Outcome::Unanswered(_) => fact.open.push(n),
        }
        self.note(name, &outcome);
    }

    fn owns(&self, pane: &str) -> bool {
        let number: u64 = pane.trim_start_matches('p').parse().unwrap_or(0);
        number % CHANGERS == self.number
    }

    fn grant(&mut self) {
        let label = format!("{}-{}", self.number, self.next);
        let params = json!({ "label": label, "scopes": ["read"], "panes": [] });
        let outcome = self.world.call("grant:create", &params);
        match &outcome {
            Outcome::Accepted(_) => {
                self.grants.insert(label, true);
                self.world.ledger.figure("accepted changes");
            }
            Outcome::Refused(_) => {
                self.refused_grants.insert(label);
            }
            Outcome::Unanswered(_) => {
                self.grants.insert(label, false);
            }
        }
        self.note("grant:create", &outcome);
    }

    fn note(&self, name: &str, outcome: &Outcome) {
        if !matches!(outcome, Outcome::Accepted(_)) {
            self.world.ledger.log.line(&format!("{name} {}: {}", self.next, outcome.words()));
        }
    }

    /// Looks at one of the things that were changed.
    fn look_at_one(&mut self, choice: u64) {
        let Some(at) = choice.checked_rem(self.values.len() as u64) else { return };
        let Some((pane, what)) = self.values.keys().nth(usize::try_from(at).unwrap_or(0)).cloned()
        else {
            return;
        };
        self.look_at(&pane, what);
    }

    fn look_at(&mut self, pane: &str, what: &'static str) {
        let outcome = self.world.call("pane:get", &json!({ "paneId": pane }));
        let key = (pane.to_owned(), what);
        let found = match outcome {
            Outcome::Accepted(answer) => answer,
            // It was closed, which the watcher judges.
            Outcome::Refused(_) => {
                self.values.remove(&key);
                return;
            }
            Outcome::Unanswered(_) => return,
        };
        let Some(fact) = self.values.get_mut(&key) else { return };
        let value = value_of(&found, what, self.number);
        let holds = fact.allows(value)
            || self.world.ledger.get(pane).is_none_or(|entry| entry.operations.damaged);
        self.world.ledger.check(Invariant::Changes, holds, || {
            format!("{what} of {pane} is {value:?}, and must be one of {fact:?}: {found}")
        });
        if value.is_some() {
            *fact = WrittenValue { accepted: value, open: Vec::new() };
        }
    }

    /// Looks at everything; for the end of a run.
    pub(super) fn look_at_all(&mut self) {
        let keys: Vec<_> = self.values.keys().cloned().collect();
        for (pane, what) in keys {
            self.look_at(&pane, what);
        }
        self.look_at_grants();
    }

    fn look_at_grants(&self) {
        let Some(answer) = self.world.call("grant:list", &json!({})).accepted() else { return };
        let labels: BTreeSet<&str> = answer
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|grant| grant["label"].as_str())
            .collect();
        for (label, _) in self.grants.iter().filter(|(_, is_answered)| **is_answered) {
            let holds = labels.contains(label.as_str());
            let text = || format!("the grant `{label}` was answered and is not listed");
            self.world.ledger.check(Invariant::Changes, holds, text);
        }
        for label in &self.refused_grants {
            let holds = !labels.contains(label.as_str());
            let text = || format!("the grant `{label}` was refused and is listed");
            self.world.ledger.check(Invariant::Changes, holds, text);
        }
    }
}

/// How many changers there are.
pub(super) const CHANGERS: u64 = 2;

/// The number in what a changer wrote last; none where it wrote nothing.
fn value_of(pane: &Value, what: &str, changer: u64) -> Option<u64> {
    match what {
        "title" => {
            let title = pane["title"].as_str()?;
            title.strip_prefix(&format!("{changer}-"))?.parse().ok()
        }
        _ => pane["meta"][format!("changer{changer}")].as_u64(),
    }
}
