//! `paned run`: a program as if it ran here.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use paned_e2e::{Server, decode_output, wait_for};
use paned_model::Size;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::term::Term;
use super::{SIZES, until_exit};

/// `paned run` of a shell script, with a way to read what it prints.
fn spawn(server: &Server, script: &str) -> (Child, impl Iterator<Item = String>) {
    let mut run = server.command(&["run", "--", "bash", "--norc", "-c", script]);
    let mut run = run.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap);
    (run, lines)
}

fn signal(run: &Child, signal: Signal) {
    kill_process(Pid::from_child(run), signal).unwrap();
}

#[test]
fn the_exit_code_is_the_programs_own_and_nothing_is_left_behind() {
    let server = Server::start();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
        assert_eq!(
            decode_output(&server.cli(&["run", "--", "sh", "-c", script])).2,
            code,
            "{script}"
        );
    }
    assert_eq!(
        decode_output(&server.cli(&["run", "--timeout", "1", "--", "sleep", "1000"])).2,
        124
    );
    assert_eq!(decode_output(&server.cli(&["run", "--", "no-such-program"])).2, 127);
    assert_eq!(decode_output(&server.cli(&["run", "--", "/etc/passwd"])).2, 126);
    assert_eq!(server.answer(&["ls"]), json!([]));
}

#[test]
fn output_comes_as_it_is_printed() {
    let server = Server::start();
    let gate = server.state().with_file_name("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status().unwrap();
    assert!(made.success());
    let script = format!("printf '\\033[1mfirst\\033[0m\\n'; read x < {}; echo $x", gate.display());
    let (mut run, mut lines) = spawn(&server, &script);
    assert_eq!(lines.next().unwrap(), "first");
    // Only now the program can go on.
    fs::write(&gate, "second\n").unwrap();
    assert_eq!(lines.collect::<Vec<_>>(), ["second"]);
    assert!(run.wait().unwrap().success());
    let raw = server.ok(&["run", "--raw", "--", "printf", "\\033[1mx\\n"]);
    assert_eq!(raw, "\u{1b}[1mx\r\n");
}

#[test]
fn an_interrupt_is_pressed_in_the_pane_and_a_termination_ends_it() {
    let server = Server::start();
    let (mut run, mut lines) = spawn(&server, "trap 'echo caught; exit 3' INT; echo ready; read x");
    assert_eq!(lines.next().unwrap(), "ready");
    signal(&run, Signal::INT);
    assert!(lines.any(|line| line.contains("caught")));
    assert_eq!(run.wait().unwrap().code(), Some(3));
    for (asked, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::ALARM, 143)] {
        let (mut run, mut lines) = spawn(&server, "echo ready; exec sleep 1000");
        assert_eq!(lines.next().unwrap(), "ready");
        signal(&run, asked);
        assert_eq!(run.wait().unwrap().code(), Some(code));
    }
    assert_eq!(server.answer(&["ls"]), json!([]));
}

#[test]
fn signals_are_passed_on_and_keys_only_where_they_are_signals() {
    let server = Server::start();
    for (name, asked) in
        [("QUIT", Signal::QUIT), ("HUP", Signal::HUP), ("USR1", Signal::USR1), ("INT", Signal::INT)]
    {
        for modes in ["sane", "raw -isig"] {
            let script = format!(
                "stty {modes}; trap 'echo caught; exit 3' {name}; printf 'ready\\r\\n'; while read -t 1 x || true; do :; done"
            );
            let (mut run, mut lines) = spawn(&server, &script);
            assert_eq!(lines.next().unwrap(), "ready");
            signal(&run, asked);
            assert!(lines.any(|line| line.contains("caught")), "{name} {modes}");
            assert_eq!(run.wait().unwrap().code(), Some(3), "{name} {modes}");
        }
    }
    let (mut run, mut lines) = spawn(&server, "trap '' HUP; echo ready; while :; do sleep 1; done");
    assert_eq!(lines.next().unwrap(), "ready");
    signal(&run, Signal::HUP);
    assert_eq!(run.wait().unwrap().code(), Some(143), "one that does not hear it is ended");
    assert_eq!(server.answer(&["ls"]), json!([]));
}

#[test]
fn a_program_does_not_outlive_a_run_that_was_killed() {
    let server = Server::start();
    let (mut run, mut lines) = spawn(&server, "echo ready; exec sleep 1000");
    assert_eq!(lines.next().unwrap(), "ready");
    let pane = server.answer(&["ls"])[0].clone();
    signal(&run, Signal::KILL);
    run.wait().unwrap();
    let ended = until_exit(&server, pane["id"].as_str().unwrap());
    assert_eq!(ended["status"], "killed");
}

#[test]
fn whoever_stops_reading_ends_the_program() {
    let server = Server::start();
    let (mut run, mut lines) = spawn(&server, "while echo more; do :; done");
    assert_eq!(lines.next().unwrap(), "more");
    drop(lines);
    assert_eq!(run.wait().unwrap().code(), Some(141), "as a pipe's writer");
    assert_eq!(server.answer(&["ls"]), json!([]));
}

#[test]
fn a_program_that_ended_by_itself_speaks_for_itself_although_nobody_reads() {
    let server = Server::start();
    let mut run = server.command(&["run", "--id", "a", "--", "sh", "-c", "seq 50000; exit 3"]);
    let mut run = run.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "1");
    // More than a pipe holds, so that some of it is still to be printed.
    until_exit(&server, "a");
    drop(lines);
    assert_eq!(run.wait().unwrap().code(), Some(3));
    let mut run = server.command(&["run", "--json", "--keep", "--id", "b", "--", "false"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let run = run.stdout(writer.try_clone().unwrap()).stderr(writer).status().unwrap();
    assert_eq!(run.code(), Some(1));
    let mut list = server.command(&["ls"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert!(list.stdout(writer).status().unwrap().success(), "others end quietly");
}

#[test]
fn what_the_answer_leaves_out_can_still_be_read() {
    let server = Server::start();
    let ran = server.answer(&["run", "--", "seq", "2000"]);
    assert_eq!(ran["output"]["lines"].as_array().unwrap().len(), 2000);
    assert_eq!((&ran["first"], &ran["output"]["truncated"]), (&json!(0), &json!(false)));
    assert_eq!((&ran["kept"], server.answer(&["ls"])), (&json!(false), json!([])));
    let (out, err, code) = decode_output(&server.cli(&["run", "--json", "--", "seq", "12000"]));
    let ran: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&ran["first"], &ran["output"]["truncated"]), (&json!(2000), &json!(true)));
    let pane = ran["paneId"].as_str().unwrap();
    assert!(code == 0 && ran["kept"] == true && err.contains(pane), "{err}");
    assert_eq!(server.ok(&["logs", pane]).lines().count(), 12_000);
}

#[test]
fn no_time_at_all_is_refused_in_words_that_help() {
    let server = Server::start();
    let (_, err, code) = decode_output(&server.cli(&["run", "--timeout", "0", "--", "true"]));
    assert!(code == 2 && err.contains("at least 1s"), "{err}");
}

#[test]
fn a_kept_pane_can_be_read_and_json_says_it_all() {
    let server = Server::start();
    let env = ["run", "--keep", "--id", "k", "--env", "A=b", "--cwd", "/", "--json", "--"];
    let args: Vec<_> = env.iter().copied().chain(["sh", "-c", "echo $A; pwd; exit 2"]).collect();
    let (out, _, code) = decode_output(&server.cli(&args));
    let ran: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &ran["paneId"], &ran["exitCode"]), (2, &json!("k"), &json!(2)));
    assert_eq!(ran["output"]["lines"][1]["text"], "/");
    assert_eq!(server.ok(&["logs", "k"]), "b\n/\n");
}

#[test]
fn its_terminal_is_as_large_as_ours_and_with_it() {
    let server = Server::start();
    let run: Vec<&str> = ["run", "--"].into_iter().chain(SIZES).collect();
    let mut term = Term::paned(&server, &run, Size { cols: 101, rows: 31 });
    term.until("size 101 31");
    term.resize(Size { cols: 90, rows: 20 });
    term.until("size 90 20");
    term.type_in("\u{3}");
    assert_eq!(term.end(), 130);
}

#[test]
fn a_program_that_was_ended_leaves_our_terminal_as_it_was() {
    let server = Server::start();
    let script = "printf '\\033[?1049h\\033[?25lbusy'; kill -9 $$";
    let mut term = Term::paned(&server, &["run", "--", "sh", "-c", script], Size::default());
    term.until("busy");
    term.until("\u{1b}[?1049l");
    term.until("\u{1b}[?25h");
    assert_eq!(term.end(), 137);
    let script = "printf '\\033[>4;2m\\033]2;mine\\007busy'";
    let mut term = Term::paned(&server, &["run", "--", "sh", "-c", script], Size::default());
    term.until("\u{1b}[>4;2m\u{1b}[22;0t\u{1b}]2;mine\u{7}busy");
    term.until("\u{1b}[>4m\u{1b}[23;0t");
    assert_eq!(term.end(), 0);
}

#[test]
fn a_run_that_has_lost_its_program_leaves_our_terminal_as_it_was() {
    let mut server = Server::start();
    let (url, token) = (format!("http://{}", server.authority()), server.token());
    let run = ["--url", &url, "--token", &token, "run", "--", "sh", "-c"];
    let run: Vec<&str> = run.into_iter().chain(["printf '\\033[?1049hbusy'; read x"]).collect();
    let mut term = Term::paned(&server, &run, Size::default());
    term.until("busy");
    server.kill();
    term.type_in("\u{3}");
    term.until("\u{1b}[?1049l");
}

#[test]
fn the_server_answers_what_a_program_asks_and_our_terminal_is_not_asked() {
    let server = Server::start();
    let ask = "stty raw -echo; printf 'ask\\033[6n\\033[cdone\\r\\n'; read -d c -t 60 answer; printf '%q\\r\\n' \"$answer\"";
    let run = |args: &[&'static str]| {
        let args: Vec<&str> = args.iter().copied().chain(["bash", "-c", ask]).collect();
        Term::paned(&server, &args, Size::default())
    };
    let mut term = run(&["run", "--"]);
    term.until("askdone");
    term.until("R\\E[?6");
    assert_eq!(term.end(), 0);
    let mut raw = run(&["run", "--raw", "--"]);
    raw.until("ask\u{1b}[6n\u{1b}[cdone");
    assert_eq!(raw.end(), 0);
}

/// Counts the lines that `paned run` prints, once somebody reads them.
fn count(run: &mut Child, before: impl FnOnce()) -> usize {
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "1");
    before();
    1 + lines.count()
}

#[test]
fn a_program_waits_for_a_slow_reader_and_nothing_is_lost() {
    let server = Server::start();
    let mut run = server.command(&["run", "--id", "a", "--", "seq", "3000000"]);
    let mut run = run.stdout(Stdio::piped()).spawn().unwrap();
    // The program goes on until its tape is full, and then waits although nobody reads.
    let lines = count(&mut run, || {
        let tape = server.tape("a");
        wait_for("a full tape", || ((15 << 20) < tape.end()).then_some(()));
    });
    assert_eq!((lines, run.wait().unwrap().code()), (3_000_000, Some(0)));
}

#[test]
fn nothing_is_lost_when_the_server_dies_meanwhile() {
    let mut server = Server::start();
    let mut run = server.command(&["run", "--id", "a", "--", "sh", "-c", "seq 3000000; exit 9"]);
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = count(&mut run, || {
        server.kill();
        server.start_again();
    });
    assert_eq!((lines, run.wait().unwrap().code()), (3_000_000, Some(9)));
    assert_eq!(server.answer(&["ls"]), json!([]));
}
