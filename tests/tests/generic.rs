//! Programs that no profile describes: what they do is found out, a prompt reaches them once, and no question is answered
//! by mistake.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;
use std::time::Duration;

use paned_e2e::{Server, wait_within};
use serde_json::{Value, json};

/// How long a program may take on a busy machine.
const LONG: Duration = Duration::from_secs(60);

struct Program {
    server: Server,
}

impl Program {
    /// Starts one of `tests/data/programs` as an agent, without a profile.
    fn start(file: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/programs").join(file);
        Self::run(&["python3", path.to_str().unwrap()])
    }

    fn run(argv: &[&str]) -> Self {
        let server = Server::start();
        let size = json!({ "cols": 80, "rows": 24 });
        let params = json!({ "id": "a", "argv": argv, "size": size, "waitReady": false });
        let made = server.act("agent:create", params);
        assert_eq!(made["agent"]["profile"], "generic");
        let program = Self { server };
        program.until("ready");
        program
    }

    fn agent(&self) -> Value {
        self.server.act("agent:state", json!({ "paneId": "a" }))
    }

    #[track_caller]
    fn until(&self, state: &str) {
        let explain = || self.server.act("agent:explain", json!({ "paneId": "a" }));
        let met = json!({ "paneId": "a", "state": [state], "timeoutMs": 20_000 });
        let waited = self.server.act("agent:wait", met);
        assert_eq!(waited["met"], "state", "{}\n{}", explain()["text"], self.server.text("a"));
    }

    #[track_caller]
    fn send(&self, text: &str) {
        let sent = self.server.act("agent:message", json!({ "paneId": "a", "text": text }));
        assert_eq!(sent["outcome"], "submitted", "{sent}\n{}", self.server.text("a"));
    }

    /// How often something was printed.
    fn count(&self, text: &str) -> usize {
        self.server.text("a").matches(text).count()
    }

    #[track_caller]
    fn prints(&self, text: &str) {
        wait_within(LONG, text, || self.server.text("a").contains(text).then_some(()));
    }
}

#[test]
fn a_chat_with_a_line_prompt_takes_prompts_once_and_its_question_waits() {
    let program = Program::start("chat.py");
    for number in 0..3 {
        program.send(&format!("hello number {number}"));
        program.prints(&format!("answer {number}: hello number {number}"));
        program.until("ready");
    }
    program.send("delete it");
    program.until("blocked");
    let refused = json!({ "paneId": "a", "text": "something else", "whenBusy": "refuse" });
    let refused = self::outcome(&program, refused);
    assert_ne!(refused, "submitted");
    assert_eq!(program.count("kept") + program.count("deleted"), 0, "the question waits");
    program.server.act("pane:write", json!({ "paneId": "a", "text": "y\r" }));
    program.prints("deleted");
    program.until("ready");
}

fn outcome(program: &Program, params: Value) -> String {
    match program.server.try_act("agent:message", params) {
        Ok(answer) => answer["outcome"].as_str().unwrap_or_default().to_owned(),
        Err(refusal) => refusal.code.word().to_owned(),
    }
}

#[test]
fn a_composer_that_stays_while_the_program_works_is_no_proof_of_ready() {
    let program = Program::start("boxed.py");
    for number in 0..3 {
        program.send(&format!("task {number}"));
        assert_eq!(program.agent()["state"], "busy");
        program.until("ready");
        let done = format!("done: task {number}");
        assert!(program.count(&done) > 0, "ready before it was done\n{}", program.server.text("a"));
    }
}

#[test]
fn a_read_eval_print_loop_is_learned() {
    let program = Program::run(&["python3", "-q"]);
    program.send("print(6 * 7)");
    program.until("ready");
    assert!(program.count("42") > 0, "{}", program.server.text("a"));
    program.send("import time; time.sleep(2); print('slept', 1 + 1)");
    program.until("ready");
    assert!(program.count("slept 2") > 0, "{}", program.server.text("a"));
}

#[test]
fn shells_and_loops_that_every_machine_has_are_busy_while_they_work() {
    for (argv, work, printed) in [
        (&["bash", "--norc"][..], "sleep 2; echo slept $((1 + 1))", "slept 2"),
        (
            &["node"][..],
            "const t = Date.now(); while (Date.now() - t < 2000) {} 'sl' + 'ept'",
            "'slept'",
        ),
    ] {
        let program = Program::run(argv);
        program.send(work);
        assert_eq!(program.agent()["state"], "busy", "{argv:?}");
        program.until("ready");
        assert!(program.count(printed) > 0, "{argv:?} was ready too soon");
    }
}
