//! What is typed arrives, and keys are keys.

use paned_substrate::{Error, LONGEST_TEXT};

use crate::programs;
use crate::test_substrate::TestSubstrate;

pub(crate) async fn enter_follows_the_text(server: TestSubstrate) {
    let target = server.spawn("a", &programs::bytes("")).await;
    server.wait_for_line(&target, "ready").await;
    server.substrate().send(&target, "hello").await.unwrap();
    server.wait_for_last_line(&target, "hello^M").await;
    server.substrate().send(&target, "").await.unwrap();
    server.wait_for_last_line(&target, "hello^M^M").await;
}

pub(crate) async fn text_arrives_as_it_is(server: TestSubstrate) {
    let target = server.spawn("a", &programs::bytes("")).await;
    server.wait_for_line(&target, "ready").await;
    let hard = "-l -- ; $HOME #{pid} #(date) 'a' \"b\" \\n \\ Enter C-c {x} ~ %1 !;";
    server.substrate().send(&target, hard).await.unwrap();
    server.wait_for_last_line(&target, &format!("{hard}^M")).await;
    server.substrate().send(&target, "\té").await.unwrap();
    server.wait_for_last_line(&target, &format!("{hard}^M^IM-CM-)^M")).await;
}

pub(crate) async fn lines_are_not_flattened(server: TestSubstrate) {
    let target = server.spawn("a", &programs::bytes("")).await;
    server.wait_for_line(&target, "ready").await;
    server.substrate().send(&target, "one\n\n  two\nthree").await.unwrap();
    server
        .wait_for_lines(&target, |lines| lines == ["ready", "one$", "$", "  two$", "three^M"])
        .await;
}

pub(crate) async fn the_longest_text_arrives_and_a_longer_one_is_refused(server: TestSubstrate) {
    let target = server.spawn("a", &programs::bytes("")).await;
    server.wait_for_line(&target, "ready").await;
    let line = format!("{}\n", "x".repeat(127));
    let text = line.repeat(LONGEST_TEXT / line.len());
    assert_eq!(text.len(), LONGEST_TEXT);
    let refused = server.substrate().send(&target, &format!("{text}x")).await.unwrap_err();
    let says = "invalid command: a text of 8193 bytes is too long: at most 8192 are typed at once";
    assert_eq!(refused.to_string(), says);
    server.substrate().send(&target, &text).await.unwrap();
    let lines =
        server.wait_for_lines(&target, |lines| lines.last().is_some_and(|last| last == "^M")).await;
    let full = format!("{}$", "x".repeat(127));
    assert_eq!(lines.iter().filter(|line| **line == full).count(), LONGEST_TEXT / 128);
}

pub(crate) async fn a_key_is_no_text(server: TestSubstrate) {
    let target = server.spawn("a", &programs::cat()).await;
    let refused = server.substrate().send(&target, "\x03").await.unwrap_err();
    let says = "invalid command: U+0003 is a key, not text: press it as a key, `C-c`";
    assert_eq!(refused.to_string(), says);
    assert_eq!(server.names().await, ["a"], "nothing was typed");
}

pub(crate) async fn an_interrupt_reaches_the_program(server: TestSubstrate) {
    let target = server.spawn("a", &programs::catch()).await;
    server.wait_for_line(&target, "ready").await;
    server.substrate().key(&target, "C-c").await.unwrap();
    server.wait_for_lines(&target, |lines| lines.iter().any(|line| line.ends_with("caught"))).await;
}

/// Every name of the contract and what it becomes, as `cat -v` shows it.
const KEYS: &[(&str, &str)] = &[
    ("Up", "^[[A"),
    ("Down", "^[[B"),
    ("Right", "^[[C"),
    ("Left", "^[[D"),
    ("Enter", "^M"),
    ("Escape", "^["),
    ("Tab", "^I"),
    ("BTab", "^[[Z"),
    ("Space", " "),
    ("PPage", "^[[5~"),
    ("NPage", "^[[6~"),
    ("Home", "^[[H"),
    ("End", "^[[F"),
    ("BSpace", "^?"),
    ("DC", "^[[3~"),
    ("IC", "^[[2~"),
    ("F1", "^[OP"),
    ("F4", "^[OS"),
    ("F5", "^[[15~"),
    ("F12", "^[[24~"),
    ("a", "a"),
    ("A", "A"),
    (";", ";"),
    ("-", "-"),
    ("C-a", "^A"),
    ("C-c", "^C"),
    ("C-@", "^@"),
    ("C-\\", "^\\"),
    ("M-x", "^[x"),
    ("M-X", "^[X"),
    ("ctrl+z", "^Z"),
];

pub(crate) async fn every_key_becomes_its_bytes(server: TestSubstrate) {
    let target = server.spawn("a", &programs::bytes("")).await;
    server.wait_for_line(&target, "ready").await;
    for (key, _) in KEYS {
        server.substrate().key(&target, key).await.unwrap();
    }
    let shown: String = KEYS.iter().map(|(_, shown)| *shown).collect();
    server.wait_for_last_line(&target, &shown).await;
}

pub(crate) async fn cursor_keys_follow_the_program(server: TestSubstrate) {
    let target = server.spawn("a", &programs::bytes("\\033[?1h")).await;
    server.wait_for_line(&target, "ready").await;
    for key in ["Up", "Home", "F1", "x"] {
        server.substrate().key(&target, key).await.unwrap();
    }
    server.wait_for_last_line(&target, "^[OA^[OH^[OPx").await;
}

pub(crate) async fn a_key_that_nobody_knows_is_refused(server: TestSubstrate) {
    let target = server.spawn("a", &programs::cat()).await;
    let refused = server.substrate().key(&target, "Entr").await.unwrap_err();
    assert!(matches!(refused, Error::InvalidCommand(_)), "{refused:?}");
    let says = "invalid command: unknown key `Entr`; did you mean `enter` or `end`?";
    assert_eq!(refused.to_string(), says);
}

pub(crate) async fn a_program_that_asks_its_terminal_is_answered(server: TestSubstrate) {
    let target = server.spawn("a", &programs::ask()).await;
    server.wait_for_lines(&target, |lines| lines == ["one", "two^[[2;4R"]).await;
}
