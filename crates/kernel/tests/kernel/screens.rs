//! A pane's screen is what its output makes it: whoever looks when, and however often it is drawn anew.

use std::time::Duration;

use paned_model::{Exit, Size};
use paned_substrate::fake::Fake;
use paned_term::Screen;
use serde_json::{Value, json};

use crate::house::{House, next};
use crate::restart::life;

async fn open(house: &House, id: &str) {
    let params = json!({ "id": id, "argv": ["sh"], "size": { "cols": 20, "rows": 6 } });
    house.act("pane:new", params).await.unwrap();
}

async fn screen(house: &House, id: &str) -> Value {
    house.act("pane:screen", json!({ "paneId": id, "format": "ansi" })).await.unwrap()
}

async fn resize(house: &House, id: &str, cols: u16, rows: u16) {
    let size = json!({ "cols": cols, "rows": rows });
    house.act("pane:resize", json!({ "paneId": id, "size": size })).await.unwrap();
}

const DRAWN: &[u8] = b"\x1b[?1049h\x1b[1;6r\x1b[H1\r\n2\r\n3\r\n4\r\n5\r\n6\x1b[3;15Hfar end";
const REDRAWN: &[u8] = b"\x1b[8;1H\n\x1b[31mlast row";

#[test]
fn who_looked_before_a_resize_and_who_restarted_changes_nothing() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::default());
    let before = life(&dir, &fake, async |house| {
        for id in ["seen", "unseen"] {
            open(&house, id).await;
            house.pane(id).print(DRAWN);
        }
        screen(&house, "seen").await;
        for id in ["seen", "unseen"] {
            resize(&house, id, 30, 8).await;
            house.pane(id).print(REDRAWN);
            house.heard(id).await;
        }
        let seen = screen(&house, "seen").await;
        assert_eq!(seen, screen(&house, "unseen").await);
        seen
    });
    let mut there = Screen::new(Size { cols: 20, rows: 6 });
    there.feed(DRAWN);
    there.resize(Size { cols: 30, rows: 8 });
    there.feed(REDRAWN);
    assert_eq!(before["rows"], json!(there.view().rows));
    life(&dir, &fake, async |house| {
        assert_eq!(screen(&house, "seen").await, before, "after a restart");
        let dump = house.kernel.dump(&"seen".parse().unwrap(), &house.owner).await.unwrap();
        let mut late = Screen::new(dump.size);
        late.feed(&dump.bytes);
        assert_eq!(late.view().rows, there.view().rows, "for whoever joins late");
    });
}

#[tokio::test(start_paused = true)]
async fn a_resize_is_told_with_the_offset_from_which_it_holds() {
    let house = House::new().await;
    open(&house, "a").await;
    house.pane("a").print(b"hello");
    let mut feed = house.feed("pane:resized");
    resize(&house, "a", 30, 8).await;
    let told: Value = serde_json::from_str(&next(&mut feed).await.payload).unwrap();
    assert_eq!(told["offset"], 5);
}

#[tokio::test(start_paused = true)]
async fn many_plain_lines_are_another_revision() {
    let house = House::new().await;
    open(&house, "a").await;
    house.pane("a").print(b"one\r\n");
    house.heard("a").await;
    let before = screen(&house, "a").await["revision"].clone();
    for round in 0..3 {
        let lines: String = (0..40_000).map(|n| format!("line {n} of round {round}\r\n")).collect();
        house.pane("a").print(lines.as_bytes());
        house.heard("a").await;
    }
    let params = json!({ "paneId": "a", "screenChangeSince": before });
    let waited = house.act("pane:wait", params).await.unwrap();
    assert_eq!(waited["met"], "screenChange");
}

#[test]
fn a_revision_never_comes_back_for_another_screen() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::default());
    let before = life(&dir, &fake, async |house| {
        open(&house, "a").await;
        for n in 0..20 {
            house.pane("a").print(format!("line {n}\r\n").as_bytes());
            screen(&house, "a").await;
        }
        house.heard("a").await;
        screen(&house, "a").await
    });
    life(&dir, &fake, async |house| {
        assert_eq!(screen(&house, "a").await, before);
        house.pane("a").print(b"\x07\x1b[0m");
        house.heard("a").await;
        assert_eq!(screen(&house, "a").await, before, "nothing is to be seen of that");
        house.pane("a").print(b"x");
        house.heard("a").await;
        let after = screen(&house, "a").await["revision"].as_u64();
        assert!(before["revision"].as_u64() < after);
    });
}

#[tokio::test(start_paused = true)]
async fn an_update_that_does_not_end_is_shown_after_a_while() {
    let house = House::new().await;
    open(&house, "a").await;
    house.pane("a").print(b"before");
    house.heard("a").await;
    let before = screen(&house, "a").await;
    house.pane("a").print(b"\x1b[?2026h\rafter!");
    house.heard("a").await;
    assert_eq!(screen(&house, "a").await, before);
    let start = tokio::time::Instant::now();
    let params = json!({ "paneId": "a", "screenChangeSince": before["revision"] });
    let waited = house.act("pane:wait", params).await.unwrap();
    assert_eq!(waited["met"], "screenChange");
    assert!(start.elapsed() < Duration::from_millis(300), "{:?}", start.elapsed());
    assert_eq!(screen(&house, "a").await["rows"][0], "after!");
    house.pane("a").print(b"\x1b[?2026l\x1b[?2026hmore");
    house.heard("a").await;
    assert_eq!(screen(&house, "a").await["rows"][0], "after!", "the next one is held again");
    house.pane("a").exit(Exit::Code(0));
    next(&mut house.feed("pane:exited")).await;
    assert_eq!(screen(&house, "a").await["rows"][0], "after!more");
}

#[tokio::test(start_paused = true)]
async fn an_update_after_one_that_did_not_end_is_shown_as_well() {
    let house = House::new().await;
    open(&house, "a").await;
    for (printed, shown) in [("\x1b[?2026hA", "A"), ("\x1b[?2026hB", "AB")] {
        let before = screen(&house, "a").await;
        house.pane("a").print(printed.as_bytes());
        house.heard("a").await;
        let params = json!({ "paneId": "a", "screenChangeSince": before["revision"] });
        let waited = house.act("pane:wait", params).await.unwrap();
        assert_eq!(waited["met"], "screenChange");
        assert_eq!(screen(&house, "a").await["rows"][0], shown);
    }
}

#[test]
fn an_update_from_before_a_restart_is_shown() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::default());
    life(&dir, &fake, async |house| {
        open(&house, "a").await;
        house.pane("a").print(b"before\x1b[?2026h\rafter!");
        house.heard("a").await;
    });
    life(&dir, &fake, async |house| {
        assert_eq!(screen(&house, "a").await["rows"][0], "after!");
    });
}

/// The ring drops bytes when it wants to; the kernel hears of it with the next that are printed.
#[tokio::test(start_paused = true)]
async fn modes_hold_for_who_looks_first_when_their_bytes_have_just_gone() {
    let house = House::new().await;
    open(&house, "a").await;
    house.pane("a").print(b"\x1b[?2004h\x1b[?1hsome more");
    house.heard("a").await;
    house.pane("a").drop_before(14);
    let modes = &screen(&house, "a").await["modes"];
    assert_eq!(
        (&modes["bracketedPaste"], &modes["applicationCursor"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn what_a_program_told_its_terminal_long_ago_still_holds() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::default());
    let told = b"\x1b]0;My Title\x07\x1b[?1049h\x1b[?25l\x1b[4 q\x1b[2;4r\x1b[31m\x1b)0\x0e";
    let check = async |house: &House| {
        let screen = screen(house, "a").await;
        let pane = house.act("pane:get", json!({ "paneId": "a" })).await.unwrap();
        assert_eq!((&screen["title"], &pane["title"]), (&json!("My Title"), &json!("My Title")));
        assert_eq!(screen["modes"]["alternateScreen"], true);
        let cursor = (&screen["cursor"]["visible"], &screen["cursor"]["shape"]);
        assert_eq!(cursor, (&json!(false), &json!("underline")));
        // Only the rows that scroll have, and lines are drawn, in red.
        assert_eq!(screen["rows"], json!(["", "─ c", "─ d", "─ e", "", ""]));
        assert!(screen["ansi"].as_str().unwrap().contains("\x1b[0;31m─ c"), "{screen}");
    };
    life(&dir, &fake, async |house| {
        open(&house, "a").await;
        house.pane("a").print(told);
        house.heard("a").await;
        house.pane("a").drop_before(told.len() as u64);
        house.pane("a").print(
            b"\x1b[2;1Hq \x0fa\x0e\r\nq \x0fb\x0e\r\nq \x0fc\x0e\r\nq \x0fd\x0e\r\nq \x0fe\x0e",
        );
        house.heard("a").await;
        check(&house).await;
        // What is remembered is written once a second.
        tokio::time::sleep(Duration::from_millis(1100)).await; // not a wait: that second is what is tested
        house.act("event:emit", json!({ "name": "test:written" })).await.unwrap();
    });
    life(&dir, &fake, async |house| check(&house).await);
}
