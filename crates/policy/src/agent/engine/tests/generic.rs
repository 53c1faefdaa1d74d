//! Programs without a profile.

use paned_model::{LineModes, TerminalState};

use super::super::super::{ComposerSign, SignShape};
use super::*;

const RULE: &str = "──────────────────────────────";

/// An agent with the generic profile.
fn unknown() -> EngineTest {
    let profile = LIBRARY.get("generic").unwrap().clone();
    EngineTest { engine: Engine::new(profile, Time(0)), now: 0 }
}

/// A screen with this above its composer, and a draft in that.
fn boxed(above: &str, draft: &str) -> String {
    let row = above.lines().count() + 2;
    let col = draft.chars().count() + 3;
    format!("{above}\n{RULE}\n> {draft}\n{RULE}\nfooter\x1b[{row};{col}H")
}

fn frame() -> ComposerSign {
    ComposerSign { shape: SignShape::Frame, text: "─ >".into() }
}

fn waits() -> EngineInput {
    EngineInput::Process { alive: true, computes: false, waits: true }
}

/// A turn with a spinner, whose end shows this.
fn turn(stage: &mut EngineTest, over: &str) {
    stage.typed("do it").show(&boxed("hi", "do it")).wait(100).typed("\r");
    for step in ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧"] {
        stage.show(&boxed(&format!("> do it\n{step} Working..."), "")).wait(100).is("busy");
    }
    stage.show(&boxed(over, "")).wait(2000);
}

#[test]
fn where_input_was_taken_is_learned_and_known_in_the_next_run() {
    let mut first = unknown();
    first.show(&boxed("hi", "")).wait(500).is("starting").wait(500).is("ready");
    first.typed("do it").show(&boxed("hi", "do it"));
    assert!(first.engine.learned().is_empty(), "nothing was taken yet");
    turn(&mut first, "> do it\ndone");
    first.is("ready");
    assert_eq!(first.engine.learned(), [frame()]);

    let mut next = unknown();
    next.engine.restore_learned(first.engine.learned().to_vec(), Time(0));
    next.show("loading").wait(3_600_000 * 3).show(&boxed("hi", "")).is("starting");
    next.wait(200).is("ready");
    let told = next.engine.explain(Time(next.now));
    let is_told =
        |it: &EvidenceItem| it.sentence == "its composer `─ >` was learned earlier (3 h ago)";
    assert!(told.iter().any(is_told), "{told:?}");
}

#[test]
fn what_was_learned_says_nothing_of_another_composer_and_nothing_by_itself() {
    let mut stage = unknown();
    stage.engine.restore_learned(vec![ComposerSign { text: "═ >".into(), ..frame() }], Time(0));
    stage.show(&boxed("hi", "")).wait(500).is("starting");
    let mut stage = unknown();
    stage.engine.restore_learned(vec![frame()], Time(0));
    stage.show(&boxed("hi", "")).wait(100).is("starting");
    stage.show("no composer").wait(5000).is("starting");
    // A question is one whatever was learned.
    stage.show("Trust it?\n❯ 1. Yes\n  2. No\nenter to confirm").wait(1000).is("blocked");
}

#[test]
fn a_composer_of_a_program_that_asks_for_pastes_is_believed_sooner() {
    let mut stage = unknown();
    stage.show(&boxed("\x1b[?2004hhi", "")).wait(250).is("starting").wait(100).is("ready");
    let mut stage = unknown();
    stage.show(&boxed("hi", "")).wait(650).is("starting").wait(100).is("ready");
}

#[test]
fn a_process_that_reads_the_terminal_is_a_sign_beside_a_composer_only() {
    let mut stage = unknown();
    stage.show("reading").see(&waits()).wait(5000).is("starting");
    stage.show(&boxed("hi", "")).see(&waits()).wait(200).is("ready");
    // What was seen before the screen changed is no evidence for the time after.
    let mut stage = unknown();
    stage.see(&waits()).wait(10).show(&boxed("hi", "")).wait(500).is("starting");
    // Nor does it while what was typed is still in the composer.
    let mut stage = unknown();
    stage.show(&boxed("hi", "")).wait(1000).is("ready");
    stage.typed("do it").show(&boxed("hi", "do it")).typed("\r").wait(10);
    stage.see(&waits()).wait(500).is("busy");
}

#[test]
fn a_tool_call_that_was_refused_is_no_error_of_the_turn() {
    let refused = "> do it\n\x1b[31mError: the tool call was refused\x1b[m";
    let mut stage = unknown();
    stage.show(&boxed("hi", "")).wait(1000).is("ready");
    stage.typed("do it").show(&boxed("hi", "do it")).wait(100).typed("\r");
    for step in ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴"] {
        stage.show(&boxed(&format!("{refused}\n\n{step} Done, all"), "")).wait(100).is("busy");
    }
    stage.show(&boxed(&format!("{refused}\n\n* Done, all is well"), "")).wait(2000).is("ready");
    // Without an answer below it, or with a hint that came with it, it ends the turn.
    for below in ["", "\n\nPress r to retry"] {
        let mut stage = unknown();
        stage.show(&boxed("hi", "")).wait(1000).is("ready");
        turn(&mut stage, &format!("{refused}{below}"));
        stage.is("error");
    }
}

/// What the kernel reports of a terminal: whether a process reads it, and its modes.
fn terminal(canonical: bool, reads: Option<bool>) -> EngineInput {
    let modes = LineModes { canonical, echo: canonical, signals: true };
    EngineInput::Terminal(TerminalState { modes: Some(modes), reads, has_unread_line: false })
}

/// A program that reads lines at `> `, as the terminal is while it does.
fn line_reader(rest: &EngineInput) -> EngineTest {
    let mut stage = unknown();
    stage.see(rest).show("hi\n> ").see(rest).wait(1000).is("ready");
    stage.typed("do it").show("hi\n> do it").see(rest).wait(100).typed("\r");
    stage
}

#[test]
fn a_prompt_on_the_screen_is_not_ready_while_no_process_reads_a_line() {
    let reads = terminal(true, Some(true));
    let works = terminal(true, Some(false));
    let mut stage = line_reader(&reads);
    stage.see(&works).show("hi\n> do it\nLike this:\n> ").wait(30_000).is("busy");
    stage.show("hi\n> do it\nLike this:\n> quoted\n> ").see(&reads).wait(300).is("ready");
    // If the kernel does not report it, the screen is believed.
    let mut stage = line_reader(&terminal(true, None));
    stage.show("hi\n> do it\nLike this:\n> ").wait(1000).is("ready");
}

#[test]
fn a_prompt_on_the_screen_is_not_ready_in_other_modes_than_those_of_rest() {
    let edits = terminal(false, None);
    let works = terminal(true, None);
    let mut stage = line_reader(&edits);
    stage.see(&works).show("hi\n> do it\nLike this:\nname> ").wait(30_000).is("busy");
    stage.see(&waits()).wait(300).is("unknown");
    stage.see(&edits).wait(300).is("ready");
    // The modes are learned where input is accepted, not only where the program first seemed ready.
    let mut stage = unknown();
    stage.see(&works).show("hi\n> ").wait(1000).is("ready");
    stage.see(&edits).typed("do it").show("hi\n> do it").wait(100).typed("\r");
    stage.show("hi\n> do it\nanswer\n> ").wait(1000).is("ready");
}

#[test]
fn a_first_prompt_is_not_ready_before_a_process_reads() {
    let mut stage = unknown();
    let works = terminal(true, Some(false));
    stage.see(&works).show("loading\n> ").wait(30_000).is("starting");
    stage.see(&terminal(true, Some(true))).wait(300).is("ready");
}

#[test]
fn quiet_work_is_busy_as_long_as_the_terminal_shows_it() {
    let mut stage = line_reader(&terminal(true, Some(true)));
    stage.see(&terminal(true, Some(false))).show("hi\n> do it\n").wait(300_000).is("busy");
    // Without that its state is unknown after a while.
    let mut stage = line_reader(&terminal(true, None));
    stage.show("hi\n> do it\n").wait(300_000).is("unknown");
}

#[test]
fn a_line_that_asks_is_blocked_and_never_ready() {
    for asks in [
        "Type yes to delete everything > ",
        "Press Enter to delete everything > ",
        "Overwrite? y/n > ",
        "Proceed (yes or no)? > ",
        "Allow this? (a)llow (d)eny > ",
        "Enter sudo password> ",
        "Choose [1-2]> ",
        "\x1b[?2004hAbout to run rm -rf /\nConfirm: ",
        "\x1b[?2004hAllow? y/n\nAnswer: ",
        "Delete? [y/N] (default: yes) > ",
        "    -> ",
        "    '> ",
        "postgres-# ",
        "postgres(# ",
        "+ ",
        "ghci| ",
        "   ...> ",
    ] {
        unknown().show(asks).wait(3000).is("blocked");
    }
    for reads in [
        "Enter your message> ",
        "MariaDB [t]> ",
        "postgres=*# ",
        "postgres=!# ",
        "Browse[1]> ",
        "foo.bar=> ",
        "λ> ",
        "user@host:~/select$ ",
        "> Choose [1-2]: ",
    ] {
        unknown().show(reads).wait(3000).is("ready");
    }
}

#[test]
fn what_is_typed_is_a_draft_though_it_sounds_like_a_question() {
    const DRAFT: &str = "is 7 a prime? answer yes or no:";
    let shown = format!("\x1b[?2004hhi\nYou: {DRAFT}");
    let mut stage = unknown();
    stage.show("\x1b[?2004hhi\nYou: ").wait(1000).is("ready");
    stage.typed(DRAFT).show(&shown).wait(500).is("ready");
    // The same row is a question if it was printed.
    unknown().show(&shown).wait(1000).is("blocked");
}

#[test]
fn a_prompt_is_not_ready_before_bracketed_pastes_are_asked_for_again() {
    let mut stage = unknown();
    stage.show("\x1b[?2004hhi\n> ").wait(1000).is("ready");
    stage.typed("do it").show("\x1b[?2004hhi\n> do it").wait(100).typed("\r").wait(50);
    stage.show("hi\n> do it\nLike this:\n> ").wait(20_000).is("busy");
    stage.show("\x1b[?2004hhi\n> do it\nLike this:\n> ok\n> ").wait(300).is("ready");
}

#[test]
fn another_prompt_is_ready_soon_where_the_terminal_says_that_it_reads() {
    let reads = terminal(true, Some(true));
    let mut stage = line_reader(&reads);
    stage.wait(50).show("hi\n> do it\nMariaDB [test]> ").see(&reads).wait(1500).is("ready");
    let mut stage = line_reader(&terminal(true, None));
    stage.wait(50).show("hi\n> do it\nMariaDB [test]> ").wait(1500).is("busy");
    // A line that continues is not a prompt.
    let mut stage = line_reader(&reads);
    stage.show("hi\n> do it\n    -> ").see(&reads).wait(1500).is("blocked");
}
