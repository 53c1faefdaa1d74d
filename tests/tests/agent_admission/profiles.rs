//! Profiles are the user's files too, and change without a restart.

use std::fs;

use serde_json::{Value, json};

use super::MiniAgentServer;

#[test]
fn a_profile_that_changes_is_used_by_agents_that_run() {
    let room = MiniAgentServer::new();
    room.start("a");
    room.say("a", "work");
    room.until("a", "busy");
    let changed = include_str!("mini.toml").replace("says = \"busy\"", "says = \"limited\"");
    fs::write(room.profiles().join("mini.toml"), changed).unwrap();
    paned_e2e::wait_for("the other profile", || {
        // Whoever asks has the folder looked at, at most once a second.
        room.act("agent:explain", json!({ "paneId": "a" }));
        (room.state("a") == "limited").then_some(())
    });
}

#[test]
fn mistakes_are_told_with_their_line_and_the_rest_goes_on() {
    let room = MiniAgentServer::new();
    room.start("a");
    fs::write(
        room.profiles().join("bad.toml"),
        "command = [\"bad\"]\n\n[composer]\nprompt = '('\n",
    )
    .unwrap();
    fs::write(room.profiles().join("new.toml"), "command = [\"new\"]\n").unwrap();
    let told = paned_e2e::wait_for("the mistake", || {
        let told = room.act("agent:profiles", json!({}));
        (!told["mistakes"].as_array().unwrap().is_empty()).then_some(told)
    });
    let mistakes = told["mistakes"].as_array().unwrap();
    let is_bad = |mistake: &Value| mistake["file"].as_str().unwrap().ends_with("/bad.toml");
    assert!(mistakes.iter().all(is_bad), "{mistakes:?}");
    assert!(mistakes.iter().any(|mistake| mistake["line"] == 4), "{mistakes:?}");
    let names: Vec<&str> = told["profiles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"new") && names.contains(&"mini") && !names.contains(&"bad"));
    let status = room.act("server:status", json!({}));
    assert!(status["profileMistakes"].to_string().contains("/bad.toml:4: "), "{status}");
    assert_eq!(status["agents"], json!({ "ready": 1 }));
    room.say("a", "hello");
    room.until("a", "ready");
}

#[test]
fn a_profile_that_no_longer_fits_gives_way_and_says_so() {
    let room = MiniAgentServer::new();
    let stale = include_str!("mini.toml").replace("prompt = '^> '", "prompt = '^never '");
    fs::write(room.profiles().join("mini.toml"), stale).unwrap();
    let params = room.mini("a", &json!({ "waitReady": false }));
    room.act("agent:create", params);
    let explained = || room.act("agent:explain", json!({ "paneId": "a" }));
    paned_e2e::wait_within(std::time::Duration::from_secs(60), "the generic profile", || {
        (room.state("a") == "ready").then_some(())
    });
    let text = explained()["text"].as_str().unwrap().to_owned();
    assert!(text.contains("`mini` found no composer"), "{text}");
    let doctor = String::from_utf8_lossy(&room.server.cli(&["doctor"]).stdout).into_owned();
    assert!(doctor.contains("`mini` found no composer"), "{doctor}");
    // Its hooks and recipes are its own.
    assert_eq!(explained()["agent"]["profile"], "mini");
    let fits = include_str!("mini.toml");
    fs::write(room.profiles().join("mini.toml"), fits).unwrap();
    paned_e2e::wait_for("the mended profile", || {
        (!explained()["text"].as_str().unwrap().contains("found no composer")).then_some(())
    });
}
