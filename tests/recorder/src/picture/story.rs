//! What is typed: the agents, a question, an answer; then the server is killed, and everything is
//! still there.

use std::time::Duration;

use super::stage::Stage;

/// To read a line or two.
const SHORT: Duration = Duration::from_millis(900);
/// To read a table.
const LONG: Duration = Duration::from_millis(2000);

/// A dev server that counts its requests, so that a gap would be seen.
const WEB: &str = "n=0; while sleep 0.4; do n=$((n+1)); \
                   echo \"GET /products/$n 200\"; done";

pub(super) fn play(stage: &Stage) {
    prepare(stage);
    stage.clear();
    the_agents(stage);
    stage.clear();
    the_crash(stage);
}

/// The agents: name, title, and what they are told to do, if anything.
const AGENTS: [(&str, &str, &str); 5] = [
    ("fix-login", "Fix the login redirect", "FAKE say delay=120"),
    ("api-docs", "Write the API docs", "FAKE say delay=15"),
    ("tests", "Make the tests pass", "FAKE tool delay=6 cmd=cargo+test+--workspace"),
    ("upgrade", "Upgrade the database", "FAKE say delay=120"),
    ("review", "Review the open PR", ""),
];

fn prepare(stage: &Stage) {
    for (id, title, _) in AGENTS {
        let new = ["agent", "new", "scripted", "--id", id, "--title", title, "--size", "84x20"];
        stage.prepare(&[&new[..], &["--", "fake-agent", "--no-title"]].concat());
    }
    stage.prepare(&["new", "--id", "web", "--title", "npm run dev", "--", "sh", "-c", WEB]);
    for (id, _, prompt) in AGENTS.iter().filter(|(.., prompt)| !prompt.is_empty()) {
        stage.prepare(&["agent", "send", "--no-wait", id, prompt]);
    }
}

fn the_agents(stage: &Stage) {
    stage.command("paned agent ls --watch");
    stage.until("needs you: tests");
    stage.rest(LONG);
    stage.write("\x03");
    stage.rest(SHORT);
    stage.run("paned agent state tests");
    stage.rest(SHORT);
    stage.run("paned agent answer tests yes");
    stage.rest(LONG);
}

fn the_crash(stage: &Stage) {
    stage.run("# Now the server crashes.");
    stage.run("kill -9 $(paned server status --json | jq .pid)");
    stage.rest(SHORT);
    stage.run("paned server start");
    stage.rest(SHORT);
    stage.run("paned agent ls");
    stage.rest(LONG);
    stage.run("paned tail web -n 3");
    stage.rest(SHORT);
    stage.run("# The programs never noticed.");
    stage.rest(SHORT);
}
