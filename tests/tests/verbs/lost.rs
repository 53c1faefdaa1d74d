//! The commands report what they do not show: output that is no longer kept, lines that were cut,
//! and pages that end.

use std::io::Read;
use std::process::{Child, Stdio};

use paned_e2e::{Server, decode_output, wait_for};
use serde_json::Value;

use super::{script, start, until, until_exit};

/// A program that prints lines of 8 bytes in two parts. The second part overwrites lines of the
/// first part that follow its first MiB, which is all that the command has fetched by then.
const TWO_GOES: &str = "seq 400000; read x; seq 400001 788000; read x";
/// The exit code of what is no longer there.
const GONE: i32 = 10;

/// A server whose panes keep 4 MiB.
fn small_server() -> Server {
    Server::start_set("[limits]\ntape_bytes = 4194304\n", &[])
}

/// Starts a command and reads only its first bytes, so that it blocks in the middle of its first
/// piece of output.
fn start_reading(server: &Server, args: &[&str]) -> (Child, Vec<u8>) {
    let mut command = server.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = vec![0; 4096];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    (child, first)
}

/// Has a pane print so much while a command is reading it that some is lost; returns what the
/// command printed.
#[track_caller]
fn read_too_slowly(args: &[&str]) -> (String, String, i32) {
    let server = small_server();
    script(&server, "a", TWO_GOES);
    until(&server, "a", "^400000$");
    let (child, mut shown) = start_reading(&server, args);
    server.ok(&["keys", "a", "enter"]);
    let tape = server.tape("a");
    wait_for("the end of the second go", || (6_192_000 < tape.end()).then_some(()));
    let mut rest = child.wait_with_output().unwrap();
    shown.append(&mut rest.stdout);
    rest.stdout = shown;
    decode_output(&rest)
}

/// The lines without those that say that they were torn, each of which stands alone at the gap.
#[track_caller]
fn check_numbers(lines: &[&str]) {
    let is_torn = |line: &str| line.starts_with('…') || line.ends_with('…');
    let gap = lines.iter().position(|line| is_torn(line)).expect("a torn line");
    let torn = lines.iter().filter(|line| is_torn(line)).count();
    let (before, after) = (&lines[..gap], &lines[gap + torn..]);
    assert!(before.iter().copied().eq((1..=before.len()).map(|n| n.to_string())));
    let first: usize = after[0].parse().unwrap();
    assert!(before.len() + 1000 < first, "{first}");
    assert!(after.iter().copied().eq((first..=400_000).map(|n| n.to_string())));
}

#[test]
fn logs_say_what_was_lost_while_they_were_read() {
    let (out, err, code) = read_too_slowly(&["logs", "a"]);
    assert!(err.contains("in between are no longer retained"), "{err}");
    assert_eq!(code, GONE, "{err}");
    check_numbers(&out.lines().collect::<Vec<_>>());
}

#[test]
fn logs_byte_for_byte_put_a_line_end_where_something_was_lost() {
    let (out, err, code) = read_too_slowly(&["logs", "a", "--raw"]);
    assert!(code == GONE && err.contains("in between are no longer retained"), "{err}");
    let lines: Vec<usize> = out.lines().map(|line| line.parse().unwrap_or(0)).collect();
    assert!(lines.iter().all(|n| *n <= 400_000), "nothing is glued together");
}

#[test]
fn numbers_stay_true_after_what_was_lost() {
    let (out, _, code) = read_too_slowly(&["logs", "a", "--line-numbers"]);
    assert_eq!(code, GONE);
    for line in out.lines().filter(|line| !line.contains('…')) {
        let (n, text) = line.split_once(':').unwrap();
        assert_eq!(text.parse(), n.parse().map(|n: u32| n + 1), "{line}");
    }
    let (out, _, code) = read_too_slowly(&["logs", "a", "--json"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.iter().filter(|line| line["truncatedStart"] == true).count(), 1);
    assert_eq!((code, &lines[lines.len() - 2]["n"]), (GONE, &399_999.into()));
}

#[test]
fn a_long_line_is_shown_whole_or_said_to_be_cut() {
    let server = Server::start();
    start(&server, "a", &["printf", "%05000d\\n", "7"]);
    until_exit(&server, "a");
    let whole = format!("{}7\n", "0".repeat(4999));
    assert_eq!(server.ok(&["logs", "a"]), whole);
    assert_eq!(server.ok(&["tail", "a"]), whole);
    let (_, err, code) = decode_output(&server.cli(&["search", "00"]));
    assert!(code == 0 && err.contains("1 line cut at 2000 characters"), "{err}");
}

#[test]
fn a_tail_is_as_long_as_was_asked_for() {
    let server = Server::start();
    start(&server, "a", &["seq", "30000"]);
    until_exit(&server, "a");
    let lines = server.ok(&["tail", "a", "-n", "20000"]);
    assert!(lines.lines().map(str::to_owned).eq((10_001..=30_000).map(|n: u32| n.to_string())));
    assert_eq!(server.ok(&["tail", "a", "-n", "40000"]).lines().count(), 30_000);
    let json = server.ok(&["tail", "a", "-n", "20000", "--json"]);
    let first: Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    assert_eq!((json.lines().count(), &first["n"]), (20_000, &10_000.into()));
    assert_eq!(server.ok(&["tail", "a", "-n", "0"]), "");
}

#[test]
fn a_line_that_is_no_longer_kept_is_said_to_be_gone() {
    let server = small_server();
    start(&server, "a", &["seq", "788000"]);
    until_exit(&server, "a");
    let (out, err, code) =
        decode_output(&server.cli(&["read", "a", "--offset", "5", "-n", "--limit", "1"]));
    assert!(code == 0 && err.contains("lines are no longer retained"), "{err}");
    let (n, text) = out.split_once(':').unwrap();
    assert!(err.contains(&format!("the first {n} lines")) && text.starts_with('…'), "{out}{err}");
    let (out, err, code) = decode_output(&server.cli(&["logs", "a"]));
    assert!(code == 0 && err.contains("the first 1.9 MiB are no longer retained"), "{err}");
    assert!(out.starts_with('…') && out.ends_with("\n788000\n"));
}
