//! Starting, restarting and making room.

use std::fs;

use paned_e2e::wait_for;
use serde_json::json;

use super::{LONG, MiniAgentServer};

#[test]
fn readiness_is_awaited_by_state() {
    let room = MiniAgentServer::new();
    let gate = room.home().join("gate");
    let env = json!({ "MINI_WAIT": gate });
    let late =
        room.act("agent:create", room.mini("late", &json!({ "env": env, "timeoutMs": 300 })));
    assert_ne!(late["agent"]["state"], "ready");
    let later =
        room.act("agent:create", room.mini("later", &json!({ "env": env, "waitReady": false })));
    assert_eq!(later["agent"]["state"], "starting");
    fs::write(&gate, "").unwrap();
    room.until("late", "ready");
    room.until("later", "ready");
    let asks =
        room.act("agent:create", room.mini("asks", &json!({ "env": { "MINI_TRUST": "1" } })));
    assert_eq!(
        (&asks["agent"]["state"], &asks["agent"]["kind"]),
        (&json!("blocked"), &json!("trust"))
    );
}

#[test]
fn a_question_at_the_start_is_answered_only_where_that_is_allowed() {
    let room = MiniAgentServer::new();
    let more = json!({ "env": { "MINI_TRUST": "1" }, "trust": true });
    let trusted = room.act("agent:create", room.mini("trusted", &more));
    assert_eq!(trusted["agent"]["state"], "ready");
    // One that is asked later is nobody's to answer.
    room.say("trusted", "ask");
    room.until("trusted", "blocked");
    let quiet = json!({ "paneId": "trusted", "quietMs": 500 });
    assert_eq!(room.act("pane:wait", quiet)["met"], "quiet");
    assert_eq!(room.state("trusted"), "blocked");
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence() {
    let room = MiniAgentServer::new();
    let refused = |params, part: &str| {
        let refusal = room.server.try_act("agent:create", params).unwrap_err();
        assert!(refusal.sentence.contains(part), "{refusal}");
    };
    refused(json!({}), "pass `profile` or `argv`");
    refused(json!({ "profile": "nobody" }), "no profile `nobody`; the profiles are aider");
    refused(json!({ "profile": "mini", "permissions": "maybe" }), "permissions");
    refused(room.mini("a", &json!({ "worktree": true })), "git repository");
    assert!(room.ids("pane:list", json!({})).is_empty(), "nothing is left behind");
}

#[test]
fn of_a_program_that_no_profile_knows_its_hooks_tell() {
    let room = MiniAgentServer::new();
    let cat = json!({ "id": "a", "argv": ["cat"], "waitReady": false });
    let pane = room.act("agent:create", cat);
    assert_eq!(pane["agent"]["profile"], "generic");
    assert_ne!(pane["agent"]["state"], "ready", "nobody has said so");
    room.act("agent:set-state", json!({ "paneId": "a", "status": "busy" }));
    assert_eq!(room.until("a", "busy")["source"], "hook");
    room.act("agent:set-state", json!({ "paneId": "a", "status": "idle" }));
    room.until("a", "ready");
}

#[test]
fn a_known_program_inside_a_wrapper_is_recognised() {
    let room = MiniAgentServer::new();
    let inner = room.home().join("mini-agent");
    fs::rename(room.home().join("mini.sh"), &inner).unwrap();
    let profile = include_str!("mini.toml").replace("implicit = false", "implicit = true");
    let named = format!("programs = [\"mini-agent\"]\n{profile}");
    fs::write(room.profiles().join("mini.toml"), named).unwrap();
    let wrapper = room.home().join("wrapper.sh");
    fs::write(&wrapper, format!("echo wrapped\n/bin/bash {}\necho over\n", inner.display()))
        .unwrap();
    let argv = json!(["/bin/bash", wrapper]);
    room.act("agent:create", json!({ "id": "a", "argv": argv, "waitReady": false }));
    wait_for("the profile of what is inside", || {
        let agent = room.act("agent:state", json!({ "paneId": "a" }));
        (agent["profile"] == "mini" && agent["state"] == "ready").then_some(())
    });
}

#[test]
fn a_restart_swaps_once_the_new_one_is_ready() {
    let room = MiniAgentServer::new();
    let more =
        json!({ "title": "the one", "tags": ["x"], "meta": { "mine": 1 }, "model": "small" });
    room.act("agent:create", room.mini("old", &more));
    let swapped = room.act("agent:restart", json!({ "paneId": "old", "timeoutMs": LONG }));
    let new = &swapped["new"];
    assert_eq!((&swapped["old"], &new["agent"]["state"]), (&json!("old"), &json!("ready")));
    assert_eq!((&new["title"], &new["tags"]), (&json!("the one"), &json!(["x"])));
    assert_eq!((&new["meta"]["mine"], &new["meta"]["agent.replaces"]), (&json!(1), &json!("old")));
    assert_eq!(new["argv"].as_array().unwrap()[2..], ["--model", "small"]);
    assert_eq!(room.ids("agent:list", json!({})), [new["id"].as_str().unwrap()]);
}

#[test]
fn a_restart_that_fails_leaves_the_old_one_alone() {
    let room = MiniAgentServer::new();
    let gate = room.home().join("gate");
    fs::write(&gate, "").unwrap();
    room.act("agent:create", room.mini("old", &json!({ "env": { "MINI_WAIT": gate } })));
    fs::remove_file(&gate).unwrap();
    let restart = json!({ "paneId": "old", "timeoutMs": 300 });
    let refusal = room.server.try_act("agent:restart", restart).unwrap_err();
    assert_eq!(refusal.code, paned_model::Code::Timeout);
    assert!(refusal.sentence.contains("the old one was left running"), "{refusal}");
    assert_eq!(room.ids("pane:list", json!({})), ["old"]);
    room.say("old", "hello");
    room.until("old", "ready");
}

#[test]
fn clean_up_takes_the_idle_and_nobody_else() {
    let room = MiniAgentServer::new();
    for id in ["idle", "works", "asks", "watched"] {
        room.start(id);
    }
    room.act("agent:create", room.mini("kept", &json!({ "persist": true })));
    room.say("works", "work");
    room.until("works", "busy");
    room.say("asks", "ask");
    room.until("asks", "blocked");
    let mut socket = room.server.socket_to_panes();
    socket.subscribe("watched", json!(0));
    let is_followed = || {
        let kept = room.act("agent:cleanup", json!({ "idleMs": 3_600_000 }));
        let kept = kept["kept"].as_array().unwrap().clone();
        let watched = kept.iter().find(|kept| kept["id"] == "watched").unwrap();
        watched["why"].as_str().unwrap().contains("watching it").then_some(())
    };
    paned_e2e::wait_for("followed", is_followed);
    let cleaned = room.act("agent:cleanup", json!({}));
    assert_eq!(cleaned["closed"], json!(["idle"]), "{cleaned:#}");
    let why = |id: &str| {
        let kept = cleaned["kept"].as_array().unwrap().iter();
        let mut kept = kept.filter(|kept| kept["id"] == id);
        kept.next().unwrap()["why"].as_str().unwrap().to_owned()
    };
    assert_eq!((why("works").as_str(), why("asks").as_str()), ("it is busy", "it is blocked"));
    assert!(why("kept").contains("persist"));
    assert_eq!(room.ids("agent:list", json!({})), ["works", "asks", "watched", "kept"]);
}

#[test]
fn at_the_limit_the_longest_idle_makes_room_or_nobody_comes() {
    let room = MiniAgentServer::set("[limits]\nagents = 2\n");
    room.start("first");
    room.start("second");
    room.start("third");
    assert_eq!(room.ids("agent:list", json!({})), ["second", "third"]);
    for id in ["second", "third"] {
        room.say(id, "work");
        room.until(id, "busy");
    }
    let refusal = room.server.try_act("agent:create", room.mini("fourth", &json!({}))).unwrap_err();
    assert_eq!(refusal.code, paned_model::Code::Limit);
    assert!(refusal.sentence.contains("the limit of 2 agents is reached"), "{refusal}");
    assert_eq!(room.ids("agent:list", json!({})), ["second", "third"]);
}
