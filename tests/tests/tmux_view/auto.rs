//! `visible: auto`: what needs somebody's eyes is shown, by our rules and the user's.

use paned_e2e::{Server, Tmux};
use serde_json::json;

#[track_caller]
fn check(server: &Server, argv: &[&str], expect: bool) {
    let made = server.act("pane:new", json!({ "argv": argv, "visible": "auto" }));
    assert_eq!(made["view"]["state"] == "shown", expect, "{argv:?}: {made}");
    let id = made["id"].as_str().unwrap();
    assert_eq!(Tmux::of(server).view(id).is_some(), expect, "{argv:?}");
    server.act("pane:close", json!({ "paneId": id }));
}

#[test]
fn an_editor_is_shown_and_a_listing_is_not() {
    let server = Server::start();
    check(&server, &["vim", "-u", "NONE"], true);
    check(&server, &["ls", "/"], false);
    check(&server, &["sleep", "100"], false);
    check(&server, &["bash", "-c", "vim -u NONE"], true);
    let made = server.act("pane:new", json!({ "argv": ["sleep", "100"], "visible": "always" }));
    assert_eq!(made["view"]["session"], "main");
    let made = server.act("pane:new", json!({ "argv": ["vim", "-u", "NONE"], "visible": "never" }));
    assert_eq!(made.get("view"), None);
}

#[test]
fn the_users_rules_come_first() {
    let config = "[interactive]\nvisible = [\"sleep 100\"]\nplain = [\"vim\"]\n";
    let server = Server::start_set(config, &[]);
    check(&server, &["sleep", "100"], true);
    check(&server, &["sleep", "101"], false);
    check(&server, &["vim", "-u", "NONE"], false);
}
