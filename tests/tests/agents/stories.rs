//! What every agent goes through.

use std::time::Duration;

use paned_e2e::{Cli, wait_within};
use paned_fake_model::{AnswerEnd, ModelEventKind};
use serde_json::json;

use crate::session::RealAgentSession;

pub(crate) fn starts_answers_and_quits(cli: Cli) {
    let session = RealAgentSession::start(cli);
    let mark = session.model.mark();
    session.submits("FAKE say delay=3 words=20 rate=10");
    session.until(&["busy"]);
    session.waits_for_model("the answer", mark, |fact| {
        fact.kind == ModelEventKind::Ended(AnswerEnd::Text)
    });
    session.until(&["ready"]);
    session.submits("first line\n  second line, with a tail: ünï ✓\n\nfourth line");
    session.until(&["ready"]);
    session.check_never_falsely_ready();
    quits(&session);
}

/// As a person would.
fn quits(session: &RealAgentSession) {
    let mut events = session.server.events("pane:exited", None);
    for key in session.cli.quit_keys() {
        // It may have ended with the first.
        let _ = session.server.try_act("pane:write", json!({ "paneId": "agent", "text": key }));
        let quiet = json!({ "paneId": "agent", "quietMs": 150, "exit": true, "timeoutMs": 1000 });
        session.server.act("pane:wait", quiet);
    }
    events.until_exit("agent");
    session.until(&["exited"]);
}

pub(crate) fn asks_before_it_runs_a_command(cli: Cli) {
    let session = RealAgentSession::start(cli);
    session.submits("FAKE tool cmd=touch+made.txt");
    let blocked = session.asked();
    assert_eq!(blocked["kind"], "permission", "{blocked:#}\n{}", session.screen());
    let options = blocked["dialog"]["options"].as_array().map_or(0, Vec::len);
    assert!(2 <= options, "{blocked:#}\n{}", session.screen());
    let sent = session.sends("this must not be taken for a yes");
    assert_eq!(sent["outcome"], "refused", "{sent:#}");
    assert!(!session.file("made.txt").exists(), "it ran what nobody had allowed");
    answers(&session, "yes");
    wait_within(Duration::from_secs(60), "what was allowed", || {
        session.file("made.txt").exists().then_some(())
    });
    session.until(&["ready"]);
    session.submits("FAKE tool cmd=touch+other.txt");
    session.asked();
    answers(&session, "no");
    session.until(&["ready"]);
    assert!(!session.file("other.txt").exists(), "it ran what was refused");
    session.check_never_falsely_ready();
}

pub(crate) fn answers(session: &RealAgentSession, option: &str) {
    let answer = json!({ "paneId": "agent", "option": option });
    let answered = session.server.act("agent:answer", answer);
    assert_eq!(answered["answered"], true, "{answered:#}\n{}", session.screen());
}

pub(crate) fn is_interrupted_and_survives_an_error(cli: Cli) {
    let session = RealAgentSession::start(cli);
    session.submits("FAKE hang");
    session.until(&["busy"]);
    let mark = session.model.mark();
    interrupts(&session);
    session.waits_for_model("the end of it", mark, |fact| fact.kind == ModelEventKind::Aborted);
    session.until(&["ready"]);
    session.submits("FAKE error status=429");
    session.waits_for_model("the error", mark, |fact| {
        fact.kind == ModelEventKind::Ended(AnswerEnd::Error)
    });
    // Some try again for minutes, and say so; they are busy, or limited.
    let failed = session.comes_to(&["error", "ready"], Duration::from_secs(15));
    if failed.is_err() {
        interrupts(&session);
    }
    session.until(&["ready", "error"]);
    session.submits("FAKE say words=6");
    session.until(&["ready"]);
    session.check_never_falsely_ready();
}

pub(crate) fn interrupts(session: &RealAgentSession) {
    let params = json!({ "paneId": "agent", "timeoutMs": 20_000 });
    let interrupted = session.server.act("agent:interrupt", params);
    assert_eq!(interrupted["interrupted"], true, "{interrupted:#}\n{}", session.screen());
}
