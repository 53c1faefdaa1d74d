//! Typing into a pane: send, keys, paste.

use std::io::Write;
use std::process::Stdio;

use paned_e2e::{Server, decode_output};

use super::{script, start, until, until_exit};

#[test]
fn a_line_is_sent_with_enter_or_without() {
    let server = Server::start();
    start(&server, "a", &["python3", "-q", "-i", "-c", "import sys"]);
    until(&server, "a", ">>>");
    server.ok(&["send", "a", "print(6", "*", "7)"]);
    until(&server, "a", "^42$");
    server.ok(&["send", "a", "--no-enter", "--", "--flag"]);
    until(&server, "a", ">>> --flag$");
    server.ok(&["keys", "a", "ctrl+c"]);
    until(&server, "a", "KeyboardInterrupt");
    assert_eq!(server.answer(&["send", "a", "exit(3)"])["bytes"], 8);
    assert_eq!(until_exit(&server, "a")["exitCode"], 3);
    assert_eq!(decode_output(&server.cli(&["send", "a", "late"])).2, 10);
}

#[test]
fn keys_are_what_the_program_asked_for() {
    let server = Server::start();
    script(&server, "a", "echo ready; cat -v; printf '\\033[?1h'; echo again; cat -v");
    until(&server, "a", "ready");
    server.ok(&["keys", "a", "up", "alt+x", "enter", "ctrl+d"]);
    until(&server, "a", r"^\^\[\[A\^\[x$");
    until(&server, "a", "again");
    server.ok(&["keys", "a", "up", "--repeat", "2"]);
    server.ok(&["keys", "a", "enter"]);
    until(&server, "a", r"^\^\[OA\^\[OA$");
    let (_, err, code) = decode_output(&server.cli(&["keys", "a", "ctrl+entre"]));
    assert!(code == 2 && err.contains("enter"), "{err}");
}

#[test]
fn the_keypad_follows_its_mode_and_other_keys_need_the_kitty_protocol() {
    let server = Server::start();
    script(
        &server,
        "a",
        "echo ready; cat -v; printf '\\033='; echo again; cat -v; printf '\\033[>9u'; echo all; cat -v",
    );
    until(&server, "a", "ready");
    let (_, err, code) = decode_output(&server.cli(&["keys", "a", "x", "super+a"]));
    assert!(code == 8 && err.contains("`super+a` requires the kitty"), "{err}");
    server.ok(&["keys", "a", "kp_1", "kp_plus", "menu", "kp_enter", "ctrl+d"]);
    until(&server, "a", r"^1\+\^\[\[29~$");
    until(&server, "a", "again");
    server.ok(&["keys", "a", "kp_1", "kp_plus", "kp_enter", "enter", "ctrl+d"]);
    until(&server, "a", r"^\^\[Oq\^\[Ok\^\[OM$");
    until(&server, "a", "all");
    server.ok(&["keys", "a", "kp_1", "super+a", "capslock"]);
    server.ok(&["send", "a", ""]);
    until(&server, "a", r"^\^\[\[57400u\^\[\[97;9u\^\[\[57358u");
}

#[test]
fn a_paste_comes_from_an_argument_or_from_standard_input() {
    let server = Server::start();
    script(&server, "a", "printf '\\033[?2004h'; echo ready; cat -v");
    until(&server, "a", "ready");
    assert_eq!(server.answer(&["paste", "a", "one", "--submit"])["bracketed"], true);
    until(&server, "a", r"^\^\[\[200~one\^\[\[201~$");
    let mut paste =
        server.command(&["paste", "a", "--submit"]).stdin(Stdio::piped()).spawn().unwrap();
    paste.stdin.take().unwrap().write_all(b"two").unwrap();
    assert!(paste.wait().unwrap().success());
    until(&server, "a", r"^\^\[\[200~two\^\[\[201~$");
    assert_eq!(decode_output(&server.cli(&["paste", "a", "\u{1b}[201~; rm"])).2, 2);
}
