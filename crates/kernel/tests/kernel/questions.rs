//! A program's queries to its terminal are answered once, whenever a client reads the screen.

use std::time::Duration;

use paned_backend::fake::FakeBackend;
use paned_model::{Exit, Time};
use serde_json::json;

use crate::restart::run_server;
use crate::test_kernel::{TestKernel, next};

async fn open(server: &TestKernel) {
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
}

async fn look(server: &TestKernel) {
    server.screen("a").await;
}

/// With `looks`, the screen is read before the kernel's own task has run.
async fn ask(server: &TestKernel, looks: bool) {
    for question in [&b"ab\x1b[6n"[..], b"\r\n\x1b[6n"] {
        server.pane("a").print(question);
        if looks {
            look(server).await;
        }
    }
    server.heard("a").await;
}

#[tokio::test(start_paused = true)]
async fn a_program_that_asks_its_terminal_is_answered_once() {
    for looks in [false, true] {
        let server = TestKernel::new().await;
        open(&server).await;
        ask(&server, looks).await;
        assert_eq!(server.pane("a").typed(), b"\x1b[1;3R\x1b[2;1R", "looked at: {looks}");
    }
}

/// Within a synchronized update nothing is drawn, so the position of the cursor is not known yet.
#[tokio::test(start_paused = true)]
async fn a_question_within_an_update_is_answered_at_its_end_or_when_it_takes_too_long() {
    for end in [&b"\x1b[?2026l"[..], b""] {
        let server = TestKernel::new().await;
        open(&server).await;
        server.pane("a").print(b"\x1b[?2026h\x1b[3;7H\x1b[6n");
        server.heard("a").await;
        assert!(server.pane("a").typed().is_empty());
        server.pane("a").print(end);
        let answered = async {
            while server.pane("a").typed().is_empty() {
                // not a wait: polls until it is answered, in paused time.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), answered).await.expect("an answer");
        assert_eq!(server.pane("a").typed(), b"\x1b[3;7R");
    }
}

#[test]
fn what_was_answered_is_not_answered_by_the_next_server() {
    for looks in [false, true] {
        let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
        run_server(&dir, &fake, async |server| {
            open(&server).await;
            ask(&server, false).await;
        });
        run_server(&dir, &fake, async |server| {
            if looks {
                look(&server).await;
            }
            server.pane("a").print(b"abc\x1b[6n");
            server.heard("a").await;
            let expect = b"\x1b[1;3R\x1b[2;1R\x1b[2;4R";
            assert_eq!(server.pane("a").typed(), expect, "looked at: {looks}");
        });
    }
}

/// A program that asked while no server ran may still wait, if that was just now; an older query
/// was answered by another terminal, or its program is gone.
#[test]
fn the_next_server_answers_only_what_was_asked_just_now() {
    let check = |asked: [(u64, &[u8]); 2], looks: bool, expect: &[u8]| {
        let (dir, fake) = (tempfile::tempdir().unwrap(), FakeBackend::default());
        run_server(&dir, &fake, async |server| open(&server).await);
        for (time, bytes) in asked {
            fake.pane("a").unwrap().print_at(bytes, Time(time));
        }
        run_server(&dir, &fake, async |server| {
            if looks {
                look(&server).await;
            }
            server.pane("a").print(b"\r\n\x1b[6n");
            server.heard("a").await;
            // New queries are answered, after all earlier ones.
            let expect = [expect, b"\x1b[2;1R"].concat();
            let typed = server.pane("a").typed();
            assert_eq!(typed.escape_ascii().to_string(), expect.escape_ascii().to_string());
        });
    };
    for looks in [false, true] {
        // The clock is at 1000 ms.
        check([(100, b"ab\x1b[6n"), (200, b"\x1b[c")], looks, b"");
        check([(100, b"ab\x1b[6n"), (900, b"c\x1b[6n")], looks, b"\x1b[1;4R");
        check([(900, b"ab\x1b[6n"), (950, b"")], looks, b"\x1b[1;3R");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_has_ended_waits_for_no_answer() {
    let server = TestKernel::new().await;
    open(&server).await;
    server.pane("a").print(b"\x1b[6n");
    server.pane("a").exit(Exit::Code(0));
    next(&mut server.feed("pane:exited")).await;
    assert!(server.pane("a").typed().is_empty());
}
