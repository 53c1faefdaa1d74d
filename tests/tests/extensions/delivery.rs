//! Events of several extensions side by side.

use std::fs;

use paned_e2e::wait_for;
use serde_json::json;

use crate::support::ExtensionServer;

/// Writes down the number of every event.
const RECORDER: &str = r#"
path = os.path.join(os.environ["PANED_EXTENSION_DATA"], "seen")
for message in messages():
    method = message.get("method")
    if method == "initialize":
        notify("subscribe", events=["test:number"])
        answer(message)
    elif method == "handleEvent":
        with open(path, "a") as file:
            file.write("%d\n" % message["params"]["payload"]["number"])
        answer(message)
    elif method == "shutdown":
        break
"#;

#[test]
fn a_reload_of_one_drops_no_events_of_the_others_and_repeats_none() {
    let it = ExtensionServer::start(&[("first", "", RECORDER), ("second", "", RECORDER)]);
    let seen = |name: &str| -> Vec<u64> {
        let text = fs::read_to_string(it.state_of(name).join("data/seen")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    let pid = it.pid("second");
    for number in 0..200 {
        let event = json!({ "name": "test:number", "payload": { "number": number } });
        it.server.act("event:emit", event);
        if number % 50 == 25 {
            it.server.act("ext:reload", json!({ "name": "first" }));
        }
    }
    let expect: Vec<u64> = (0..200).collect();
    for name in ["first", "second"] {
        wait_for("every event", || (200 <= seen(name).len()).then_some(()));
        assert_eq!(seen(name), expect, "{name}");
    }
    assert_eq!(it.pid("second"), pid, "the other one was not restarted");
}

#[test]
fn events_that_the_journal_no_longer_has_are_a_gap() {
    let code = r#"
path = os.path.join(os.environ["PANED_EXTENSION_DATA"], "seen")
for message in messages():
    method = message.get("method")
    if method == "initialize":
        notify("subscribe", events=["test:number"])
        answer(message)
    elif method == "handleEvent":
        with open(path, "a") as file:
            file.write(json.dumps(message["params"]) + "\n")
        answer(message)
    elif method == "shutdown":
        break
"#;
    let mut it = ExtensionServer::start(&[("reader", "", code)]);
    it.server.act("ext:set", json!({ "name": "reader", "enabled": false }));
    // The place of a reader that is ahead of everything: such a journal was replaced.
    let place = it.state_of("reader").join("place.json");
    fs::write(&place, r#"{"handled":900000000}"#).unwrap();
    it.server.kill();
    it.server.start_again();
    it.server.act("ext:set", json!({ "name": "reader", "enabled": true }));
    it.until_status("reader", "running");
    let event = json!({ "name": "test:number", "payload": { "number": 1 } });
    it.server.act("event:emit", event);
    let seen = it.state_of("reader").join("data/seen");
    let text = wait_for("the gap and the event", || {
        let text = fs::read_to_string(&seen).ok()?;
        text.contains("test:number").then_some(text)
    });
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["name"], "gap", "{text}");
    assert!(first["payload"]["firstAvailable"].is_u64(), "{first}");
}
