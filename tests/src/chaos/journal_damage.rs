//! Faults that would cost the big ledger its evidence, made to a small server beside it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::ledger::Invariant;
use super::pane_lifecycle;
use super::run_state::ChaosRun;
use super::schedule::JournalDamage;
use crate::{Events, Server, WAIT_TIMEOUT, gone, is_alive};

/// Damages the journal of a small server, and checks what its next start makes of it.
pub(super) fn journal(world: &ChaosRun, damage: JournalDamage, events: u64) {
    if let Err(error) = try_journal(world, damage, events) {
        world.ledger.fail(Invariant::Alone, format!("{damage:?}: {error}"));
    }
    world.ledger.figure("damaged journals");
}

fn try_journal(world: &ChaosRun, damage: JournalDamage, events: u64) -> Result<(), String> {
    let mut server = Server::start_set("", &[]);
    let id = world.name();
    let pane = act(&server, "pane:new", world.spawn_params(&id, &["mirror", "0", "1"]))?;
    for n in 0..events {
        act(&server, "event:emit", json!({ "name": "chaos:tick", "payload": { "n": n } }))?;
    }
    let before = read(&server)?;
    let last = before.keys().next_back().copied().unwrap_or(0);
    server.kill();
    damage_files(&server.state(), damage).map_err(|error| error.to_string())?;
    for _ in 0..2 {
        server.try_start_again()?;
        check_pane(&server, &id, &pane)?;
        let after = read(&server)?;
        compare(&before, &after, last)?;
        let kept = after.keys().filter(|id| **id <= last).count();
        world.ledger.log.line(&format!("{damage:?}: {kept} of {} events kept", before.len()));
        if damage == JournalDamage::NoHighWater && kept != before.len() {
            return Err(format!("only {kept} of {} events are there", before.len()));
        }
        server.kill();
    }
    server.try_start_again()?;
    act(&server, "pane:close", json!({ "paneId": id }))?;
    let program = pane["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
    if !gone(program, WAIT_TIMEOUT) {
        return Err(format!("the program {program} of `{id}` was closed and lives"));
    }
    world.ledger.held(Invariant::Alone, 1);
    drop(server);
    pane_lifecycle::nothing_left(world, &id, "it was closed");
    Ok(())
}

fn act(server: &Server, name: &str, params: Value) -> Result<Value, String> {
    let outcome = server.try_act(name, params);
    outcome.map_err(|refusal| format!("{name}: {} {}", refusal.code, refusal.sentence))
}

/// A program that lives is not forgotten.
fn check_pane(server: &Server, id: &str, pane: &Value) -> Result<(), String> {
    let found = act(server, "pane:get", json!({ "paneId": id }))?;
    let pid = pane["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0);
    match found["status"] == "running" && found["pid"] == pane["pid"] && is_alive(pid) {
        true => Ok(()),
        false => Err(format!("the pane was {pane}, and is {found}")),
    }
}

/// Every event that is there, up to one that is recorded now; an error where one is missing and no
/// gap is reported.
fn read(server: &Server) -> Result<BTreeMap<u64, String>, String> {
    let end = act(server, "event:emit", json!({ "name": "chaos:end" }))?;
    let end = end["id"].as_u64().unwrap_or(0);
    let text = |error: io::Error| format!("the events cannot be read: {error}");
    let mut stream = Events::try_open(&server.socket(), "*", Some(0)).map_err(text)?;
    let mut events = BTreeMap::new();
    let mut last = 0;
    let mut is_gap_told = false;
    while last < end {
        let told = stream.try_next().map_err(text)?;
        let Some(id) = told.id else {
            is_gap_told = told.name == "gap";
            continue;
        };
        if id != last + 1 && !is_gap_told {
            return Err(format!("after event {last} came {id}, and no gap was told"));
        }
        is_gap_told = false;
        last = id;
        events.insert(id, format!("{} {}", told.name, told.data));
    }
    Ok(events)
}

/// An id that was seen is that event for ever, and new ones come after it.
fn compare(
    before: &BTreeMap<u64, String>,
    after: &BTreeMap<u64, String>,
    last: u64,
) -> Result<(), String> {
    for (id, event) in after.iter().filter(|(id, _)| **id <= last) {
        if before.get(id) != Some(event) {
            return Err(format!("event {id} was {:?}, and is {event:?}", before.get(id)));
        }
    }
    match after.keys().any(|id| last < *id) {
        true => Ok(()),
        false => Err(format!("no event came after {last}")),
    }
}

fn damage_files(state: &Path, damage: JournalDamage) -> io::Result<()> {
    let database = state.join("journal.db");
    let log = state.join("journal.db-wal");
    match damage {
        JournalDamage::GarbledLog { part } => garble(&log, part),
        JournalDamage::ShortLog { part } => {
            let file = File::options().write(true).open(&log)?;
            let length = file.metadata()?.len();
            file.set_len(length * part / 100)
        }
        JournalDamage::GarbledDatabase { part } => garble(&database, part),
        JournalDamage::NoDatabase => fs::remove_file(&database),
        JournalDamage::NoHighWater => fs::remove_file(state.join("journal.db.high")),
    }
}

/// Writes other bytes over some of a file, at this part of it in percent.
fn garble(path: &Path, part: u64) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    let length = file.metadata()?.len();
    file.write_all_at(&[0xA5; 200], length * part / 100)
}
