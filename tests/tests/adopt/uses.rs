//! Driving a shell and an editor in somebody's tmux.

use std::fs;

use paned_e2e::{Server, is_alive};
use serde_json::json;

use super::{Tmux, refused, shows, until};

#[test]
fn a_shell_is_read_searched_waited_for_and_typed_into() {
    let (server, tmux) = (Server::start(), Tmux::start("PS1='ready> ' exec bash --norc -i"));
    tmux.adopt(&server, "%0", "a");
    shows(&server, "a", |rows| rows[0].starts_with("ready>"));
    server.act("pane:paste", json!({ "paneId": "a", "text": "echo sum $((6*7))", "submit": true }));
    until(&server, "a", "^sum 42$");
    let hits = server.act("pane:search", json!({ "pattern": "^sum 42$" }));
    assert_eq!(hits["hits"][0]["paneId"], "a", "{hits}");
    let tail = server.act("pane:read", json!({ "paneId": "a", "tail": 2 }));
    assert_eq!(tail["lines"][0]["text"], "sum 42", "{tail}");
    server.act("pane:keys", json!({ "paneId": "a", "keys": ["up", "enter"] }));
    let again = ["sum 42", "ready>"];
    shows(&server, "a", |rows| rows[3..5] == again);
    assert_eq!(shows(&server, "a", |_| true)[..], tmux.screen()[..]);
}

#[test]
fn an_editor_that_was_there_before_is_seen_and_driven() {
    let (server, tmux) = (Server::start(), Tmux::start("echo below; exec vim -u NONE -N text"));
    tmux.act(&["set-option", "-g", "remain-on-exit", "on"]);
    tmux.act(&["send-keys", "-t", "%0", "ifirst", "Escape", ":map <F5> :wq<CR>", "Enter"]);
    tmux.act(&["send-keys", "-t", "%0", ":call system('tmux wait-for -S up')", "Enter"]);
    tmux.wait("up");
    tmux.adopt(&server, "%0", "a");
    let rows = shows(&server, "a", |rows| rows[0] == "first");
    assert_eq!(rows[1], "~");
    server.act("pane:keys", json!({ "paneId": "a", "keys": ["o"] }));
    server.act("pane:write", json!({ "paneId": "a", "text": "second" }));
    server.act("pane:keys", json!({ "paneId": "a", "keys": ["escape", "up", "end", "x"] }));
    let seen = shows(&server, "a", |rows| rows[..2] == ["firs", "second"]);
    assert_eq!(seen[..2], tmux.screen()[..2]);
    let mut events = server.events("pane:exited", None);
    server.act("pane:keys", json!({ "paneId": "a", "keys": ["f5"] }));
    assert_eq!(events.until_exit("a").data["exitCode"], 0);
    assert_eq!(fs::read_to_string(tmux.file("text")).unwrap(), "firs\nsecond\n");
    // What the editor lay over is to be seen again.
    shows(&server, "a", |rows| rows[0] == "below");
}

#[test]
fn its_size_is_tmux_s_and_followed() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    tmux.act(&["new-session", "-d", "-x", "70", "-y", "20", "-s", "other", "cat"]);
    tmux.adopt(&server, "%0", "a");
    tmux.adopt(&server, "%1", "b");
    let resize = json!({ "paneId": "a", "size": { "cols": 10, "rows": 10 }, "force": true });
    let (code, sentence) = refused(&server, "pane:resize", resize);
    assert_eq!(code, "conflict");
    assert!(sentence.contains("only tmux can resize it"), "{sentence}");
    for (window, id) in [("work:0", "a"), ("other:0", "b")] {
        let mut events = server.events("pane:resized", None);
        tmux.act(&["resize-window", "-t", window, "-x", "100", "-y", "31"]);
        let told = events.until(|told| told.data["paneId"] == id);
        assert_eq!(told.data["size"], json!({ "cols": 100, "rows": 31 }));
        assert_eq!(server.pane(id)["size"], told.data["size"]);
        assert_eq!(shows(&server, id, |_| true).len(), 31);
    }
}

#[test]
fn closing_it_lets_it_go_and_leaves_the_program_alone() {
    let script = "while read -r line; do echo \"got $line\"; done";
    let (server, tmux) = (Server::start(), Tmux::start(script));
    let pane = tmux.adopt(&server, "%0", "a");
    let scribe = server.tape("a").keeper();
    let mut events = server.events("pane:*", None);
    server.act("pane:close", json!({ "paneId": "a" }));
    assert_eq!(events.next().name, "pane:removed");
    let pid = u32::try_from(pane["pid"].as_u64().unwrap()).unwrap();
    assert!(is_alive(pid));
    assert!(paned_e2e::gone(scribe, paned_e2e::WAIT_TIMEOUT));
    assert_eq!(tmux.say("#{pane_pipe}"), "0");
    assert_eq!(refused(&server, "pane:get", json!({ "paneId": "a" })).0, "not_found");
    // And it can be had again.
    tmux.adopt(&server, "%0", "a");
    server.act("pane:write", json!({ "paneId": "a", "text": "more\n" }));
    until(&server, "a", "^got more$");
}

#[test]
fn an_agent_that_was_there_before_is_judged() {
    let server = Server::start();
    let home = server.state().parent().unwrap().to_owned();
    let profiles = home.join(".config/paned/profiles");
    fs::create_dir_all(&profiles).unwrap();
    fs::write(profiles.join("mini.toml"), include_str!("../agent_admission/mini.toml")).unwrap();
    fs::write(home.join("mini.sh"), include_str!("../agent_admission/mini.sh")).unwrap();
    let tmux = Tmux::start(&format!("exec bash {}", home.join("mini.sh").display()));
    let adopt = json!({ "tmux": tmux.socket(), "pane": "%0", "id": "a", "profile": "mini" });
    let adopted = server.act("pane:adopt", adopt);
    assert_eq!(adopted["agent"]["profile"], "mini");
    let until = |state: &str| {
        let waited = server.act("agent:wait", json!({ "paneId": "a", "state": state }));
        assert_eq!(waited["met"], "state", "{waited}");
    };
    until("ready");
    server.act("pane:write", json!({ "paneId": "a", "text": "ask" }));
    server.act("pane:keys", json!({ "paneId": "a", "keys": ["enter"] }));
    until("blocked");
    server.act("pane:keys", json!({ "paneId": "a", "keys": ["2"] }));
    until("busy");
    let (code, sentence) = refused(
        &server,
        "pane:adopt",
        json!({ "tmux": tmux.socket(), "pane": "%0", "profile": "x" }),
    );
    assert_eq!(code, "not_found", "{sentence}");
}
