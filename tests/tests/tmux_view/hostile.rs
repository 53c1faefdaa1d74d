//! Text that tries to be more than text: as titles, folders, arguments, input, names. Nothing of it
//! runs, and all of it is shown.

use std::fs;
use std::path::Path;

use paned_e2e::{AttachedTmuxClient, Server, Tmux, wait_for};
use paned_model::Code;
use serde_json::json;

use super::*;

/// Every text in which `MARK` is a file that must never be there.
const TEXTS: &str = include_str!("../../data/hostile.json");

fn texts(mark: &Path) -> impl Iterator<Item = String> {
    let mark = mark.to_str().unwrap().to_owned();
    let texts: Vec<String> = serde_json::from_str(TEXTS).unwrap();
    texts.into_iter().map(move |text| text.replace("MARK", &mark))
}

/// A server with a tmux client attached to a session whose main pane runs `cat`, and a folder for
/// marker files.
fn server_with_client() -> (Server, AttachedTmuxClient, tempfile::TempDir) {
    let server = Server::start();
    show(&server, "main", "cat");
    let person =
        AttachedTmuxClient::attach(&Tmux::of(&server), "main", Size { cols: 220, rows: 51 });
    wait_for("a person", || {
        (server.act("session:list", json!({}))[0]["attached"] == 1).then_some(())
    });
    (server, person, tempfile::tempdir().unwrap())
}

/// Nothing has run, where something that may run does.
#[track_caller]
fn check_unmarked(server: &Server, folder: &Path) {
    let control = folder.join("control");
    let format = format!("#(touch {})", control.display());
    let tmux = Tmux::of(server);
    tmux.run(&["set-option", "-g", "status-left", &format]);
    wait_for("a job of the status line", || control.exists().then_some(()));
    tmux.run(&["run-shell", "true"]);
    assert!(!folder.join("mark").exists(), "something has run");
    assert_eq!(server.act("session:list", json!({})).as_array().unwrap().len(), 1);
}

#[test]
fn there_are_enough_of_them() {
    assert!(60 <= texts(Path::new("/")).count());
}

#[test]
fn titles_are_only_shown() {
    let (server, person, folder) = server_with_client();
    let tmux = Tmux::of(&server);
    for text in texts(&folder.path().join("mark")) {
        let renamed = server.try_act("pane:rename", json!({ "paneId": "main", "title": text }));
        match renamed {
            Err(refusal) => {
                let is_blank = text.trim().is_empty();
                assert!(is_blank || text.contains(char::is_control), "{text:?}: {refusal:?}");
                assert_eq!(refusal.code, Code::Invalid);
            }
            Ok(pane) => {
                assert_eq!(pane["title"], text);
                // What tmux makes of it is its own affair, except that nothing is expanded.
                let has = |title: &str| !text.contains("#{pid}") || title.contains("{pid}");
                wait_for(&text, || has(&view(&server, "main").title).then_some(()));
            }
        }
    }
    server.act("pane:rename", json!({ "paneId": "main", "title": "over" }));
    wait_for("over", || (tmux.view("main")?.title == "over").then_some(()));
    person.wait_for_text("over");
    check_unmarked(&server, folder.path());
}

#[test]
fn folders_arguments_and_what_programs_say_are_only_text() {
    let (server, _person, folder) = server_with_client();
    for (number, text) in texts(&folder.path().join("mark")).enumerate() {
        let id = format!("p{number}");
        let cwd = folder.path().join(format!("cwd/x{text}"));
        fs::create_dir_all(&cwd).unwrap();
        let script = "pwd; printf '\\033]2;%s\\007\\033k%s\\033\\\\' \"$1\" \"$1\"; printf '<%s>' \"$1\"; read x";
        let params = json!({
            "id": id, "argv": ["bash", "--norc", "-c", script, "-", text], "cwd": cwd, "substrate": "tmux",
            "meta": { "note": text }, "tags": [text],
        });
        server.act("pane:new", params);
        // The one before may still be on its way out.
        until_state(&server, &id, "shown");
        let (pwd, said) = (format!("{}\n", cwd.display()), format!("<{text}>"));
        let cooked = |text: &str| text.replace('\n', "\r\n");
        wait_for(&text, || {
            let printed = server.text(&id);
            (printed.starts_with(&cooked(&pwd)) && printed.ends_with(&cooked(&said))).then_some(())
        });
        server.act("pane:close", json!({ "paneId": id }));
    }
    check_unmarked(&server, folder.path());
}

#[test]
fn input_comes_through_byte_for_byte() {
    let (server, person, folder) = server_with_client();
    show(&server, "raw", "stty raw -echo; echo ready; cat");
    until(&server, "raw", "ready");
    server.act("pane:activate", json!({ "paneId": "raw" }));
    let grows = |text: &[u8]| {
        wait_for(&text.escape_ascii().to_string(), || {
            server.printed("raw").ends_with(text).then_some(())
        });
    };
    for text in texts(&folder.path().join("mark")) {
        server.act("pane:write", json!({ "paneId": "raw", "text": text }));
        grows(text.as_bytes());
        if !text.contains(char::is_control) {
            person.types(&format!("{text}|"));
            grows(format!("{text}|").as_bytes());
        }
    }
    // Bytes that are no text: 0xFF, a newline, a semicolon, a NUL.
    server.act("pane:write", json!({ "paneId": "raw", "base64": "/wo7AP8=" }));
    grows(b"\xff\n;\0\xff");
    check_unmarked(&server, folder.path());
}

#[test]
fn names_are_names_or_refused() {
    let (server, _person, folder) = server_with_client();
    let is_plain =
        |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    for text in texts(&folder.path().join("mark")).filter(|text| !is_plain(text)) {
        refused(&server, "session:start", json!({ "name": text }), Code::Invalid, "session");
        refused(&server, "session:stop", json!({ "name": text }), Code::Invalid, "session");
        refused(&server, "pane:new", in_session(&text, "a", "cat"), Code::Invalid, "session");
        refused(&server, "layout:get", json!({ "session": text }), Code::Invalid, "session");
        refused(&server, "layout:save", json!({ "name": text }), Code::Invalid, "letters");
        let id = with(shown("a", "cat"), "id", json!(text));
        assert_eq!(server.try_act("pane:new", id).unwrap_err().code, Code::Invalid, "{text:?}");
        let beside = json!({ "paneId": "main", "beside": text, "tmux": "/x" });
        let code = server.try_act("layout:place", beside).unwrap_err().code;
        let is_pane = text.strip_prefix('%').is_some_and(|it| it.parse::<u32>().is_ok());
        assert_eq!(code, if is_pane { Code::Unavailable } else { Code::Invalid }, "{text:?}");
    }
    assert_eq!(server.act("pane:list", json!({})).as_array().unwrap().len(), 1);
    check_unmarked(&server, folder.path());
}

#[test]
fn a_state_folder_may_be_called_anything() {
    let server = Server::start_in("a b;#(exit)'\"$HOME\\{x}%-");
    let tile = show(&server, "a", "echo here; cat");
    until_screen(&Tmux::of(&server), &tile.id, "here");
    server.act("session:stop", json!({}));
    until_no_tmux(&server);
}
