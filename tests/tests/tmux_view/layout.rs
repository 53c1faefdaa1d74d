//! Placing panes: planned, done as planned, within limits; and layouts that are kept.

use std::fs;

use paned_e2e::{Server, Tmux, script, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

use super::*;

/// A session of this size with one program.
#[track_caller]
fn session(server: &Server, cols: u16, rows: u16) {
    let size = json!({ "cols": cols, "rows": rows });
    let start = json!({ "name": "main", "argv": ["cat"], "size": size, "follow": false });
    server.act("session:start", start);
}

#[track_caller]
fn plan(server: &Server, panes: &[&str]) -> Vec<Value> {
    let plan = server.act("layout:plan", json!({ "panes": panes, "wait": true }));
    plan["decisions"].as_array().unwrap().clone()
}

#[track_caller]
fn get(server: &Server) -> Value {
    server.act("layout:get", json!({}))
}

#[test]
fn a_plan_is_done_as_it_was_said() {
    let server = Server::start();
    session(&server, 200, 30);
    let before = get(&server);
    assert_eq!(before["capacity"], 2, "{before}");
    let said = plan(&server, &["a", "b", "c"]);
    let words: Vec<_> = said.iter().map(|it| it["decision"].as_str().unwrap()).collect();
    assert_eq!(words, ["spawn", "spawn", "defer"]);
    let why = said[2]["reason"].as_str().unwrap();
    assert!(why.contains("200x30 and holds 2 agent panes") && why.contains("2 are shown"), "{why}");
    assert_eq!(get(&server), before, "a plan changes nothing");

    for id in ["a", "b"] {
        server.act("pane:new", script(id, "cat"));
        let placed = server.act("layout:place", json!({ "paneId": id }));
        assert_eq!(placed["state"], "shown");
        assert_eq!(placed["tmuxPane"], view(&server, id).id);
    }
    // A pane that is still to come has no number, and the first word is a sum over all.
    let places = |layout: &Value| {
        let text = layout.as_str().unwrap().split_once(',').unwrap().1;
        text.trim_end_matches(['3', ',', ']', '}']).to_owned()
    };
    assert_eq!(places(&get(&server)["layout"]), places(&said[1]["layout"]));
    assert_eq!(state(&server, "a"), "shown");
    let again = server.act("layout:place", json!({ "paneId": "a" }));
    assert_eq!(again["tmuxPane"], view(&server, "a").id, "shown where it is shown");
    assert_eq!(Tmux::of(&server).panes().len(), 3);
    server.act("pane:new", script("c", "cat"));
    let placed = server.act("layout:place", json!({ "paneId": "c", "wait": false }));
    assert_eq!((&placed["state"], placed["reason"].as_str().unwrap()), (&json!("hidden"), why));
    assert_eq!(server.pane("c").get("view"), None);
    refused(
        &server,
        "layout:place",
        json!({ "paneId": "a", "session": "x" }),
        Code::Conflict,
        "layout:hide",
    );
}

#[test]
fn main_and_agents_keep_their_least_sizes() {
    let server = Server::start();
    session(&server, 210, 50);
    for id in ["a", "b", "c", "d"] {
        show(&server, id, "cat");
    }
    let shot = get(&server);
    for tile in shot["panes"].as_array().unwrap() {
        let least = if tile["owner"] == "main" { 100 } else { 52 };
        assert!(least <= tile["width"].as_u64().unwrap(), "{tile}");
        assert!(11 <= tile["height"].as_u64().unwrap(), "{tile}");
    }
    // As tmux has it, so the programs have it.
    for id in ["a", "b", "c", "d"] {
        let tile = view(&server, id);
        wait_for("its size", || (server.tape(id).size() == tile.size).then_some(()));
    }
    let heights: Vec<u16> =
        ["a", "b", "c", "d"].iter().map(|id| view(&server, id).size.rows).collect();
    assert!(heights.iter().max().unwrap() - heights.iter().min().unwrap() <= 1, "{heights:?}");
    // One goes: the others share its room.
    server.act("pane:close", json!({ "paneId": "b" }));
    wait_for("even again", || {
        let rows: Vec<u16> = ["a", "c", "d"].iter().map(|id| view(&server, id).size.rows).collect();
        (rows.iter().max()? - rows.iter().min()? <= 1 && rows.iter().sum::<u16>() == 48)
            .then_some(())
    });
}

#[test]
fn limits_come_from_the_configuration() {
    let config = "[layout]\nkind = 'horizontal'\nmain_pane_size = 50\nmin_height = 5\nagent_pane_min_width = 20\n";
    let server = Server::start_set(config, &[]);
    session(&server, 80, 24);
    show(&server, "a", "cat");
    show(&server, "b", "cat");
    let shot = get(&server);
    let place = |pane: &Value| [&pane["left"], &pane["top"]].map(|it| it.as_u64().unwrap());
    let panes = shot["panes"].as_array().unwrap();
    assert_eq!(place(&panes[0]), [0, 0]);
    let (a, b) = (place(&panes[1]), place(&panes[2]));
    assert_eq!(a[1], b[1], "side by side, below: {shot}");
    assert!(a[0] < b[0] && 5 < a[1], "{shot}");

    let server =
        Server::start_set("[layout]\nmain_pane_min_width = 40\nagent_pane_min_width = 30\n", &[]);
    session(&server, 80, 24);
    show(&server, "a", "cat");
    assert!(30 <= view(&server, "a").size.cols);
}

#[test]
fn a_pane_that_is_done_makes_room() {
    let server = Server::start();
    session(&server, 160, 30);
    show(&server, "old", "cat");
    show(&server, "new", "cat");
    server.act("pane:new", script("c", "cat"));
    let waits =
        server.act("layout:place", json!({ "paneId": "c", "replace": true, "wait": false }));
    assert_eq!(waits["state"], "hidden", "nobody says that they are done: {waits}");
    let idle = |id: &str| json!({ "paneId": id, "key": "agent.status", "value": "idle" });
    server.act("pane:set-meta", idle("new"));
    let said = server.act("layout:plan", json!({ "panes": ["c"], "replace": true }));
    assert_eq!(said["decisions"][0]["decision"], "replace", "{said}");
    assert_eq!(said["decisions"][0]["victim"], view(&server, "new").id);
    let placed = server.act("layout:place", json!({ "paneId": "c", "replace": true }));
    assert_eq!(placed["state"], "shown");
    assert_eq!(state(&server, "new"), "hidden");
    assert_eq!(server.pane("new")["status"], "running", "its program goes on");
    assert_eq!(state(&server, "old"), "shown");
    assert_eq!(Tmux::of(&server).panes().len(), 3);
}

#[test]
fn a_layout_is_kept_as_toml_and_made_again() {
    let server = Server::start();
    session(&server, 200, 50);
    show(&server, "a", "cat");
    show(&server, "b", "cat");
    for id in ["a", "b"] {
        server.act("pane:rename", json!({ "paneId": id, "title": format!("the {id} \"#(x)\"") }));
    }
    let tmux = Tmux::of(&server);
    tmux.run(&["resize-pane", "-t", &view(&server, "a").id, "-y", "15"]);
    let kept = get(&server);
    let saved = server.act("layout:save", json!({ "name": "mine" }));
    let file = saved["file"].as_str().unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), saved["toml"].as_str().unwrap());
    // Everything is moved; then it is as it was.
    tmux.run(&["swap-pane", "-d", "-s", &view(&server, "a").id, "-t", &view(&server, "b").id]);
    tmux.run(&["select-layout", "-t", &view(&server, "a").id, "even-vertical"]);
    assert_ne!(get(&server)["panes"], kept["panes"]);
    let mut events = server.events("layout:*", None);
    let made = server.act("layout:apply", json!({ "name": "mine" }));
    assert_eq!(made["panes"], kept["panes"]);
    assert_eq!(get(&server)["panes"], kept["panes"]);
    assert_eq!(events.next().name, "layout:changed");
    tmux.run(&["select-layout", "-t", &view(&server, "a").id, "even-horizontal"]);
    server.act("layout:apply", json!({ "toml": saved["toml"] }));
    assert_eq!(get(&server)["panes"], kept["panes"]);

    refused(&server, "layout:apply", json!({ "name": "other" }), Code::NotFound, "layout:save");
    refused(&server, "layout:apply", json!({ "toml": "nonsense" }), Code::Invalid, "cannot parse");
    refused(&server, "layout:apply", json!({}), Code::Invalid, "specify the layout");
    for name in ["../up", "a/b", "", "a.b", "x\n"] {
        refused(&server, "layout:save", json!({ "name": name }), Code::Invalid, "letters");
        refused(&server, "layout:apply", json!({ "name": name }), Code::Invalid, "letters");
    }
    server.act("pane:close", json!({ "paneId": "b" }));
    wait_for("b is gone", || tmux.view("b").is_none().then_some(()));
    let before = get(&server)["layout"].clone();
    refused(&server, "layout:apply", json!({ "name": "mine" }), Code::Conflict, "3 places");
    assert_eq!(get(&server)["layout"], before, "what is refused changes nothing");
}

#[test]
fn a_person_who_makes_the_window_small_gets_it_even() {
    let server = Server::start();
    session(&server, 220, 50);
    show(&server, "a", "cat");
    show(&server, "b", "cat");
    let tmux = Tmux::of(&server);
    tmux.run(&["resize-window", "-t", "main", "-x", "156", "-y", "30"]);
    wait_for("a main pane of 100 columns or more", || {
        let tile = tmux.panes().into_iter().find(|tile| tile.shows != "a" && tile.shows != "b")?;
        (100 <= tile.size.cols && 52 <= tmux.view("a")?.size.cols).then_some(())
    });
    // Too small for anybody: nothing is closed, and nothing breaks.
    tmux.run(&["resize-window", "-t", "main", "-x", "30", "-y", "8"]);
    wait_for("the size is heard", || (get(&server)["size"]["cols"] == 30).then_some(()));
    assert_eq!(tmux.panes().len(), 3);
    for id in ["a", "b"] {
        assert_eq!(server.pane(id)["status"], "running");
    }
}
