//! Real agents whose hooks paned has installed into their own configuration.

use std::process::Command;
use std::time::Duration;

use paned_e2e::{Cli, RealAgent, binary, decode_output, wait_within};
use serde_json::{Value, json};

use crate::session::RealAgentSession;
use crate::stories::answers;

/// How long a report may take on a machine that builds something else.
const LONG: Duration = Duration::from_secs(60);

/// Runs `paned` where this agent finds its configuration.
fn paned(real: &RealAgent, args: &[&str]) -> String {
    let mut command = Command::new(binary());
    command.args(args).env_clear().envs(real.env()).current_dir(real.cwd());
    let (out, err, code) = decode_output(&command.output().unwrap());
    assert_eq!(code, 0, "paned {args:?}: {out}\n{err}");
    out
}

/// The parameters with which hooks are run that no user has reviewed.
fn unreviewed(cli: Cli) -> Value {
    match cli {
        Cli::Codex => {
            json!({ "argv": ["codex", "--no-daemon", "--dangerously-bypass-hook-trust"] })
        }
        Cli::Claude => json!({ "permissions": "ask" }),
        _ => json!({}),
    }
}

/// Everything that is known about the agent, as text.
fn evidence(session: &RealAgentSession) -> String {
    session.server.act("agent:explain", json!({ "paneId": "agent" })).to_string()
}

/// Waits until its hook of this name has reported this state.
#[track_caller]
fn reports(session: &RealAgentSession, event: &str, state: &str) {
    let words = format!("its hook `{event}` reported {state}");
    wait_within(LONG, &words, || evidence(session).contains(&words).then_some(()));
}

pub(crate) fn its_hooks_report_its_turns(cli: Cli, events: [Option<&str>; 3]) {
    let name = cli.name();
    let install = |real: &mut RealAgent| {
        paned(real, &["hooks", "install", name, "--yes"]);
        assert!(paned(real, &["hooks", "status", name]).contains("installed"));
    };
    let session = RealAgentSession::launch(cli, install, &unreviewed(cli));
    session.until(&["ready"]);
    let [busy, blocked, ready] = events;
    session.submits("FAKE say delay=4 words=10 rate=10");
    if let Some(event) = busy {
        reports(&session, event, "busy");
    }
    session.until(&["ready"]);
    if let Some(event) = ready {
        reports(&session, event, "ready");
    }
    if let Some(event) = blocked {
        session.submits("FAKE tool cmd=touch+made.txt");
        session.asked();
        reports(&session, event, "blocked");
        answers(&session, "yes");
        wait_within(LONG, "what was allowed", || session.file("made.txt").exists().then_some(()));
        session.until(&["ready"]);
    }
    session.check_never_falsely_ready();
}

pub(crate) fn removed_hooks_report_nothing(cli: Cli) {
    let name = cli.name();
    let change = |real: &mut RealAgent| {
        paned(real, &["hooks", "install", name, "--yes"]);
        paned(real, &["hooks", "remove", name, "--yes"]);
        assert!(paned(real, &["hooks", "status", name]).contains("absent"));
    };
    let session = RealAgentSession::launch(cli, change, &unreviewed(cli));
    session.until(&["ready"]);
    session.submits("FAKE say words=10 rate=10");
    session.until(&["ready"]);
    assert!(!evidence(&session).contains("its hook"), "{}", evidence(&session));
    let reports = session.server.act("audit:list", json!({ "action": "agent:set-state" }));
    assert_eq!(reports["records"], json!([]));
}
