//! Programs that no profile describes: their state is found out, a prompt reaches them once, and no
//! question is answered by mistake.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use paned_e2e::{Server, wait_within};
use serde_json::{Value, json};

/// How long a program may take on a busy machine.
const LONG: Duration = Duration::from_secs(60);

struct UnprofiledAgent {
    server: Server,
}

impl UnprofiledAgent {
    /// Starts one of `tests/data/programs` as an agent, without a profile.
    fn start(file: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/programs").join(file);
        Self::run(&["python3", path.to_str().unwrap()])
    }

    fn run(argv: &[&str]) -> Self {
        let program = Self { server: Server::start() };
        program.create("a", argv);
        program
    }

    #[track_caller]
    fn create(&self, id: &str, argv: &[&str]) {
        let size = json!({ "cols": 80, "rows": 24 });
        let params = json!({ "id": id, "argv": argv, "size": size, "waitReady": false });
        let made = self.server.act("agent:create", params);
        assert_eq!(made["agent"]["profile"], "generic");
        self.until_in(id, "ready");
    }

    /// Starts one of the programs in a pane of its own.
    #[track_caller]
    fn another(&self, id: &str, file: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/programs").join(file);
        self.create(id, &["python3", path.to_str().unwrap()]);
    }

    fn explained(&self, id: &str) -> String {
        let told = self.server.act("agent:explain", json!({ "paneId": id }));
        told["text"].as_str().unwrap().to_owned()
    }

    fn agent(&self) -> Value {
        self.server.act("agent:state", json!({ "paneId": "a" }))
    }

    #[track_caller]
    fn until(&self, state: &str) {
        self.until_in("a", state);
    }

    #[track_caller]
    fn until_in(&self, id: &str, state: &str) {
        let met = json!({ "paneId": id, "state": [state], "timeoutMs": 20_000 });
        let waited = self.server.act("agent:wait", met);
        assert_eq!(waited["met"], "state", "{}\n{}", self.explained(id), self.server.text(id));
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
    let program = UnprofiledAgent::start("chat.py");
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

fn outcome(program: &UnprofiledAgent, params: Value) -> String {
    match program.server.try_act("agent:message", params) {
        Ok(answer) => answer["outcome"].as_str().unwrap_or_default().to_owned(),
        Err(refusal) => refusal.code.as_str().to_owned(),
    }
}

#[test]
fn a_composer_that_stays_while_the_program_works_is_no_proof_of_ready() {
    let program = UnprofiledAgent::start("boxed.py");
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
    let program = UnprofiledAgent::run(&["python3", "-q"]);
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
        let program = UnprofiledAgent::run(argv);
        program.send(work);
        assert_eq!(program.agent()["state"], "busy", "{argv:?}");
        program.until("ready");
        assert!(program.count(printed) > 0, "{argv:?} was ready too soon");
    }
}

#[test]
fn a_question_with_its_keys_in_one_row_is_read_and_answered() {
    let program = UnprofiledAgent::start("keys.py");
    for (option, printed) in [("yes", "ran: first"), ("deny", "refused: second")] {
        let text = printed.split_once(": ").unwrap().1;
        program.server.act("pane:paste", json!({ "paneId": "a", "text": text }));
        program.prints(&format!("❯ {text}"));
        program.server.act("pane:write", json!({ "paneId": "a", "text": "\r" }));
        program.until("blocked");
        let asked = program.agent();
        assert_eq!(asked["kind"], "permission", "{asked}");
        let question = asked["dialog"]["text"].as_str().unwrap();
        assert!(question.contains("Approve tool call?"), "{asked}");
        assert!(question.contains(text), "{asked}");
        program.server.act("agent:answer", json!({ "paneId": "a", "option": option }));
        program.prints(printed);
        program.until("ready");
    }
}

#[test]
fn a_program_that_sleeps_in_a_read_of_its_terminal_is_seen_to_wait() {
    let program = UnprofiledAgent::start("chat.py");
    let text = program.explained("a");
    assert!(text.contains("is blocked reading the terminal"), "{text}");
}

#[test]
fn what_was_learned_of_a_program_is_known_in_other_panes_and_after_a_restart() {
    const LEARNED: &str = "was learned earlier";
    let mut program = UnprofiledAgent::start("boxed.py");
    assert!(!program.explained("a").contains(LEARNED));
    program.send("task");
    program.until("ready");
    let file = program.server.state().join("learned.json");
    let kept = wait_within(LONG, "the file", || std::fs::read_to_string(&file).ok());
    assert!(kept.contains("boxed.py"), "{kept}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    program.another("b", "boxed.py");
    assert!(program.explained("b").contains(LEARNED), "{}", program.explained("b"));
    program.another("c", "chat.py");
    assert!(!program.explained("c").contains(LEARNED), "{}", program.explained("c"));

    program.server.kill();
    program.server.start_again();
    program.another("d", "boxed.py");
    assert!(program.explained("d").contains(LEARNED), "{}", program.explained("d"));

    program.server.kill();
    std::fs::write(&file, "{\"version\":1,\"programs\":[{").unwrap();
    program.server.start_again();
    program.another("e", "boxed.py");
    assert!(!program.explained("e").contains(LEARNED), "{}", program.explained("e"));
    assert!(program.server.log().contains("the learned programs are ignored"));
}

#[test]
fn an_answer_that_pauses_after_a_prompt_sign_is_waited_for() {
    let program = UnprofiledAgent::start("lines.py");
    let params = json!({ "paneId": "a", "text": "quote it", "wait": "done" });
    let sent = program.server.act("agent:message", params);
    assert_ne!(sent["timedOut"], true, "{sent}");
    assert_eq!(program.count("the end of it"), 1, "{sent}\n{}", program.server.text("a"));
    program.send("and then");
    program.prints("got 'and then\\n'");
}

#[test]
fn work_in_silence_is_busy_and_ctrl_c_breaks_it_off() {
    let program = UnprofiledAgent::start("lines.py");
    program.send("wait");
    // not a wait: longer than a screen that shows nothing is believed.
    std::thread::sleep(Duration::from_secs(8));
    assert_eq!(program.agent()["state"], "busy", "{}", program.explained("a"));
    let broken = program.server.act("agent:interrupt", json!({ "paneId": "a" }));
    assert_eq!(broken["interrupted"], true, "{broken}");
    program.prints("stopped");
    program.send("and then");
    program.prints("got 'and then\\n'");
}

#[test]
fn a_menu_is_no_prompt_and_is_answered_by_a_number_and_enter() {
    let program = UnprofiledAgent::start("lines.py");
    program.send("menu");
    program.until("blocked");
    let refused = json!({ "paneId": "a", "text": "something else", "whenBusy": "refuse" });
    assert_eq!(self::outcome(&program, refused), "refused");
    program.server.act("agent:answer", json!({ "paneId": "a", "option": "none" }));
    program.prints("chosen: '2\\n'");
    program.until("ready");
}

#[test]
fn a_wait_that_does_not_see_the_end_of_the_turn_has_its_own_exit_code() {
    let program = UnprofiledAgent::start("lines.py");
    let send = |text: &str| {
        let args = ["agent", "send", "a", text, "--wait", "--timeout", "2"];
        let output = program.server.cli(&args);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = send("wait");
    assert_eq!(code, Some(12), "{told}");
    assert!(told.contains("timed out before"), "{told}");
    program.server.act("agent:interrupt", json!({ "paneId": "a" }));
    program.until("ready");
    let (code, told) = send("end");
    assert_eq!(code, Some(10), "{told}");
    assert!(told.contains("its program exited before its turn was over"), "{told}");
}
