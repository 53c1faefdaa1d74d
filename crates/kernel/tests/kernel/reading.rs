//! Reading, searching and waiting.

use std::time::Duration;

use futures_util::future::join_all;
use paned_model::{Code, Exit, Time};
use serde_json::{Value, json};

use crate::house::{House, code, next};

async fn printing(text: &str) -> House {
    let house = House::new().await;
    house.act("pane:new", json!({ "id": "a", "argv": ["sh"] })).await.unwrap();
    house.pane("a").print(text.as_bytes());
    house
}

/// The lines of an answer, as `n:text`.
fn lines(answer: &Value) -> Vec<String> {
    let lines = answer["lines"].as_array().unwrap().iter();
    lines.map(|line| format!("{}:{}", line["n"], line["text"].as_str().unwrap())).collect()
}

#[track_caller]
fn read(house: &House, mut params: Value) -> impl Future<Output = Value> {
    params["paneId"] = json!("a");
    async move { house.act("pane:read", params).await.unwrap() }
}

#[tokio::test(start_paused = true)]
async fn lines_come_by_number_from_the_end_or_since_a_cursor() {
    let house = printing("zero\r\none\r\ntwo\r\nthree\r\n$ ").await;
    let all = read(&house, json!({})).await;
    assert_eq!(lines(&all), ["0:zero", "1:one", "2:two", "3:three", "4:$ "]);
    assert_eq!(
        (&all["total"], &all["dropped"], &all["truncated"]),
        (&json!(5), &json!(0), &json!(false))
    );
    let some = read(&house, json!({ "offset": 1, "limit": 2 })).await;
    assert_eq!(
        (lines(&some), &some["truncated"]),
        (vec!["1:one".into(), "2:two".into()], &json!(true))
    );
    let rest = read(&house, json!({ "since": some["next"] })).await;
    assert_eq!(lines(&rest), ["3:three", "4:$ "]);
    assert_eq!(lines(&read(&house, json!({ "tail": 2 })).await), ["3:three", "4:$ "]);
    assert_eq!(lines(&read(&house, json!({ "offset": 99 })).await), Vec::<String>::new());
    house.pane("a").print(b"ls\r\nfile\r\n");
    let new = read(&house, json!({ "since": rest["next"] })).await;
    assert_eq!(lines(&new), ["4:$ ls", "5:file"]);
    assert_eq!(
        (&new["lines"][0]["continued"], &rest["lines"][1]["open"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(lines(&read(&house, json!({ "since": new["next"] })).await), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn lines_read_as_a_person_would() {
    let house = printing("\x1b[31mred\x1b[0m\r\n10%\r20%\r\nab\x08c\r\n").await;
    assert_eq!(lines(&read(&house, json!({})).await), ["0:red", "1:20%", "2:ac"]);
    let raw = read(&house, json!({ "view": "raw", "limit": 8 })).await;
    assert_eq!((&raw["raw"], &raw["next"]), (&json!("\u{1b}[31mred"), &json!(8)));
    house.pane("a").print(b"\xff");
    let raw = read(&house, json!({ "view": "raw", "tail": 1 })).await;
    assert_eq!(raw["base64"], "/w==");
    let rendered = read(&house, json!({ "view": "rendered" })).await;
    assert_eq!(lines(&rendered)[..3], ["0:red", "1:20%", "2:ac"]);
}

#[tokio::test(start_paused = true)]
async fn a_pattern_picks_lines_with_their_context() {
    let text: String = (0..100).map(|n| format!("line {n}\r\n")).collect();
    let house = printing(&text).await;
    let found = read(&house, json!({ "pattern": "e (10|50)$", "before": 1, "after": 1 })).await;
    let expect = ["9:line 9", "10:line 10", "11:line 11", "49:line 49", "50:line 50", "51:line 51"];
    assert_eq!(lines(&found), expect);
    assert_eq!(
        (&found["lines"][0]["match"], &found["lines"][1]["match"]),
        (&json!(false), &json!(true))
    );
    let last = read(&house, json!({ "pattern": "LINE .5", "ignoreCase": true, "tail": 2 })).await;
    assert_eq!(lines(&last), ["85:line 85", "95:line 95"]);
    let some = read(&house, json!({ "pattern": "7", "limit": 2 })).await;
    assert_eq!(
        (lines(&some), &some["truncated"]),
        (vec!["7:line 7".into(), "17:line 17".into()], &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn long_lines_are_cut_and_said_to_be() {
    let house = printing(&format!("{}\r\nshort\r\n", "x".repeat(200_000))).await;
    let read = read(&house, json!({})).await;
    let cut = &read["lines"][0];
    assert_eq!((cut["text"].as_str().unwrap().len(), &cut["cut"]), (2000, &json!(true)));
    assert_eq!(lines(&read)[1], "1:short");
}

#[tokio::test(start_paused = true)]
async fn rendered_rows_come_with_those_above_the_screen() {
    let text: String = (0..1000).map(|n| format!("\x1b[1mrow {n}\x1b[m\r\n")).collect();
    let house = printing(&format!("{text}$ ")).await;
    let rendered = async |mut params: Value| {
        params["view"] = json!("rendered");
        let answer = read(&house, params).await;
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
    house.pane("a").print(b"\x1b[?1049h\x1b[Hmenu");
    let menu = read(&house, json!({ "view": "rendered" })).await;
    assert_eq!((&lines(&menu)[0][..], &menu["total"]), ("0:menu", &json!(24)));
}

#[tokio::test(start_paused = true)]
async fn pages_of_text_stay_text() {
    let house = printing("né日本語x").await;
    let (mut pages, mut next) = (Vec::new(), json!(0));
    loop {
        let page = read(&house, json!({ "view": "raw", "since": next, "limit": 4 })).await;
        pages.push(page["raw"].as_str().unwrap().to_owned());
        next = page["next"].clone();
        if page["truncated"] == false {
            break;
        }
    }
    assert_eq!(pages, ["né", "日", "本", "語x"]);
    // Too little for a character, in the middle of one, and one that is not printed yet.
    house.pane("a").print(b"\xe6\x97");
    for (params, expect) in [
        (json!({ "view": "raw", "offset": 3, "limit": 2 }), "5pc="),
        (json!({ "view": "raw", "offset": 4, "limit": 2 }), "l6U="),
        (json!({ "view": "raw", "tail": 3 }), "eOaX"),
    ] {
        assert_eq!(read(&house, params).await["base64"], expect);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_bytes_are_the_last_ones() {
    let house = printing(&format!("{}end", "x".repeat(100_000))).await;
    let tail = read(&house, json!({ "view": "raw", "tail": 90_000 })).await;
    assert_eq!((tail["raw"].as_str().unwrap().len(), &tail["truncated"]), (90_000, &json!(false)));
    let tail = read(&house, json!({ "view": "raw", "tail": 90_000, "limit": 3 })).await;
    assert_eq!((&tail["raw"], &tail["truncated"]), (&json!("end"), &json!(true)));
    assert_eq!(tail["next"], tail["total"]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_nothing_gives_the_numbers_alone() {
    let house = printing("a\r\nb\r\n").await;
    for (mut params, next, truncated) in [
        (json!({}), 0, true),
        (json!({ "tail": 0 }), 6, false),
        (json!({ "tail": 1 }), 6, true),
        (json!({ "tail": 0, "pattern": "a" }), 6, false),
        (json!({ "pattern": "b" }), 3, true),
        (json!({ "since": 6 }), 6, false),
    ] {
        params["limit"] = json!(0);
        let answer = read(&house, params.clone()).await;
        assert_eq!(lines(&answer), Vec::<String>::new());
        assert_eq!(
            (&answer["next"], &answer["truncated"]),
            (&json!(next), &json!(truncated)),
            "{params}"
        );
        assert_eq!(answer["total"], 2);
    }
    let tail = read(&house, json!({ "tail": 0, "pattern": "a" })).await;
    assert_eq!(lines(&tail), Vec::<String>::new());
    let raw = read(&house, json!({ "view": "raw", "limit": 0 })).await;
    assert_eq!(
        (&raw["raw"], &raw["next"], &raw["truncated"]),
        (&json!(""), &json!(0), &json!(true))
    );
}

#[tokio::test(start_paused = true)]
async fn a_tail_is_as_long_as_asked_without_a_limit() {
    let house = printing(&"x\n".repeat(3000)).await;
    let tail = read(&house, json!({ "tail": 2000 })).await;
    assert_eq!((lines(&tail).len(), &tail["truncated"]), (2000, &json!(false)));
    let tail = read(&house, json!({ "tail": 2000, "limit": 10 })).await;
    assert_eq!((&lines(&tail)[0][..], &tail["truncated"]), ("2990:x", &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused() {
    let house = printing("x").await;
    for (params, sentence) in [
        (json!({ "paneId": "a", "offset": 1, "tail": 1 }), "not several"),
        (json!({ "paneId": "a", "pattern": "(" }), "`pattern` is no pattern"),
        (json!({ "paneId": "a", "pattern": "x", "view": "raw" }), "goes with the view"),
        (json!({ "paneId": "a", "pattern": "x", "before": 101 }), "up to 100"),
        (json!({ "paneId": "a", "before": 1 }), "go with a `pattern`"),
        (json!({ "paneId": "a", "after": 1 }), "go with a `pattern`"),
        (json!({ "paneId": "a", "limit": 10_001 }), "up to 10000 lines"),
        (json!({ "paneId": "a", "limit": 2_000_000, "view": "raw" }), "up to 1048576 bytes"),
        (json!({ "paneId": "a", "since": 0, "view": "rendered" }), "`since` goes with"),
        (json!({ "paneId": "a", "pattern": "x", "view": "rendered" }), "goes with the view"),
    ] {
        let (refused, got) = code(house.act("pane:read", params).await);
        assert!(refused == Code::Invalid && got.contains(sentence), "{got}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_search_finds_the_newest_first_in_all_panes_one_may_see() {
    let house = printing("an error here\r\nfine\r\nERROR again\r\n").await;
    house.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    house.pane("b").print(b"no error\r\n");
    let found =
        house.act("pane:search", json!({ "pattern": "error", "ignoreCase": true })).await.unwrap();
    let hits: Vec<String> = found["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| format!("{} {} {}", hit["paneId"].as_str().unwrap(), hit["n"], hit["offset"]))
        .collect();
    assert_eq!(hits.len(), 3);
    assert_eq!(hits[0], "a 2 21");
    let only = json!({ "pattern": "error", "panes": ["b"], "limit": 1 });
    let found = house.act("pane:search", only).await.unwrap();
    assert_eq!((&found["hits"][0]["text"], &found["panes"]), (&json!("no error"), &json!(1)));
    let unknown = house.act("pane:search", json!({ "pattern": "x", "panes": ["z"] })).await;
    assert_eq!(code(unknown).0, Code::NotFound);
}

/// The hits of a search, as `pane text`.
async fn search(house: &House, params: Value) -> (Vec<String>, Value) {
    let found = house.act("pane:search", params).await.unwrap();
    let text = |hit: &Value, field: &str| hit[field].as_str().unwrap().to_owned();
    let hits = found["hits"].as_array().unwrap().iter();
    let hits = hits.map(|hit| format!("{} {}", text(hit, "paneId"), text(hit, "text")));
    (hits.collect(), found)
}

#[tokio::test(start_paused = true)]
async fn the_newest_hit_is_the_one_that_was_printed_last() {
    let house = printing("").await;
    house.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    house.pane("a").print_at(b"zork first\r\n$ ", Time(1000));
    house.pane("b").print_at(b"zork middle\r\n", Time(2000));
    house.pane("a").print_at(b"zork newest\r\n", Time(4000));
    let (hits, found) = search(&house, json!({ "pattern": "zork" })).await;
    assert_eq!(hits, ["a $ zork newest", "b zork middle", "a zork first"]);
    let times: Vec<_> = (0..3).map(|at| found["hits"][at]["time"].clone()).collect();
    assert_eq!(times, [json!(Time(4000)), json!(Time(2000)), json!(Time(1000))]);
    let (hits, found) = search(&house, json!({ "pattern": "zork", "limit": 1 })).await;
    assert_eq!((hits, &found["truncated"]), (vec!["a $ zork newest".to_owned()], &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn a_search_sees_all_of_a_line_and_says_when_it_shows_less() {
    let text =
        format!("{}zork\r\nzork\r\n{}\rzork\x1b[K\r\n", "x".repeat(5000), "50%\r".repeat(50_000));
    let house = printing(&text).await;
    let found = house.act("pane:search", json!({ "pattern": "zork$" })).await.unwrap();
    let hits = found["hits"].as_array().unwrap();
    let hits: Vec<_> = hits.iter().map(|hit| (&hit["n"], hit.get("cut").is_some())).collect();
    assert_eq!(hits, [(&json!(2), false), (&json!(1), false), (&json!(0), true)]);
    assert_eq!(found["hits"][0]["text"], "zork");
    assert_eq!(found["hits"][2]["text"], "x".repeat(2000));
}

#[tokio::test(start_paused = true)]
async fn a_search_counts_what_it_searched_and_searches_it_once() {
    let house = printing("zork\r\n").await;
    house.act("pane:new", json!({ "id": "b", "argv": ["sh"] })).await.unwrap();
    let twice = json!({ "pattern": "zork", "panes": ["a", "b", "a"] });
    let (hits, found) = search(&house, twice).await;
    assert_eq!((hits, &found["panes"]), (vec!["a zork".to_owned()], &json!(2)));
    let (hits, found) = search(&house, json!({ "pattern": "zork", "timeoutMs": 0 })).await;
    assert_eq!((hits, &found["panes"], &found["timedOut"]), (vec![], &json!(0), &json!(true)));
    let (refused, sentence) =
        code(house.act("pane:search", json!({ "pattern": "zork", "limit": 0 })).await);
    assert!(refused == Code::Invalid && sentence.contains("from 1 to 1000"), "{sentence}");
}

#[tokio::test(start_paused = true)]
async fn a_long_search_finds_what_a_short_one_would() {
    let line = |n: u64| format!("line {n} of many\r\n\x1b[1mline\x1b[m {n} again\r\n");
    let output: String = (0..20_000).map(line).collect();
    let house = printing(&output).await;
    // More than can be done at once, and thrice, as more is known each time.
    for text in ["^line 7 (of|again)", "line 1999[0-9] (?:x|again)", "line .* often", "line 7 of"] {
        let asked = json!({ "pattern": text });
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(house.act("pane:search", asked.clone()).await.unwrap());
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

/// Waits while something happens.
async fn wait(house: &House, params: Value, happen: impl AsyncFnOnce()) -> Value {
    let waiting = house.act("pane:wait", params);
    let happening = async {
        // not a wait: time is paused, and this is how much of it passes before it happens.
        tokio::time::sleep(Duration::from_millis(50)).await;
        happen().await;
    };
    tokio::join!(waiting, happening).0.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_met_by_new_output_only() {
    let house = printing("ready\r\n").await;
    let params = json!({ "paneId": "a", "pattern": "ready on (\\d+)", "timeoutMs": 5000 });
    let met =
        wait(&house, params, async || house.pane("a").print(b"building\r\nready on 80")).await;
    assert_eq!((&met["met"], &met["timedOut"]), (&json!("pattern"), &json!(false)));
    assert_eq!(met["evidence"], json!([{ "n": 2, "text": "ready on 80", "open": true }]));
    assert_eq!(met["tail"][0]["text"], "ready");
    let missed = house
        .act("pane:wait", json!({ "paneId": "a", "pattern": "ready", "timeoutMs": 100 }))
        .await
        .unwrap();
    assert_eq!((&missed["met"], &missed["timedOut"]), (&json!(null), &json!(true)));
    let why = missed["why"].to_string();
    assert!(why.contains("nothing new") && why.contains("on the screen already"), "{why}");
    let since = json!({ "paneId": "a", "pattern": "^ready$", "since": 0 });
    assert_eq!(house.act("pane:wait", since).await.unwrap()["met"], "pattern");
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_early_at_a_stop_at_the_end_and_in_silence() {
    let house = printing("").await;
    let params = json!({ "paneId": "a", "pattern": "ready", "stop": ["error"] });
    let stopped = wait(&house, params, async || house.pane("a").print(b"an error\r\n")).await;
    assert_eq!(stopped["met"], "stop");
    let start = tokio::time::Instant::now();
    let quiet = wait(&house, json!({ "paneId": "a", "quietMs": 300 }), async || {
        house.pane("a").print(b".")
    })
    .await;
    assert_eq!((&quiet["met"], start.elapsed().as_millis()), (&json!("quiet"), 350));
    let params = json!({ "paneId": "a", "exit": true, "timeoutMs": 60_000 });
    let ended = wait(&house, params, async || house.pane("a").exit(Exit::Code(3))).await;
    assert_eq!((&ended["met"], &ended["pane"]["exitCode"]), (&json!("exit"), &json!(3)));
    let late = house.act("pane:wait", json!({ "paneId": "a", "pattern": "x" })).await.unwrap();
    assert_eq!((&late["met"], &late["timedOut"]), (&json!(null), &json!(false)));
    assert!(late["why"].to_string().contains("not running any more"));
    let nothing = house.act("pane:wait", json!({ "paneId": "a" })).await;
    assert!(code(nothing).1.contains("say what to wait for"));
}

/// Waits for a pattern for a moment.
async fn wait_for(house: &House, pattern: &str, since: Option<&Value>) -> Value {
    let mut params = json!({ "paneId": "a", "pattern": pattern, "timeoutMs": 100 });
    if let Some(since) = since {
        params["since"] = since.clone();
    }
    house.act("pane:wait", params).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_next_wait_goes_on_after_the_line_that_met_the_last() {
    let house = printing("ready\nstep1\nstep2\n").await;
    let mut next = json!(0);
    for (n, (text, expect)) in [("ready", 6), ("step", 12), ("step", 18)].into_iter().enumerate() {
        let met = wait_for(&house, text, Some(&next)).await;
        let evidence = met["evidence"].as_array().unwrap();
        assert_eq!((&met["met"], evidence.len()), (&json!("pattern"), 1), "{met}");
        assert_eq!((&evidence[0]["n"], &met["next"]), (&json!(n), &json!(expect)));
        next = met["next"].clone();
    }
    let stop = json!({ "paneId": "a", "pattern": "never", "stop": ["^step"], "since": 0 });
    assert_eq!(house.act("pane:wait", stop).await.unwrap()["next"], 12);
    let missed = wait_for(&house, "step", Some(&next)).await;
    assert_eq!((&missed["met"], &missed["next"]), (&json!(null), &json!(18)));
}

/// What was printed, what a wait is for, what is printed then, and whether that meets it.
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
        let house = printing("").await;
        let raw =
            |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(c).unwrap()).collect() };
        house.pane("a").print(&raw(before));
        let params = json!({ "paneId": "a", "pattern": pattern, "timeoutMs": 1000 });
        let met = wait(&house, params, async || house.pane("a").print(&raw(after))).await;
        assert_eq!(met["met"] == "pattern", expect, "{before:?} {pattern} {after:?}: {met}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_without_end_is_seen_however_long_it_is() {
    let house = printing("").await;
    let params = json!({ "paneId": "a", "pattern": "^100% done$", "timeoutMs": 5000 });
    let met = wait(&house, params, async || {
        for n in 0..20_000 {
            house.pane("a").print(format!("\r{}% done", n / 200).as_bytes());
            if n % 1000 == 0 {
                tokio::task::yield_now().await;
            }
        }
        house.pane("a").print(b"\r100% done");
    })
    .await;
    assert_eq!(
        (&met["met"], &met["evidence"][0]["text"]),
        (&json!("pattern"), &json!("100% done"))
    );
    // And in one piece, by whoever comes late.
    assert_eq!(wait_for(&house, "^100% done$", Some(&json!(0))).await["met"], "pattern");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_not_met_says_why() {
    let house = printing("ready\r\n$ ").await;
    let why = async |params: Value| {
        let mut asked = json!({ "paneId": "a", "timeoutMs": 100 });
        asked.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        house.act("pane:wait", asked).await.unwrap()["why"].to_string()
    };
    let now = why(json!({ "pattern": "ready" })).await;
    assert!(now.contains("nothing new was printed\""), "{now}");
    assert!(now.contains("line 0 matches, but was printed before this call; `since` 0"), "{now}");
    let since = why(json!({ "pattern": "ready", "since": 7 })).await;
    assert!(since.contains("2 bytes were printed since the given place, and no new"), "{since}");
    assert!(since.contains("before the given `since`; `since` 0 would count it"), "{since}");
    let nowhere = why(json!({ "pattern": "never", "since": 0 })).await;
    assert!(!nowhere.contains("matches,") && !nowhere.contains("screen"), "{nowhere}");
    let exit = why(json!({ "exit": true, "since": 0 })).await;
    assert_eq!(
        exit,
        r#"["the program is still running","9 bytes were printed since the given place"]"#
    );
    let quiet = why(json!({ "quietMs": 5000 })).await;
    assert!(quiet.contains("100 ms ago, and 5000 ms of silence"), "{quiet}");
}

#[tokio::test(start_paused = true)]
async fn stops_are_bounded_and_enough_to_wait_for() {
    let house = printing("").await;
    let refused = async |params: Value| {
        let mut asked = json!({ "paneId": "a", "timeoutMs": 100 });
        asked.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        code(house.act("pane:wait", asked).await)
    };
    for (params, expect, part) in [
        (json!({ "stop": vec![r"\w{20}"; 200] }), Code::Limit, "`stop` takes up to 32"),
        (json!({ "stop": ["a", "b", "("] }), Code::Invalid, "`stop[2]` is no pattern"),
        (json!({ "pattern": "(", "stop": ["a"] }), Code::Invalid, "`pattern` is no pattern"),
        (json!({ "quietMs": 0 }), Code::Invalid, "`quietMs` is at least 1"),
        (json!({ "stop": [] }), Code::Invalid, "say what to wait for"),
    ] {
        let (refused, sentence) = refused(params).await;
        assert!(refused == expect && sentence.contains(part), "{sentence}");
    }
    let alone = json!({ "paneId": "a", "stop": ["fail", "panic"] });
    let met = wait(&house, alone, async || house.pane("a").print(b"a panic\r\n")).await;
    assert_eq!(met["met"], "stop");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_has_ended_is_quiet() {
    let house = printing("last words").await;
    let quiet = json!({ "paneId": "a", "quietMs": 5000 });
    let start = tokio::time::Instant::now();
    let met = wait(&house, quiet.clone(), async || house.pane("a").exit(Exit::Code(0))).await;
    assert_eq!((&met["met"], start.elapsed().as_millis()), (&json!("quiet"), 50));
    assert_eq!(house.act("pane:wait", quiet).await.unwrap()["met"], "quiet");
    let both = json!({ "paneId": "a", "quietMs": 5000, "exit": true });
    assert_eq!(house.act("pane:wait", both).await.unwrap()["met"], "exit");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_screen_ends_when_it_changes() {
    let house = printing("one").await;
    let revision = house.kernel.view(&"a".parse().unwrap(), &house.owner).await.unwrap().revision;
    let params = json!({ "paneId": "a", "screenChangeSince": revision });
    let changed = wait(&house, params, async || house.pane("a").print(b"two")).await;
    assert_eq!(changed["met"], "screenChange");
}

#[tokio::test(start_paused = true)]
async fn a_thousand_wait_at_once() {
    let house = printing("").await;
    let params = json!({ "paneId": "a", "pattern": "now" });
    let waiting = join_all((0..1000).map(|_| house.act("pane:wait", params.clone())));
    let all = async {
        let met =
            waiting.await.into_iter().filter(|answer| answer.as_ref().unwrap()["met"] == "pattern");
        assert_eq!(met.count(), 1000);
    };
    let happening = async { house.pane("a").print(b"now\r\n") };
    tokio::join!(all, happening);
}

#[tokio::test(start_paused = true)]
async fn keys_and_pastes_are_made_for_the_modes_of_the_screen() {
    let house = printing("").await;
    let press =
        async |keys: Value| house.act("pane:keys", json!({ "paneId": "a", "keys": keys })).await;
    press(json!(["up", "ctrl+c", "a", "enter"])).await.unwrap();
    assert_eq!(house.pane("a").typed(), b"\x1b[A\x03a\r");
    house.pane("a").print(b"\x1b[?1h\x1b[?2004h");
    press(json!(["up"])).await.unwrap();
    let paste = json!({ "paneId": "a", "text": "two\nlines", "submit": true });
    let pasted = house.act("pane:paste", paste).await.unwrap();
    assert_eq!(pasted["bracketed"], true);
    assert_eq!(house.pane("a").typed()[6..], *b"\x1bOA\x1b[200~two\rlines\x1b[201~\r");
    assert_eq!(code(press(json!(["no-such-key"])).await).0, Code::Invalid);
    assert_eq!(code(press(json!([])).await).0, Code::Invalid);
    let evil = json!({ "paneId": "a", "text": "x\u{1b}[201~rm -rf /" });
    assert_eq!(code(house.act("pane:paste", evil).await).0, Code::Invalid);
}

#[tokio::test(start_paused = true)]
async fn a_run_answers_when_it_is_over() {
    let house = House::new().await;
    let run = house.act("pane:run", json!({ "id": "r", "command": "make" }));
    let happening = async {
        next(&mut house.feed("pane:created")).await;
        house.pane("r").print(b"built\r\n");
        house.pane("r").exit(Exit::Code(2));
    };
    let ran = tokio::join!(run, happening).0.unwrap();
    assert_eq!((&ran["paneId"], &ran["exitCode"]), (&json!("r"), &json!(2)));
    assert_eq!(ran["output"]["lines"], json!([{ "n": 0, "text": "built" }]));
    assert_eq!((&ran["first"], &ran["output"]["truncated"]), (&json!(0), &json!(false)));
    assert_eq!(house.pane("r").order.argv, ["/bin/sh", "-c", "make"]);
    assert_eq!(code(house.act("pane:run", json!({})).await).0, Code::Invalid);
}

#[tokio::test(start_paused = true)]
async fn a_run_says_where_the_rest_of_its_output_is() {
    let house = House::new().await;
    let run = house.act("pane:run", json!({ "id": "r", "command": "seq 0 99", "limit": 10 }));
    let happening = async {
        next(&mut house.feed("pane:created")).await;
        house.pane("r").print((0..100).map(|n| format!("{n}\r\n")).collect::<String>().as_bytes());
        house.pane("r").exit(Exit::Code(0));
    };
    let ran = tokio::join!(run, happening).0.unwrap();
    assert_eq!((&ran["first"], &ran["output"]["truncated"]), (&json!(90), &json!(true)));
    let last = lines(&ran["output"]);
    assert_eq!((last.len(), &last[0][..], &last[9][..]), (10, "90:90", "99:99"));
    let rest = json!({ "paneId": "r", "offset": 0, "limit": ran["first"] });
    let rest = lines(&house.act("pane:read", rest).await.unwrap());
    assert_eq!((rest.len(), &rest[89][..]), (90, "89:89"));
    let (refused, sentence) =
        code(house.act("pane:run", json!({ "command": "x", "limit": 10_001 })).await);
    assert!(refused == Code::Invalid && sentence.contains("10000"), "{sentence}");
}
