//! What is there, and what may be adopted.

use std::fs;
use std::os::unix::net::UnixListener;

use paned_e2e::{Server, is_alive};
use serde_json::json;

use super::{Tmux, refused, shows, until};

#[test]
fn every_pane_of_a_server_is_listed_with_whose_it_is() {
    let (server, tmux) = (Server::start(), Tmux::start("exec sleep 1000"));
    let other = tmux.split("exec cat");
    tmux.adopt(&server, "%0", "a");
    let list = server.act("tmux:list", json!({ "tmux": tmux.socket() }));
    let found = list.as_array().unwrap().iter().find(|found| found["pid"] == tmux.pid());
    let found = found.unwrap_or_else(|| panic!("{list:#}"));
    assert_eq!(found["own"], false);
    assert_eq!(found["socket"], json!(tmux.socket().canonicalize().unwrap()));
    let session = &found["sessions"][0];
    assert_eq!((&session["name"], &session["attached"]), (&json!("work"), &json!(0)));
    let window = &session["windows"][0];
    assert_eq!(window["size"], json!({ "cols": 80, "rows": 24 }));
    let panes = &window["panes"];
    assert_eq!((&panes[0]["id"], &panes[0]["paned"]), (&json!("%0"), &json!("a")));
    assert_eq!((&panes[1]["id"], &panes[1]["paned"]), (&json!(other), &json!(null)));
    assert_eq!(panes[0]["pid"], json!(tmux.say("#{pane_pid}").parse::<u32>().unwrap()));
    assert_eq!(panes[0]["dead"], false);
    // Whichever of the two it is at this moment.
    let command = panes[0]["command"].as_str().unwrap();
    assert!(["bash", "sleep"].contains(&command), "{command}");
    assert_eq!((&panes[0]["active"], &panes[1]["active"]), (&json!(true), &json!(false)));
}

#[test]
fn a_socket_where_nobody_listens_is_listed_with_the_reason_and_nothing_is_started() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    let dead = tmux.file("dead.sock");
    drop(UnixListener::bind(&dead).unwrap());
    let list = server.act("tmux:list", json!({ "tmux": dead }));
    let found = list.as_array().unwrap().iter().find(|found| found["socket"] == json!(dead));
    let found = found.unwrap_or_else(|| panic!("{list:#}"));
    assert!(found["error"].as_str().unwrap().starts_with("no server: "), "{found}");
    assert_eq!(found["sessions"], json!([]));
    let none = tmux.file("none.sock");
    server.act("tmux:list", json!({ "tmux": none }));
    assert!(!none.exists());
    let adopt = json!({ "tmux": none, "pane": "%0" });
    assert_eq!(refused(&server, "pane:adopt", adopt).0, "unavailable");
}

#[test]
fn what_a_person_sees_is_there_at_once_and_in_the_log() {
    let (server, tmux) = (
        Server::start(),
        Tmux::start(
            "seq -f 'line %g' 50; printf 'red: \\e[31mx\\e[m\\n> '; tmux wait-for -S up; exec cat",
        ),
    );
    tmux.wait("up");
    let pane = tmux.adopt(&server, "%0", "a");
    assert_eq!((&pane["substrate"], &pane["guarantee"]), (&json!("tmux"), &json!("best_effort")));
    assert_eq!(pane["adopted"]["pane"], "%0");
    assert_eq!(pane["adopted"]["socket"], json!(tmux.socket().canonicalize().unwrap()));
    assert_eq!(pane["size"], json!({ "cols": 80, "rows": 24 }));
    assert_eq!(pane["pid"], json!(tmux.say("#{pane_pid}").parse::<u32>().unwrap()));
    assert!(pane["argv"][0].as_str().unwrap().contains("bash"), "{pane}");
    let seen = shows(&server, "a", |_| true);
    assert_eq!(seen[..], tmux.screen()[..], "as tmux shows it");
    let cursor = server.act("pane:screen", json!({ "paneId": "a" }))["cursor"].clone();
    assert_eq!(json!([cursor["col"], cursor["row"]]), json!([2, 23]), "{cursor}");
    let hit = server.act("pane:search", json!({ "panes": ["a"], "pattern": "^line 1$" }));
    assert_eq!(hit["hits"].as_array().unwrap().len(), 1, "{hit}");
    server.act("pane:write", json!({ "paneId": "a", "text": "typed\n" }));
    until(&server, "a", "^> typed$");
}

#[test]
fn what_cannot_be_adopted_is_refused_and_left_alone() {
    let (server, tmux) = (Server::start(), Tmux::start("exec cat"));
    tmux.act(&["set-option", "-g", "remain-on-exit", "on"]);
    let ended = tmux.split("tmux wait-for -S ended");
    tmux.wait("ended");
    let piped = tmux.split("while read -r line; do echo \"$line\"; done");
    let file = tmux.file("piped");
    let (kept, socket) = (file.display(), tmux.socket());
    let said = format!("tmux -S {} wait-for -S piped", socket.display());
    // Said once: a word that is said twice before anybody waits is taken back.
    let theirs = format!("read -r line; echo \"$line\" >> {kept}; {said}; exec cat");
    tmux.act(&["pipe-pane", "-O", "-t", &piped, &theirs]);
    tmux.adopt(&server, "%0", "a");
    let check = |pane: &str, code: &str, words: &str| {
        let adopt = json!({ "tmux": tmux.socket(), "pane": pane });
        let (found, sentence) = refused(&server, "pane:adopt", adopt);
        assert_eq!(found, code, "{sentence}");
        assert!(sentence.contains(words), "{sentence}");
    };
    check("%0", "conflict", "already adopted as pane `a`");
    check("%77", "not_found", "no tmux pane `%77`");
    check("work", "invalid", "such as `%3`");
    check(&ended, "gone", "has exited");
    check(&piped, "conflict", "already has a `pipe-pane`");
    let taken = json!({ "tmux": tmux.socket(), "pane": "%0", "id": "a" });
    assert_eq!(refused(&server, "pane:adopt", taken).0, "conflict");
    // Their pipe is as it was.
    assert_eq!(tmux.say_of(&piped, "#{pane_pipe}"), "1");
    tmux.act(&["send-keys", "-t", &piped, "still here", "Enter"]);
    tmux.wait("piped");
    assert!(fs::read_to_string(file).unwrap().contains("still here"));
    assert_eq!(server.act("pane:list", json!({})).as_array().unwrap().len(), 1);
}

#[test]
fn a_pane_that_shows_one_of_ours_is_not_adopted_as_another() {
    let server = Server::start();
    let argv = ["sleep", "1000"];
    server.act("pane:new", json!({ "id": "a", "argv": argv, "visible": "always" }));
    let list = server.act("tmux:list", json!({}));
    let own = list.as_array().unwrap().iter().find(|found| found["own"] == true).unwrap();
    let panes = own["sessions"][0]["windows"][0]["panes"].as_array().unwrap();
    let shown = panes.iter().find(|pane| pane["paned"] == "a").unwrap_or_else(|| panic!("{own:#}"));
    let adopt = json!({ "tmux": own["socket"], "pane": shown["id"] });
    let (code, sentence) = refused(&server, "pane:adopt", adopt);
    assert_eq!(code, "conflict");
    assert!(sentence.contains("already shows pane `a`"), "{sentence}");
    let pid = u32::try_from(own["pid"].as_u64().unwrap()).unwrap();
    assert!(is_alive(pid));
    paned_e2e::kill9(pid);
}
