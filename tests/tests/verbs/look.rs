//! Looking at a pane: read, logs, tail, search, wait, screen.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use paned_e2e::{Server, decode_output};
use paned_model::Size;
use serde_json::{Value, json};

use super::term::Term;
use super::{script, start, until, until_exit};

#[test]
fn lines_are_read_by_place_and_by_pattern() {
    let server = Server::start();
    start(&server, "a", &["seq", "0", "99"]);
    until_exit(&server, "a");
    assert_eq!(server.ok(&["read", "a", "--tail", "2"]), "98\n99\n");
    assert_eq!(server.ok(&["read", "a", "--offset", "10", "--limit", "2", "-n"]), "10:10\n11:11\n");
    let near = ["read", "a", "--pattern", "^[25]0$", "-B", "1", "-A1", "-n"];
    assert_eq!(server.ok(&near), "19-19\n20:20\n21-21\n--\n49-49\n50:50\n51-51\n");
    let (out, err, _) = decode_output(&server.cli(&["read", "a", "--limit", "3"]));
    let next = err.split("--since ").nth(1).unwrap().split('`').next().unwrap().to_owned();
    assert_eq!(out, "0\n1\n2\n");
    assert!(server.ok(&["read", "a", "--since", &next]).starts_with("3\n4\n"));
    assert_eq!(server.answer(&["read", "a", "--tail", "1"])["lines"][0]["text"], "99");
}

#[test]
fn logs_are_everything_however_much_that_is() {
    let server = Server::start();
    start(&server, "a", &["seq", "25000"]);
    until_exit(&server, "a");
    let lines: Vec<_> = server.ok(&["logs", "a"]).lines().map(str::to_owned).collect();
    assert_eq!(lines, (1..=25_000).map(|n: u32| n.to_string()).collect::<Vec<_>>());
    let last = server.ok(&["logs", "a", "--json"]).lines().last().unwrap().to_owned();
    assert_eq!(serde_json::from_str::<Value>(&last).unwrap()["n"], 24_999);
}

#[test]
fn raw_is_every_byte_and_a_terminal_obeys_none_of_them() {
    let server = Server::start();
    let evil = "a\u{1b}]0;owned\u{7}\u{1b}[31mred\r\n";
    start(&server, "a", &["printf", "%b", "a\\033]0;owned\\007\\033[31mred\\n"]);
    until_exit(&server, "a");
    assert_eq!(server.ok(&["read", "a", "--view", "raw"]), evil);
    assert_eq!(server.ok(&["read", "a"]), "ared\n");
    let mut safe = Term::paned(&server, &["read", "a", "--view", "raw"], Size::default());
    assert_eq!(safe.until("\r\n"), "a\\x1b]0;owned\\x07\\x1b[31mred");
    let args = ["read", "a", "--view", "raw", "--raw"];
    Term::paned(&server, &args, Size::default()).until("\u{1b}]0;owned\u{7}");
}

#[test]
fn tail_shows_the_last_lines_and_follows_to_the_end() {
    let server = Server::start();
    script(&server, "a", "seq 20; read x; echo got $x; printf 'no end'");
    until(&server, "a", "^20$");
    assert_eq!(server.ok(&["tail", "a", "-n", "2"]), "19\n20\n");
    let mut tail = server.command(&["tail", "-f", "-n", "1", "a"]);
    let mut tail = tail.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "20");
    server.ok(&["send", "a", "it"]);
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert_eq!(rest, ["it", "got it", "no end"]);
    let (_, err, code) = decode_output(&tail.wait_with_output().unwrap());
    assert!(code == 0 && err.contains("a has exited (exit code 0)"), "{err}");
}

#[test]
fn following_goes_on_when_the_server_comes_back() {
    let mut server = Server::start();
    script(&server, "a", "echo one; read x; echo two");
    let mut tail = server.command(&["tail", "-f", "a"]);
    let mut tail = tail.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "one");
    server.kill();
    server.start_again();
    server.ok(&["keys", "a", "enter"]);
    let rest: Vec<_> = lines.map(Result::unwrap).collect();
    assert_eq!(rest, ["", "two"]);
    assert!(tail.wait().unwrap().success());
}

#[test]
fn several_panes_are_told_apart() {
    let server = Server::start();
    start(&server, "a", &["echo", "from a"]);
    start(&server, "b", &["echo", "from b"]);
    let mut lines: Vec<_> =
        server.ok(&["tail", "-f", "a", "b"]).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["a | from a", "b | from b"]);
    assert_eq!(server.ok(&["tail", "a", "b"]), "a | from a\nb | from b\n");
    let line = server.answer(&["tail", "-f", "a"]);
    assert_eq!(line, json!({ "paneId": "a", "text": "from a" }));
    let (_, err, code) = decode_output(&server.cli(&["tail", "-f", "nobody", "a"]));
    assert!(code == 3 && err.contains("nobody"), "{err}");
}

#[test]
fn a_search_names_pane_and_line_and_finding_nothing_is_exit_code_1() {
    let server = Server::start();
    start(&server, "a", &["printf", "one\ntwo Needle\n"]);
    start(&server, "b", &["printf", "needle\n"]);
    until_exit(&server, "a");
    until_exit(&server, "b");
    let mut hits: Vec<_> =
        server.ok(&["search", "-i", "NEEDLE"]).lines().map(str::to_owned).collect();
    hits.sort();
    assert_eq!(hits, ["a:1:two Needle", "b:0:needle"]);
    assert_eq!(server.ok(&["search", "needle", "--pane", "b"]), "b:0:needle\n");
    let (out, err, code) = decode_output(&server.cli(&["search", "hay"]));
    assert!(out.is_empty() && code == 1 && err.contains("no match in 2 panes"), "{err}");
    assert_eq!(decode_output(&server.cli(&["search", "-q", "hay"])).1, "");
    let (_, err, code) = decode_output(&server.cli(&["search", "a(b"]));
    assert!(code == 2 && err.ends_with("\n  a(b\n   ^\n"), "{err}");
}

#[test]
fn a_wait_says_what_came_and_its_exit_code_says_whether_it_did() {
    let server = Server::start();
    script(&server, "a", "echo ready; read x; echo failed; read y; exit 4");
    assert_eq!(server.ok(&["wait", "a", "--pattern", "read."]), "ready\n");
    assert_eq!(server.ok(&["wait", "a", "--quiet", "50ms"]), "ready\n");
    let now = ["wait", "a", "--pattern", "ready", "--since", "now", "--timeout", "50ms"];
    let (_, err, code) = decode_output(&server.cli(&now));
    assert!(code == 12 && err.starts_with("paned: timed out after 50ms\n"), "{err}");
    assert!(err.contains("nothing was printed") && err.contains("pass --since 0"), "{err}");
    server.ok(&["keys", "a", "enter"]);
    let stop = ["wait", "a", "--pattern", "never", "--stop", "fail"];
    let (out, _, code) = decode_output(&server.cli(&stop));
    assert_eq!((out.as_str(), code), ("failed\n", 8));
    server.ok(&["keys", "a", "enter"]);
    assert_eq!(server.ok(&["wait", "a"]), "exited 4\n");
    let (_, err, code) = decode_output(&server.cli(&["wait", "a", "--pattern", "never"]));
    assert!(code == 10 && err.contains("exited first"), "{err}");
}

#[test]
fn a_screen_is_rows_colours_or_a_picture() {
    let server = Server::start();
    let tui = "printf '\\033[?1049h\\033[2J\\033[3;5H\\033[31mmenu\\033[0m'; read x";
    script(&server, "a", tui);
    let shown = server.act("pane:wait", json!({ "paneId": "a", "quietMs": 100, "since": 0 }));
    assert_eq!(shown["met"], "quiet");
    assert_eq!(server.ok(&["screen", "a"]).lines().nth(2), Some("    menu"));
    assert!(server.ok(&["screen", "a", "--format", "ansi"]).contains("\u{1b}["));
    assert_eq!(server.answer(&["screen", "a"])["modes"]["alternateScreen"], true);
    let file = server.state().with_file_name("a.png");
    server.ok(&["screen", "a", "-o", file.to_str().unwrap()]);
    assert!(std::fs::read(file).unwrap().starts_with(b"\x89PNG"));
    assert!(server.ok(&["screen", "a", "--format", "svg"]).starts_with("<svg"));
}

#[test]
fn a_screen_in_a_terminal_turns_no_text_around() {
    let server = Server::start();
    script(&server, "a", "printf '\\033[31mred\\033[0m \\342\\200\\256txt'; read x");
    until(&server, "a", "txt");
    for format in ["ansi", "text"] {
        let args = ["screen", "a", "--format", format];
        let mut safe = Term::paned(&server, &args, Size::default());
        assert!(!safe.until("txt").contains('\u{202e}'), "{format}");
        let args = ["screen", "a", "--raw", "--format", format];
        Term::paned(&server, &args, Size::default()).until("\u{202e}txt");
    }
    assert!(server.ok(&["screen", "a"]).contains("\u{202e}txt"));
}

#[test]
fn bytes_and_what_scrolled_off_can_be_had_as_they_are() {
    let server = Server::start();
    start(&server, "a", &["printf", "one\\n\\033[31mtwo\\033[0m\\nthree"]);
    until_exit(&server, "a");
    assert_eq!(server.ok(&["logs", "a", "--raw"]), "one\r\n\u{1b}[31mtwo\u{1b}[0m\r\nthree");
    assert_eq!(server.ok(&["tail", "a", "--raw", "-n", "2"]), "\u{1b}[31mtwo\u{1b}[0m\r\nthree");
    start(&server, "b", &["seq", "100"]);
    until_exit(&server, "b");
    let shown = server.ok(&["screen", "b", "--history", "10"]);
    assert_eq!(shown.lines().next(), Some("68"), "{shown}");
    assert_eq!(shown.lines().last(), Some("100"));
    let (_, err, code) = decode_output(&server.cli(&["screen", "b", "-o", "b.bmp"]));
    assert!(code == 2 && err.contains("`bmp`"), "{err}");
}

#[test]
fn a_wait_may_be_for_the_screen_and_says_why_it_stopped() {
    let server = Server::start();
    script(&server, "a", "echo ready; read x; echo failed; read y");
    until(&server, "a", "ready");
    let revision = server.answer(&["screen", "a"])["revision"].to_string();
    server.ok(&["send", "a", "go"]);
    server.ok(&["wait", "a", "--screen-change-since", &revision]);
    let stop = ["wait", "a", "--pattern", "never", "--stop", "fail"];
    let (out, err, code) = decode_output(&server.cli(&stop));
    assert_eq!((out.as_str(), code), ("failed\n", 8));
    assert!(err.contains("--stop"), "{err}");
}
