//! Programs that crash, hang or talk nonsense.

use std::fs;
use std::time::{Duration, Instant};

use paned_e2e::{Server, kill9, wait_for, wait_within};
use paned_model::Code;
use serde_json::json;

use crate::support::ExtensionServer;

/// Actions that end badly.
const FRAGILE: &str = r#"
for message in messages():
    method = message.get("method")
    if method == "initialize":
        for name in ["crash", "hang", "noise", "lines", "fine"]:
            notify("registerAction", name=name, description="x", kind="question")
        answer(message)
    elif method == "runAction":
        action = message["params"]["action"].split(":")[1]
        if action == "crash":
            raise RuntimeError("on purpose")
        elif action == "hang":
            while True:
                pass
        elif action == "noise":
            sys.stderr.write("x" * 10_000_000)
        elif action == "lines":
            print("no json", flush=True)
        answer(message, action)
"#;

#[test]
fn a_crash_in_a_handler_is_an_answer_an_event_and_a_restart() {
    let it = ExtensionServer::start(&[("fragile", "", FRAGILE)]);
    let mut events = it.server.events("handler:error", None);
    let refusal = it.server.try_act("fragile:crash", json!({})).unwrap_err();
    assert_eq!(refusal.code, Code::Unavailable, "{refusal}");
    let event = events.next();
    assert_eq!((&event.data["source"], &event.data["event"]), (&json!("fragile"), &json!("exit")));
    it.until("fragile", |info| info["restarts"] == 1 && info["status"] == "running");
    assert_eq!(it.server.act("fragile:fine", json!({})), "fine");
    assert!(it.log("fragile").contains("RuntimeError: on purpose"), "{}", it.log("fragile"));
    let log = it.server.log();
    assert!(log.contains("extension started") && !log.contains("RuntimeError"), "{log}");
}

#[test]
fn a_crash_at_the_start_is_tried_five_times() {
    let it = ExtensionServer::start_only(&[], &[("broken", "", "sys.exit(7)")]);
    let info = wait_within(Duration::from_secs(90), "five failures", || {
        let info = it.info("broken");
        (info["status"] == "failed").then_some(info)
    });
    let reason = info["reason"].as_str().unwrap();
    assert!(reason.contains("status 7") && reason.contains("paned ext reload broken"), "{reason}");
    assert_eq!(info["restarts"], 4, "{info}");
    it.write(("broken", "", FRAGILE));
    it.server.act("ext:reload", json!({ "name": "broken" }));
    it.until_status("broken", "running");
}

#[test]
fn a_handler_that_loops_forever_stops_neither_the_server_nor_its_own_end() {
    let it = ExtensionServer::start(&[("fragile", "", FRAGILE)]);
    let pid = it.pid("fragile");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| it.server.try_act("fragile:hang", json!({})));
        wait_for("a busy program", || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let ticks: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse().ok()?;
            (20 < ticks).then_some(())
        });
        it.server.act("pane:list", json!({}));
        it.server.act("ext:reload", json!({ "name": "fragile" }));
        let refusal = call.join().unwrap().unwrap_err();
        assert_eq!(refusal.code, Code::Unavailable);
    });
    assert_ne!(it.pid("fragile"), pid);
    assert_eq!(it.server.act("fragile:fine", json!({})), "fine");
}

#[test]
fn a_loop_before_it_is_ready_delays_nothing_and_is_a_failure_after_ten_seconds() {
    let started = Instant::now();
    let it = ExtensionServer::start_only(&[], &[("loop", "", "while True: pass")]);
    assert_eq!(it.info("loop")["status"], "starting");
    let failure = || Some(it.info("loop")).filter(|info| info["status"] == "restarting");
    let info = wait_within(Duration::from_secs(20), "the end of a start that hangs", failure);
    assert!(Duration::from_secs(10) <= started.elapsed());
    let reason = info["reason"].as_str().unwrap();
    assert!(reason.contains("did not answer `initialize` within 10 s"), "{reason}");
}

#[test]
fn ten_megabytes_of_errors_and_lines_that_are_no_json_do_no_harm() {
    let it = ExtensionServer::start(&[("fragile", "", FRAGILE)]);
    assert_eq!(it.server.act("fragile:noise", json!({})), "noise");
    assert_eq!(it.server.act("fragile:lines", json!({})), "lines");
    let state = it.state_of("fragile");
    let size = |name: &str| fs::metadata(state.join(name)).map_or(0, |found| found.len());
    assert!(size("log") + size("log.1") <= 2 << 20);
    wait_for("the line in the log", || it.log("fragile").contains("no json").then_some(()));
    for _ in 0..4 {
        let _ = it.server.try_act("fragile:lines", json!({}));
    }
    let info = it.until_status("fragile", "failed");
    assert!(info["reason"].as_str().unwrap().contains("standard output"), "{info}");
    assert!(fs::metadata(it.server.home().join("log")).unwrap().len() < 100_000);
}

/// Writes down every event, then answers it. `recorder:slow` is written down and never answered.
const RECORDER: &str = r#"
path = os.path.join(os.environ["PANED_EXTENSION_DATA"], "seen")
for message in messages():
    method = message.get("method")
    if method == "initialize":
        notify("registerAction", name="slow", description="x")
        answer(message)
    elif method == "handleEvent":
        with open(path, "a") as file:
            file.write("%d\n" % message["params"]["payload"]["number"])
        answer(message)
    elif method == "runAction":
        with open(path + "-calls", "a") as file:
            file.write("call\n")
    elif method == "shutdown":
        break
"#;

/// The numbers that an extension has written down.
fn seen(it: &ExtensionServer, name: &str) -> Vec<u64> {
    let text = fs::read_to_string(it.state_of(name).join("data/seen")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

#[track_caller]
fn emit(server: &Server, number: u64) {
    let event = json!({ "name": "test:number", "payload": { "number": number } });
    server.act("event:emit", event);
}

/// Every number below `count` was seen, and for the first time in order.
#[track_caller]
fn check_in_order(seen: &[u64], count: u64) {
    let mut next = 0;
    for number in seen {
        assert!(*number <= next, "{number} came before {next}: {seen:?}");
        next = next.max(number + 1);
    }
    assert_eq!(next, count, "{seen:?}");
}

#[test]
fn of_an_extension_that_is_killed_fifty_times_no_event_is_lost_and_none_comes_too_early() {
    let manifest = "subscribe = [\"test:number\"]";
    let it = ExtensionServer::start(&[("recorder", manifest, RECORDER)]);
    let mut number = 0;
    for kill in 1..=50 {
        std::thread::scope(|scope| {
            let call = scope.spawn(|| it.server.try_act("recorder:slow", json!({})));
            for _ in 0..10 {
                emit(&it.server, number);
                number += 1;
            }
            wait_for("the call in the extension", || {
                let calls = it.state_of("recorder").join("data/seen-calls");
                let calls = fs::read_to_string(calls).unwrap_or_default();
                // A call that is refused never gets there: its refusal says why.
                (calls.lines().count() == kill || call.is_finished()).then_some(())
            });
            let is_waiting = !call.is_finished();
            kill9(it.pid("recorder"));
            let refusal = call.join().unwrap().unwrap_err();
            assert!(is_waiting, "round {kill}: {refusal}; {}", it.log("recorder"));
            assert!(matches!(refusal.code, Code::Unavailable), "{refusal}");
            it.server.act("ext:reload", json!({ "name": "recorder" }));
            it.until_status("recorder", "running");
        });
    }
    let all = wait_for("every event", || {
        let seen = seen(&it, "recorder");
        seen.contains(&(number - 1)).then_some(seen)
    });
    check_in_order(&all, number);
    let again = all.len() as u64 - number;
    assert!(again <= 50 * 10, "{again} came again");
}

#[test]
fn after_the_server_was_killed_it_continues_with_what_was_not_handled() {
    let manifest = "subscribe = [\"test:number\"]";
    let mut it = ExtensionServer::start(&[("recorder", manifest, RECORDER)]);
    for number in 0..100 {
        emit(&it.server, number);
    }
    wait_for("a hundred events", || (100 <= seen(&it, "recorder").len()).then_some(()));
    // The place is written a moment later.
    wait_for("its place", || {
        let place = fs::read_to_string(it.state_of("recorder").join("place.json")).ok()?;
        let place: serde_json::Value = serde_json::from_str(&place).ok()?;
        (100 <= place["handled"].as_u64()?).then_some(())
    });
    let pid = it.pid("recorder");
    it.server.kill();
    it.server.start_again();
    it.until_status("recorder", "running");
    assert_ne!(it.pid("recorder"), pid);
    assert!(paned_e2e::gone(pid, Duration::from_secs(10)));
    for number in 100..120 {
        emit(&it.server, number);
    }
    wait_for("the rest", || seen(&it, "recorder").contains(&119).then_some(()));
    let all = seen(&it, "recorder");
    check_in_order(&all, 120);
    assert!(all.len() < 220, "{} came, so none was remembered as handled", all.len());
}
