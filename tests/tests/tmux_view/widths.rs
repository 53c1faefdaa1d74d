//! Windows of any size: what a person asks to see is shown, sub-agents keep their minimum sizes.

use paned_e2e::{Server, Tmux, decode_output};
use serde_json::{Value, json};

use super::*;

/// A session of this size with one program, which new panes do not go into by themselves.
#[track_caller]
fn session(server: &Server, cols: u16, rows: u16) {
    let size = json!({ "cols": cols, "rows": rows });
    let start = json!({ "argv": ["cat"], "size": size, "follow": false });
    server.act("session:start", start);
}

/// How many tmux panes each window of the session has, in the order of the windows.
fn windows(server: &Server) -> String {
    let list = ["list-windows", "-t", "main", "-F", "#{window_panes}"];
    Tmux::of(server).run(&list).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Shows three panes by the command line in a session of this size. `expect` is the number of tmux
/// panes in each window afterwards; `says` is what each command says.
#[track_caller]
fn check_person(cols: u16, rows: u16, expect: &str, says: [&str; 3]) {
    let server = Server::start();
    session(&server, cols, rows);
    for (id, says) in ["a", "b", "c"].into_iter().zip(says) {
        let new = server.cli(&["new", "--session", "main", "--id", id, "--", "cat"]);
        let expect = if says.is_empty() { String::new() } else { format!("{says}\n") };
        assert_eq!(decode_output(&new), (format!("{id}\n"), expect, 0), "{cols}x{rows}");
        assert_eq!(state(&server, id), "shown");
        server.act("pane:write", json!({ "paneId": id, "text": format!("it is {id}\n") }));
        until_screen(&Tmux::of(&server), &view(&server, id).id, &format!("it is {id}"));
        // It can be gone to, also in another window.
        server.act("pane:activate", json!({ "paneId": id }));
        let active = Tmux::of(&server).run(&["display", "-p", "-t", "main", "#{pane_id}"]);
        assert_eq!(active.trim(), view(&server, id).id);
    }
    assert_eq!(windows(&server), expect, "{cols}x{rows}");
    let list = server.act("session:list", json!({}));
    assert_eq!(list[0]["panes"].as_array().unwrap().len(), 4, "{list}");
    // A window goes with its only pane.
    server.act("pane:close", json!({ "paneId": "c" }));
    let left = if expect.ends_with(" 1") { expect.trim_end_matches(" 1").len() } else { 0 };
    let tmux = Tmux::of(&server);
    wait_for("its view is gone", || tmux.view("c").is_none().then_some(()));
    if 0 < left {
        assert!(windows(&server).len() < expect.len());
    }
}

const FIRST: &str = "shown in a new window of session main (window 1)";
const SECOND: &str = "shown in a new window of session main (window 2)";
const THIRD: &str = "shown in a new window of session main (window 3)";

#[test]
fn a_person_at_20_columns_gets_windows() {
    check_person(20, 10, "1 1 1 1", [FIRST, SECOND, THIRD]);
}

#[test]
fn a_person_at_60x20_gets_two_panes_and_then_windows() {
    check_person(60, 20, "2 1 1", ["", FIRST, SECOND]);
}

#[test]
fn a_person_at_80x24_gets_two_panes_and_then_windows() {
    check_person(80, 24, "2 1 1", ["", FIRST, SECOND]);
}

#[test]
fn a_person_at_105x30_gets_all_in_one_window() {
    check_person(105, 30, "4", ["", "", ""]);
}

#[test]
fn a_person_at_153x40_gets_all_in_one_window() {
    check_person(153, 40, "4", ["", "", ""]);
}

#[test]
fn a_person_at_200x50_gets_all_in_one_window() {
    check_person(200, 50, "4", ["", "", ""]);
}

#[test]
fn layout_place_says_where_a_pane_is() {
    let server = Server::start();
    session(&server, 80, 24);
    for id in ["a", "b"] {
        server.act("pane:new", paned_e2e::script(id, "cat"));
    }
    assert_eq!(
        server.ok(&["layout", "place", "a"]),
        "a is shown; open its session with `paned session attach main`\n"
    );
    assert_eq!(server.ok(&["layout", "plan", "b"]).lines().count(), 1);
    assert!(server.ok(&["layout", "plan", "b"]).starts_with("b: in a new window, because "));
    assert_eq!(server.ok(&["layout", "place", "b"]), format!("b: {FIRST}\n"));
    assert_eq!(server.pane("b")["view"]["window"], 1);
    assert!(server.ok(&["get", "b"]).contains("in session main, window 1\n"));
    let got = server.ok(&["layout", "get"]);
    assert!(got.starts_with("80x24, 2 panes\nTMUX  PANE"), "{got}");
    assert!(got.lines().all(|line| line.len() <= 80), "{got}");
    let saved = server.ok(&["layout", "save", "morning"]);
    assert!(saved.starts_with("saved morning in /"), "{saved}");
    assert!(server.ok(&["layout", "apply", "morning"]).starts_with("applied morning\n80x24"));
    let json: Value = serde_json::from_str(&server.ok(&["layout", "get", "--json"])).unwrap();
    assert_eq!(json["panes"].as_array().unwrap().len(), 2);
}

#[test]
fn in_a_narrow_window_of_ones_own_tmux_there_is_a_new_window() {
    let server = Server::start();
    let tmux = Tmux::start_foreign(Size { cols: 60, rows: 16 });
    let theirs = tmux.panes();
    let variable = format!("{},1234,0", tmux.path());
    let mut new = server.command(&["new", "--here", "--id", "a", "--", "cat"]);
    let new = new.env("TMUX", &variable).env("TMUX_PANE", &theirs[0].id).output().unwrap();
    let (id, says, code) = decode_output(&new);
    assert_eq!((id.as_str(), code), ("a\n", 0), "{says}");
    assert!(says.starts_with("shown in a new window of your tmux session (window "), "{says}");
    let shown = tmux.view("a").unwrap();
    assert_eq!(shown.session, theirs[0].session);
    assert_eq!(tmux.panes()[0].size, theirs[0].size, "their window is as it was");
    server.act("layout:hide", json!({ "paneId": "a" }));
    assert_eq!(tmux.panes().len(), theirs.len());
}

#[test]
fn windows_come_back_when_tmux_dies() {
    let server = Server::start();
    session(&server, 80, 24);
    for id in ["a", "b"] {
        server.act("pane:new", shown(id, "cat"));
    }
    assert_eq!(windows(&server), "2 1");
    Tmux::of(&server).run(&["kill-server"]);
    for id in ["a", "b"] {
        view(&server, id);
        until_state(&server, id, "shown");
    }
    assert_eq!(windows(&server), "2 1");
}

#[test]
fn a_sub_agent_is_shown_from_105_columns_on_and_otherwise_waits_and_says_why() {
    for (cols, expect) in [(104, "waiting"), (105, "shown")] {
        let server = Server::start();
        session(&server, cols, 30);
        let open = json!({ "id": "ses_1", "parentId": "ses_0", "argv": ["/bin/sh", "-c", "echo here; exec cat"] });
        let opened = server.act("subagent:opened", open);
        assert_eq!(opened["state"], expect, "{cols}: {opened}");
        let pane = server.pane(opened["paneId"].as_str().unwrap());
        if expect == "waiting" {
            let reason = opened["reason"].as_str().unwrap();
            assert!(reason.contains("104x30") && reason.contains("105 columns"), "{reason}");
            assert_eq!(pane["view"]["reason"], reason);
        } else {
            assert_eq!(view(&server, pane["id"].as_str().unwrap()).size.cols, 52);
            assert_eq!(pane["view"].get("reason"), None);
        }
        assert_eq!(windows(&server).split(' ').count(), 1);
    }
}

#[test]
fn a_command_that_waits_says_why_and_where_to_look() {
    let server = Server::start();
    session(&server, 60, 16);
    server.act("pane:new", paned_e2e::script("a", "cat"));
    let placed = server.ok(&["layout", "place", "a", "--wait"]);
    assert!(placed.starts_with("a: waiting for room: the window is 60x16; "), "{placed}");
    assert!(placed.ends_with("; `paned attach a` shows it now\n"), "{placed}");
    assert_eq!(state(&server, "a"), "waiting");
    let got = server.ok(&["get", "a"]);
    assert!(got.contains("waiting for room: the window is 60x16; "), "{got}");
    assert_eq!(state(&server, "a"), "waiting");
}
