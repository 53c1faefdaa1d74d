//! Searching and waiting.

use std::time::Duration;

use futures_util::future::join_all;
use paned_model::{Code, Exit, Time};
use serde_json::{Value, json};

use crate::reading::printing;
use crate::test_kernel::{TestKernel, code};

#[tokio::test(start_paused = true)]
async fn a_search_finds_the_newest_first_in_all_panes_one_may_see() {
    let server = printing("an error here\r\nfine\r\nERROR again\r\n").await;
    server.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    server.pane("b").print(b"no error\r\n");
    let found =
        server.act("pane:search", json!({ "pattern": "error", "ignoreCase": true })).await.unwrap();
    let hits: Vec<String> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| format!("{} {} {}", hit["paneId"].as_str().unwrap(), hit["n"], hit["offset"]))
        .collect();
    assert_eq!(hits.len(), 3);
    assert_eq!(hits[0], "a 2 21");
    let only = json!({ "pattern": "error", "panes": ["b"], "limit": 1 });
    let found = server.act("pane:search", only).await.unwrap();
    assert_eq!((&found["hits"][0]["text"], &found["panes"]), (&json!("no error"), &json!(1)));
    let unknown = server.act("pane:search", json!({ "pattern": "x", "panes": ["z"] })).await;
    assert_eq!(code(unknown).0, Code::NotFound);
}

/// The hits of a search, as `pane text`.
async fn search(server: &TestKernel, params: Value) -> (Vec<String>, Value) {
    let found = server.act("pane:search", params).await.unwrap();
    let text = |hit: &Value, field: &str| hit[field].as_str().unwrap().to_owned();
    let hits = found["hits"].as_array().unwrap().iter();
    let hits = hits.map(|hit| format!("{} {}", text(hit, "paneId"), text(hit, "text")));
    (hits.collect(), found)
}

#[tokio::test(start_paused = true)]
async fn the_newest_hit_is_the_one_that_was_printed_last() {
    let server = printing("").await;
    server.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    server.pane("a").print_at(b"zork first\r\n$ ", Time(1000));
    server.pane("b").print_at(b"zork middle\r\n", Time(2000));
    server.pane("a").print_at(b"zork newest\r\n", Time(4000));
    let (hits, found) = search(&server, json!({ "pattern": "zork" })).await;
    assert_eq!(hits, ["a $ zork newest", "b zork middle", "a zork first"]);
    let times: Vec<_> = (0..3).map(|at| found["hits"][at]["time"].clone()).collect();
    assert_eq!(times, [json!(Time(4000)), json!(Time(2000)), json!(Time(1000))]);
    let (hits, found) = search(&server, json!({ "pattern": "zork", "limit": 1 })).await;
    assert_eq!((hits, &found["truncated"]), (vec!["a $ zork newest".to_owned()], &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn a_search_sees_all_of_a_line_and_says_when_it_shows_less() {
    let text =
        format!("{}zork\r\nzork\r\n{}\rzork\x1b[K\r\n", "x".repeat(5000), "50%\r".repeat(50_000));
    let server = printing(&text).await;
    let found = server.act("pane:search", json!({ "pattern": "zork$" })).await.unwrap();
    let hits = found["hits"].as_array().unwrap();
    let hits: Vec<_> = hits.iter().map(|hit| (&hit["n"], hit.get("cut").is_some())).collect();
    assert_eq!(hits, [(&json!(2), false), (&json!(1), false), (&json!(0), true)]);
    assert_eq!(found["hits"][0]["text"], "zork");
    assert_eq!(found["hits"][2]["text"], "x".repeat(2000));
}

#[tokio::test(start_paused = true)]
async fn a_search_counts_what_it_searched_and_searches_it_once() {
    let server = printing("zork\r\n").await;
    server.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    let twice = json!({ "pattern": "zork", "panes": ["a", "b", "a"] });
    let (hits, found) = search(&server, twice).await;
    assert_eq!((hits, &found["panes"]), (vec!["a zork".to_owned()], &json!(2)));
    let (hits, found) = search(&server, json!({ "pattern": "zork", "timeoutMs": 0 })).await;
    assert_eq!((hits, &found["panes"], &found["timedOut"]), (vec![], &json!(0), &json!(true)));
    let (refused, sentence) =
        code(server.act("pane:search", json!({ "pattern": "zork", "limit": 0 })).await);
    assert!(refused == Code::Invalid && sentence.contains("from 1 to 1000"), "{sentence}");
}

#[tokio::test(start_paused = true)]
async fn a_long_search_finds_what_a_short_one_would() {
    let line = |n: u64| format!("line {n} of many\r\n\x1b[1mline\x1b[m {n} again\r\n");
    let output: String = (0..20_000).map(line).collect();
    let server = printing(&output).await;
    // More than one inline search can do, and three times, as the index grows each time.
    for text in ["^line 7 (of|again)", "line 1999[0-9] (?:x|again)", "line .* often", "line 7 of"] {
        // What is found must not depend on how fast this machine is.
        let asked = json!({ "pattern": text, "timeoutMs": 10_000 });
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(server.act("pane:search", asked.clone()).await.unwrap());
        }
        let hits = answers[0]["hits"].as_array().unwrap();
        let found: Vec<_> = hits.iter().map(|hit| hit["n"].as_u64().unwrap()).collect();
        let expect = match text {
            "^line 7 (of|again)" => vec![15, 14],
            "line .* often" => vec![],
            "line 7 of" => vec![14],
            _ => (0..10).map(|n| 39_999 - 2 * n).collect(),
        };
        assert_eq!(found, expect, "{text}");
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{text}");
    }
}

/// Waits while something happens, for what comes from then on unless `since` says otherwise.
pub(crate) async fn wait(
    server: &TestKernel,
    mut params: Value,
    happen: impl AsyncFnOnce(),
) -> Value {
    let object = params.as_object_mut().unwrap();
    object.entry("since").or_insert(json!("now"));
    let waiting = server.act("pane:wait", params);
    let happening = async {
        // not a wait: time is paused, and this is how much of it passes before it happens.
        tokio::time::sleep(Duration::from_millis(50)).await;
        happen().await;
    };
    tokio::join!(waiting, happening).0.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_met_by_new_output_only() {
    let server = printing("ready\r\n").await;
    let params = json!({ "paneId": "a", "pattern": "ready on (\\d+)", "timeoutMs": 5000 });
    let met =
        wait(&server, params, async || server.pane("a").print(b"building\r\nready on 80")).await;
    assert_eq!((&met["met"], &met["timedOut"]), (&json!("pattern"), &json!(false)));
    assert_eq!(met["evidence"], json!([{ "n": 2, "text": "ready on 80", "open": true }]));
    assert_eq!(met["tail"][0]["text"], "ready");
    let missed = server
        .act(
            "pane:wait",
            json!({ "paneId": "a", "pattern": "ready", "since": "now", "timeoutMs": 100 }),
        )
        .await
        .unwrap();
    assert_eq!((&missed["met"], &missed["timedOut"]), (&json!(null), &json!(true)));
    let why = missed["why"].to_string();
    assert!(why.contains("nothing was printed since this call"), "{why}");
    assert!(why.contains("line 2 matches, but was not printed since this call"), "{why}");
    assert_eq!(missed["earlier"], json!({ "n": 2, "offset": 17 }), "{missed}");
    let since = json!({ "paneId": "a", "pattern": "^ready$", "since": 0 });
    assert_eq!(server.act("pane:wait", since).await.unwrap()["met"], "pattern");
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_early_at_a_stop_at_the_end_and_in_silence() {
    let server = printing("").await;
    let params = json!({ "paneId": "a", "pattern": "ready", "stop": ["error"] });
    let stopped = wait(&server, params, async || server.pane("a").print(b"an error\r\n")).await;
    assert_eq!(stopped["met"], "stop");
    let start = tokio::time::Instant::now();
    let quiet = wait(&server, json!({ "paneId": "a", "quietMs": 300 }), async || {
        server.pane("a").print(b".")
    })
    .await;
    assert_eq!((&quiet["met"], start.elapsed().as_millis()), (&json!("quiet"), 350));
    let params = json!({ "paneId": "a", "exit": true, "timeoutMs": 10_000 });
    let ended = wait(&server, params, async || server.pane("a").exit(Exit::Code(3))).await;
    assert_eq!((&ended["met"], &ended["pane"]["exitCode"]), (&json!("exit"), &json!(3)));
    let late = server.act("pane:wait", json!({ "paneId": "a", "pattern": "x" })).await.unwrap();
    assert_eq!((&late["met"], &late["timedOut"]), (&json!(null), &json!(false)));
    assert_eq!(late["pane"]["status"], "exited", "{late}");
    let nothing = server.act("pane:wait", json!({ "paneId": "a" })).await;
    assert!(code(nothing).1.contains("pass what to wait for"));
}

/// Waits for a pattern for a moment.
async fn wait_for(server: &TestKernel, pattern: &str, since: Option<&Value>) -> Value {
    let mut params = json!({ "paneId": "a", "pattern": pattern, "timeoutMs": 100 });
    if let Some(since) = since {
        params["since"] = since.clone();
    }
    server.act("pane:wait", params).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_next_wait_goes_on_after_the_line_that_met_the_last() {
    let server = printing("ready\nstep1\nstep2\n").await;
    let mut next = json!(0);
    for (n, (text, expect)) in [("ready", 6), ("step", 12), ("step", 18)].into_iter().enumerate() {
        let met = wait_for(&server, text, Some(&next)).await;
        let evidence = met["evidence"].as_array().unwrap();
        assert_eq!((&met["met"], evidence.len()), (&json!("pattern"), 1), "{met}");
        assert_eq!((&evidence[0]["n"], &met["next"]), (&json!(n), &json!(expect)));
        next = met["next"].clone();
    }
    let stop = json!({ "paneId": "a", "pattern": "never", "stop": ["^step"], "since": 0 });
    assert_eq!(server.act("pane:wait", stop).await.unwrap()["next"], 12);
    let missed = wait_for(&server, "step", Some(&next)).await;
    assert_eq!((&missed["met"], &missed["next"]), (&json!(null), &json!(18)));
}

/// The output before, the pattern, the output during the wait, and whether that meets it.
#[tokio::test(start_paused = true)]
async fn a_line_that_goes_on_is_judged_as_a_whole_and_only_if_it_says_something_new() {
    for (before, pattern, after, expect) in [
        (">>> hel", "hello", "lo", true),
        ("Progress: ", "^error", "error: 0", false),
        ("Progress: ", "^Progress: error", "error: 0", true),
        ("ready", "ready", "\r\n", false),
        ("ready", "ready", "\r\nready", true),
        ("ready", "^ready$", "\rready", false),
        ("50%", "^100%", "\r100%", true),
        ("ready", "^$", "\r\n", false),
        ("ready\r\n", "^$", "\r\n", true),
        ("\x1b[3", "^ready", "1mready", true),
        ("r\u{c3}", "^ré", "\u{a9}", true),
    ] {
        let server = printing("").await;
        let raw =
            |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(c).unwrap()).collect() };
        server.pane("a").print(&raw(before));
        let params = json!({ "paneId": "a", "pattern": pattern, "timeoutMs": 1000 });
        let met = wait(&server, params, async || server.pane("a").print(&raw(after))).await;
        assert_eq!(met["met"] == "pattern", expect, "{before:?} {pattern} {after:?}: {met}");
    }
}

/// The last line of a read since an offset, and the offset of the next read.
async fn read_since(server: &TestKernel, since: &Value) -> (Value, Value) {
    let read = server.act("pane:read", json!({ "paneId": "a", "since": since })).await.unwrap();
    (
        read["lines"].as_array().unwrap().last().map_or(json!(null), |line| line["text"].clone()),
        read["next"].clone(),
    )
}

#[tokio::test(start_paused = true)]
async fn half_a_character_is_not_there_before_its_other_half_or_the_end() {
    let server = printing("").await;
    server.pane("a").print(b"caf\xc3");
    let (text, next) = read_since(&server, &json!(0)).await;
    assert_eq!((&text, &next), (&json!("caf"), &json!(3)));
    let missed = wait_for(&server, "^caf.", Some(&json!(0))).await;
    assert_eq!((&missed["met"], &missed["next"]), (&json!(null), &json!(3)));
    assert_eq!(missed["tail"][0]["text"], "caf");
    assert!(search(&server, json!({ "pattern": "f.$" })).await.0.is_empty());
    assert_eq!(search(&server, json!({ "pattern": "caf$" })).await.0, ["a caf"]);
    server.pane("a").print(b"\xa9 \xf0\x9f");
    let (text, next) = read_since(&server, &next).await;
    assert_eq!((&text, &next), (&json!("café "), &json!(6)));
    assert_eq!(wait_for(&server, "^café $", Some(&missed["next"])).await["next"], 6);
    let params = json!({ "paneId": "a", "pattern": "\u{fffd}$", "since": 6 });
    let met = wait(&server, params, async || server.pane("a").exit(Exit::Code(0))).await;
    assert_eq!((&met["met"], &met["next"]), (&json!("pattern"), &json!(8)), "{met}");
    assert_eq!(read_since(&server, &next).await, (json!("café \u{fffd}"), json!(8)));
    assert_eq!(read_since(&server, &json!(8)).await, (json!(null), json!(8)));
}

#[tokio::test(start_paused = true)]
async fn of_a_lost_pane_half_a_character_is_all_there_will_be() {
    let server = printing("").await;
    server.pane("a").print(b"caf\xc3");
    let params = json!({ "paneId": "a", "pattern": "\u{fffd}$", "since": 0 });
    let met = wait(&server, params, async || server.pane("a").kill_keeper()).await;
    assert_eq!((&met["met"], &met["next"]), (&json!("pattern"), &json!(4)), "{met}");
    assert_eq!(read_since(&server, &json!(0)).await, (json!("caf\u{fffd}"), json!(4)));
}

#[tokio::test(start_paused = true)]
async fn a_line_that_goes_on_beyond_what_is_looked_at_does_not_end_there() {
    const LOOKED_AT: usize = 262_144;
    for (more, expect) in [("", true), ("d", false), ("d\r\n", false), ("\r\nx", true)] {
        let text = format!("{}end{more}", "-".repeat(LOOKED_AT - 3));
        let server = printing(&text).await;
        for pattern in ["end$", r"end\z", r"\bend\b"] {
            let read = json!({ "paneId": "a", "pattern": pattern });
            let read = server.act("pane:read", read).await.unwrap();
            assert_eq!(read["lines"].as_array().unwrap().len(), usize::from(expect), "{more:?}");
            let hits = search(&server, json!({ "pattern": pattern })).await.0;
            assert_eq!(hits.len(), usize::from(expect), "{more:?}");
            let met = wait_for(&server, pattern, Some(&json!(0))).await;
            assert_eq!(met["met"] == "pattern", expect, "{more:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_drawn_is_read_found_and_waited_for_as_it_is_seen() {
    for (begin, end) in [("\x1b(0", "\x1b(B"), ("\x1b)0\x0e", "\x0f")] {
        let server = printing(&format!("text\r\n{begin}lqqk\r\nx  x\r\n")).await;
        let (text, next) = read_since(&server, &json!(0)).await;
        assert_eq!(text, "│  │");
        let params = json!({ "paneId": "a", "pattern": "^└─+", "timeoutMs": 1000 });
        let met = wait(&server, params, async || server.pane("a").print(b"mqq")).await;
        assert_eq!(met["evidence"], json!([{ "n": 3, "text": "└──", "open": true }]));
        server.pane("a").print(format!("j{end}\r\nlqqk\r\n").as_bytes());
        let met = wait_for(&server, "^└──┘$", Some(&next)).await;
        assert_eq!(met["met"], "pattern");
        let (hits, _) = search(&server, json!({ "pattern": "──|lqq|│" })).await;
        assert_eq!(hits, ["a lqqk", "a └──┘", "a │  │", "a ┌──┐"]);
        let [lines, rendered] = ["lines", "rendered"].map(|view| {
            server.act("pane:read", json!({ "paneId": "a", "view": view, "limit": 24 }))
        });
        let (lines, rendered) = (lines.await.unwrap(), rendered.await.unwrap());
        for n in 0..5 {
            assert_eq!(lines["lines"][n]["text"], rendered["lines"][n]["text"]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_without_end_is_seen_however_long_it_is() {
    let server = printing("").await;
    let params = json!({ "paneId": "a", "pattern": "^100% done$", "timeoutMs": 5000 });
    let met = wait(&server, params, async || {
        for n in 0..20_000 {
            server.pane("a").print(format!("\r{}% done", n / 200).as_bytes());
            if n % 1000 == 0 {
                tokio::task::yield_now().await;
            }
        }
        server.pane("a").print(b"\r100% done");
    })
    .await;
    assert_eq!(
        (&met["met"], &met["evidence"][0]["text"]),
        (&json!("pattern"), &json!("100% done"))
    );
    // And all at once, for a wait that starts later.
    assert_eq!(wait_for(&server, "^100% done$", Some(&json!(0))).await["met"], "pattern");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_not_met_says_why() {
    let server = printing("ready\r\n$ ").await;
    let why = async |params: Value| {
        let mut asked = json!({ "paneId": "a", "timeoutMs": 100 });
        asked.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        server.act("pane:wait", asked).await.unwrap()["why"].to_string()
    };
    let now = why(json!({ "pattern": "ready", "since": "now" })).await;
    assert!(now.contains("nothing was printed since this call\""), "{now}");
    assert!(now.contains("line 0 matches, but was not printed since this call"), "{now}");
    let since = why(json!({ "pattern": "ready", "since": 7 })).await;
    assert!(since.contains("2 bytes were printed since the given place, and no line"), "{since}");
    assert!(since.contains("line 0 matches, but was not printed since the given place"), "{since}");
    let nowhere = why(json!({ "pattern": "never", "since": 0 })).await;
    assert!(!nowhere.contains("matches,") && !nowhere.contains("screen"), "{nowhere}");
    let exit = why(json!({ "exit": true, "since": 0 })).await;
    assert_eq!(exit, r#"["the program is still running"]"#);
    let quiet = why(json!({ "quietMs": 5000 })).await;
    assert!(quiet.contains("the last output was 100 ms ago, not 5000 ms"), "{quiet}");
}

#[tokio::test(start_paused = true)]
async fn stops_are_bounded_and_enough_to_wait_for() {
    let server = printing("").await;
    let refused = async |params: Value| {
        let mut asked = json!({ "paneId": "a", "timeoutMs": 100 });
        asked.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        code(server.act("pane:wait", asked).await)
    };
    for (params, expect, part) in [
        (json!({ "stop": vec![r"\w{20}"; 200] }), Code::Limit, "`stop` can have at most 32"),
        (json!({ "stop": ["a", "b", "("] }), Code::Invalid, "invalid `stop[2]`"),
        (json!({ "pattern": "(", "stop": ["a"] }), Code::Invalid, "invalid `pattern`"),
        (json!({ "quietMs": 0 }), Code::Invalid, "`quietMs` must be at least 1"),
        (json!({ "stop": [] }), Code::Invalid, "pass what to wait for"),
    ] {
        let (refused, sentence) = refused(params).await;
        assert!(refused == expect && sentence.contains(part), "{sentence}");
    }
    let alone = json!({ "paneId": "a", "stop": ["fail", "panic"] });
    let met = wait(&server, alone, async || server.pane("a").print(b"a panic\r\n")).await;
    assert_eq!(met["met"], "stop");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_has_ended_is_quiet() {
    let server = printing("last words").await;
    let quiet = json!({ "paneId": "a", "quietMs": 5000 });
    let start = tokio::time::Instant::now();
    let met = wait(&server, quiet.clone(), async || server.pane("a").exit(Exit::Code(0))).await;
    assert_eq!((&met["met"], start.elapsed().as_millis()), (&json!("quiet"), 50));
    assert_eq!(server.act("pane:wait", quiet).await.unwrap()["met"], "quiet");
    let both = json!({ "paneId": "a", "quietMs": 5000, "exit": true });
    assert_eq!(server.act("pane:wait", both).await.unwrap()["met"], "exit");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_screen_ends_when_it_changes() {
    let server = printing("one").await;
    let revision = server.screen("a").await["revision"].clone();
    let params = json!({ "paneId": "a", "screenChangeSince": revision });
    let changed = wait(&server, params, async || server.pane("a").print(b"two")).await;
    assert_eq!(changed["met"], "screenChange");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_wait_at_once() {
    let server = printing("").await;
    let params = json!({ "paneId": "a", "pattern": "now" });
    let waiting = join_all((0..1000).map(|_| server.act("pane:wait", params.clone())));
    let all = async {
        let met =
            waiting.await.into_iter().filter(|answer| answer.as_ref().unwrap()["met"] == "pattern");
        assert_eq!(met.count(), 1000);
    };
    let happening = async { server.pane("a").print(b"now\r\n") };
    tokio::join!(all, happening);
}

/// Output before the input, its echo, output after it, a pattern, and the line that matches.
#[tokio::test(start_paused = true)]
async fn output_counts_since_the_last_input_and_its_echo_does_not() {
    for (before, echo, after, pattern, expect) in [
        ("42\r\n>>> ", "print(6*7)", "\r\n42\r\n>>> ", "^42$", Some(2)),
        ("42\r\n>>> ", "print(6*7)", "\r\n", "^42$", None),
        ("$ ", "echo hello", "\r\nhello\r\n", "hello", Some(1)),
        ("$ ", "echo hello", "", "hello", None),
        ("$ ", "echo hello", "\r\n", "hello", None),
        ("Continue? ", "y", " OK\r\n", "OK", Some(0)),
        ("", "", "listening\r\n", "listening", Some(0)),
    ] {
        let server = printing(before).await;
        server.pane("a").type_in(b"something");
        server.pane("a").echo(echo.as_bytes());
        server.pane("a").print(after.as_bytes());
        let met = wait_for(&server, pattern, None).await;
        assert_eq!(met["evidence"][0]["n"].as_u64(), expect, "{before}{echo}{after}: {met}");
    }
    let server = printing("listening\r\n").await;
    assert_eq!(wait_for(&server, "listening", None).await["met"], "pattern", "nothing was typed");
    server.pane("a").type_in(b"something");
    assert_eq!(wait_for(&server, "listening", None).await["met"], json!(null));
    for since in [json!("start"), json!(0)] {
        assert_eq!(wait_for(&server, "listening", Some(&since)).await["met"], "pattern");
    }
    server.pane("a").echo(b"listening");
    let missed = wait_for(&server, "listening", None).await;
    assert_eq!(missed["earlier"], json!({ "n": 1, "offset": 11, "echo": true }), "{missed}");
    let refused = json!({ "paneId": "a", "pattern": "x", "since": "yesterday" });
    assert!(code(server.act("pane:wait", refused).await).1.contains("`input`, `start`, `now`"));
}

#[tokio::test(start_paused = true)]
async fn several_panes_are_waited_for_at_once() {
    let server = printing("ready\r\n").await;
    server.act("pane:new", json!({ "id": "b", "argv": ["cat"] })).await.unwrap();
    let both = json!({ "paneIds": ["a", "b"], "pattern": "ready", "since": "start" });
    let any =
        both.as_object().unwrap().clone().into_iter().chain([("mode".to_owned(), json!("any"))]);
    let any = server.act("pane:wait", any.collect()).await.unwrap();
    assert_eq!((&any["met"], &any["pane"]["id"]), (&json!("pattern"), &json!("a")), "{any}");
    assert_eq!(any["panes"][1]["met"], json!(null));
    let all = wait(&server, both.clone(), async || server.pane("b").print(b"ready\r\n")).await;
    assert_eq!((&all["met"], &all["pane"]["id"]), (&json!("pattern"), &json!("b")), "{all}");
    assert_eq!(all["panes"][0]["evidence"][0]["text"], "ready");
    let later = json!({ "paneIds": ["a", "b"], "pattern": "never" });
    let gone = wait(&server, later, async || server.pane("b").exit(Exit::Code(1))).await;
    assert_eq!((&gone["met"], &gone["timedOut"]), (&json!(null), &json!(false)), "{gone}");
    assert_eq!((&gone["pane"]["id"], &gone["panes"][0]["timedOut"]), (&json!("b"), &json!(false)));
}
