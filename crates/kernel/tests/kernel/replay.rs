//! The screen of an earlier moment, and the marks of a pane.

use paned_model::{Code, Exit, Size};
use paned_term::Screen;
use serde_json::{Value, json};

use crate::test_kernel::{TestKernel, code};

/// Three megabytes of coloured, wrapped and redrawn output, so that there are checkpoints.
fn long_output() -> Vec<u8> {
    let line = |n: usize| match n % 5 {
        0 => format!("\x1b[3{}m{n} colour\x1b[0m {}\r\n", n % 8, "wide 漢字 ".repeat(20)),
        1 => format!("\x1b[5;10H\x1b[K{n}\x1b[20;1H"),
        2 => format!("\x1b]2;title {n}\x07{n}\r\n"),
        3 => format!("\x1b[?2026h\x1b[H{n}\x1b[?2026l\x1b[24;1H"),
        _ => format!("{n} {}\r\n", "text ".repeat(60)),
    };
    let mut output = Vec::new();
    for n in 0.. {
        if 3 << 20 < output.len() {
            break;
        }
        output.extend(line(n).into_bytes());
    }
    output
}

async fn rows_at(server: &TestKernel, at: Value) -> Value {
    let params = json!({ "paneId": "a", "at": at });
    server.act("pane:screen", params).await.unwrap()
}

#[tokio::test]
async fn the_screen_of_an_offset_is_what_the_output_before_it_draws() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let output = long_output();
    server.pane("a").print(&output);
    server.heard("a").await;
    let end = output.len();
    // Forward and backward, at the very ends, inside characters and sequences.
    for at in [end, 0, 1, end / 2, 1_048_576, 1_048_577, 5, end - 3, 2_500_000, 2_499_999, 700] {
        let mut screen = Screen::new(Size::default());
        screen.feed(&output[..at]);
        let shown = rows_at(&server, json!(at)).await;
        assert_eq!(shown["rows"], json!(screen.view().rows), "at {at}");
        assert_eq!(
            (&shown["at"]["offset"], &shown["at"]["truncatedStart"]),
            (&json!(at), &json!(false))
        );
    }
    let now = server.act("pane:screen", json!({ "paneId": "a" })).await.unwrap();
    assert!(now.get("at").is_none());
    assert_eq!(now["rows"], rows_at(&server, json!(end)).await["rows"]);
}

#[tokio::test]
async fn a_pane_that_has_ended_is_replayed_too_and_what_is_not_there_is_refused() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let lines: String = (0..50).map(|n| format!("{n}\r\n")).collect();
    server.pane("a").print(lines.as_bytes());
    server.pane("a").exit(Exit::Code(0));
    let params = json!({ "paneId": "a", "at": lines.len(), "history": 5 });
    let shown = server.act("pane:screen", params).await.unwrap();
    assert_eq!(shown["history"], json!(["22", "23", "24", "25", "26"]));
    for (at, expect) in [
        (json!(lines.len() + 1), Code::Invalid),
        (json!("yesterday"), Code::Invalid),
        (json!({}), Code::Invalid),
    ] {
        let params = json!({ "paneId": "a", "at": at });
        assert_eq!(code(server.act("pane:screen", params).await).0, expect, "{at}");
    }
}

#[tokio::test]
async fn marks_have_all_output_and_the_end_of_the_program() {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    let empty = server.act("pane:marks", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!((&empty["output"], &empty["end"]), (&json!([]), &json!(0)));
    server.pane("a").print(b"hello\r\n");
    server.pane("a").exit(Exit::Code(3));
    let mut feed = server.feed("pane:exited");
    server.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    server.pane("b").exit(Exit::Code(0));
    while !crate::test_kernel::next(&mut feed).await.payload.contains("\"b\"") {}
    let marks = server.act("pane:marks", json!({ "paneId": "a", "spans": 10 })).await.unwrap();
    let bytes: u64 =
        marks["output"].as_array().unwrap().iter().map(|it| it["bytes"].as_u64().unwrap()).sum();
    assert_eq!((bytes, &marks["end"]), (7, &json!(7)));
    let found = marks["marks"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{marks}");
    assert_eq!((&found[0]["kind"], &found[0]["detail"]), (&json!("exit"), &json!("exited")));
    for spans in [0, 2001] {
        let refused = server.act("pane:marks", json!({ "paneId": "a", "spans": spans })).await;
        assert_eq!(code(refused).0, Code::Invalid);
    }
}
