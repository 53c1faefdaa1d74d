//! What people see: tables, output and events in terminals of 80 and 50 columns.

use paned_e2e::{Server, decode_output};
use paned_model::Size;
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::term::Term;
use super::{script, start, until, until_exit};

const LONG_TITLE: &str =
    "漢字 タイトル 🦀🦀 a title that is much longer than any terminal that people use";

fn term(server: &Server, args: &[&str], cols: u16) -> Term {
    Term::paned(server, args, Size { cols, rows: 24 })
}

/// The text without colours.
fn plain(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    let rest =
        pieces.map(|piece| piece.split_once(|c: char| c.is_alphabetic()).map_or("", |it| it.1));
    first + &rest.collect::<String>()
}

/// Panes of every kind, with long names.
fn crowd() -> Server {
    let server = Server::start();
    let long = "build-frontend-development-server-01";
    server.act("pane:new", json!({ "id": long, "title": LONG_TITLE, "argv": ["sleep", "1000"] }));
    script(&server, "bad", &format!("echo {}; exit 3", "an error in a long line ".repeat(9)));
    script(&server, "killed", "sleep 1000");
    until_exit(&server, "bad");
    server.ok(&["kill", "killed"]);
    let label = "a label that is a whole sentence, so that it has to be cut somewhere";
    server.ok(&["token", "create", "--scope", "read", "--scope", "input", "--label", label]);
    server
}

#[test]
fn no_row_of_a_table_is_wider_than_the_terminal() {
    let server = crowd();
    let tables = [
        &["ls"][..],
        &["ls", "-a"],
        &["agent", "profiles"],
        &["token", "ls", "-a"],
        &["list"],
        &["events", "--since", "0", "--no-follow"],
    ];
    for (table, cols) in tables.iter().flat_map(|table| [(table, 80), (table, 50)]) {
        let shown = plain(&term(&server, table, cols).output());
        assert!(1 < shown.lines().count(), "{table:?}: {shown}");
        // Notes are wrapped by the terminal.
        for line in shown.lines().filter(|line| !line.starts_with("your own profiles are in")) {
            assert!(line.width() <= usize::from(cols), "{table:?} in {cols}: {line}");
        }
    }
    let shown = plain(&term(&server, &["ls"], 50).output());
    assert!(shown.starts_with("ID") && shown.contains('…') && shown.contains("STATUS"), "{shown}");
    // Neither a pipe nor a wide table is cut.
    assert!(server.ok(&["ls"]).contains(LONG_TITLE));
    assert!(plain(&term(&server, &["ls", "--wide"], 50).output()).contains("COMMAND"));
    assert!(plain(&term(&server, &["ls", "-o", "wide"], 50).output()).contains("COMMAND"));
}

#[test]
fn running_panes_are_listed_first_and_failures_are_red() {
    let server = crowd();
    let table = server.ok(&["ls"]);
    let ids: Vec<_> = table.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(ids, ["build-frontend-development-server-01", "killed", "bad"]);
    assert!(table.contains("exited 3  ") && table.contains(" ago"), "{table}");
    assert_eq!(server.ok(&["ls", "-q", "--status", "exited"]), "bad\n");
    let shown = term(&server, &["ls"], 80).output();
    assert!(shown.contains("\u{1b}[31mexited 3") && shown.contains("\u{1b}[31mkilled"), "{shown}");
    let (_, err, code) = decode_output(&server.cli(&["ls", "--status", "runing"]));
    assert!(code == 2 && err.contains("[possible values: starting, running,"), "{err}");
}

#[test]
fn a_live_list_shows_what_is_new() {
    let server = Server::start();
    start(&server, "one", &["sleep", "1000"]);
    let mut live = term(&server, &["ls", "--watch"], 50);
    live.until("one");
    start(&server, "two", &["sleep", "1000"]);
    live.until("two");
}

#[test]
fn tokens_of_panes_are_not_listed() {
    let server = crowd();
    let listed = server.ok(&["token", "ls"]);
    assert!(listed.contains("a whole sentence") && !listed.contains("pane bad"), "{listed}");
    assert!(server.ok(&["token", "ls", "-a"]).contains("pane bad"));
    let shown = plain(&term(&server, &["token", "ls"], 80).output());
    assert!(shown.contains("3 tokens of panes not listed"), "{shown}");
}

#[test]
fn colour_is_a_choice() {
    let server = crowd();
    assert!(!server.ok(&["ls"]).contains('\u{1b}'));
    assert!(server.ok(&["ls", "--color", "always"]).contains("\u{1b}[31mexited 3"));
    assert!(!term(&server, &["ls", "--color=never"], 80).output().contains("\u{1b}[31m"));
    let forced = server.command(&["ls"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(decode_output(&forced).0.contains("\u{1b}[31m"));
}

#[test]
fn a_terminal_shows_the_colours_of_programs_and_nothing_else_of_them() {
    let server = Server::start();
    start(&server, "a", &["printf", "\\033[31mred\\033]0;owned\\007 \\033[2Jtext\\n"]);
    until_exit(&server, "a");
    let shown = term(&server, &["logs", "a"], 80).output();
    assert!(shown.contains("\u{1b}[0;31m") && plain(&shown).contains("text"), "{shown:?}");
    assert!(!shown.contains("owned") && !shown.contains("2J"), "{shown:?}");
    assert!(!server.ok(&["logs", "a"]).contains('\u{1b}'));
    assert!(server.ok(&["logs", "a", "--color", "always"]).contains("\u{1b}[0;31m"));
}

#[test]
fn logs_follow_and_begin_where_they_are_asked_to() {
    let server = Server::start();
    script(&server, "a", "seq 20; read x; echo got $x");
    until(&server, "a", "^20$");
    assert_eq!(server.ok(&["logs", "-n", "2", "a"]), "19\n20\n");
    assert_eq!(server.ok(&["tail", "-2", "a"]), "19\n20\n");
    assert_eq!(server.ok(&["logs", "-3", "a"]), "18\n19\n20\n");
    assert_eq!(server.ok(&["logs", "--since", "1h", "a"]).lines().count(), 20);
    assert_eq!(server.ok(&["logs", "--since", "0", "a"]), "");
    assert_eq!(server.ok(&["logs", "-n1", "--line-numbers", "a"]), "19:20\n");
    let mut follow = term(&server, &["logs", "-f", "-n", "1", "a"], 80);
    follow.until("20");
    server.ok(&["send", "a", "it"]);
    follow.until("got it");
    follow.until("a has exited (exit code 0)");
    let dated = server.ok(&["logs", "-n1", "--timestamps", "a"]);
    let (stamp, text) = dated.trim_end().split_once(" got").unwrap();
    assert!(text == " it" && stamp.len() == "2026-11-18 21:03:11.250".len(), "{dated}");
    let json = server.answer(&["logs", "-n1", "-t", "a"]);
    assert!(json["time"].as_str().unwrap().ends_with('Z') && json["n"] == 21, "{json}");
}

#[test]
fn several_panes_stand_behind_aligned_names_of_different_colours() {
    let server = Server::start();
    start(&server, "web", &["echo", "one"]);
    start(&server, "worker", &["echo", "two"]);
    until_exit(&server, "web");
    until_exit(&server, "worker");
    assert_eq!(server.ok(&["logs", "web", "worker"]), "web    | one\nworker | two\n");
    let shown = term(&server, &["tail", "-f", "web", "worker"], 80).output();
    assert!(shown.contains("\u{1b}[36mweb    | \u{1b}[0mone"), "{shown:?}");
    assert!(shown.contains("\u{1b}[33mworker | \u{1b}[0mtwo"), "{shown:?}");
}

#[test]
fn matches_are_highlighted_below_their_pane_oldest_first() {
    let server = Server::start();
    start(&server, "a", &["printf", "one\\nan error\\nthree\\nfour\\nerror again\\n"]);
    until_exit(&server, "a");
    assert_eq!(server.ok(&["search", "error"]), "a:1:an error\na:4:error again\n");
    let around = server.ok(&["search", "an error", "-B1", "-A1"]);
    assert_eq!(around, "a-0-one\na:1:an error\na-2-three\n");
    assert_eq!(server.ok(&["search", "error", "-c"]), "a:2\n");
    let shown = term(&server, &["search", "error"], 80).output();
    assert!(shown.contains("an \u{1b}[1;31merror\u{1b}[0m"), "{shown:?}");
    assert_eq!(plain(&shown), "a\r\n1:an error\r\n4:error again\r\n");
}

#[test]
fn events_are_one_short_line_each_on_a_terminal() {
    let server = crowd();
    let args = ["events", "--include", "pane:*", "--since", "0", "--no-follow"];
    let shown = plain(&term(&server, &args, 80).output());
    let exit = shown.lines().find(|line| line.contains("pane:exited")).unwrap();
    assert!(exit.contains(" bad ") && exit.contains("exit 3") && !exit.contains('{'), "{exit}");
    let piped = server.ok(&["events", "--include", "pane:exited", "--no-follow"]);
    assert!(piped.starts_with('#') && piped.contains("\"exitCode\":3"), "{piped}");
    let mut live = term(&server, &["events"], 80);
    live.until("ctrl+c stops");
}

#[test]
fn times_are_in_the_zone_of_the_user() {
    let server = crowd();
    let created = |zone: &str| {
        let output = server.command(&["get", "bad"]).env("TZ", zone).output().unwrap();
        let text = decode_output(&output).0;
        text.lines().find(|line| line.starts_with("created")).unwrap().to_owned()
    };
    assert!(created("UTC").contains(" ago)"));
    assert_ne!(created("UTC")[..22], created("<+05>-5")[..22]);
    assert!(created("No/Such/Zone").contains(" UTC ("), "{}", created("No/Such/Zone"));
    assert!(server.ok(&["get", "bad"]).contains("1 line, "));
}

#[test]
fn the_doctor_knows_tmux_and_the_configuration() {
    let server = Server::start();
    let report = server.ok(&["doctor"]);
    assert!(report.contains("tmux") && report.contains("config "), "{report}");
    let file = server.state().with_file_name("broken.toml");
    std::fs::write(&file, "prot = 1\n").unwrap();
    let output = server.cli(&["doctor", "--config", file.to_str().unwrap()]);
    let (out, _, code) = decode_output(&output);
    assert!(code == 1 && out.contains("unknown key `prot`"), "{out}");
}
