//! Damaged, shortened and deleted files in the state folder.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;

use paned_e2e::{Request, Server, decode_output, is_alive, kill9, script, wait_for};
use serde_json::{Value, json};

/// A place in a tape's header, in words of eight bytes.
const BLOCKS: u64 = 2;
const END: u64 = 9;
/// The most memory that a server with two small panes may have, in KiB.
const MOST_MEMORY: u64 = 400 << 10;

fn tape(server: &Server, id: &str) -> File {
    let path = server.state().join("panes").join(id).join("tape");
    OpenOptions::new().read(true).write(true).open(path).unwrap()
}

/// Changes a word of a tape's header, and the checksum with it, as an attacker would.
fn set_word(file: &File, word: u64, value: u64) {
    file.write_all_at(&value.to_le_bytes(), word * 8).unwrap();
    let mut words = [0; 31 * 8];
    file.read_exact_at(&mut words, 0).unwrap();
    let magic = u64::from_le_bytes(*b"panetape");
    let mix = |sum: u64, word: &[u8; 8]| {
        (sum ^ u64::from_le_bytes(*word)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    };
    let sum = words.as_chunks::<8>().0.iter().fold(magic, mix) | 1;
    file.write_all_at(&sum.to_le_bytes(), 31 * 8).unwrap();
}

/// The most memory that a process has had, in KiB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Looks at a pane in every way. Each look is answered, whatever the answer.
fn look(server: &Server, id: &str) {
    for (action, params) in [
        ("pane:get", json!({})),
        ("pane:screen", json!({})),
        ("pane:screen", json!({ "history": 100 })),
        ("pane:read", json!({})),
        ("pane:read", json!({ "view": "raw" })),
        ("pane:read", json!({ "since": 0 })),
        ("pane:search", json!({ "pattern": "line" })),
    ] {
        let mut params = params;
        if action != "pane:search" {
            params["paneId"] = json!(id);
        }
        if let Err(refusal) = server.try_act(action, params) {
            assert_ne!(refusal.code.as_str(), "internal", "{action}: {refusal}");
        }
    }
    server.act("pane:list", json!({}));
}

fn prints(server: &Server, id: &str, text: &str) {
    server.act("pane:write", json!({ "paneId": id, "text": format!("{text}\n") }));
    // What was damaged is restored with what is printed next; until then, reading may be refused.
    wait_for(text, || {
        let read = server.try_act("pane:read", json!({ "paneId": id, "tail": 20 })).ok()?;
        let lines = read["lines"].as_array()?.clone();
        lines.iter().any(|line| line["text"].as_str() == Some(text)).then_some(())
    });
}

/// Harms a pane's tape in a way, while its server lives and over a restart.
fn check(harm: impl Fn(&File)) -> (Server, Value) {
    let mut server = Server::start();
    server.act("pane:new", script("harmed", "for n in $(seq 3000); do echo line $n; done; cat"));
    server.act("pane:new", json!({ "id": "other", "argv": ["cat"] }));
    wait_for("its lines", || server.text("harmed").contains("line 3000").then_some(()));
    look(&server, "harmed");
    harm(&tape(&server, "harmed"));
    look(&server, "harmed");
    prints(&server, "other", "others are served");
    let harmed = server.pane("harmed");
    // Its program lives, and what it prints from now on is there.
    prints(&server, "harmed", "the keeper goes on");
    look(&server, "harmed");
    harm(&tape(&server, "harmed"));
    server.kill();
    server.start_again();
    prints(&server, "harmed", "the keeper goes on once more");
    prints(&server, "other", "others are found again");
    look(&server, "harmed");
    assert!(peak(server.pid()) < MOST_MEMORY, "{} KiB", peak(server.pid()));
    assert!(server.child().try_wait().unwrap().is_none(), "the server has ended");
    (server, harmed)
}

#[test]
fn a_tape_that_is_emptied_costs_its_pane_alone() {
    let (server, harmed) = check(|tape| tape.set_len(0).unwrap());
    let damage = harmed["damage"].as_str().unwrap();
    assert!(damage.contains("it was truncated to 0 bytes"), "{damage}");
    // What is missing is told.
    let now = server.pane("harmed");
    assert!(now["damage"].as_str().unwrap().contains("is lost"), "{now}");
    assert!(1000 < now["dropped"].as_u64().unwrap(), "{now}");
    let read = server.act("pane:read", json!({ "paneId": "harmed", "since": 0 }));
    assert_eq!(read["gap"]["from"], json!(0), "{read}");
}

#[test]
fn a_tape_that_is_shortened_reports_what_is_missing() {
    let (server, _) = check(|tape| tape.set_len(1 << 20).unwrap());
    // Less was printed than is left of it.
    assert_eq!(server.pane("harmed")["dropped"], json!(0));
    assert!(server.text("harmed").contains("line 3000"));
}

#[test]
fn a_tape_whose_header_is_garbage_costs_its_pane_alone() {
    let (_, harmed) = check(|tape| tape.write_all_at(&[0xFF; 4096], 0).unwrap());
    let damage = harmed["damage"].as_str().unwrap();
    assert!(damage.contains("its header is damaged"), "{damage}");
}

#[test]
fn a_tape_with_impossible_numbers_costs_its_pane_alone() {
    check(|tape| set_word(tape, BLOCKS, 1 << 60));
    let (_, harmed) = check(|tape| set_word(tape, END, 1 << 62));
    assert!(harmed["damage"].as_str().unwrap().contains("more output than fits"), "{harmed}");
}

#[test]
fn a_pane_whose_tape_is_garbage_after_its_end_is_listed_with_a_sentence() {
    let mut server = Server::start();
    server.act("pane:new", script("over", "echo over"));
    server.events("pane:exited", Some(0)).until_exit("over");
    let keeper = server.tape("over").keeper();
    wait_for("the end of its keeper", || (!is_alive(keeper)).then_some(()));
    tape(&server, "over").write_all_at(&[0xFF; 4096], 0).unwrap();
    server.kill();
    server.start_again();
    assert_eq!(server.pane("over")["status"], json!("exited"));
    let refusal =
        server.try_act("pane:read", json!({ "paneId": "over" })).expect_err("it is garbage");
    assert_eq!(refusal.code.as_str(), "unavailable", "{refusal}");
    assert!(refusal.sentence.contains("cannot be read"), "{refusal}");
}

/// The pane's tape is there, and its keeper writes it.
fn is_kept(server: &Server, id: &str) -> bool {
    let path = server.state().join("panes").join(id).join("tape");
    paned_keeper::tape::TapeReader::open(&path).is_ok_and(|tape| tape.has_live_keeper())
}

#[test]
fn a_pane_whose_record_is_deleted_is_found_again() {
    let mut server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"], "tags": ["kept"] }));
    let before = server.pane("a");
    fs::remove_file(server.state().join("panes/a/pane.json")).unwrap();
    server.kill();
    server.start_again();
    assert_eq!(server.pane("a"), before);
    prints(&server, "a", "still here");
    // The journal is gone, too: what the system knows of the program is shown, and it can be ended.
    server.kill();
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = fs::remove_file(server.state().join(name));
    }
    server.start_again();
    let found = server.pane("a");
    assert_eq!((&found["argv"], &found["status"]), (&json!(["cat"]), &json!("running")));
    assert_eq!(found["pid"], before["pid"]);
    prints(&server, "a", "still here, too");
    server.act("pane:kill", json!({ "paneId": "a" }));
    wait_for("its end", || (server.pane("a")["status"] == json!("killed")).then_some(()));
}

#[test]
fn a_pane_whose_folder_is_deleted_is_found_again() {
    let mut server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    prints(&server, "a", "before");
    let before = server.pane("a");
    fs::remove_dir_all(server.state().join("panes/a")).unwrap();
    prints(&server, "a", "meanwhile");
    let taken = server.try_act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    assert_eq!(taken.expect_err("its name is taken").code.as_str(), "conflict");
    server.kill();
    wait_for("its folder", || is_kept(&server, "a").then_some(()));
    server.start_again();
    assert_eq!((&server.pane("a")["pid"], &before["status"]), (&before["pid"], &json!("running")));
    prints(&server, "a", "after");
    let text = server.text("a");
    assert!(text.contains("before") && text.contains("meanwhile"), "{text}");
}

#[test]
fn a_state_folder_that_is_deleted_is_noticed_and_its_programs_are_found() {
    let mut server = Server::start();
    server.act("pane:new", json!({ "id": "a", "argv": ["cat"] }));
    let before = server.pane("a");
    let bearer = format!("Bearer {}", server.token());
    fs::remove_dir_all(server.state()).unwrap();
    // Its socket is gone; its port is not.
    let ask = |action: &str, body: Value| {
        let request = Request::new("POST", &format!("/action/{action}"));
        let request = request.header("host", &server.authority());
        request.header("authorization", &bearer).json(&body).over_tcp(&server.authority())
    };
    let refused = ask("pane:new", json!({ "argv": ["cat"] }));
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.body.contains("was deleted or replaced"), "{}", refused.body);
    let status = ask("server:status", json!({}));
    assert!(status.body.contains("was deleted or replaced"), "{}", status.body);
    assert_eq!(ask("pane:write", json!({ "paneId": "a", "text": "meanwhile\n" })).status, 200);
    // A second server on the path is refused while the first one lives.
    let (_, error, code) = decode_output(&server.cli(&["serve", "--port", "0"]));
    assert_ne!(code, 0);
    assert!(error.contains(&format!("pid {}", server.pid())), "{error}");
    kill9(server.pid());
    server.child().wait().unwrap();
    wait_for("its folder", || is_kept(&server, "a").then_some(()));
    server.start_again();
    let found = server.pane("a");
    assert_eq!((&found["pid"], &found["argv"]), (&before["pid"], &before["argv"]));
    prints(&server, "a", "after");
    server.act("pane:kill", json!({ "paneId": "a" }));
}

#[test]
fn a_tape_that_is_cut_before_its_text_is_read_and_waited_for() {
    let server = Server::start();
    server.act("pane:new", script("a", "echo eighteen bytes; exec cat"));
    wait_for("its text", || server.text("a").contains("eighteen").then_some(()));
    tape(&server, "a").set_len(5000).unwrap();
    let end = server.pane("a")["bytes"].as_u64().unwrap();
    server.act("pane:read", json!({ "paneId": "a" }));
    let wait = json!({ "paneId": "a", "since": 0, "pattern": "zz", "timeoutMs": 200 });
    let _ = server.try_act("pane:wait", wait);
    // The loss is reported, once.
    let read = server.act("pane:read", json!({ "paneId": "a", "since": 0 }));
    assert_eq!((&read["gap"], &read["next"]), (&json!({ "from": 0, "to": end }), &json!(end)));
    let read = server.act("pane:read", json!({ "paneId": "a", "since": end }));
    assert_eq!((read.get("gap"), &read["lines"]), (None, &json!([])), "{read}");
    look(&server, "a");
    prints(&server, "a", "the keeper goes on");
}

#[test]
fn a_long_tape_that_is_cut_is_read_up_to_the_cut() {
    let server = Server::start();
    server.act("pane:new", script("a", "seq 1 200000; exec cat"));
    let is_there = || server.text("a").contains("200000").then_some(());
    wait_for("its lines", is_there);
    // A keeper that writes its header after the cut, as for what was just read, gives up all that
    // was before the end.
    server.act("pane:wait", json!({ "paneId": "a", "quietMs": 500 }));
    tape(&server, "a").set_len(1_000_000).unwrap();
    let read = |params: Value| {
        let mut params = params;
        params["paneId"] = json!("a");
        server.act("pane:read", params)
    };
    assert_eq!(read(json!({ "pattern": "zzz" }))["lines"], json!([]));
    let tail = read(json!({ "tail": 10 }));
    let numbers: Vec<u64> =
        tail["lines"].as_array().unwrap().iter().map(|line| line["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers.len(), 10, "{tail}");
    assert!(numbers.is_sorted() && tail["total"] == json!(200_000), "{tail}");
    // A reader that goes on from each answer reaches the end, and is told of one gap.
    let (mut since, mut gaps) = (0, 0);
    let end = server.pane("a")["bytes"].as_u64().unwrap();
    for _ in 0..1000 {
        let part = read(json!({ "since": since, "limit": 10_000 }));
        gaps += usize::from(part.get("gap").is_some());
        since = part["next"].as_u64().unwrap();
        if since == end {
            break;
        }
    }
    assert_eq!((since, gaps), (end, 1));
    look(&server, "a");
    prints(&server, "a", "the keeper goes on");
}
