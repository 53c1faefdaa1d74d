//! How sessions come, stay and go.

use paned_e2e::{FakeAgent, wait_for};
use serde_json::json;

use super::CompatServer;

/// A pane with the listener's tag that runs this.
fn tagged(house: &CompatServer, id: &str, argv: &[&str]) {
    house.server.act("pane:new", json!({ "id": id, "argv": argv, "tags": ["agentmux"] }));
}

#[test]
fn an_agent_that_ends_at_once_is_no_session() {
    let config = "[compat]\nagentmux_command = ['/bin/sh', '-c', 'exit 3']\n";
    let house = CompatServer::over(FakeAgent::new(&[]), config, &[]);
    let run = Some(json!({ "text": "hello" }));
    house.refuses("POST", "/run", run, (503, "new session did not become ready"));
    let restart = (503, "replacement session did not become ready");
    house.refuses("POST", "/restart", None, restart);
    assert_eq!(house.get("/health")["total_sessions"], 0);
    assert_eq!(house.server.act("pane:list", json!({})), json!([]));
}

#[test]
fn a_restart_makes_the_new_one_ready_and_then_swaps() {
    let house = CompatServer::new(&["--work", "100"]);
    let first = house.post("/restart", json!({}));
    assert_eq!(house.sessions().len(), 1);
    let old = first["session"].as_str().unwrap_or_default().to_owned();
    let again = house.post("/restart", json!({ "whatever": 1 }));
    let new = again["session"].as_str().unwrap_or_default().to_owned();
    let target = format!("{new}:0.0");
    let expect = json!({
        "ok": true, "action": "restart", "session": new, "target": target, "ready": true,
    });
    assert_eq!(again, expect);
    assert_ne!(old, new);
    assert!(new.starts_with("agentmux-"), "{new}");
    assert_eq!(house.sessions(), std::slice::from_ref(&new));
    assert_eq!(house.get("/idle"), json!({ "idle": true, "ctx_percent": null, "session": new }));
}

#[test]
fn a_restart_that_fails_leaves_the_old_one() {
    let agent = FakeAgent::new(&["--work", "100"]);
    // It starts once; what would come after it ends at once.
    let once = "test -e \"$0\" && exit 1; touch \"$0\"; exec \"$@\"";
    let folder = tempfile::tempdir().expect("a folder");
    let mark = folder.path().join("mark").display().to_string();
    let start: Vec<String> = ["/bin/sh", "-c", once, &mark].map(str::to_owned).into();
    let argv: Vec<String> = start.into_iter().chain(agent.argv().to_vec()).collect();
    let config = format!("[compat]\nagentmux_command = {}\n", json!(argv));
    let house = CompatServer::over(agent, &config, &[]);
    let session = house.run("hello");
    house.idle();
    let failed = (503, "replacement session did not become ready");
    house.refuses("POST", "/restart", None, failed);
    assert_eq!(house.sessions(), [session]);
    house.post("/send", json!({ "text": "still there" }));
    assert_eq!(house.agent.prompts(), ["hello", "still there"]);
}

#[test]
fn idle_sessions_are_cleaned_up_and_busy_ones_are_not() {
    let house = CompatServer::new(&["--work", "100"]);
    let idle = house.run("short");
    house.idle();
    let busy = house.run("FAKE say delay=60");
    let active = house.run("short");
    house.idle();
    tagged(&house, "ended", &["true"]);
    wait_for("its end", || (house.server.pane("ended")["status"] == "exited").then_some(()));
    let ended = house.get("/health")["sessions"][3].clone();
    assert_eq!((&ended["status"], &ended["tmux_exists"]), (&json!("completed"), &json!(false)));
    assert_eq!(ended.get("idle"), None);
    // The newest is the active one, and stays, though it has ended.
    let cleaned = house.post("/cleanup", json!({}));
    assert_eq!(cleaned, json!({ "ok": true, "action": "cleanup", "killed": [idle, active] }));
    assert_eq!(house.sessions(), [busy.clone(), "ended".to_owned()]);
    house.refuses("GET", "/idle", None, (500, "session 'ended' has ended"));
    let killed = house.post("/kill", json!({ "session": " ended " }));
    assert_eq!(killed, json!({ "ok": true, "action": "kill", "session": "ended" }));
    // The newest of those that are left is the active one.
    assert_eq!(house.get("/sessions")["active"], busy);
}

#[test]
fn ten_sessions_are_the_most_after_those_that_can_go_went() {
    let house = CompatServer::new(&["--work", "100"]);
    for n in 0..10 {
        tagged(&house, &format!("s{n}"), if n < 2 { &["true"] } else { &["sleep", "1000"] });
    }
    wait_for("the ends", || {
        let status = |id| house.server.pane(id)["status"] == "exited";
        (status("s0") && status("s1")).then_some(())
    });
    let made = house.run("hello");
    let mut expect: Vec<String> = (2..10).map(|n| format!("s{n}")).collect();
    expect.push(made);
    assert_eq!(house.sessions(), expect);
    tagged(&house, "more", &["sleep", "1000"]);
    let run = Some(json!({ "text": "again" }));
    // The one that is idle goes, and there is room for one.
    house.agent.wait("ready", 2);
    wait_for("an idle agent", || {
        let agent = house.server.act("agent:list", json!({ "state": "ready" }));
        agent.as_array().is_some_and(|all| !all.is_empty()).then_some(())
    });
    house.post("/run", json!({ "text": "again" }));
    tagged(&house, "last", &["sleep", "1000"]);
    house.refuses("POST", "/run", run, (409, "session limit (10) reached"));
}

#[test]
fn sessions_outlive_the_server() {
    let mut house = CompatServer::new(&["--work", "100"]);
    let (first, second) = (house.run("one"), house.run("two"));
    house.idle();
    let before = house.get("/sessions");
    house.server.kill();
    house.server.start_again();
    assert_eq!(house.get("/sessions"), before);
    assert_eq!(house.idle()["session"], second);
    house.post("/send", json!({ "text": "three", "target": format!("{first}:0.0") }));
    assert_eq!(house.agent.prompts(), ["one", "two", "three"]);
}

#[test]
fn an_agent_that_nobody_knows_is_known_by_its_program() {
    let house = CompatServer::with(&[], "", &[("AGENTMUX_AGENT", "nobody")]);
    assert_eq!(house.get("/health")["agent"], "nobody");
    std::thread::scope(|scope| {
        scope.spawn(|| house.ask("POST", "/run", Some(json!({ "text": "hello" }))));
        let pid = wait_for("an agent", || {
            let all = house.server.act("agent:list", json!({}));
            let is_up = all[0]["agent"]["profile"] == "fake-agent" && all[0]["status"] == "running";
            all[0]["pid"].as_u64().filter(|_| is_up)
        });
        // The command is the user's, to the word: nothing of the profile's is added.
        wait_for("the command as it was given", || {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word));
            let words: Vec<String> = words.map(|word| word.into_owned()).collect();
            (words[..words.len() - 1] == *house.agent.argv()).then_some(())
        });
        let session = house.sessions().pop().unwrap_or_default();
        house.post("/kill", json!({ "session": session }));
    });
    assert!(house.server.log().contains("no profile has this name"), "{}", house.server.log());
}

#[test]
fn a_folder_is_trusted_without_a_person() {
    let house = CompatServer::new(&["--dialog-at-start", "--work", "100"]);
    house.run("hello");
    let answer = house.agent.wait("answer", 1);
    assert_eq!((&answer["dialog"], &answer["yes"]), (&json!("trust"), &json!(true)));
    assert_eq!(house.agent.prompts(), ["hello"]);
}
