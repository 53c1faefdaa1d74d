//! Texts of every kind arrive as they were sent.

use serde_json::json;

use crate::{ScriptedAgentServer, check};

#[test]
fn texts_arrive_as_they_were_sent() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    let texts = [
        "hello",
        "-rf --help",
        "ends with a semicolon;",
        "!bang and ?question and /slash",
        "a\ttab, quotes \" ' ` and a backslash \\",
        "ünï\u{301}cödé 日本語 🎉 👩‍👩‍👧",
        "one\ntwo\n\n    four, indented\nfive",
        "  leading blanks",
        "$(touch /tmp/never) `never` %s %n #{pane_id}",
    ];
    for text in texts {
        let sent = house.send_with(json!({ "text": text, "wait": "done" }));
        check(&sent, "submitted", "Enter was pressed");
    }
    assert_eq!(house.agent.prompts(), texts);
    assert_eq!(house.delivered().len(), texts.len());
}

#[test]
fn a_hundred_kilobytes_arrive() {
    for flags in [&["--work", "100"][..], &["--work", "100", "--collapse-paste"][..]] {
        let house = ScriptedAgentServer::ready(flags);
        let text: String =
            (0..2000).map(|n| format!("line {n} of a text that is rather long\n")).collect();
        let text = format!("{text}the end{}", "x".repeat(100 * 1024 - text.len() % 1024));
        assert!(100 * 1024 <= text.len());
        let sent = house.send_with(json!({ "text": text, "wait": "done" }));
        check(&sent, "submitted", "");
        assert_eq!(house.agent.prompts(), [text]);
    }
}

#[test]
fn what_cannot_be_typed_is_refused_with_its_reason() {
    let house = ScriptedAgentServer::ready(&[]);
    check(&house.send("a\u{1b}[A"), "refused", "control character U+001B");
    check(&house.send("a\u{1b}[201~rm\r"), "refused", "end marker of a bracketed paste");
    check(&house.send("\u{3}"), "refused", "U+0003");
    check(&house.send("  \n"), "refused", "empty");
    assert_eq!(house.agent.prompts(), [""; 0]);
    assert!(house.delivered().iter().all(|(_, outcome)| outcome == "refused"));
}

#[test]
fn line_ends_at_the_end_are_left_out_and_told() {
    let house = ScriptedAgentServer::ready(&["--work", "100"]);
    check(&house.send("a line\n"), "submitted", "line ends at the end");
    assert_eq!(house.agent.prompts(), ["a line"]);
}
