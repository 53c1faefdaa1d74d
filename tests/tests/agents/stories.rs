//! What every agent goes through.

use std::time::{Duration, Instant};

use paned_e2e::model::{End, What};
use paned_e2e::record::quit;
use paned_e2e::{Cli, Dice, wait_within};
use serde_json::json;

use crate::session::Session;

/// How many prompts may wait, and how long until one of them is taken.
const WAITING: usize = 50;
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn starts_answers_and_quits(cli: Cli) {
    let session = Session::start(cli);
    let mark = session.model.mark();
    session.submits("FAKE say delay=3 words=20 rate=10");
    session.until(&["busy"]);
    session.waits_for_model("the answer", mark, |fact| fact.what == What::Ended(End::Text));
    session.until(&["ready"]);
    session.submits("first line\n  second line, with a tail: ünï ✓\n\nfourth line");
    session.until(&["ready"]);
    session.never_lied();
    quits(&session);
}

/// As a person would.
fn quits(session: &Session) {
    let mut events = session.server.events("pane:exited", None);
    for key in quit(session.cli) {
        // It may have ended with the first.
        let _ = session.server.try_act("pane:write", json!({ "paneId": "agent", "text": key }));
        let quiet = json!({ "paneId": "agent", "quietMs": 150, "exit": true, "timeoutMs": 1000 });
        session.server.act("pane:wait", quiet);
    }
    events.until_exit("agent");
    session.until(&["exited"]);
}

pub(crate) fn asks_before_it_runs_a_command(cli: Cli) {
    let session = Session::start(cli);
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
    session.never_lied();
}

pub(crate) fn answers(session: &Session, option: &str) {
    let answer = json!({ "paneId": "agent", "option": option });
    let answered = session.server.act("agent:answer", answer);
    assert_eq!(answered["answered"], true, "{answered:#}\n{}", session.screen());
}

pub(crate) fn is_interrupted_and_survives_an_error(cli: Cli) {
    let session = Session::start(cli);
    session.submits("FAKE hang");
    session.until(&["busy"]);
    let mark = session.model.mark();
    interrupts(&session);
    session.waits_for_model("the end of it", mark, |fact| fact.what == What::Aborted);
    session.until(&["ready"]);
    session.submits("FAKE error status=429");
    session.waits_for_model("the error", mark, |fact| fact.what == What::Ended(End::Error));
    // Some try again for minutes, and say so; they are busy, or limited.
    let failed = session.comes_to(&["error", "ready"], Duration::from_secs(15));
    if failed.is_err() {
        interrupts(&session);
    }
    session.until(&["ready", "error"]);
    session.submits("FAKE say words=6");
    session.until(&["ready"]);
    session.never_lied();
}

pub(crate) fn interrupts(session: &Session) {
    let params = json!({ "paneId": "agent", "timeoutMs": 20_000 });
    let interrupted = session.server.act("agent:interrupt", params);
    assert_eq!(interrupted["interrupted"], true, "{interrupted:#}\n{}", session.screen());
}

/// Sends so many prompts, with pauses and without, long and short; each must arrive once, and in order.
pub(crate) fn every_prompt_arrives_once(cli: Cli, count: u64) {
    let (session, mut dice) = (Session::start(cli), Dice::new());
    let mut sent = Vec::new();
    for n in 0..count {
        let lines = 1 + dice.roll(4);
        let text: Vec<_> = (0..lines)
            .map(|line| {
                format!(
                    "prompt {n}, line {line}: {}",
                    "word ".repeat(dice.roll(30) as usize).trim_end()
                )
            })
            .collect();
        let text = text.join("\n").trim_end().to_owned();
        // Only so many may wait for an agent that is slower than whoever writes to it.
        wait_within(PATIENCE, "room", || {
            (sent.len() < session.model.prompts().len() + WAITING).then_some(())
        });
        let outcome = session.sends(&text)["outcome"].clone();
        assert!(outcome == "submitted" || outcome == "queued", "{n}: {outcome}");
        sent.push(text);
        let pause = Duration::from_millis(dice.roll(400));
        // not a wait: people send at any moment, and each moment is another case
        std::thread::sleep(pause);
    }
    let end = Instant::now() + Duration::from_secs(600);
    while session.model.prompts().len() < sent.len() && Instant::now() < end {
        let _ = session.comes_to(&["ready"], Duration::from_secs(5));
    }
    session.until(&["ready"]);
    let got: Vec<_> = session.model.prompts().into_iter().map(|prompt| prompt.text).collect();
    assert_eq!(got.len(), sent.len(), "some were lost, or came twice");
    for (got, sent) in got.iter().zip(&sent) {
        assert_eq!(&session.own(got, sent), sent);
    }
    session.never_lied();
}
