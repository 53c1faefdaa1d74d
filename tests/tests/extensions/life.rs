//! The end of a server, and settings.

use std::fs;
use std::time::{Duration, Instant};

use paned_e2e::{Server, decode_output, gone, is_alive, wait_for};
use serde_json::json;

use crate::support::ExtensionServer;

/// Ignores every request to end, and has a child that does the same.
const STUBBORN: &str = r#"
import signal, subprocess
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "1000"])
for message in messages():
    if message.get("method") == "initialize":
        notify("registerAction", name="child", description="x", kind="question")
        answer(message)
    elif message.get("method") == "runAction":
        answer(message, child.pid)
while True:
    time.sleep(1)
"#;

const IDLE: &str = r#"
for message in messages():
    if message.get("method") == "initialize":
        answer(message)
    elif message.get("method") == "shutdown":
        print("good bye", file=sys.stderr)
        break
"#;

#[test]
fn nothing_runs_after_the_server_was_stopped() {
    let mut it = ExtensionServer::start(&[("stubborn", "", STUBBORN), ("idle", "", IDLE)]);
    let child = it.server.act("stubborn:child", json!({})).as_u64().unwrap();
    let pids = [it.pid("stubborn"), it.pid("idle"), u32::try_from(child).unwrap()];
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    let started = Instant::now();
    it.server.act("server:stop", json!({}));
    it.server.child().wait().unwrap();
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    for pid in pids {
        assert!(gone(pid, Duration::from_secs(1)), "{pid} still runs");
    }
    assert!(it.log("idle").contains("good bye"), "{}", it.log("idle"));
}

#[test]
fn an_upgrade_ends_the_extensions_and_starts_them_again() {
    let it = ExtensionServer::start(&[("idle", "", IDLE)]);
    let before = it.pid("idle");
    it.server.act("server:upgrade", json!({}));
    let after = wait_for("a new process", || {
        let info = it.server.try_act("ext:info", json!({ "name": "idle" })).ok()?;
        let pid = info["pid"].as_u64().filter(|_| info["status"] == "running")?;
        (pid != u64::from(before)).then_some(pid)
    });
    assert!(gone(before, Duration::from_secs(1)));
    assert!(is_alive(u32::try_from(after).unwrap()));
}

#[test]
fn extensions_can_be_turned_off_and_the_variable_of_poly_names_their_folder() {
    let folder = tempfile::tempdir().unwrap();
    let idle = folder.path().join("idle");
    fs::create_dir(&idle).unwrap();
    fs::write(idle.join("paned.toml"), "name = \"idle\"\ncommand = [\"cat\"]\n").unwrap();
    let path = folder.path().to_str().unwrap();
    let env = [("POLY_EXTENSIONS_DIR", path)];
    let on = Server::start_set("", &env);
    assert_eq!(on.act("ext:info", json!({ "name": "idle" }))["name"], "idle");
    let off = Server::start_set("[extensions]\nenabled = false\n", &env);
    let refusal = off.try_act("ext:list", json!({})).unwrap_err();
    assert!(refusal.sentence.contains("[extensions]"), "{refusal}");
}

#[test]
fn a_change_of_its_code_starts_an_extension_again() {
    let it = ExtensionServer::start(&[("idle", "", IDLE)]);
    let before = it.pid("idle");
    it.write(("idle", "subscribe = [\"test:x\"]", &IDLE.replace("good bye", "see you")));
    wait_for("a new process", || {
        let info = it.info("idle");
        let is_new = info["pid"] != before && info["events"] == json!(["test:x"]);
        (is_new && info["status"] == "running").then_some(())
    });
}

#[test]
fn without_node_the_list_says_what_is_missing_and_the_rest_works() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("greeter");
    fs::create_dir(&package).unwrap();
    fs::write(package.join("package.json"), r#"{"name":"greeter","main":"index.js"}"#).unwrap();
    fs::write(package.join("index.js"), "exports.name = 'greeter'").unwrap();
    let plain = folder.path().join("plain");
    fs::create_dir(&plain).unwrap();
    let text = "name = \"plain\"\ncommand = [\"/bin/cat\"]\n";
    fs::write(plain.join("paned.toml"), text).unwrap();
    let empty = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let env = [("PANED_EXTENSIONS_DIR", path), ("PATH", empty.path().to_str().unwrap())];
    let server = Server::start_set("", &env);
    let (table, notes, code) = wait_for("a note about Node", || {
        let (table, notes, code) = decode_output(&server.cli(&["ext", "list"]));
        notes.contains("greeter").then_some((table, notes, code))
    });
    assert!(notes.contains("Node"), "{notes}");
    assert!(code == 0 && !table.contains("Node.js 20"), "{table}");
    server.act("pane:new", json!({ "argv": ["/bin/sh", "-c", "exit 0"] }));
}

#[test]
fn an_extension_that_refuses_everything_can_be_turned_off_and_removed() {
    let code = r#"
for message in messages():
    if message.get("method") == "initialize":
        answer(message)
    elif message.get("method") == "beforeAction":
        answer(message, {"cancel": True, "reason": "mine"})
"#;
    let it = ExtensionServer::start(&[("tyrant", "veto = [\"*\"]\nrequired = true", code)]);
    let refusal = it.server.try_act("pane:list", json!({})).unwrap_err();
    assert_eq!(refusal.code, paned_model::Code::Vetoed, "{refusal}");
    assert_eq!(it.server.answer(&["ext", "list"])[0]["name"], "tyrant");
    it.server.act("ext:set", json!({ "name": "tyrant", "enabled": false }));
    it.server.act("pane:list", json!({}));
    it.server.act("ext:set", json!({ "name": "tyrant", "enabled": true }));
    it.server.act("ext:remove", json!({ "name": "tyrant" }));
    it.server.act("pane:list", json!({}));
}
