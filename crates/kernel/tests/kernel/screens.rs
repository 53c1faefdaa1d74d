//! A pane's screen depends on its output only, not on when it is read or how often it is redrawn.

use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_model::{Exit, Size};
use paned_term::Screen;
use serde_json::{Value, json};

use crate::restart::run_server;
use crate::test_kernel::{TestKernel, next};

async fn open(server: &TestKernel, id: &str) {
    let params = json!({ "id": id, "argv": ["sh"], "size": { "cols": 20, "rows": 6 } });
    server.act("pane:new", params).await.unwrap();
}

async fn screen(server: &TestKernel, id: &str) -> Value {
    server.act("pane:screen", json!({ "paneId": id, "format": "ansi" })).await.unwrap()
}

async fn resize(server: &TestKernel, id: &str, cols: u16, rows: u16) {
    let size = json!({ "cols": cols, "rows": rows });
    server.act("pane:resize", json!({ "paneId": id, "size": size })).await.unwrap();
}

const DRAWN: &[u8] = b"\x1b[?1049h\x1b[1;6r\x1b[H1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[3;15Hfar end";
const REDRAWN: &[u8] = b"\x1b[8;1H\n\x1b[31mlast row";

#[test]
fn who_looked_before_a_resize_and_who_restarted_changes_nothing() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    let before = run_server(&dir, &fake, async |server| {
        for id in ["seen", "unseen"] {
            open(&server, id).await;
            server.pane(id).print(DRAWN);
        }
        screen(&server, "seen").await;
        for id in ["seen", "unseen"] {
            resize(&server, id, 30, 8).await;
            server.pane(id).print(REDRAWN);
            server.heard(id).await;
        }
        let seen = screen(&server, "seen").await;
        assert_eq!(seen, screen(&server, "unseen").await);
        seen
    });
    let mut there = Screen::new(Size { cols: 20, rows: 6 });
    there.feed(DRAWN);
    there.resize(Size { cols: 30, rows: 8 });
    there.feed(REDRAWN);
    assert_eq!(before["rows"], json!(there.view().rows));
    run_server(&dir, &fake, async |server| {
        assert_eq!(screen(&server, "seen").await, before, "after a restart");
        let dump = server.kernel.dump(&"seen".parse().unwrap(), &server.owner).await.unwrap();
        let mut late = Screen::new(dump.size);
        late.feed(&dump.bytes);
        assert_eq!(late.view().rows, there.view().rows, "for whoever joins late");
    });
}

#[tokio::test(start_paused = true)]
async fn a_resize_is_told_with_the_offset_from_which_it_holds() {
    let server = TestKernel::new().await;
    open(&server, "a").await;
    server.pane("a").print(b"hello");
    let mut feed = server.feed("pane:resized");
    resize(&server, "a", 30, 8).await;
    let told: Value = serde_json::from_str(&next(&mut feed).await.payload).unwrap();
    assert_eq!(told["offset"], 5);
}

#[tokio::test(start_paused = true)]
async fn many_plain_lines_are_another_revision() {
    let server = TestKernel::new().await;
    open(&server, "a").await;
    server.pane("a").print(b"one\r\n");
    server.heard("a").await;
    let before = screen(&server, "a").await["revision"].clone();
    for round in 0..3 {
        let lines: String = (0..40_000).map(|n| format!("line {n} of round {round}\r\n")).collect();
        server.pane("a").print(lines.as_bytes());
        server.heard("a").await;
    }
    let params = json!({ "paneId": "a", "screenChangeSince": before });
    let waited = server.act("pane:wait", params).await.unwrap();
    assert_eq!(waited["met"], "screenChange");
}

#[test]
fn a_revision_never_comes_back_for_another_screen() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    let before = run_server(&dir, &fake, async |server| {
        open(&server, "a").await;
        for n in 0..20 {
            server.pane("a").print(format!("line {n}\r\n").as_bytes());
            screen(&server, "a").await;
        }
        server.heard("a").await;
        screen(&server, "a").await
    });
    run_server(&dir, &fake, async |server| {
        assert_eq!(screen(&server, "a").await, before);
        server.pane("a").print(b"\x07\x1b[0m");
        server.heard("a").await;
        assert_eq!(screen(&server, "a").await, before, "nothing is to be seen of that");
        server.pane("a").print(b"x");
        server.heard("a").await;
        let after = screen(&server, "a").await["revision"].as_u64();
        assert!(before["revision"].as_u64() < after);
    });
}

#[tokio::test(start_paused = true)]
async fn an_update_that_does_not_end_is_shown_after_a_while() {
    let server = TestKernel::new().await;
    open(&server, "a").await;
    server.pane("a").print(b"before");
    server.heard("a").await;
    let before = screen(&server, "a").await;
    server.pane("a").print(b"\x1b[?2026h\rafter!");
    server.heard("a").await;
    assert_eq!(screen(&server, "a").await, before);
    let start = tokio::time::Instant::now();
    let params = json!({ "paneId": "a", "screenChangeSince": before["revision"] });
    let waited = server.act("pane:wait", params).await.unwrap();
    assert_eq!(waited["met"], "screenChange");
    assert!(start.elapsed() < Duration::from_millis(300), "{:?}", start.elapsed());
    assert_eq!(screen(&server, "a").await["rows"][0], "after!");
    server.pane("a").print(b"\x1b[?2026l\x1b[?2026hmore");
    server.heard("a").await;
    assert_eq!(screen(&server, "a").await["rows"][0], "after!", "the next one is held again");
    server.pane("a").exit(Exit::Code(0));
    next(&mut server.feed("pane:exited")).await;
    assert_eq!(screen(&server, "a").await["rows"][0], "after!more");
}

#[tokio::test(start_paused = true)]
async fn an_update_after_one_that_did_not_end_is_shown_as_well() {
    let server = TestKernel::new().await;
    open(&server, "a").await;
    for (printed, shown) in [("\x1b[?2026hA", "A"), ("\x1b[?2026hB", "AB")] {
        let before = screen(&server, "a").await;
        server.pane("a").print(printed.as_bytes());
        server.heard("a").await;
        let params = json!({ "paneId": "a", "screenChangeSince": before["revision"] });
        let waited = server.act("pane:wait", params).await.unwrap();
        assert_eq!(waited["met"], "screenChange");
        assert_eq!(screen(&server, "a").await["rows"][0], shown);
    }
}

#[test]
fn an_update_from_before_a_restart_is_shown() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    run_server(&dir, &fake, async |server| {
        open(&server, "a").await;
        server.pane("a").print(b"before\x1b[?2026h\rafter!");
        server.heard("a").await;
    });
    run_server(&dir, &fake, async |server| {
        assert_eq!(screen(&server, "a").await["rows"][0], "after!");
    });
}

/// The tape drops old bytes at any time; the kernel learns of it with the next output.
#[tokio::test(start_paused = true)]
async fn modes_hold_for_who_looks_first_when_their_bytes_have_just_gone() {
    let server = TestKernel::new().await;
    open(&server, "a").await;
    server.pane("a").print(b"\x1b[?2004h\x1b[?1hsome more");
    server.heard("a").await;
    server.pane("a").drop_before(14);
    let modes = &screen(&server, "a").await["modes"];
    assert_eq!(
        (&modes["bracketedPaste"], &modes["applicationCursor"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn what_a_program_told_its_terminal_long_ago_still_holds() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
    let told = b"\x1b]0;My Title\x07\x1b[?1049h\x1b[?25l\x1b[4 q\x1b[2;4r\x1b[31m\x1b)0\x0e";
    let check = async |server: &TestKernel| {
        let screen = screen(server, "a").await;
        let pane = server.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!((&screen["title"], &pane["title"]), (&json!("My Title"), &json!("My Title")));
        assert_eq!(screen["modes"]["alternateScreen"], true);
        let cursor = (&screen["cursor"]["visible"], &screen["cursor"]["shape"]);
        assert_eq!(cursor, (&json!(false), &json!("underline")));
        // Only the rows of the scroll region have scrolled, and line drawing is on, in red.
        assert_eq!(screen["rows"], json!(["", "─ c", "─ d", "─ e", "", ""]));
        assert!(screen["ansi"].as_str().unwrap().contains("\x1b[0;31m─ c"), "{screen}");
    };
    run_server(&dir, &fake, async |server| {
        open(&server, "a").await;
        server.pane("a").print(told);
        server.heard("a").await;
        server.pane("a").drop_before(told.len() as u64);
        server.pane("a").print(
            b"\x1b[2;1Hq \x0fa\x0e\r\nq \x0fb\x0e\r\nq \x0fc\x0e\r\nq \x0fd\x0e\r\nq \x0fe\x0e",
        );
        server.heard("a").await;
        check(&server).await;
        // not a wait: the terminal's state is recorded once a second, and that is what is tested.
        tokio::time::sleep(Duration::from_millis(1100)).await;
        server.act("event:emit", json!({ "name": "test:written" })).await.unwrap();
    });
    run_server(&dir, &fake, async |server| check(&server).await);
}
