//! Panes: what is known of them, and when.

use std::time::Duration;

use paned_backend::fake::FAKE_KEEPER_PID;
use paned_kernel::PaneOutputChunk;
use paned_model::{Code, Exit, Offset, Size};
use serde_json::{Value, json};

use crate::test_kernel::{TestKernel, code, names, next};

async fn with_pane(id: &str) -> TestKernel {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": id, "argv": ["sh"] })).await.unwrap();
    server
}

async fn get(server: &TestKernel, id: &str) -> Value {
    server.act("pane:get", json!({ "paneId": id })).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_new_pane_is_all_that_was_asked_for() {
    let server = TestKernel::new().await;
    let params = json!({
        "argv": ["sh", "-c", "true"], "cwd": "/tmp", "size": { "cols": 100, "rows": 30 },
        "meta": { "k": [1] }, "tags": ["t"], "title": "mine", "persist": true,
    });
    let info = server.act("pane:new", params).await.unwrap();
    let id = info["id"].as_str().unwrap();
    assert!(id.starts_with("p-"), "{id}");
    assert_eq!(info["status"], "running");
    assert_eq!(
        (&info["title"], &info["cwd"], &info["persist"]),
        (&json!("mine"), &json!("/tmp"), &json!(true))
    );
    assert_eq!(info["size"], json!({ "cols": 100, "rows": 30 }));
    assert_eq!(info["meta"], json!({ "k": [1] }));
    assert_eq!(get(&server, id).await, info);
}

#[tokio::test(start_paused = true)]
async fn a_name_is_taken_once_and_there_is_a_limit() {
    let server = with_pane("a").await;
    let again = server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await;
    let (code_of_again, sentence) = code(again);
    assert_eq!(code_of_again, Code::Conflict);
    assert!(sentence.contains("pane `a` already exists") && sentence.contains("`replace`"));
    for _ in 0..4 {
        server.act("pane:new", json!({ "argv": ["sh"] })).await.unwrap();
    }
    assert_eq!(code(server.act("pane:new", json!({ "argv": ["sh"] })).await).0, Code::Limit);
}

#[tokio::test(start_paused = true)]
async fn a_pane_that_could_not_be_started_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("refused");
    std::fs::write(&program, "").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let server = TestKernel::new().await;
    let outcome = server.act("pane:new", json!({ "id": "a", "argv": [program] })).await;
    assert_eq!(code(outcome), (Code::Invalid, "cannot run it".into()));
    assert_eq!(server.act("pane:list", json!({})).await.unwrap(), json!([]));
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn bytes_then_the_end_then_the_event() {
    let server = with_pane("a").await;
    let mut feed = server.feed("pane:exited");
    server.pane("a").print(b"last words\n");
    server.pane("a").exit(Exit::Code(7));
    let told: Value = serde_json::from_str(&next(&mut feed).await.payload).unwrap();
    assert_eq!((&told["paneId"], &told["exitCode"]), (&json!("a"), &json!(7)));
    let info = get(&server, "a").await;
    assert_eq!((&info["status"], &info["exitCode"]), (&json!("exited"), &json!(7)));
    assert_eq!((&info["bytes"], &info["lines"]), (&json!(11), &json!(1)));
    assert_eq!(server.pane("a").taken(), 11);
}

#[tokio::test]
async fn a_keeper_that_lets_its_server_go_is_reached_again() {
    let server = with_pane("a").await;
    let (pane, write) = (server.pane("a"), json!({ "paneId": "a", "text": "x" }));
    pane.stop_answering();
    pane.part();
    let keeper = format!("process {FAKE_KEEPER_PID}");
    let refused = async {
        loop {
            match server.act("pane:write", write.clone()).await {
                Err(refusal) if refusal.sentence.contains(&keeper) => return refusal.code,
                Ok(_) | Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(60), refused).await;
    assert_eq!(refused.expect("it is noticed"), Code::Unavailable);
    let close = server.act("pane:close", json!({ "paneId": "a" })).await;
    assert_eq!(code(close).0, Code::Unavailable);
    pane.print(b"more\n");
    pane.resume_answering();
    server.heard("a").await;
    server.act("pane:write", write).await.unwrap();
    server.act("pane:close", json!({ "paneId": "a" })).await.unwrap();
    let told = names(&mut server.feed("pane:*"), 4).await;
    assert_eq!(told, ["pane:created", "pane:killed", "pane:exited", "pane:removed"]);
}

#[tokio::test(start_paused = true)]
async fn a_keeper_that_tells_ahead_hears_of_nothing_but_what_matters() {
    let server = with_pane("a").await;
    let pane = server.pane("a");
    pane.print(b"$ ");
    server.heard("a").await;
    pane.notify_without_ack();
    let before = pane.ack_count();
    for _ in 0..5 {
        pane.print(b"x");
        // not a wait: time is paused, so it advances only when every task is idle.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // A bell is acknowledged, so that the next server does not ring it again.
    pane.print(b"\x07");
    server.heard("a").await;
    assert_eq!(pane.ack_count() - before, 1);
    // A lot of output is read in pieces, and was notified only once; a program may block until all
    // of it is read.
    pane.print(&b"much\n".repeat(100_000));
    server.heard("a").await;
}

#[tokio::test(start_paused = true)]
async fn a_pane_whose_keeper_died_is_lost_without_a_code() {
    let server = with_pane("a").await;
    let mut feed = server.feed("pane:*");
    server.pane("a").kill_keeper();
    assert_eq!(names(&mut feed, 2).await, ["pane:created", "pane:lost"]);
    let info = get(&server, "a").await;
    assert_eq!((&info["status"], info.get("exitCode")), (&json!("lost"), None));
    let write = server.act("pane:write", json!({ "paneId": "a", "text": "x" })).await;
    assert_eq!(code(write).0, Code::Gone);
}

#[tokio::test(start_paused = true)]
async fn closing_forgets_and_removing_needs_an_end() {
    let server = with_pane("a").await;
    let remove = server.act("pane:remove", json!({ "paneId": "a" })).await;
    assert_eq!(code(remove).0, Code::Conflict);
    assert_eq!(server.act("pane:close", json!({ "paneId": "a" })).await.unwrap(), json!({}));
    assert_eq!(code(server.act("pane:get", json!({ "paneId": "a" })).await).0, Code::NotFound);
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    server.pane("a").exit(Exit::Code(0));
    let mut feed = server.feed("pane:exited");
    next(&mut feed).await;
    next(&mut feed).await;
    server.act("pane:remove", json!({ "paneId": "a" })).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_arrives_exactly() {
    let server = with_pane("a").await;
    let bytes =
        server.act("pane:write", json!({ "paneId": "a", "text": "l\u{e4}\r\n" })).await.unwrap();
    assert_eq!(bytes, json!({ "bytes": 5 }));
    server.act("pane:write", json!({ "paneId": "a", "base64": "AP8=" })).await.unwrap();
    assert_eq!(server.pane("a").typed(), b"l\xc3\xa4\r\n\x00\xff");
    for (params, sentence) in [
        (json!({ "paneId": "a" }), "pass `text` or `base64`"),
        (json!({ "paneId": "a", "text": "", "base64": "" }), "not both"),
        (json!({ "paneId": "a", "base64": "?" }), "invalid `base64`"),
    ] {
        assert!(code(server.act("pane:write", params).await).1.contains(sentence));
    }
}

#[tokio::test(start_paused = true)]
async fn meta_changes_only_when_it_does() {
    let server = with_pane("a").await;
    let set = |key: &str, value: i32| json!({ "paneId": "a", "key": key, "value": value });
    let answer = server.act("pane:set-meta", set("x", 1)).await.unwrap();
    assert_eq!(
        answer,
        json!({ "id": "a", "previousMeta": {}, "meta": { "x": 1 }, "changed": true })
    );
    let answer = server.act("pane:set-meta", set("x", 1)).await.unwrap();
    assert_eq!(answer["changed"], false);
    let update = json!({ "paneId": "a", "set": { "y": 2 }, "deleteKeys": ["x", "none"] });
    let answer = server.act("pane:update-meta", update).await.unwrap();
    assert_eq!(answer["previousMeta"], json!({ "x": 1 }));
    assert_eq!(answer["meta"], json!({ "y": 2 }));
    let answer =
        server.act("pane:delete-meta", json!({ "paneId": "a", "keys": ["y"] })).await.unwrap();
    assert_eq!((&answer["meta"], &answer["changed"]), (&json!({}), &json!(true)));
    let found = server.act("pane:get-meta", json!({ "paneId": "a" })).await.unwrap();
    assert_eq!(found, json!({ "id": "a", "meta": {} }));
    let large = json!({ "paneId": "a", "key": "x", "value": "y".repeat(70_000) });
    assert_eq!(code(server.act("pane:set-meta", large).await).0, Code::Limit);
}

#[tokio::test(start_paused = true)]
async fn the_program_names_its_pane_unless_somebody_else_did() {
    let server = with_pane("a").await;
    let mut feed = server.feed("pane:title,pane:bell");
    server.pane("a").print(b"\x1b]0;one\x07\x07");
    assert!(next(&mut feed).await.payload.contains("\"title\":\"one\""));
    assert!(next(&mut feed).await.payload.contains("\"count\":1"));
    for n in 0..100 {
        server.pane("a").print(format!("\x1b]2;spin {n}\x1b\\").as_bytes());
        tokio::task::yield_now().await;
    }
    // A spinner's title is recorded at most once a second, and the last title is never lost.
    let told = next(&mut feed).await;
    assert!(told.payload.contains("\"title\":\"spin 99\""), "{}", told.payload);
    assert_eq!(get(&server, "a").await["title"], "spin 99");
    server.act("pane:new", json!({ "id": "b", "argv": ["sh"], "title": "mine" })).await.unwrap();
    server.pane("b").print(b"\x1b]0;theirs\x07");
    server.pane("b").exit(Exit::Code(0));
    next(&mut server.feed("pane:exited")).await;
    assert_eq!(get(&server, "b").await["title"], "mine");
}

/// Between the end of a keeper and its detection there is a moment in which requests may come.
#[tokio::test(start_paused = true)]
async fn who_asks_something_of_a_pane_that_is_just_going_is_answered() {
    let server = with_pane("a").await;
    server.pane("a").stop_listening();
    // not a wait: time is paused, and the driver runs meanwhile.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for (name, params) in [
        ("pane:write", json!({ "paneId": "a", "text": "x" })),
        ("pane:keys", json!({ "paneId": "a", "keys": ["enter"] })),
        ("pane:paste", json!({ "paneId": "a", "text": "x" })),
        ("pane:resize", json!({ "paneId": "a", "size": { "cols": 90, "rows": 20 } })),
    ] {
        let asked = tokio::time::timeout(Duration::from_secs(60), server.act(name, params));
        let (code, sentence) = code(asked.await.expect("an answer"));
        assert_eq!(code, Code::Gone, "{name}");
        assert!(sentence.ends_with("pane `a` has exited"), "{sentence}");
    }
}

/// Concurrent requests for a pane of that name wait, or find none; none finds a half-removed pane.
#[tokio::test(start_paused = true)]
async fn many_who_close_a_pane_leave_the_next_one_of_its_name_alone() {
    let server = with_pane("a").await;
    let close = || server.act("pane:close", json!({ "paneId": "a" }));
    let renew = async {
        while server.act("pane:new", json!({ "id": "a", "argv": ["cat"] })).await.is_err() {
            // not a wait: polls until the name is free, in paused time.
            tokio::time::sleep(Duration::from_micros(1)).await;
        }
    };
    let (first, second, third, ()) = tokio::join!(close(), close(), close(), renew);
    for closed in [first, second, third] {
        assert!(closed.is_ok() || code(closed).0 == Code::NotFound);
    }
    assert_eq!(get(&server, "a").await["argv"], json!(["cat"]));
    assert_eq!(server.pane("a").spec.argv, ["cat"], "it has its files");
    let mut feed = server.feed("pane:removed,pane:created");
    assert_eq!(names(&mut feed, 3).await, ["pane:created", "pane:removed", "pane:created"]);
}

#[tokio::test(start_paused = true)]
async fn output_is_pulled_from_any_offset_to_the_end() {
    let server = with_pane("a").await;
    let id = "a".parse().unwrap();
    let mut printed = server.kernel.output(&id, Offset(2), &server.owner).unwrap();
    server.pane("a").print(b"012345");
    assert_eq!(printed.next(3).await.unwrap(), PaneOutputChunk::Bytes(Offset(2), b"234".to_vec()));
    assert_eq!(printed.next(9).await.unwrap(), PaneOutputChunk::Bytes(Offset(5), b"5".to_vec()));
    server.pane("a").print(b"67");
    server.pane("a").exit(Exit::Code(0));
    assert_eq!(printed.next(9).await.unwrap(), PaneOutputChunk::Bytes(Offset(6), b"67".to_vec()));
    assert_eq!(printed.next(9).await.unwrap(), PaneOutputChunk::End);
}

#[tokio::test(start_paused = true)]
async fn the_view_is_what_was_printed_up_to_now() {
    let server = with_pane("a").await;
    server.pane("a").print(b"one\r\ntwo");
    let screen = server.screen("a").await;
    assert_eq!((&screen["rows"][0], &screen["rows"][1]), (&json!("one"), &json!("two")));
    server.pane("a").print(b"\x1b[2J\x1b[Hnew");
    assert_eq!(server.screen("a").await["rows"][0], "new");
}

#[tokio::test(start_paused = true)]
async fn a_resize_is_told_once() {
    let server = with_pane("a").await;
    let resize = json!({ "paneId": "a", "size": { "cols": 90, "rows": 20 } });
    let answer = server.act("pane:resize", resize.clone()).await.unwrap();
    assert_eq!(answer["changed"], true);
    assert_eq!(server.act("pane:resize", resize).await.unwrap()["changed"], false);
    assert_eq!(get(&server, "a").await["size"], json!({ "cols": 90, "rows": 20 }));
    let small = json!({ "paneId": "a", "size": { "cols": 1, "rows": 20 } });
    assert_eq!(code(server.act("pane:resize", small).await).0, Code::Invalid);
}

#[tokio::test(start_paused = true)]
async fn lists_are_filtered() {
    let server = TestKernel::new().await;
    for (id, tag, k) in [("a", "x", 1), ("b", "y", 1), ("c", "x", 2)] {
        let params = json!({ "id": id, "argv": ["sh"], "tags": [tag], "meta": { "k": k } });
        server.act("pane:new", params).await.unwrap();
    }
    let ids = async |filter: Value| {
        let panes = server.act("pane:list", filter).await.unwrap();
        panes
            .as_array()
            .unwrap()
            .iter()
            .map(|pane| pane["id"].as_str().unwrap().to_owned())
            .collect::<String>()
    };
    assert_eq!(ids(json!({})).await, "abc");
    assert_eq!(ids(json!({ "tag": "x" })).await, "ac");
    assert_eq!(ids(json!({ "meta": { "k": 1 } })).await, "ab");
    assert_eq!(ids(json!({ "tag": "x", "meta": { "k": 1 } })).await, "a");
    assert_eq!(ids(json!({ "status": "exited" })).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_list_says_of_a_pane_what_the_pane_says_whatever_changed() {
    let server = with_pane("a").await;
    let mut said = Vec::new();
    let mut check = async |what: &str| {
        let listed = server.act("pane:list", json!({})).await.unwrap()[0].take();
        assert_eq!(listed, get(&server, "a").await, "{what}");
        assert!(!said.contains(&listed), "{what} is not to be seen");
        said.push(listed);
    };
    check("a new pane").await;
    for (name, params) in [
        ("pane:rename", json!({ "paneId": "a", "title": "new" })),
        ("pane:set-meta", json!({ "paneId": "a", "key": "k", "value": 1 })),
        ("pane:resize", json!({ "paneId": "a", "size": { "cols": 90, "rows": 20 } })),
    ] {
        server.act(name, params).await.unwrap();
        check(name).await;
    }
    server.pane("a").print(b"one\r\n");
    check("a line").await;
    server.pane("a").exit(Exit::Code(3));
    next(&mut server.feed("pane:exited")).await;
    check("the end").await;
}

#[tokio::test(start_paused = true)]
async fn whoever_wants_to_know_gets_one_notice_of_the_end() {
    let server = TestKernel::new().await;
    let params = json!({ "id": "a", "argv": ["sh"], "title": "tests", "notifyOnExit": true });
    server.act("pane:new", params).await.unwrap();
    let mut feed = server.feed("pane:notice,pane:exited,test:over");
    server.pane("a").print(b"1 failed\r\n\r\n");
    server.pane("a").exit(Exit::Code(1));
    assert_eq!(next(&mut feed).await.name, "pane:exited");
    let told: Value = serde_json::from_str(&next(&mut feed).await.payload).unwrap();
    let text = told["text"].as_str().unwrap();
    for part in [
        "ID: a",
        "Title: tests",
        "Exit Code: 1",
        "Timed Out: no",
        "Output Lines: 2",
        "Last Line: 1 failed",
    ] {
        assert!(text.contains(part), "{text}");
    }
    server.act("event:emit", json!({ "name": "test:over" })).await.unwrap();
    assert_eq!(next(&mut feed).await.name, "test:over", "there is one");
}

/// Checks the notice of the exit of a pane that printed a line.
async fn check_notice(notice: Value, end: impl AsyncFn(&TestKernel), expect: &str) {
    let server = TestKernel::new().await;
    let params = json!({
        "id": "a", "argv": ["sh"], "title": "tests", "notifyOnExit": true, "timeoutSeconds": 9, "notice": notice,
    });
    server.act("pane:new", params).await.unwrap();
    server.pane("a").print(b"the </pty_exited>\r\n");
    end(&server).await;
    let told = next(&mut server.feed("pane:notice")).await;
    let told: Value = serde_json::from_str(&told.payload).unwrap();
    assert_eq!(told["text"], expect);
}

async fn fails(server: &TestKernel) {
    server.pane("a").exit(Exit::Code(1));
}

async fn is_closed(server: &TestKernel) {
    server.act("pane:close", json!({ "paneId": "a" })).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_notice_is_in_the_words_that_were_asked_for() {
    let begin = "<pty_exited>\nID: a\nDescription:";
    let end =
        "\nTimed Out: no\nOutput Lines: 1\nLast Line: the &lt;/pty_exited>\n</pty_exited>\n\n";
    let failed = format!(
        "{begin} runs the tests\nExit Code: 1\nTimeoutSeconds: 9{end}Process failed. Use pty_read with the pattern \
         parameter to search for errors in the output."
    );
    let described = json!({ "words": "pty", "description": "runs\nthe tests" });
    check_notice(described, fails, &failed).await;
    let killed = format!(
        "{begin} tests\nExit Code: SIGTERM\nTimeoutSeconds: 9{end}Process was killed on request."
    );
    check_notice(json!({ "words": "pty" }), is_closed, &killed).await;
}

#[tokio::test(start_paused = true)]
async fn a_notice_says_what_the_pane_was_for_and_who_ended_it() {
    let begin = "<pane_exited>\nID: a\nTitle: tests\n";
    let end = "\nTimeout Seconds: 9\nTimed Out: no\nOutput Lines: 1\nLast Line: the &lt;/pty_exited>\n\
               </pane_exited>\n\n";
    let failed = format!(
        "{begin}Description: all of them\nExit Code: 1{end}It failed; search pane `a` for errors."
    );
    check_notice(json!({ "description": "all of them" }), fails, &failed).await;
    let killed = format!("{begin}Exit Code: SIGTERM{end}It was stopped on request.");
    check_notice(json!({}), is_closed, &killed).await;
}

#[tokio::test(start_paused = true)]
async fn a_look_at_a_long_plain_output_shows_what_parsing_all_of_it_would() {
    for end in ["", "the prompt", "\r\n", "\u{1b}[31mred", "wide \u{4f60}\u{597d}\r\ncut"] {
        let server = with_pane("a").await;
        let longest = if end.is_empty() { 200 } else { 20 };
        let line = |n: usize| format!("line {n} {}\r\n", "x".repeat(n % longest));
        let text = (0..40_000).map(line).collect::<String>() + end;
        server.pane("a").print(text.as_bytes());
        server.pane("a").exit(Exit::Code(0));
        next(&mut server.feed("pane:exited")).await;
        let screen = server.screen("a").await;
        let mut whole = paned_term::Screen::new(Size::default());
        whole.feed(text.as_bytes());
        let whole = json!(whole.view());
        for field in ["size", "rows", "cursor"] {
            assert_eq!(screen[field], whole[field], "{field} {end:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_way_to_tmux_nothing_is_adopted_or_listed() {
    let server = TestKernel::new().await;
    let adopt = json!({ "tmux": "/tmp/none", "pane": "%0" });
    for (name, params) in [("pane:adopt", adopt), ("tmux:list", json!({}))] {
        let (code, sentence) = code(server.act(name, params).await);
        assert_eq!(code, Code::Unavailable, "{sentence}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_program_that_prints_much_makes_room_for_who_types_elsewhere() {
    let server = with_pane("flood").await;
    server.act("pane:new", json!({ "id": "beside", "argv": ["sh"] })).await.unwrap();
    let flood = server.pane("flood");
    let prints = async |bytes: usize| {
        let end = flood.taken() + bytes as u64;
        flood.print(&vec![b'x'; bytes]);
        while flood.taken() < end {
            tokio::task::yield_now().await;
        }
        flood.breaks()
    };
    let types = async |pane: &str| {
        let params = json!({ "paneId": pane, "text": "x" });
        server.act("pane:write", params).await.unwrap();
    };
    types("flood").await;
    assert_eq!(prints(1 << 20).await, 0, "nobody types elsewhere");
    types("beside").await;
    assert_eq!(prints(100).await, 0, "it prints little");
    assert_eq!(prints(1 << 20).await, 1);
    tokio::time::advance(std::time::Duration::from_secs(3)).await;
    assert_eq!(prints(1 << 20).await, 1, "nobody types any more");
}
