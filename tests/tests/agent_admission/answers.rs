//! The last answer, and recordings.

use std::fs;

use serde_json::{Value, json};

use super::MiniAgentServer;

#[test]
fn the_last_answer_comes_from_the_transcript_of_this_very_agent() {
    let room = MiniAgentServer::new();
    room.start("a");
    room.start("b");
    let last = |id: &str| room.act("agent:last", json!({ "paneId": id }));
    let none = room.server.try_act("agent:last", json!({ "paneId": "a" })).unwrap_err();
    assert_eq!(none.code, paned_model::Code::NotFound);
    for (id, word) in [("a", "hello"), ("b", "goodbye")] {
        room.say(id, word);
        let screen = format!("You said {word}");
        let wait = json!({ "paneId": id, "pattern": screen, "since": 0, "timeoutMs": 20_000 });
        room.act("pane:wait", wait);
    }
    // Both run in one folder, and the newest file is `b`'s.
    assert_eq!(last("b")["text"], "You said goodbye");
    assert_eq!(
        (&last("a")["text"], &last("a")["source"]),
        (&json!("You said hello"), &json!("transcript"))
    );
    fs::remove_dir_all(room.home().join(".mini")).unwrap();
    // Nothing is cut from the screen of one that may still be at work.
    room.until("a", "ready");
    assert_eq!(
        (&last("a")["text"], &last("a")["source"]),
        (&json!("You said hello"), &json!("screen"))
    );
    let stop =
        json!({ "paneId": "a", "event": "Stop", "last_assistant_message": "told by a hook" });
    room.act("agent:set-state", stop);
    assert_eq!(
        (&last("a")["text"], &last("a")["source"]),
        (&json!("told by a hook"), &json!("hook"))
    );
}

#[test]
fn a_recording_shows_what_was_printed_and_hides_what_was_not_shown() {
    let room = MiniAgentServer::new();
    room.start("a");
    room.press("a", "work");
    let draft = || {
        let told = room.act("agent:explain", json!({ "paneId": "a" }));
        (told["composer"]["text"] == "work").then_some(())
    };
    paned_e2e::wait_for("the draft", draft);
    room.press("a", "\r");
    room.until("a", "busy");
    // Keys that are not shown.
    room.press("a", "hunter2g");
    room.until("a", "ready");
    let recorded = room.act("agent:record", json!({ "paneId": "a" }));
    let cast = recorded["cast"].as_str().unwrap();
    let mut lines = cast.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let header = lines.next().unwrap();
    assert_eq!((&header["version"], &header["width"]), (&json!(2), &json!(120)));
    let lines: Vec<Value> = lines.collect();
    let of = |kind: &str| -> String {
        let some = lines.iter().filter(|line| line[1] == kind);
        some.map(|line| line[2].as_str().unwrap()).collect()
    };
    assert_eq!(of("i"), "work\r********");
    assert!(of("o").contains("Done with work"), "{}", of("o"));
    let times: Vec<f64> = lines.iter().map(|line| line[0].as_f64().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    let states: Vec<&str> = recorded["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|did| did["state"].as_str().unwrap())
        .collect();
    assert!(states.ends_with(&["ready", "busy", "ready"]), "{states:?}");
    assert_eq!(recorded["truncated"], false);
}
