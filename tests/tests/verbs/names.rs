//! What a user types for a pane: its id, the beginning of it, or its title.

use paned_e2e::Server;
use serde_json::json;

use super::{script, start, until, until_exit};

/// A server with running panes of these names.
fn with_panes(names: &[&str]) -> Server {
    let server = Server::start();
    names.iter().for_each(|name| start(&server, name, &["cat"]));
    server
}

/// The exit code of a command, and what it printed on standard error.
#[track_caller]
fn fails(server: &Server, args: &[&str]) -> (i32, String) {
    let output = server.command(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_beginning_of_an_id_is_enough_for_every_verb() {
    let server = with_panes(&["web", "db"]);
    server.ok(&["send", "w", "hello"]);
    until(&server, "web", "hello");
    assert_eq!(server.answer(&["get", "w"])["id"], "web");
    assert!(server.ok(&["tail", "w", "-n", "5"]).contains("hello"));
    assert!(server.ok(&["logs", "we"]).contains("hello"));
    assert_eq!(server.ok(&["kill", "w"]), "web killed (SIGTERM)\n");
    assert_eq!(server.ok(&["rm", "w"]), "deleted web\n");
    assert_eq!(server.ok(&["close", "d"]), "closed db\n");
}

#[test]
fn an_exact_id_wins_over_longer_ones() {
    let server = with_panes(&["web", "web-2"]);
    assert_eq!(server.ok(&["kill", "web"]), "web killed (SIGTERM)\n");
    assert_eq!(server.pane("web-2")["status"], "running");
}

#[test]
fn a_title_names_a_pane_but_ends_none() {
    let server = with_panes(&["web", "db"]);
    server.ok(&["rename", "web", "the server"]);
    server.ok(&["send", "the server", "hello"]);
    until(&server, "web", "hello");
    for verb in ["kill", "close", "rm"] {
        let (code, text) = fails(&server, &[verb, "the server"]);
        assert!(code != 0 && text.contains("did you mean `web`?"), "{verb}: {text}");
    }
    assert_eq!(server.pane("web")["status"], "running");
    // Neither a title nor an id; no pane has such a name.
    for args in [&["kill", "the sever"][..], &["send", "no such", "x"], &["wait", "db", "no such"]]
    {
        let (code, text) = fails(&server, args);
        assert!(code == 3 && text.contains("no pane `"), "{args:?}: {text}");
    }
}

#[test]
fn several_panes_of_a_wait_are_named_by_the_beginnings_of_their_ids() {
    let server = with_panes(&["web", "db"]);
    server.ok(&["kill", "web", "db"]);
    assert_eq!(server.ok(&["wait", "we", "d"]).lines().count(), 2);
}

#[test]
fn a_title_that_a_program_sets_is_no_name() {
    let server = Server::start();
    script(&server, "a", "printf '\\033]2;secrets\\007'; echo ready; cat");
    until(&server, "a", "ready");
    let (code, _) = fails(&server, &["send", "secrets", "password"]);
    assert_eq!(code, 3);
}

#[test]
fn what_fits_several_panes_is_a_conflict_that_names_them() {
    let server = with_panes(&["web", "worker"]);
    let (code, text) = fails(&server, &["send", "w", "hello"]);
    assert_eq!(code, 8, "{text}");
    assert!(text.contains("`web` or `worker`"), "{text}");
}

#[test]
fn a_misspelled_name_is_asked_about() {
    let server = with_panes(&["web"]);
    let (code, text) = fails(&server, &["get", "wbe"]);
    assert_eq!((code, text.as_str()), (3, "paned: no pane `wbe`; did you mean `web`?\n"));
    let (code, text) = fails(&server, &["action", "pane:nwe"]);
    assert!(code == 3 && text.contains("did you mean `pane:new`?"), "{code} {text}");
    let (code, text) = fails(&server, &["action", "pane:get", "--pane-id", "we"]);
    assert!(code == 3 && text.contains("did you mean `web`?"), "actions are exact: {text}");
}

#[test]
fn a_token_is_revoked_by_its_label() {
    let server = Server::start();
    server.ok(&["token", "create", "--scope", "read", "--label", "dashboard"]);
    server.ok(&["token", "revoke", "dashboard"]);
    let (code, _) = fails(&server, &["token", "revoke", "dashboard"]);
    assert_eq!(code, 3);
}

#[test]
fn commands_of_other_tools_are_answered_with_ours() {
    let server = Server::start();
    let (code, text) = fails(&server, &["stop"]);
    assert!(code == 2 && text.contains("`paned server stop`"), "{text}");
    let (_, text) = fails(&server, &["attahc", "web"]);
    assert!(text.contains("did you mean `paned attach`?"), "{text}");
    assert_eq!(server.answer(&["ps"]), json!([]));
}

#[test]
fn all_and_tags_choose_panes() {
    let server = Server::start();
    for (id, tag) in [("a", "x"), ("b", "x"), ("c", "y")] {
        server.act("pane:new", json!({ "id": id, "argv": ["cat"], "tags": [tag] }));
    }
    let typed = server.ok(&["send", "--tag", "x", "hello"]);
    assert_eq!(typed, "typed into a\ntyped into b\n");
    until(&server, "b", "hello");
    assert_eq!(server.ok(&["keys", "--to", "a,c", "z", "enter"]), "typed into a\ntyped into c\n");
    until(&server, "c", "z");
    let (code, text) = fails(&server, &["send", "--to", "a,nosuch", "hi"]);
    assert!(code == 3 && text.contains("no pane `nosuch`"), "{text}");
    let killed = server.ok(&["kill", "--tag", "x"]);
    assert_eq!(killed, "a killed (SIGTERM)\nb killed (SIGTERM)\n");
    assert_eq!(server.ok(&["rm", "--all"]), "deleted a\ndeleted b\n");
    assert_eq!(server.ok(&["close", "--all"]), "closed c\n");
    assert_eq!(server.answer(&["ls"]), json!([]));
}

#[test]
fn prune_deletes_what_has_ended_and_nothing_else() {
    let server = with_panes(&["on"]);
    script(&server, "over", "echo 1234567");
    until_exit(&server, "over");
    assert!(server.ok(&["prune", "--older", "1h"]).starts_with("no finished panes"));
    assert!(server.ok(&["prune", "--dry-run"]).contains("would delete over\n"));
    let pruned = server.ok(&["prune"]);
    assert_eq!(pruned, "deleted over\ndeleted 1 pane with 9 B of output\n");
    assert_eq!(server.answer(&["ls"])[0]["id"], "on");
}

#[test]
fn all_leaves_out_the_pane_that_it_is_typed_in() {
    let server = with_panes(&["other"]);
    let paned = paned_e2e::binary().display().to_string();
    script(&server, "own", &format!("{paned} kill --all; echo code=$?; cat"));
    until(&server, "own", "skipped own: this command runs in it");
    until(&server, "own", "code=0");
    assert_eq!(server.pane("other")["status"], "killed");
    assert_eq!(server.pane("own")["status"], "running");
}

#[test]
fn stopping_all_ends_the_programs_and_then_the_server() {
    let server = with_panes(&["a", "b"]);
    let said = server.ok(&["server", "stop", "--all"]);
    assert_eq!(said, "stopped 2 programs and paned\n");
    assert_eq!(server.keepers(), Vec::<u32>::new());
}

#[test]
fn tags_and_meta_are_shown_and_changed() {
    let server = with_panes(&["web"]);
    assert_eq!(server.ok(&["tag", "web", "+server", "new"]), "server new\n");
    assert_eq!(server.ok(&["tag", "web", "-new"]), "server\n");
    assert_eq!(server.answer(&["ls", "--tag", "server"])[0]["id"], "web");
    server.ok(&["meta", "web", "owner=ann", "port=3000"]);
    assert_eq!(server.ok(&["meta", "web", "owner"]), "ann\n");
    assert_eq!(server.answer(&["meta", "web"])["meta"], json!({ "owner": "ann", "port": 3000 }));
    server.ok(&["meta", "web", "--delete", "owner"]);
    let (code, text) = fails(&server, &["meta", "web", "prot"]);
    assert!(code == 3 && text.contains("did you mean `port`?"), "{text}");
}

#[test]
fn an_empty_title_is_refused() {
    let server = with_panes(&["web"]);
    let (code, text) = fails(&server, &["rename", "web", ""]);
    assert!(code == 2 && text.contains("the title is empty"), "{text}");
}

#[test]
fn a_recording_has_the_output_with_its_times_after_the_end() {
    let server = Server::start();
    script(&server, "a", "echo one; read x; echo two");
    until(&server, "a", "one");
    server.ok(&["resize", "a", "100x30"]);
    server.ok(&["send", "a", "go"]);
    until_exit(&server, "a");
    let cast = server.ok(&["record", "a"]);
    let lines: Vec<serde_json::Value> =
        cast.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["width"]), (&json!(2), &json!(80)));
    let printed: String =
        lines[1..].iter().filter(|it| it[1] == "o").filter_map(|it| it[2].as_str()).collect();
    assert!(printed.contains("one\r\n") && printed.contains("two\r\n"), "{cast}");
    assert!(lines.iter().any(|it| it[1] == "r" && it[2] == "100x30"), "{cast}");
    let times: Vec<f64> = lines[1..].iter().filter_map(|it| it[0].as_f64()).collect();
    assert!(times.is_sorted(), "{times:?}");
}
