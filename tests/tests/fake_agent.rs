//! The scripted agent misbehaves as it is told to, and tells the truth about it.

use paned_e2e::{FakeAgent, Server, wait_for};
use serde_json::{Value, json};

struct FakeAgentRun {
    server: Server,
    agent: FakeAgent,
}

impl FakeAgentRun {
    #[track_caller]
    fn start(flags: &[&str]) -> Self {
        let (server, agent) = (Server::start(), FakeAgent::new(flags));
        server.act("pane:new", agent.params("a"));
        Self { server, agent }
    }

    #[track_caller]
    fn ready(flags: &[&str]) -> Self {
        let run = Self::start(flags);
        run.agent.wait("ready", 1);
        run.wait_for_text("? for help");
        run
    }

    fn paste(&self, text: &str) {
        self.server.act("pane:paste", json!({ "paneId": "a", "text": text }));
    }

    fn press(&self, key: &str) {
        self.server.act("pane:keys", json!({ "paneId": "a", "keys": [key] }));
    }

    fn screen(&self) -> Value {
        self.server.act("pane:screen", json!({ "paneId": "a" }))
    }

    #[track_caller]
    fn wait_for_text(&self, text: &str) {
        let shows = |row: &Value| row.as_str().is_some_and(|row| row.contains(text));
        wait_for(text, || self.screen()["rows"].as_array()?.iter().any(shows).then_some(()));
    }
}

#[test]
fn a_prompt_arrives_as_it_was_pasted() {
    let run = FakeAgentRun::ready(&[]);
    run.paste("first\n\tsecond  ");
    run.wait_for_text("> first");
    run.press("enter");
    run.agent.wait("prompt", 1);
    assert_eq!(run.agent.prompts(), ["first\n\tsecond  "]);
    run.agent.wait("ready", 2);
}

#[test]
fn a_collapsed_paste_is_submitted_whole() {
    let run = FakeAgentRun::ready(&["--collapse-paste"]);
    run.paste("one\ntwo\nthree");
    run.wait_for_text("> [Pasted text #1 +2 lines]");
    run.press("enter");
    run.agent.wait("prompt", 1);
    assert_eq!(run.agent.prompts(), ["one\ntwo\nthree"]);
}

#[test]
fn a_swallowed_enter_submits_nothing() {
    let run = FakeAgentRun::ready(&["--swallow-enter", "1"]);
    run.paste("hello");
    run.press("enter");
    run.agent.wait("swallowed", 1);
    assert_eq!(run.agent.prompts(), [""; 0]);
    run.press("enter");
    run.agent.wait("prompt", 1);
}

#[test]
fn a_dialog_that_races_a_paste_takes_the_enter() {
    let run = FakeAgentRun::ready(&["--dialog-race", "1"]);
    run.paste("hello");
    run.wait_for_text("Allow this command?");
    run.press("enter");
    assert_eq!(run.agent.wait("answer", 1)["yes"], true);
    assert_eq!(run.agent.prompts(), [""; 0]);
}

#[test]
fn a_dialog_at_the_start_comes_before_ready() {
    let run = FakeAgentRun::start(&["--dialog-at-start", "--slow-start", "200"]);
    run.wait_for_text("Do you trust this folder?");
    assert!(run.agent.log().iter().all(|line| line["event"] != "ready"));
    run.press("y");
    run.agent.wait("ready", 1);
    run.wait_for_text("? for help");
}

#[test]
fn a_tool_is_asked_for_and_refused() {
    let run = FakeAgentRun::ready(&[]);
    run.paste("FAKE tool cmd=touch+made.txt");
    run.press("enter");
    run.wait_for_text("touch made.txt");
    run.wait_for_text("enter to confirm");
    run.press("esc");
    assert_eq!(run.agent.wait("answer", 1)["yes"], false);
    run.wait_for_text("* Did not run touch made.txt");
}

#[test]
fn work_is_interrupted_and_what_waits_comes_next() {
    let run = FakeAgentRun::ready(&["--redraw", "--switch-screen"]);
    run.paste("FAKE hang");
    run.press("enter");
    run.wait_for_text("esc to interrupt");
    wait_for("the alternate screen", || {
        (run.screen()["modes"]["alternateScreen"] == true).then_some(())
    });
    run.paste("second");
    run.press("enter");
    assert_eq!(run.agent.wait("prompt", 2)["queued"], true);
    run.press("esc");
    run.agent.wait("interrupted", 1);
    run.agent.wait("busy", 2);
    run.agent.wait("ready", 2);
}

#[test]
fn a_crash_is_a_crash() {
    let run = FakeAgentRun::ready(&["--crash-after", "1"]);
    let mut events = run.server.events("*", None);
    run.paste("hello");
    run.press("enter");
    events.until_exit("a");
    assert_eq!(run.server.pane("a")["exitCode"], 101);
}

#[test]
fn a_frozen_one_draws_no_more() {
    let run = FakeAgentRun::ready(&["--freeze-after", "1", "--alt-screen"]);
    run.paste("hello");
    run.press("enter");
    run.agent.wait("busy", 1);
    let quiet = json!({ "paneId": "a", "quietMs": 500 });
    assert_eq!(run.server.act("pane:wait", quiet)["met"], "quiet");
    let before = run.screen()["rows"].clone();
    run.paste("anybody there?");
    let quiet = json!({ "paneId": "a", "quietMs": 300 });
    assert_eq!(run.server.act("pane:wait", quiet)["met"], "quiet");
    assert_eq!(run.screen()["rows"], before);
}

#[test]
fn prose_stays_in_the_transcript() {
    let run = FakeAgentRun::ready(&["--prose-dialog", "--work", "10"]);
    run.paste("hello");
    run.press("enter");
    run.agent.wait("ready", 2);
    run.wait_for_text("enter to confirm · esc to cancel");
    run.wait_for_text("? for help");
}
