//! Bytes in and out, exactly, and nowhere else.

use std::fs;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use paned_e2e::Server;
use serde_json::json;

use super::{Tmux, until};

/// A program that takes so many bytes as they are.
fn takes(count: usize) -> String {
    format!("stty raw -echo; echo up; head -c {count} > got; tmux wait-for -S got; exec sleep 1000")
}

#[test]
fn hostile_bytes_arrive_as_they_are_and_at_no_other_pane() {
    let mut bytes =
        b"a;\nb\\;\r #(touch x) #{pid} $HOME ~ \"' \x1b[201~ \xff\xfe\x00\x7f\t%1 ;".to_vec();
    bytes.extend(0..=255);
    bytes.extend([b'x'; 100_000]);
    bytes.extend(b"\n;");
    let (server, tmux) = (Server::start(), Tmux::start(&takes(bytes.len())));
    let neighbour =
        tmux.split("stty raw -echo; : > neighbour; tmux wait-for -S cat; exec cat >> neighbour");
    tmux.wait("cat");
    tmux.adopt(&server, "%0", "a");
    until(&server, "a", "up");
    // The person looks elsewhere, and scrolls where we type.
    tmux.act(&["select-pane", "-t", &neighbour]);
    tmux.act(&["copy-mode", "-t", "%0"]);
    for piece in [&bytes[..40], &bytes[40..]] {
        let text = BASE64_STANDARD.encode(piece);
        server.act("pane:write", json!({ "paneId": "a", "base64": text }));
    }
    tmux.wait("got");
    let got = fs::read(tmux.file("got")).unwrap();
    assert!(got == bytes, "{}", got[..got.len().min(400)].escape_ascii());
    assert_eq!(fs::read(tmux.file("neighbour")).unwrap(), b"");
    assert!(!tmux.file("x").exists());
    assert_eq!(tmux.act(&["list-buffers"]), "", "the person's buffers are as they were");
}

#[test]
fn two_who_type_at_once_are_not_mixed() {
    let count = 2 * 10 * 20_000;
    let (server, tmux) = (Server::start(), Tmux::start(&takes(count)));
    tmux.adopt(&server, "%0", "a");
    until(&server, "a", "up");
    std::thread::scope(|scope| {
        for letter in ["a", "b"] {
            let server = &server;
            scope.spawn(move || {
                for _ in 0..10 {
                    let text = letter.repeat(20_000);
                    server.act("pane:write", json!({ "paneId": "a", "text": text }));
                }
            });
        }
    });
    tmux.wait("got");
    let got = fs::read(tmux.file("got")).unwrap();
    assert_eq!(got.len(), count);
    for call in got.chunks(20_000) {
        assert!(call.iter().all(|byte| *byte == call[0]));
    }
}

#[test]
fn a_flood_is_on_the_tape_to_the_last_byte() {
    // Noise shows a byte that is lost or doubled anywhere. It is megabytes, which come faster than
    // the server reads them.
    let script = "stty raw -echo; echo up; head -c 1 > /dev/null; cat noise; tmux wait-for -S done; exec sleep 1000";
    let (server, tmux) = (Server::start(), Tmux::start(script));
    let mut noise = Vec::new();
    let mut state = 1_u64;
    while noise.len() < 6 << 20 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        noise.extend(format!("{state:x}\r\n").bytes());
    }
    fs::write(tmux.file("noise"), &noise).unwrap();
    tmux.adopt(&server, "%0", "a");
    until(&server, "a", "up");
    let before = server.tape("a").end();
    server.act("pane:write", json!({ "paneId": "a", "text": "x" }));
    tmux.wait("done");
    let last = String::from_utf8(noise[noise.len() - 12..].to_vec()).unwrap();
    until(&server, "a", &format!("{}$", last.trim_end().rsplit('\n').next().unwrap()));
    let printed = server.printed("a");
    let after = &printed[usize::try_from(before).unwrap()..];
    assert_eq!(after.len(), noise.len());
    assert!(after == noise, "some byte is another");
}

#[test]
fn nothing_is_lost_or_doubled_where_the_log_begins() {
    let script = "i=0; while :; do i=$((i+1)); echo \"n $i\"; read -rt 0.001 < /dev/tty; done";
    let (server, tmux) = (Server::start(), Tmux::start(script));
    tmux.adopt(&server, "%0", "a");
    until(&server, "a", "^n .*00$");
    server.act("pane:close", json!({ "paneId": "a" }));
    tmux.adopt(&server, "%0", "b");
    until(&server, "b", "^n .*00$");
    let read = server.act("pane:read", json!({ "paneId": "b", "offset": 0, "limit": 3000 }));
    let lines = read["lines"].as_array().unwrap().iter();
    let numbers: Vec<u64> =
        lines.filter_map(|line| line["text"].as_str()?.strip_prefix("n ")?.parse().ok()).collect();
    assert!(100 < numbers.len(), "{read}");
    for pair in numbers.windows(2) {
        assert_eq!(pair[1], pair[0] + 1, "{numbers:?}");
    }
}

#[test]
fn tmux_alone_answers_what_a_program_asks_its_terminal() {
    let script = "stty raw -echo; tmux wait-for up; printf '\\e[6n'; IFS= read -rsd R -t 5 one; \
                  IFS= read -rsd R -t 1 two; echo \"second: ${two:-none}\"; exec sleep 1000";
    let (server, tmux) = (Server::start(), Tmux::start(script));
    tmux.adopt(&server, "%0", "a");
    tmux.act(&["wait-for", "-S", "up"]);
    until(&server, "a", "second: none");
}
