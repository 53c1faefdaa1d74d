//! Agents that do nothing cost nothing.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::MiniAgentServer;

/// The processor time that a process has used, in ticks of a hundredth of a second.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// How much of one processor the server uses over a while, in per cent.
fn load(room: &MiniAgentServer, while_: Duration) -> f64 {
    let (before, start) = (ticks(room.server.pid()), Instant::now());
    std::thread::sleep(while_); // not a wait: the time is what is measured
    #[expect(clippy::cast_precision_loss, reason = "a few ticks")]
    let used = (ticks(room.server.pid()) - before) as f64;
    used / start.elapsed().as_secs_f64()
}

#[test]
fn twenty_idle_agents_cost_nothing_and_a_spinner_little() {
    let room = MiniAgentServer::new();
    for n in 0..20 {
        room.act("agent:create", room.mini(&format!("a{n}"), &json!({ "waitReady": false })));
    }
    for n in 0..20 {
        room.until(&format!("a{n}"), "ready");
    }
    // What follows their start is over once nobody is behind.
    let quiet = || (load(&room, Duration::from_millis(500)) < 0.1).then_some(());
    paned_e2e::wait_for("quiet", quiet);
    let idle = load(&room, Duration::from_secs(5));
    assert!(idle <= 0.2, "{idle} % for twenty idle agents");
    let spin = r#"i=0; while :; do printf '\r%s Working (esc to interrupt)' $i; i=$((i+1)); sleep 0.1; done"#;
    let argv = json!(["/bin/bash", "--norc", "-c", spin]);
    let spinner = json!({ "id": "spin", "profile": "mini", "argv": argv, "waitReady": false });
    room.act("agent:create", spinner);
    let busy = load(&room, Duration::from_secs(4));
    eprintln!("idle {idle:.2} %, with a spinner {busy:.2} %");
    assert!(busy < 25.0, "{busy} % for one spinner, unoptimised");
}
