//! What only Claude Code does: questions of its first run, plans, several answers at once, modes of
//! its composer.

use std::time::Duration;

use paned_e2e::{Cli, wait_within};
use paned_fake_model::{AnswerEnd, ModelEventKind};
use serde_json::{Value, json};

use crate::session::RealAgentSession;
use crate::stories::{self, answers};

/// How long a question stays on the screen that must not be answered.
const UNANSWERED: Duration = Duration::from_secs(5);

fn start() -> RealAgentSession {
    RealAgentSession::start(Cli::Claude)
}

/// One that is started in this mode.
fn start_in(mode: &str) -> RealAgentSession {
    let argv = json!({ "argv": ["claude", "--permission-mode", mode] });
    let session = RealAgentSession::launch(Cli::Claude, |_| {}, &argv);
    session.until(&["ready"]);
    session
}

fn writes(session: &RealAgentSession, text: &str) {
    session.server.act("pane:write", json!({ "paneId": "agent", "text": text }));
}

/// Ticks an option; the question stays.
fn ticks(session: &RealAgentSession, option: &str) {
    let answer = json!({ "paneId": "agent", "option": option });
    session.server.act("agent:answer", answer);
}

/// Waits until a tool gave something; answers what.
fn tool_result(session: &RealAgentSession, mark: usize) -> String {
    session.model.wait_within(Duration::from_secs(60), "a result", mark, |facts| {
        facts.iter().find_map(|fact| match &fact.kind {
            ModelEventKind::ToolResult(text) => Some(text.clone()),
            _ => None,
        })
    })
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn the_questions_of_the_first_run_are_answered_with_trust() {
    let more = json!({ "trust": true, "permissions": "ask" });
    let session =
        RealAgentSession::launch(Cli::Claude, |real| real.remove_file(".claude.json"), &more);
    session.until(&["ready"]);
    session.submits("FAKE say words=6");
    session.until(&["ready"]);
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn the_questions_of_the_first_run_wait_without_trust() {
    let more = json!({ "permissions": "ask" });
    let session =
        RealAgentSession::launch(Cli::Claude, |real| real.remove_file(".claude.json"), &more);
    for text in ["Choose the text style", "Security notes", "Is this a project you created"] {
        let blocked = asks(&session, text);
        assert_eq!(blocked["kind"], "trust", "{blocked:#}");
        let options = blocked["dialog"]["options"].as_array().map_or(0, Vec::len);
        let sent = session.sends("this must not be taken for an answer");
        assert_eq!(sent["outcome"], "refused", "{sent:#}");
        // The folder is trusted by the second of two options; Enter alone would quit.
        let option = if options == 2 { "yes" } else { "1" };
        answers(&session, option);
    }
    session.until(&["ready"]);
}

/// Waits until it asks this.
fn asks(session: &RealAgentSession, text: &str) -> Value {
    wait_within(Duration::from_secs(60), text, || {
        let agent = session.asked();
        let asked = agent["dialog"]["text"].as_str().is_some_and(|asked| asked.contains(text));
        asked.then_some(agent)
    })
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn trust_does_not_accept_that_permissions_are_bypassed() {
    let argv = ["claude", "--dangerously-skip-permissions"];
    let more = json!({ "trust": true, "argv": argv });
    // Without this it exits at once when it runs as root.
    let session = RealAgentSession::launch(Cli::Claude, |real| real.set("IS_SANDBOX", "1"), &more);
    let blocked = session.asked();
    let text = blocked["dialog"]["text"].as_str().unwrap_or_default();
    assert!(text.contains("Bypass Permissions mode"), "{blocked:#}");
    let left = session.comes_to(&["ready", "exited", "busy"], UNANSWERED);
    assert!(left.is_err(), "the warning was answered: {left:?}");
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn permissions_auto_runs_a_command_without_a_question() {
    let more = json!({ "permissions": "auto" });
    let session = RealAgentSession::launch(Cli::Claude, |_| {}, &more);
    session.until(&["ready"]);
    session.submits("FAKE tool cmd=touch+made.txt");
    wait_within(Duration::from_secs(60), "the file", || {
        session.file("made.txt").exists().then_some(())
    });
    session.until(&["ready"]);
    session.check_never_falsely_ready();
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn a_plan_is_refused_and_accepted() {
    let session = start_in("plan");
    // Its only yes is for the whole session, so `yes` alone does not choose it.
    for option in ["no", "Yes, and switch"] {
        session.submits("FAKE plan");
        let blocked = session.asked();
        assert_eq!(blocked["kind"], "plan", "{blocked:#}\n{}", session.screen());
        let sent = session.sends("this must not be taken for a yes");
        assert_eq!(sent["outcome"], "refused", "{sent:#}");
        answers(&session, option);
        session.until(&["ready"]);
    }
    session.check_never_falsely_ready();
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn a_question_gets_the_answer_that_was_chosen() {
    let session = start();
    let mark = session.model.mark();
    session.submits("FAKE ask");
    let blocked = session.asked();
    assert_eq!(blocked["kind"], "question", "{blocked:#}\n{}", session.screen());
    let labels = blocked["dialog"]["options"].to_string();
    assert!(!labels.contains("──"), "a rule is part of a label: {labels}");
    answers(&session, "fake 1");
    let result = tool_result(&session, mark);
    assert!(result.contains("fake 1") && !result.contains("fake 0"), "{result}");
    session.until(&["ready"]);
    session.check_never_falsely_ready();
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn a_question_with_several_answers_gets_them_all() {
    let session = start();
    let mark = session.model.mark();
    session.submits("FAKE ask multi=1");
    let blocked = session.asked();
    assert_eq!(blocked["kind"], "question", "{blocked:#}\n{}", session.screen());
    ticks(&session, "fake 0");
    ticks(&session, "fake 1");
    let screen = session.screen();
    assert_eq!(screen.matches("[✔]").count(), 2, "{screen}");
    answers(&session, "Submit");
    asks(&session, "Ready to submit");
    answers(&session, "Submit answers");
    let result = tool_result(&session, mark);
    assert!(result.contains("fake 0") && result.contains("fake 1"), "{result}");
    session.until(&["ready"]);
    session.check_never_falsely_ready();
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn nothing_is_typed_into_a_composer_that_runs_shell_commands() {
    let session = start();
    writes(&session, "!");
    wait_within(Duration::from_secs(20), "shell mode", || {
        session.screen().contains("! for shell mode").then_some(())
    });
    let text = "touch made.txt";
    let sent = session.sends(text);
    assert_eq!(sent["outcome"], "held", "{sent:#}\n{}", session.screen());
    let mark = session.model.mark();
    writes(&session, "\u{7f}");
    session.waits_for_model("the prompt", mark, |fact| {
        matches!(&fact.kind, ModelEventKind::Asked { prompt: Some(prompt), .. } if prompt.text == text)
    });
    assert!(!session.file("made.txt").exists(), "a shell ran it");
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn texts_that_are_commands_are_refused_and_others_arrive() {
    let session = start();
    for text in ["/help", "  /compact now", "exit", "quit", ":q", ":wq"] {
        let sent = session.sends(text);
        assert_eq!(sent["outcome"], "refused", "{text}: {sent:#}");
        let sentence = sent["evidence"][0].as_str().unwrap_or_default();
        assert!(sentence.contains("Claude Code"), "{text}: {sent:#}");
    }
    for text in ["!ls", "#note", "?what", "ends in \\", "what does @main.py", "& in the background"]
    {
        session.submits(text);
        session.until(&["ready"]);
    }
    assert_eq!(session.model.prompts().len(), 6, "{:#?}", session.model.prompts());
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn prompts_sent_while_it_works_arrive_once_each() {
    let session = start();
    session.submits("FAKE say delay=3 words=20 rate=10");
    session.until(&["busy"]);
    let texts: Vec<_> = (0..5).map(|n| format!("queued prompt {n}")).collect();
    for text in &texts {
        let outcome = session.sends(text)["outcome"].clone();
        assert!(outcome == "queued" || outcome == "submitted", "{text}: {outcome}");
    }
    wait_within(Duration::from_secs(120), "all prompts", || {
        (session.model.prompts().len() == 1 + texts.len()).then_some(())
    });
    session.until(&["ready"]);
    let got = session.model.prompts().into_iter().skip(1).map(|prompt| prompt.text);
    assert_eq!(got.collect::<Vec<_>>(), texts);
    session.check_never_falsely_ready();
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn an_error_is_reported_and_its_placeholder_is_not_a_draft() {
    let session = start();
    let mark = session.model.mark();
    // This status is not tried again.
    session.submits("FAKE error status=400");
    session.waits_for_model("the error", mark, |fact| {
        fact.kind == ModelEventKind::Ended(AnswerEnd::Error)
    });
    session.until(&["error"]);
    assert!(session.screen().contains("resend"), "no placeholder:\n{}", session.screen());
    session.submits("FAKE say words=6");
    session.until(&["ready"]);
    session.check_never_falsely_ready();
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn an_interrupt_that_restores_the_prompt_leaves_no_draft() {
    let session = start();
    for status in ["429", "500"] {
        session.submits(&format!("FAKE error status={status}"));
        session.until(&["busy"]);
        stories::interrupts(&session);
        session.until(&["ready", "error"]);
        session.submits(&format!("after {status}"));
        session.until(&["ready"]);
    }
    session.check_never_falsely_ready();
}

#[test]
#[ignore = "make test-agents ARGS=claude installs what it needs"]
fn a_figure_in_the_conversation_is_not_its_context() {
    let session = start();
    session.submits("what does ctx:42% mean");
    let agent = session.until(&["ready"]);
    assert_eq!(agent["contextPercent"], Value::Null, "{agent:#}");
}
