//! The lifecycle of panes: created, ended in every way there is, and checked for what they leave
//! behind.

use std::time::{Duration, Instant};

use paned_keeper::tape::TapeReader;
use paned_model::Code;
use serde_json::{Value, json};

use super::client::Outcome;
use super::ledger::{Entry, Invariant, PaneOperations};
use super::load::pick;
use super::output;
use super::processes;
use super::program::Kind;
use super::run_state::{ChaosRun, pause};
use crate::SeededRng;

/// How long the end of a pane may take, with all that is broken and repaired meanwhile.
const PATIENCE: Duration = Duration::from_secs(90);
/// More panes than the server's limit leaves room for.
const MANY: usize = 20;
/// Processes that ignore the polite signals, fork and exit, one after the other.
const CHAIN: &str = "trap '' HUP TERM; f() { f & exit 0; }; (f) & echo started; exec cat";
/// Between two looks at something that takes its time.
const BETWEEN: Duration = Duration::from_millis(20);

/// Ends panes and makes others until the run is over.
pub(super) fn churn_panes(world: &ChaosRun, number: u64) {
    let mut dice = world.rng(700 + number);
    while world.is_running() {
        if world.ledger.open().len() < world.panes {
            make(world, &mut dice);
        } else {
            let way = EndMethod::random(&mut dice);
            let choice = dice.below(1 << 20);
            end_one(world, way, choice);
        }
        end_lost(world);
        pause(&mut dice, 900);
    }
}

/// How a pane is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndMethod {
    Exit,
    Kill,
    Close,
}

impl EndMethod {
    fn random(dice: &mut SeededRng) -> Self {
        match dice.below(10) {
            0..=3 => Self::Exit,
            4..=6 => Self::Kill,
            _ => Self::Close,
        }
    }
}

/// Makes a pane; nothing of one that is refused stays behind.
pub(super) fn make(world: &ChaosRun, dice: &mut SeededRng) {
    let kind = match dice.below(10) {
        0..=2 => Kind::Printer,
        3 => Kind::Tree,
        _ => Kind::Mirror,
    };
    let code = u8::try_from(dice.below(90)).unwrap_or(0);
    let seed = dice.below(1 << 30).to_string();
    let id = world.name();
    let mut order = world.spawn_params(&id, &[kind.word(), &code.to_string(), &seed]);
    if dice.below(10) == 0 {
        order["visible"] = json!("always");
        order["onViewClosed"] = json!("detach");
    }
    let outcome = world.call("pane:new", &order);
    let shown = if order["visible"] == "always" { ", shown" } else { "" };
    let words = outcome.words();
    world.ledger.log.line(&format!("new {id}, a {kind:?}, code {code}{shown}: {words}"));
    match outcome {
        Outcome::Accepted(_) => register(world, &id, kind, code),
        Outcome::Refused(_) => nothing_left(world, &id, "it was refused"),
        Outcome::Unanswered(_) => match get(world, &id) {
            Some(_) => register(world, &id, kind, code),
            None => nothing_left(world, &id, "it is not known"),
        },
    }
}

/// Makes panes until the server says that there are too many, and closes them again.
pub(super) fn make_many(world: &ChaosRun, dice: &mut SeededRng) {
    let mut made = Vec::new();
    for _ in 0..MANY {
        let id = world.name();
        let order = world.spawn_params(&id, &["mirror", "0", &dice.below(1 << 30).to_string()]);
        let outcome = world.call("pane:new", &order);
        world.ledger.log.line(&format!("one more, {id}: {}", outcome.words()));
        match outcome {
            Outcome::Accepted(_) => made.push(id),
            Outcome::Unanswered(_) => made.push(id),
            Outcome::Refused(refusal) => {
                let is_named = matches!(refusal.code, Code::Limit | Code::Unavailable);
                let text = || format!("one pane too many was refused as {refusal:?}");
                world.ledger.check(Invariant::Names, is_named, text);
                nothing_left(world, &id, "it was refused");
                world.ledger.figure("panes beyond the limit");
                break;
            }
        }
    }
    for id in made {
        forget(world, "pane:close", &id);
        nothing_left(world, &id, "it was closed");
    }
}

/// Waits until a pane is ready and enters it.
fn register(world: &ChaosRun, id: &str, kind: Kind, code: u8) {
    let end = Instant::now() + PATIENCE;
    let params = json!({ "paneId": id, "view": "raw", "limit": 100 });
    while !world.ledger.has_failed() {
        let outcome = world.call("pane:read", &params);
        if let Outcome::Accepted(answer) = &outcome
            && answer["raw"].as_str().is_some_and(|text| text.contains('\n'))
        {
            break;
        }
        if end < Instant::now() {
            let text = format!("{id} printed nothing: {}", outcome.words());
            world.ledger.fail(Invariant::Output, text);
            return;
        }
        std::thread::sleep(BETWEEN);
    }
    let tape = TapeReader::open(&world.folder(id).join("tape"));
    let keeper = tape.map_or(0, |tape| tape.keeper());
    let id = id.to_owned();
    let deeds = PaneOperations::default();
    world.ledger.add(Entry { id, kind, code, keeper, operations: deeds, is_claimed: false });
    world.ledger.figure("panes");
}

/// The pane as the server knows it; waits until the server answers.
pub(super) fn get(world: &ChaosRun, id: &str) -> Option<Value> {
    while !world.ledger.has_failed() {
        match world.call("pane:get", &json!({ "paneId": id })) {
            Outcome::Accepted(pane) => return Some(pane),
            outcome if outcome.is_refused_as(Code::NotFound) => return None,
            Outcome::Refused(_) | Outcome::Unanswered(_) => std::thread::sleep(BETWEEN),
        }
    }
    None
}

/// No process of this pane may be left, within moments.
pub(super) fn nothing_left(world: &ChaosRun, id: &str, why: &str) {
    let end = Instant::now() + PATIENCE;
    let marker = world.marker(id);
    loop {
        let left = processes::with(&marker);
        if left.is_empty() || world.ledger.has_failed() {
            world.ledger.held(Invariant::Gone, 1);
            return;
        }
        if end < Instant::now() {
            let left: Vec<String> = left.into_iter().map(processes::words).collect();
            world.ledger.fail(Invariant::Gone, format!("{id}: {why}, and {left:?} is left"));
            return;
        }
        std::thread::sleep(BETWEEN);
    }
}

fn end_one(world: &ChaosRun, way: EndMethod, choice: u64) {
    let panes: Vec<Entry> =
        world.ledger.open().into_iter().filter(|entry| !entry.is_claimed).collect();
    let Some(pane) = pick(&panes, choice) else { return };
    if world.ledger.claim(&pane.id) {
        end(world, &pane.id, way);
    }
}

/// Makes a pane whose processes fork and exit without end, kills it, and looks for them.
pub(super) fn kill_chain(world: &ChaosRun) {
    let id = world.name();
    let mut order = world.spawn_params(&id, &[]);
    order["argv"] = json!(["/bin/sh", "-c", CHAIN]);
    match world.call("pane:new", &order) {
        Outcome::Accepted(_) => {}
        Outcome::Refused(_) => return nothing_left(world, &id, "it was refused"),
        Outcome::Unanswered(_) if get(world, &id).is_none() => {
            return nothing_left(world, &id, "it is not known");
        }
        Outcome::Unanswered(_) => {}
    }
    let params = json!({ "paneId": id, "pattern": "started", "since": 0, "timeoutMs": 20_000 });
    wait(world, &id, "it starts", || world.call("pane:wait", &params).accepted().is_some());
    let mut answer = Value::Null;
    wait(world, &id, "it is killed", || {
        let outcome = world.call("pane:kill", &json!({ "paneId": id, "graceMs": 50 }));
        world.ledger.log.line(&format!("kill {id}: {}", outcome.words()));
        answer = outcome.accepted().unwrap_or_default();
        !answer.is_null()
    });
    if world.ledger.has_failed() {
        return;
    }
    // More than one look: a look at a process that forks and exits may come between the two.
    let left: Vec<u32> = (0..5).flat_map(|_| processes::with(&world.marker(&id))).collect();
    let is_killed = answer["status"] == "killed" && answer["survivors"] == json!([]);
    world.ledger.check(Invariant::Gone, is_killed && left.is_empty(), || {
        format!("the fork chain {id} was killed: {answer}; and there is {left:?}")
    });
    forget(world, "pane:close", &id);
    nothing_left(world, &id, "it was closed");
}

/// Closes the panes whose keeper was killed or whose files were damaged.
fn end_lost(world: &ChaosRun) {
    let entries = world.ledger.entries().into_iter();
    let is_broken = |deeds: PaneOperations| deeds.keeper_killed || deeds.damaged;
    let lost = entries.filter(|entry| is_broken(entry.operations) && !entry.is_claimed);
    for entry in lost {
        if world.ledger.claim(&entry.id) {
            end(world, &entry.id, EndMethod::Close);
        }
    }
}

/// Ends a pane that this thread has for itself, checks what it leaves, and forgets it.
pub(super) fn end(world: &ChaosRun, id: &str, way: EndMethod) {
    let Some(entry) = world.ledger.get(id) else { return };
    // The child of a tree lives on after its program exits: it is killed instead.
    let way =
        if entry.kind == Kind::Tree && way == EndMethod::Exit { EndMethod::Kill } else { way };
    world.ledger.log.line(&format!("end {id} by {way:?}"));
    match way {
        EndMethod::Exit => exit(world, &entry),
        EndMethod::Kill => kill(world, id),
        EndMethod::Close => close(world, id),
    }
    if way != EndMethod::Close && !world.ledger.has_failed() {
        remove(world, id);
    }
    if entry.operations.damaged && !world.ledger.has_failed() {
        world.ledger.held(Invariant::Alone, 1);
    }
    world.ledger.remove(id);
}

fn exit(world: &ChaosRun, entry: &Entry) {
    let id = &entry.id;
    world.ledger.inputs(id, |inputs| inputs.close());
    wait(world, id, "an input is under way", || {
        world.ledger.inputs(id, |inputs| !inputs.is_busy()).unwrap_or(true)
    });
    world.ledger.change(id, |entry| entry.operations.exit = true);
    let mut asked = Instant::now();
    let _ = world.call("pane:write", &json!({ "paneId": id, "text": "x\n" }));
    let mut pane = Value::Null;
    wait(world, id, "it was told to exit", || {
        pane = get(world, id).unwrap_or_default();
        if pane["status"] == "running" && Duration::from_secs(2) < asked.elapsed() {
            // The first one may have been lost with a server.
            asked = Instant::now();
            let _ = world.call("pane:write", &json!({ "paneId": id, "text": "x\n" }));
        }
        pane["status"] != "running"
    });
    if world.ledger.has_failed() {
        return;
    }
    let holds = pane["status"] == "exited" && pane["exitCode"] == entry.code;
    let text = || format!("{id} was to exit with {}, and is {pane}", entry.code);
    world.ledger.check(Invariant::Exits, holds, text);
    wait(world, id, "its output is read", || output::read_on(world, id));
    if world.ledger.has_failed() {
        return;
    }
    if let Some(missing) = world.ledger.inputs(id, |inputs| inputs.missing()).flatten() {
        world.ledger.fail(Invariant::Input, format!("{id}: {missing}"));
    }
    world.ledger.figure("exits");
}

fn kill(world: &ChaosRun, id: &str) {
    world.ledger.change(id, |entry| entry.operations.kill = true);
    let mut answer = Value::Null;
    wait(world, id, "it is killed", || {
        match world.call("pane:kill", &json!({ "paneId": id, "graceMs": 300 })) {
            Outcome::Accepted(value) => answer = value,
            outcome => {
                world.ledger.log.line(&format!("kill {id}: {}", outcome.words()));
                return false;
            }
        }
        true
    });
    if world.ledger.has_failed() {
        return;
    }
    let left = processes::with(&world.marker(id));
    let is_killed = answer["status"] == "killed" && answer["survivors"] == json!([]);
    world.ledger.check(Invariant::Gone, is_killed && left.is_empty(), || {
        let left: Vec<String> = left.into_iter().map(processes::words).collect();
        format!("{id} was killed: {answer}; and there is {left:?}")
    });
    wait(world, id, "its output is read", || output::read_on(world, id));
    world.ledger.figure("kills of panes");
}

fn close(world: &ChaosRun, id: &str) {
    world.ledger.change(id, |entry| entry.operations.close = true);
    let is_answered = forget(world, "pane:close", id);
    if is_answered {
        let left = processes::with(&world.marker(id));
        world.ledger.check(Invariant::Gone, left.is_empty(), || {
            let left: Vec<String> = left.into_iter().map(processes::words).collect();
            format!("{id} was closed; and there is {left:?}")
        });
    }
    nothing_left(world, id, "it was closed");
    world.ledger.figure("closes of panes");
}

fn remove(world: &ChaosRun, id: &str) {
    world.ledger.change(id, |entry| entry.operations.close = true);
    forget(world, "pane:remove", id);
    let pane = get(world, id);
    if world.ledger.has_failed() {
        return;
    }
    let text = || format!("{id} was removed, and is {pane:?}");
    world.ledger.check(Invariant::Statuses, pane.is_none(), text);
}

/// Closes or removes a pane until it is done; whether the last call said so.
fn forget(world: &ChaosRun, name: &str, id: &str) -> bool {
    let mut is_answered = false;
    let mut params = json!({ "paneId": id });
    // What looks after a damaged pane cannot be reached: only force ends it.
    if world.ledger.get(id).is_some_and(|entry| entry.operations.damaged) {
        params["force"] = json!(true);
    }
    wait(world, id, name, || match world.call(name, &params) {
        Outcome::Accepted(_) => {
            is_answered = true;
            true
        }
        // A call before this one has done it.
        outcome if outcome.is_refused_as(Code::NotFound) => true,
        outcome => {
            world.ledger.log.line(&format!("{name} {id}: {}", outcome.words()));
            false
        }
    });
    is_answered
}

/// Tries until it is done; a failure when it takes too long.
fn wait(world: &ChaosRun, id: &str, what: &str, mut is_done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !world.ledger.has_failed() && !is_done() {
        if end < Instant::now() {
            let text = format!("{id}: after {PATIENCE:?} still: {what}");
            world.ledger.fail(Invariant::Deadline, text);
        }
        std::thread::sleep(BETWEEN);
    }
}
