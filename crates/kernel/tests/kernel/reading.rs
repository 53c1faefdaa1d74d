//! Reading, typing and running.

use paned_model::{Code, Exit, Time};
use serde_json::{Value, json};

use crate::test_kernel::{TestKernel, code, next};

pub(crate) async fn printing(text: &str) -> TestKernel {
    let server = TestKernel::new().await;
    server.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    server.pane("a").print(text.as_bytes());
    server
}

/// The lines of an answer, as `n:text`.
fn lines(answer: &Value) -> Vec<String> {
    let lines = answer["lines"].as_array().unwrap().iter();
    lines.map(|line| format!("{}:{}", line["n"], line["text"].as_str().unwrap())).collect()
}

#[track_caller]
fn read(server: &TestKernel, mut params: Value) -> impl Future<Output = Value> {
    params["paneId"] = json!("a");
    async move { server.act("pane:read", params).await.unwrap() }
}

#[tokio::test(start_paused = true)]
async fn lines_come_by_number_from_the_end_or_since_a_cursor() {
    let server = printing("zero\r\none\r\ntwo\r\nthree\r\n$ ").await;
    let all = read(&server, json!({})).await;
    assert_eq!(lines(&all), ["0:zero", "1:one", "2:two", "3:three", "4:$ "]);
    assert_eq!(
        (&all["total"], &all["dropped"], &all["truncated"]),
        (&json!(5), &json!(0), &json!(false))
    );
    let some = read(&server, json!({ "offset": 1, "limit": 2 })).await;
    assert_eq!(
        (lines(&some), &some["truncated"]),
        (vec!["1:one".into(), "2:two".into()], &json!(true))
    );
    let rest = read(&server, json!({ "since": some["next"] })).await;
    assert_eq!(lines(&rest), ["3:three", "4:$ "]);
    assert_eq!(lines(&read(&server, json!({ "tail": 2 })).await), ["3:three", "4:$ "]);
    assert_eq!(lines(&read(&server, json!({ "offset": 99 })).await), Vec::<String>::new());
    server.pane("a").print(b"ls\r\nfile\r\n");
    let new = read(&server, json!({ "since": rest["next"] })).await;
    assert_eq!(lines(&new), ["4:$ ls", "5:file"]);
    assert_eq!(
        (&new["lines"][0]["continued"], &rest["lines"][1]["open"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(lines(&read(&server, json!({ "since": new["next"] })).await), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn lines_read_as_a_person_would() {
    let server = printing("\x1b[31mred\x1b[0m\r\n10%\r20%\r\nab\x08c\r\n").await;
    assert_eq!(lines(&read(&server, json!({})).await), ["0:red", "1:20%", "2:ac"]);
    let raw = read(&server, json!({ "view": "raw", "limit": 8 })).await;
    assert_eq!((&raw["raw"], &raw["next"]), (&json!("\u{1b}[31mred"), &json!(8)));
    server.pane("a").print(b"\xff");
    let raw = read(&server, json!({ "view": "raw", "tail": 1 })).await;
    assert_eq!(raw["base64"], "/w==");
    let rendered = read(&server, json!({ "view": "rendered" })).await;
    assert_eq!(lines(&rendered)[..3], ["0:red", "1:20%", "2:ac"]);
}

#[tokio::test(start_paused = true)]
async fn a_pattern_picks_lines_with_their_context() {
    let text: String = (0..100).map(|n| format!("line {n}\r\n")).collect();
    let server = printing(&text).await;
    let found = read(&server, json!({ "pattern": "e (10|50)$", "before": 1, "after": 1 })).await;
    let expect = ["9:line 9", "10:line 10", "11:line 11", "49:line 49", "50:line 50", "51:line 51"];
    assert_eq!(lines(&found), expect);
    assert_eq!(
        (&found["lines"][0]["match"], &found["lines"][1]["match"]),
        (&json!(false), &json!(true))
    );
    let last = read(&server, json!({ "pattern": "LINE .5", "ignoreCase": true, "tail": 2 })).await;
    assert_eq!(lines(&last), ["85:line 85", "95:line 95"]);
    let some = read(&server, json!({ "pattern": "7", "limit": 2 })).await;
    assert_eq!(
        (lines(&some), &some["truncated"]),
        (vec!["7:line 7".into(), "17:line 17".into()], &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn long_lines_are_cut_and_said_to_be() {
    let server = printing(&format!("{}\r\nshort\r\n", "x".repeat(200_000))).await;
    let read = read(&server, json!({})).await;
    let cut = &read["lines"][0];
    assert_eq!((cut["text"].as_str().unwrap().len(), &cut["cut"]), (2000, &json!(true)));
    assert_eq!(lines(&read)[1], "1:short");
}

#[tokio::test(start_paused = true)]
async fn rendered_rows_come_with_those_above_the_screen() {
    let text: String = (0..1000).map(|n| format!("\x1b[1mrow {n}\x1b[m\r\n")).collect();
    let server = printing(&format!("{text}$ ")).await;
    let rendered = async |mut params: Value| {
        params["view"] = json!("rendered");
        let answer = read(&server, params).await;
        assert_eq!((&answer["total"], &answer["dropped"]), (&json!(1001), &json!(0)));
        (lines(&answer), answer["truncated"].as_bool().unwrap())
    };
    let (last, truncated) = rendered(json!({})).await;
    assert_eq!((last.len(), &last[0][..], &last[499][..]), (500, "501:row 501", "1000:$"));
    assert!(truncated);
    assert_eq!(
        rendered(json!({ "tail": 2 })).await,
        (vec!["999:row 999".into(), "1000:$".into()], false)
    );
    let some = rendered(json!({ "offset": 3, "limit": 2 })).await;
    assert_eq!(some, (vec!["3:row 3".into(), "4:row 4".into()], true));
    let rest = rendered(json!({ "offset": 1000, "limit": 2 })).await;
    assert_eq!(rest, (vec!["1000:$".into()], false));
    assert_eq!(rendered(json!({ "tail": 9, "limit": 1 })).await, (vec!["1000:$".into()], true));
    server.pane("a").print(b"\x1b[?1049h\x1b[Hmenu");
    let menu = read(&server, json!({ "view": "rendered" })).await;
    assert_eq!((&lines(&menu)[0][..], &menu["total"]), ("0:menu", &json!(24)));
}

/// The numbers of the view `rendered`, and its first row.
async fn rendered(server: &TestKernel) -> (Value, Value, String) {
    let answer = read(server, json!({ "view": "rendered", "offset": 0, "limit": 1 })).await;
    (answer["total"].clone(), answer["dropped"].clone(), lines(&answer)[0].clone())
}

#[tokio::test(start_paused = true)]
async fn numbers_of_rendered_rows_stay_true_when_old_ones_are_dropped() {
    let rows =
        |range: std::ops::Range<u32>| range.map(|n| format!("row {n}\r\n")).collect::<String>();
    let server = printing(&rows(0..12_000)).await;
    let first = "1977:row 1977".to_owned();
    assert_eq!(rendered(&server).await, (json!(12_001), json!(1977), first));
    server.pane("a").print(rows(12_000..12_100).as_bytes());
    let first = "2077:row 2077".to_owned();
    assert_eq!(rendered(&server).await, (json!(12_101), json!(2077), first));
    let one = json!({ "view": "rendered", "offset": 7000, "limit": 1 });
    assert_eq!(lines(&read(&server, one).await), ["7000:row 7000"]);
    let last = json!({ "view": "rendered", "limit": 2 });
    assert_eq!(lines(&read(&server, last).await), ["12099:row 12099", "12100:"]);
}

#[tokio::test(start_paused = true)]
async fn rendered_rows_that_nobody_could_count_are_not_said_to_be_none() {
    let server = printing(&format!("{}\r\n", "x".repeat(70)).repeat(10_000)).await;
    let (_, dropped, first) = rendered(&server).await;
    assert_eq!((dropped, &first[..4]), (Value::Null, "0:xx"));
}

#[tokio::test(start_paused = true)]
async fn pages_of_text_stay_text() {
    let server = printing("né日本語x").await;
    let (mut pages, mut next) = (Vec::new(), json!(0));
    loop {
        let page = read(&server, json!({ "view": "raw", "since": next, "limit": 4 })).await;
        pages.push(page["raw"].as_str().unwrap().to_owned());
        next = page["next"].clone();
        if page["truncated"] == false {
            break;
        }
    }
    assert_eq!(pages, ["né", "日", "本", "語x"]);
    // A limit below one character, an offset inside a character, and a character that is not
    // complete yet.
    server.pane("a").print(b"\xe6\x97");
    for (params, expect) in [
        (json!({ "view": "raw", "offset": 3, "limit": 2 }), "5pc="),
        (json!({ "view": "raw", "offset": 4, "limit": 2 }), "l6U="),
        (json!({ "view": "raw", "tail": 3 }), "eOaX"),
    ] {
        assert_eq!(read(&server, params).await["base64"], expect);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_bytes_are_the_last_ones() {
    let server = printing(&format!("{}end", "x".repeat(100_000))).await;
    let tail = read(&server, json!({ "view": "raw", "tail": 90_000 })).await;
    assert_eq!((tail["raw"].as_str().unwrap().len(), &tail["truncated"]), (90_000, &json!(false)));
    let tail = read(&server, json!({ "view": "raw", "tail": 90_000, "limit": 3 })).await;
    assert_eq!((&tail["raw"], &tail["truncated"]), (&json!("end"), &json!(true)));
    assert_eq!(tail["next"], tail["total"]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_nothing_gives_the_numbers_alone() {
    let server = printing("a\r\nb\r\n").await;
    for (mut params, next, truncated) in [
        (json!({}), 0, true),
        (json!({ "tail": 0 }), 6, false),
        (json!({ "tail": 1 }), 6, true),
        (json!({ "tail": 0, "pattern": "a" }), 6, false),
        (json!({ "pattern": "b" }), 3, true),
        (json!({ "since": 6 }), 6, false),
    ] {
        params["limit"] = json!(0);
        let answer = read(&server, params.clone()).await;
        assert_eq!(lines(&answer), Vec::<String>::new());
        assert_eq!(
            (&answer["next"], &answer["truncated"]),
            (&json!(next), &json!(truncated)),
            "{params}"
        );
        assert_eq!(answer["total"], 2);
    }
    let tail = read(&server, json!({ "tail": 0, "pattern": "a" })).await;
    assert_eq!(lines(&tail), Vec::<String>::new());
    let raw = read(&server, json!({ "view": "raw", "limit": 0 })).await;
    assert_eq!(
        (&raw["raw"], &raw["next"], &raw["truncated"]),
        (&json!(""), &json!(0), &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn a_tail_is_as_long_as_asked_without_a_limit() {
    let server = printing(&"x\n".repeat(3000)).await;
    let tail = read(&server, json!({ "tail": 2000 })).await;
    assert_eq!((lines(&tail).len(), &tail["truncated"]), (2000, &json!(false)));
    let tail = read(&server, json!({ "tail": 2000, "limit": 10 })).await;
    assert_eq!((&lines(&tail)[0][..], &tail["truncated"]), ("2990:x", &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused() {
    let server = printing("x").await;
    for (params, sentence) in [
        (json!({ "paneId": "a", "offset": 1, "tail": 1 }), "only one of"),
        (json!({ "paneId": "a", "pattern": "(" }), "invalid `pattern`"),
        (json!({ "paneId": "a", "pattern": "x", "view": "raw" }), "requires the view"),
        (json!({ "paneId": "a", "pattern": "x", "before": 101 }), "at most 100"),
        (json!({ "paneId": "a", "before": 1 }), "require a `pattern`"),
        (json!({ "paneId": "a", "after": 1 }), "require a `pattern`"),
        (json!({ "paneId": "a", "limit": 10_001 }), "at most 10000 lines"),
        (json!({ "paneId": "a", "limit": 2_000_000, "view": "raw" }), "at most 1048576 bytes"),
        (json!({ "paneId": "a", "since": 0, "view": "rendered" }), "`since` requires"),
        (json!({ "paneId": "a", "pattern": "x", "view": "rendered" }), "requires the view"),
        (
            json!({ "paneId": "a", "since": 2 }),
            "`since` is 2, but the output of pane `a` has \
            only 1 byte",
        ),
        (json!({ "paneId": "a", "since": 2, "view": "raw" }), "has only 1 byte"),
    ] {
        let (refused, got) = code(server.act("pane:read", params).await);
        assert!(refused == Code::Invalid && got.contains(sentence), "{got}");
    }
}

/// An action refuses these parameters with exactly this sentence.
async fn check_refused(name: &str, params: Value, sentence: &str) {
    let server = printing("x").await;
    assert_eq!(code(server.act(name, params).await), (Code::Invalid, sentence.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_wait_since_what_was_never_printed_is_refused() {
    let sentence = "`since` is 99, but the output of pane `a` has only 1 byte; the offset may belong to an \
        earlier pane of this name";
    let params = json!({ "paneId": "a", "pattern": "x", "since": 99 });
    check_refused("pane:wait", params, sentence).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_more_than_an_action_does_is_refused() {
    for limit in [0, 1001] {
        let params = json!({ "pattern": "x", "limit": limit });
        check_refused("pane:search", params, "`limit` must be from 1 to 1000").await;
    }
    let params = json!({ "pattern": "x", "timeoutMs": 10_001 });
    check_refused("pane:search", params, "`timeoutMs` must be at most 10000").await;
    let params = json!({ "paneId": "a", "exit": true, "timeoutMs": 86_400_001 });
    check_refused("pane:wait", params, "`timeoutMs` must be at most 86400000").await;
    let params = json!({ "paneId": "a", "quietMs": 86_400_001 });
    check_refused("pane:wait", params, "`quietMs` must be at most 86400000").await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_refused_in_plain_words() {
    let read = |field: &str, value: Value| json!({ "paneId": "a", field: value });
    for (name, params, sentence) in [
        (
            "pane:read",
            read("limit", json!(-1)),
            "`limit` must be a whole number of at least 0, not -1",
        ),
        (
            "pane:read",
            read("limit", json!(1.5)),
            "`limit` must be a whole number of at least 0, not 1.5",
        ),
        (
            "pane:read",
            read("limit", json!("5")),
            "`limit` must be a whole number of at least 0, not \"5\"",
        ),
        ("pane:read", read("ignoreCase", json!(1)), "`ignoreCase` must be true or false, not 1"),
        ("pane:read", read("pattern", json!(7)), "`pattern` must be a string, not 7"),
        (
            "pane:run",
            json!({ "command": "x", "timeoutSeconds": 0 }),
            "`timeoutSeconds` must be a whole number from 1 to 4294967295, not 0",
        ),
        (
            "pane:resize",
            read("size", json!({ "cols": 70_000, "rows": 5 })),
            "`size.cols` must be a whole number from 0 to 65535, not 70000",
        ),
        ("pane:run", json!({ "argv": [] }), "`argv` must not be empty"),
        ("pane:new", json!({ "argv": [] }), "`argv` must not be empty; omit it for a login shell"),
        (
            "pane:keys",
            json!({ "paneId": "a", "keys": ["\\n"] }),
            "unknown key `\\n`; did you mean `enter`?",
        ),
    ] {
        check_refused(name, params, sentence).await;
    }
}

#[tokio::test(start_paused = true)]
async fn keys_and_pastes_are_made_for_the_modes_of_the_screen() {
    let server = printing("").await;
    let press =
        async |keys: Value| server.act("pane:keys", json!({ "paneId": "a", "keys": keys })).await;
    press(json!(["up", "ctrl+c", "a", "enter"])).await.unwrap();
    assert_eq!(server.pane("a").typed(), b"\x1b[A\x03a\r");
    server.pane("a").print(b"\x1b[?1h\x1b[?2004h");
    press(json!(["up"])).await.unwrap();
    let paste = json!({ "paneId": "a", "text": "two\nlines", "submit": true });
    let pasted = server.act("pane:paste", paste).await.unwrap();
    assert_eq!((&pasted["bracketed"], &pasted["bytes"]), (&json!(true), &json!(22)));
    assert_eq!(server.pane("a").typed()[6..], *b"\x1bOA\x1b[200~two\rlines\x1b[201~\r");
    assert_eq!(code(press(json!(["no-such-key"])).await).0, Code::Invalid);
    assert_eq!(code(press(json!([])).await).0, Code::Invalid);
    let evil = json!({ "paneId": "a", "text": "x\u{1b}[201~rm -rf /" });
    assert_eq!(code(server.act("pane:paste", evil).await).0, Code::Invalid);
}

#[tokio::test(start_paused = true)]
async fn a_run_answers_when_it_is_over() {
    let server = TestKernel::new().await;
    let run = server.act("pane:run", json!({ "id": "r", "command": "make" }));
    let happening = async {
        next(&mut server.feed("pane:created")).await;
        server.pane("r").print(b"built\r\n");
        server.pane("r").exit(Exit::Code(2));
    };
    let ran = tokio::join!(run, happening).0.unwrap();
    assert_eq!((&ran["paneId"], &ran["exitCode"]), (&json!("r"), &json!(2)));
    assert_eq!(ran["output"]["lines"], json!([{ "n": 0, "text": "built" }]));
    assert_eq!((&ran["first"], &ran["output"]["truncated"]), (&json!(0), &json!(false)));
    assert_eq!(server.pane("r").spec.argv, ["/bin/sh", "-c", "make"]);
    assert_eq!(code(server.act("pane:run", json!({})).await).0, Code::Invalid);
}

#[tokio::test(start_paused = true)]
async fn a_run_says_where_the_rest_of_its_output_is() {
    let server = TestKernel::new().await;
    let run = server.act("pane:run", json!({ "id": "r", "command": "seq 0 99", "limit": 10 }));
    let happening = async {
        next(&mut server.feed("pane:created")).await;
        server.pane("r").print((0..100).map(|n| format!("{n}\r\n")).collect::<String>().as_bytes());
        server.pane("r").exit(Exit::Code(0));
    };
    let ran = tokio::join!(run, happening).0.unwrap();
    assert_eq!((&ran["first"], &ran["output"]["truncated"]), (&json!(90), &json!(true)));
    let last = lines(&ran["output"]);
    assert_eq!((last.len(), &last[0][..], &last[9][..]), (10, "90:90", "99:99"));
    let rest = json!({ "paneId": "r", "offset": 0, "limit": ran["first"] });
    let rest = lines(&server.act("pane:read", rest).await.unwrap());
    assert_eq!((rest.len(), &rest[89][..]), (90, "89:89"));
    let (refused, sentence) =
        code(server.act("pane:run", json!({ "command": "x", "limit": 10_001 })).await);
    assert!(refused == Code::Invalid && sentence.contains("10000"), "{sentence}");
}

#[tokio::test(start_paused = true)]
async fn output_is_read_since_a_time_and_says_when_it_was_printed() {
    let server = printing("").await;
    server.pane("a").print_at(b"old\r\nask: ", Time(1000));
    server.pane("a").print_at(b"answer\r\nnew\r\n", Time(5000));
    let since = |time: u64| json!({ "sinceTime": Time(time) });
    assert_eq!(lines(&read(&server, since(1000)).await), ["0:old", "1:ask: answer", "2:new"]);
    assert_eq!(lines(&read(&server, since(1001)).await), ["1:ask: answer", "2:new"]);
    assert_eq!(lines(&read(&server, since(5001)).await), Vec::<String>::new());
    let raw = read(&server, json!({ "view": "raw", "times": true })).await;
    let times = json!([{ "offset": 0, "time": Time(1000) }, { "offset": 10, "time": Time(5000) }]);
    assert_eq!(raw["times"], times);
    let both = json!({ "paneId": "a", "sinceTime": Time(1), "since": 0 });
    assert_eq!(code(server.act("pane:read", both).await).0, Code::Invalid);
}
