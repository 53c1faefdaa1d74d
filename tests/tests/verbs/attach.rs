//! `paned attach`: a pane as one's own terminal.

use std::fs;

use paned_e2e::{Server, binary, children_of, decode_output, is_alive, wait_for};
use paned_model::Size;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::term::Term;
use super::{SIZES, script, start, until, until_exit};

pub(super) const DETACH: &str = "\u{1d}";

pub(super) fn attach(server: &Server, args: &[&str]) -> Term {
    let args: Vec<&str> = ["attach"].iter().chain(args).copied().collect();
    Term::paned(server, &args, Size { cols: 90, rows: 30 })
}

#[test]
fn one_sees_what_was_there_and_types_into_it() {
    let server = Server::start();
    script(&server, "a", "printf '\\033[32mbefore\\033[0m\\n'; cat");
    until(&server, "a", "before");
    let mut term = attach(&server, &["a"]);
    term.until("before");
    term.type_in("hello\r");
    term.until("hello\r\nhello\r\n");
    assert_eq!(server.tape("a").size(), Size { cols: 90, rows: 30 });
    term.type_in(DETACH);
    term.until("detached from a");
    assert_eq!(term.end(), 0);
    assert_eq!(server.pane("a")["status"], "running");
}

#[test]
fn a_full_screen_is_drawn_and_left() {
    let server = Server::start();
    script(
        &server,
        "a",
        "echo shell; printf '\\033[?1049h\\033[2J\\033[5;7Hmenu\\033[?1000h'; read x",
    );
    until(&server, "a", "menu");
    let mut term = attach(&server, &["a"]);
    term.until("\u{1b}[?1049h");
    let shown = term.until("\u{1b}[?1000h");
    assert!(shown.contains("menu") && !shown.contains("shell"), "{shown:?}");
    term.type_in(DETACH);
    term.until("\u{1b}[?1049l");
    term.until("\u{1b}[?1000l");
    assert_eq!(term.end(), 0);
}

#[test]
fn the_text_of_the_terminal_is_back_after_a_visit() {
    let server = Server::start();
    script(
        &server,
        "a",
        "echo primary; read x; printf '\\033[?1049h\\033[2J\\033[3;3Hmenu'; read x; \
         printf '\\033[?1049l'; echo again; cat",
    );
    until(&server, "a", "primary");
    // A shell in a pane is the terminal of this user, whose screen is looked at.
    let visit = format!("echo before; {} attach a; echo after; cat", binary().display());
    let argv = ["/bin/sh", "-c", &visit];
    server.act("pane:new", json!({ "id": "b", "argv": argv }));
    let rows = |text: &str| {
        wait_for("the screen", || {
            let screen = server.act("pane:screen", json!({ "paneId": "b" }));
            let rows = screen["rows"].to_string();
            rows.contains(text).then_some(rows)
        })
    };
    assert!(!rows("primary").contains("before"));
    server.ok(&["send", "a", "go"]);
    assert!(!rows("menu").contains("primary"), "the alternate screen of the program");
    server.ok(&["send", "a", "on"]);
    let shown = rows("again");
    assert!(shown.contains("primary") && !shown.contains("before"), "{shown}");
    server.ok(&["keys", "b", "ctrl+]"]);
    let shown = rows("after");
    assert!(shown.contains("before") && !shown.contains("primary"), "{shown}");
}

#[test]
fn the_pane_takes_the_size_of_the_terminal() {
    let server = Server::start();
    start(&server, "a", &SIZES);
    until(&server, "a", "size 80 24");
    let mut term = attach(&server, &["a"]);
    term.until("size 90 30");
    term.resize(Size { cols: 72, rows: 21 });
    term.until("size 72 21");
}

#[test]
fn somebody_who_looks_on_changes_nothing() {
    let server = Server::start();
    script(&server, "a", "echo ready; cat");
    until(&server, "a", "ready");
    let mut term = attach(&server, &["a", "--read-only", "--detach-key", "ctrl+q"]);
    term.until("ready");
    term.type_in("not this\r");
    term.resize(Size { cols: 72, rows: 21 });
    server.ok(&["send", "a", "but this"]);
    term.until("but this");
    assert_eq!(server.tape("a").size(), Size::default());
    term.type_in(DETACH);
    term.type_in("\u{11}");
    term.until("detached from a");
    assert_eq!(term.end(), 0);
    assert!(!server.text("a").contains("not this"));
}

#[test]
fn a_smaller_terminal_shows_what_fits() {
    let server = Server::start();
    script(&server, "a", "seq 20; echo a line that is longer than that; cat");
    until(&server, "a", "longer");
    let size = Size { cols: 14, rows: 5 };
    let mut term = Term::paned(&server, &["attach", "a", "--no-resize"], size);
    let above = term.until("a line that is");
    assert!(above.contains("20") && !above.contains("17"), "{above:?}");
    term.type_in("typed\r");
    let line = term.until("typed");
    assert!(!line.contains("longer"), "{line:?}");
    assert_eq!(server.tape("a").size(), Size::default());
    // It may have the pane's size some day, and another one again.
    term.resize(Size::default());
    term.until("longer than that");
    term.resize(size);
    term.until("a line that is");
}

/// A program that fills a screen of 80 columns and 24 rows before a client attaches, ignores other
/// sizes, and scrolls when it is told to.
const FILLS: &str =
    "stty -echo; printf '\\033[?1049h\\033[1;24r\\033[H'; printf 'row %s\\r\\n' $(seq 23);
    printf 'row 24\\033[5;70Hfar end'; read x; printf '\\033[30;1H\\nscrolled'; read y";

#[test]
fn what_a_program_switched_on_goes_off_when_one_leaves() {
    let server = Server::start();
    let on = "\\033[22;2t\\033]2;mine\\007\\033[>4;2m\\033[?2048h\\033[2h\\033]11;red\\007";
    script(&server, "a", &format!("echo ready; read x; printf '{on}on'; cat"));
    let mut term = attach(&server, &["a"]);
    term.until("ready");
    term.type_in("\r");
    term.until("\u{1b}[22;0t\u{1b}]2;mine\u{7}\u{1b}[>4;2m\u{1b}[?2048h\u{1b}]11;red\u{7}on");
    // As a terminal sends the detach key now.
    term.type_in("\u{1b}[27;5;93~");
    term.until("\u{1b}[?2048l\u{1b}[>4m\u{1b}]111\u{1b}\\\u{1b}[23;0t");
    assert_eq!(term.end(), 0);
}

#[test]
fn a_pane_without_a_title_leaves_that_of_whoever_comes_late() {
    let server = Server::start();
    script(&server, "a", "printf '\\033[22;2tready'; read x; printf '\\033[23;2tback'; cat");
    until(&server, "a", "ready");
    let mut term = attach(&server, &["a"]);
    let before = term.until("ready");
    term.type_in("\r");
    let after = term.until("back");
    // Ours is saved before, and names the pane.
    let own = "\u{1b}[22;0t\u{1b}]2;attached to a; ctrl+] detaches\u{7}";
    assert_eq!(before.matches(own).count(), 1, "{before:?}");
    for shown in [before.replace(own, ""), after] {
        assert!(!shown.contains("\u{1b}]2;") && !shown.contains("\u{1b}[23"), "{shown:?}");
    }
}

/// Waits until one pane shows what another does; answers that.
#[track_caller]
fn until_same(server: &Server, one: &str, other: &str, text: &str) -> serde_json::Value {
    let look = |id: &str| server.act("pane:screen", json!({ "paneId": id }));
    paned_e2e::wait_for("the same screen", || {
        let (one, other) = (look(one), look(other));
        let has_text = one["rows"].to_string().contains(text);
        (has_text && one["rows"] == other["rows"]).then_some(one)
    })
}

#[test]
fn a_larger_terminal_shows_what_the_pane_shows_also_after_a_restart() {
    let mut server = Server::start();
    script(&server, "a", FILLS);
    until(&server, "a", "far end");
    let argv = [&binary().display().to_string(), "attach", "a"];
    let size = json!({ "cols": 100, "rows": 30 });
    server.act("pane:new", json!({ "id": "b", "argv": argv, "size": size }));
    let shown = until_same(&server, "b", "a", "far end");
    assert_eq!((&shown["rows"][0], &shown["rows"][23]), (&json!("row 1"), &json!("row 24")));
    assert_eq!(server.tape("a").size(), Size { cols: 100, rows: 30 });
    server.act("pane:write", json!({ "paneId": "a", "text": "\n" }));
    let scrolled = until_same(&server, "b", "a", "scrolled");
    assert_eq!(
        (&scrolled["rows"][0], &scrolled["rows"][29]),
        (&json!("row 2"), &json!("scrolled"))
    );
    let before = server.act("pane:screen", json!({ "paneId": "a" }));
    server.kill();
    server.start_again();
    assert_eq!(server.act("pane:screen", json!({ "paneId": "a" })), before);
}

#[test]
fn whoever_was_stopped_sees_it_again() {
    let server = Server::start();
    script(&server, "a", "echo ready; cat");
    until(&server, "a", "ready");
    let mut term = attach(&server, &["a"]);
    term.until("ready");
    let attached = Pid::from_raw(i32::try_from(term.pid()).unwrap()).unwrap();
    kill_process(attached, Signal::STOP).unwrap();
    kill_process(attached, Signal::CONT).unwrap();
    term.until("ready");
    term.type_in(DETACH);
    assert_eq!(term.end(), 0);
}

/// A shell with jobs, in which `a` was visited and the visit stopped by this signal.
#[track_caller]
fn stopped(server: &Server, by: Signal) -> Term {
    let shell = "set -m; echo shell; $PANED attach a; echo stopped=$?; stty -a; read -r x; fg; echo code=$?; read -r x";
    let mut term = Term::script(server, shell);
    term.until("ready");
    let [attached] = children_of(term.pid())[..] else { panic!("one child") };
    let attached = Pid::from_raw(i32::try_from(attached).unwrap()).unwrap();
    kill_process(attached, by).unwrap();
    term
}

#[test]
fn whoever_is_stopped_lends_the_terminal_to_the_shell() {
    let server = Server::start();
    let on = "\\033]2;mine\\007\\033[?1049h\\033[?1000h";
    script(&server, "a", &format!("printf '{on}ready'; cat"));
    until(&server, "a", "ready");
    let mut term = stopped(&server, Signal::TSTP);
    term.until("\u{1b}[23;0t");
    term.until("\u{1b}[?1049l");
    term.until("\u{1b}[?1000l");
    term.until("stopped=148");
    // As `stty` says it of a terminal that reads lines.
    term.until(" icanon ");
    term.type_in("\r");
    term.until("\u{1b}[?1049h");
    term.until("\u{1b}[22;0t\u{1b}]2;mine");
    term.until("ready");
    term.until("\u{1b}[?1000h");
    term.type_in(DETACH);
    term.until("code=0");
}

#[test]
fn whoever_was_stopped_finds_the_size_that_the_terminal_has_by_then() {
    for by in [Signal::TSTP, Signal::STOP] {
        let server = Server::start();
        script(&server, "a", "echo ready; cat");
        until(&server, "a", "ready");
        let mut term = stopped(&server, by);
        term.until("stopped=");
        let size = Size { cols: 70, rows: 22 };
        term.resize(size);
        // After SIGSTOP the terminal is still raw: nobody could put it back.
        term.type_in("\n");
        wait_for("the new size", || (server.tape("a").size() == size).then_some(()));
        term.type_in("more\r");
        // It is shown as it came, or drawn anew with all the rest.
        term.until("more");
        wait_for("an echo", || server.text("a").ends_with("more\r\nmore\r\n").then_some(()));
        term.type_in(DETACH);
        term.until("code=0");
    }
}

#[test]
fn a_long_path_to_the_state_folder_is_no_matter() {
    let host = Server::start();
    let state = host.state().with_file_name("deep".repeat(30)).display().to_string();
    let server = Server::start_with(&["--state-dir", &state]);
    script(&server, "a", "echo ready; cat");
    let args = ["--state-dir", &state, "attach", "a"];
    let mut term = Term::paned(&server, &args, Size::default());
    term.type_in(DETACH);
    let code = term.end();
    // Before anything can fail: the folder is not where this server's keepers are looked for.
    server.act("pane:close", json!({ "paneId": "a", "force": true }));
    assert_eq!(code, 0);
}

#[test]
fn the_programs_end_is_told_and_its_code_is_ours() {
    let server = Server::start();
    script(&server, "a", "echo ready; read x; echo bye; exit 5");
    let mut term = attach(&server, &["a"]);
    term.until("ready");
    term.type_in("\r");
    term.until("bye");
    term.until("a has exited (exit code 5)");
    assert_eq!(term.end(), 5);
    let mut late = attach(&server, &["a"]);
    late.until("`paned logs a` prints its output");
    assert_eq!(late.end(), 10);
    assert_eq!(attach(&server, &["nobody"]).end(), 3);
}

#[test]
fn it_works_while_the_server_is_down() {
    let mut server = Server::start();
    start(&server, "a", &["cat"]);
    let mut term = attach(&server, &["a"]);
    term.type_in("up\r");
    term.until("up\r\nup\r\n");
    server.kill();
    term.type_in("down\r");
    term.until("down\r\ndown\r\n");
    let mut second = attach(&server, &["a"]);
    second.until("down");
    second.type_in("\u{4}");
    second.until("a has exited (exit code 0)");
    term.until("a has exited (exit code 0)");
    assert_eq!((term.end(), second.end()), (0, 0));
}

#[test]
fn one_terminal_answers_a_question() {
    let mut server = Server::start();
    let ask = "stty raw -echo; echo ready; while read -n 1 -t 60 x; do printf 'ask\\033[6n\\033[cdone\\r\\n'; \
               read -d c -t 60 answer; printf '%q\\r\\n' \"$answer\"; done";
    script(&server, "a", ask);
    until(&server, "a", "ready");
    let mut first = attach(&server, &["a"]);
    first.until("ready");
    let mut second = attach(&server, &["a"]);
    second.until("ready");
    for _ in 0..2 {
        first.type_in("x");
        // Nobody is asked, and the server has answered.
        for term in [&mut first, &mut second] {
            term.until("askdone");
            term.until("R\\E[?6");
        }
    }
    let mut lines = server.text("a");
    lines.retain(|c| c == '?');
    assert_eq!(lines.len(), 2, "{}", server.text("a"));
    server.kill();
    second.type_in("x");
    first.until("ask\u{1b}[6n\u{1b}[cdone");
    second.until("askdone");
    first.type_in("\u{1b}[9;9R\u{1b}[?1c");
    second.until("9R\\E[?1");
}

#[test]
fn clipboard_and_title_are_nobodys_to_ask_for() {
    let mut server = Server::start();
    let private = "\\033]52;c;?\\007\\033]52;c;aGk=\\007\\033[21t\\005";
    let ask = format!(
        "stty raw -echo; echo ready; while read -n 1 -t 60 x; do printf 'ask{private}\\033[19tdone\\r\\n'; done"
    );
    script(&server, "a", &ask);
    let mut term = attach(&server, &["a"]);
    term.until("ready");
    term.type_in("x");
    term.until("askdone");
    server.kill();
    term.type_in("x");
    term.until("ask\u{1b}[19tdone");
    term.type_in(DETACH);
    assert_eq!(term.end(), 0);
}

#[test]
fn a_pane_can_show_another_but_not_itself() {
    let server = Server::start();
    start(&server, "a", &["cat"]);
    let argv = [&binary().display().to_string(), "attach", "a"];
    server.act("pane:new", json!({ "id": "b", "argv": argv, "size": { "cols": 60, "rows": 15 } }));
    server.act("pane:write", json!({ "paneId": "b", "text": "through\r" }));
    until(&server, "a", "through");
    until(&server, "b", "through");
    assert_eq!(server.tape("a").size(), Size { cols: 60, rows: 15 });
    server.act("pane:write", json!({ "paneId": "b", "text": DETACH }));
    assert_eq!(until_exit(&server, "b")["exitCode"], 0);
    let argv = [&binary().display().to_string(), "attach", "c"];
    server.act("pane:new", json!({ "id": "c", "argv": argv }));
    assert_eq!(until_exit(&server, "c")["exitCode"], 8);
}

#[test]
fn a_slow_terminal_is_shown_the_screen_instead_of_what_it_missed() {
    let dir = Server::start();
    let config = dir.state().with_file_name("small.toml");
    fs::write(&config, "[limits]\ntape_bytes = 262144\n").unwrap();
    let server = Server::start_with(&["--config", config.to_str().unwrap()]);
    script(&server, "a", "echo ready; read x; seq 1000000; echo all of it; read y");
    let mut term = attach(&server, &["a"]);
    term.until("ready");
    term.type_in("\r");
    // Nobody reads the terminal meanwhile.
    until(&server, "a", "all of it");
    let shown = term.until("all of it");
    assert!(shown.len() < 1_000_000, "{}", shown.len());
    assert!(shown.contains("\u{1b}[2J") && shown.contains("1000000"), "no redraw");
}

#[test]
fn without_a_terminal_it_is_refused() {
    let server = Server::start();
    start(&server, "a", &["cat"]);
    let (_, err, code) = decode_output(&server.cli(&["attach", "a"]));
    assert!(code == 2 && err.contains("requires a terminal"), "{err}");
    assert!(is_alive(server.tape("a").pid().unwrap()));
}
