//! Prompts with random pauses, questions in between, and `kill -9` of the server: each reaches the
//! model exactly once.
//!
//! The schedule is made of a seed, which is printed; `SEED=` runs the same schedule again.
#![expect(clippy::print_stdout, reason = "seeds and counts are for the reader of a run")]

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use paned_e2e::{Cli, SeededRng, kill9, wait_within};
use serde_json::{Value, json};

use crate::session::RealAgentSession;
use crate::stories::answers;

/// How many messages may wait for the agent, and how long until one of them is delivered.
const WAITING: u64 = 20;
const PATIENCE: Duration = Duration::from_secs(180);
/// The server is killed at a random moment in the so many milliseconds after a prompt is sent.
const MOMENTS: u64 = 2_500;

/// What happens in one run.
struct Plan {
    prompts: u64,
    /// How often the server is killed.
    kills: usize,
    /// How many of the prompts lead to a question.
    questions: usize,
}

const LONG: Plan = Plan { prompts: 200, kills: 10, questions: 8 };
const SHORT: Plan = Plan { prompts: 5, kills: 1, questions: 1 };

/// One long test and one short test for each program.
macro_rules! deliveries {
    ($($long:ident, $short:ident: $cli:expr;)*) => {$(
        #[test]
        #[ignore = "make test-agents installs what it needs, and it takes minutes"]
        fn $long() {
            Run::new($cli).run(&LONG);
        }

        #[test]
        #[ignore = "make test-agents installs what it needs"]
        fn $short() {
            Run::new($cli).run(&SHORT);
        }
    )*};
}

deliveries! {
    two_hundred_prompts_reach_codex_once_each, some_prompts_reach_codex_once_each: Cli::Codex;
    two_hundred_prompts_reach_opencode_once_each, some_prompts_reach_opencode_once_each: Cli::Opencode;
    two_hundred_prompts_reach_aider_once_each, some_prompts_reach_aider_once_each: Cli::Aider;
    two_hundred_prompts_reach_gemini_once_each, some_prompts_reach_gemini_once_each: Cli::Gemini;
    two_hundred_prompts_reach_claude_once_each, some_prompts_reach_claude_once_each: Cli::Claude;
}

/// A prompt that was sent. Its key is its place.
struct SentPrompt {
    text: String,
    /// Whether it was refused at once, so that it must not arrive.
    refused: bool,
}

/// One run with one agent.
struct Run {
    session: RealAgentSession,
    rng: SeededRng,
    sent: Vec<SentPrompt>,
    /// The prompts after which the server is killed.
    kills: BTreeSet<u64>,
    killed: usize,
    /// The files that a question was about, and whether their making was allowed.
    files: Vec<(String, bool)>,
}

impl Run {
    fn new(cli: Cli) -> Self {
        let rng = SeededRng::from_env();
        let session = RealAgentSession::start(cli);
        Self {
            session,
            rng,
            sent: Vec::new(),
            kills: BTreeSet::new(),
            killed: 0,
            files: Vec::new(),
        }
    }

    fn run(mut self, plan: &Plan) {
        let began = Instant::now();
        self.kills = self.pick(plan.kills, plan.prompts);
        let questions = self.pick(plan.questions, plan.prompts);
        for n in 0..plan.prompts {
            if questions.contains(&n) {
                self.asks(n);
            } else {
                let text = self.text(n);
                if self.sends(text)["outcome"] == "refused" {
                    self.session.complain(&format!("{n} was refused, and nothing was asked"));
                }
            }
            self.pauses();
        }
        self.until_empty();
        let outcomes = self.checks();
        self.session.check_never_falsely_ready();
        println!(
            "{}: {} prompts sent, {outcomes:?}, {} arrived, {} kills, {} questions, in {:.0?}",
            self.session.cli.name(),
            self.sent.len(),
            self.session.model.prompts().len(),
            self.killed,
            self.files.len(),
            began.elapsed()
        );
    }

    /// This many different numbers.
    fn pick(&mut self, count: usize, below: u64) -> BTreeSet<u64> {
        let mut picked = BTreeSet::new();
        while picked.len() < count {
            picked.insert(self.rng.below(below));
        }
        picked
    }

    fn text(&mut self, n: u64) -> String {
        let lines = 1 + self.rng.below(4);
        let lines = (0..lines).map(|line| {
            let words = "word ".repeat(self.rng.below(30) as usize);
            format!("prompt {n}, line {line}: {}", words.trim_end())
        });
        lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    /// People send at once, soon or later.
    fn pauses(&mut self) {
        let longest = [1, 400, 400, 2_000][self.rng.below(4) as usize];
        // not a wait: people send at any moment, and each moment is another case
        thread::sleep(Duration::from_millis(self.rng.below(longest)));
    }

    /// Sends a prompt, and kills the server meanwhile if it is time for that; returns its outcome
    /// so far. Only a question may refuse it.
    fn sends(&mut self, text: String) -> Value {
        self.until_room();
        let n = self.sent.len() as u64;
        let key = key(n);
        let sent = if self.kills.contains(&n) {
            let moment = Duration::from_millis(self.rng.below(MOMENTS));
            self.kills_while(moment, |session| drop(session.try_sends(&key, &text)));
            // Whether it was accepted is not known: it is sent again under its key.
            self.session.try_sends(&key, &text)
        } else {
            self.session.try_sends(&key, &text)
        };
        let sent = sent.expect("the server is there");
        let outcome = sent["outcome"].as_str().unwrap_or_default();
        let refused = outcome == "refused" && !sent["dialog"].is_null();
        if !refused && !matches!(outcome, "submitted" | "queued") {
            self.session.complain(&format!("{text:?} was not taken: {sent:#}"));
        }
        self.sent.push(SentPrompt { text, refused });
        sent
    }

    /// Does something, and kills the server so long after its beginning; starts it again.
    fn kills_while(&mut self, moment: Duration, act: impl FnOnce(&RealAgentSession)) {
        let pid = self.session.server.pid();
        thread::scope(|scope| {
            scope.spawn(move || {
                // not a wait: the moment of the kill is what is tried
                thread::sleep(moment);
                kill9(pid);
            });
            act(&self.session);
        });
        self.session.restart();
        self.killed += 1;
    }

    /// Sends a prompt that leads to a question, and others that must wait until it is answered.
    fn asks(&mut self, n: u64) {
        let file = format!("made-{n}.txt");
        self.until_empty();
        let text = format!("prompt {n} leads to a question\nFAKE tool delay=1 cmd=touch+{file}");
        self.sends(text);
        for behind in 0..self.rng.below(3) {
            self.sends(format!("prompt {n} has number {behind} behind it"));
        }
        self.session.asked();
        let got = self.session.model.prompts().len();
        let sent = self.sends(format!("prompt {n} has this one behind its question"));
        if sent["outcome"] == "submitted" {
            self.session.complain(&format!("it was typed into a question: {sent:#}"));
        }
        if self.rng.below(2) == 0 {
            self.kills_while(Duration::ZERO, |_| {});
            self.session.asked();
        }
        self.pauses();
        assert!(!self.session.file(&file).exists(), "{file} was made, and nobody had allowed it");
        assert_eq!(self.session.model.prompts().len(), got, "a prompt arrived at a question");
        let allowed = self.rng.below(2) == 0;
        answers(&self.session, if allowed { "yes" } else { "no" });
        self.files.push((file, allowed));
    }

    /// Waits until there is room for another message.
    fn until_room(&self) {
        self.until(|state| state["queued"].as_u64() < Some(WAITING));
    }

    /// Waits until it is known of each message what became of it, and the agent is ready.
    fn until_empty(&self) {
        self.until(|state| state["queued"] == 0 && state["state"] == "ready");
    }

    /// Waits until the agent fits; each message that is delivered meanwhile gives it more time.
    fn until(&self, fits: impl Fn(&Value) -> bool) {
        let mut end = Instant::now() + PATIENCE;
        let mut got = 0;
        loop {
            let state = self.session.server.act("agent:state", json!({ "paneId": "agent" }));
            if fits(&state) {
                return;
            }
            let now = self.session.model.prompts().len();
            if got < now {
                (got, end) = (now, Instant::now() + PATIENCE);
            }
            if end < Instant::now() {
                self.session.complain(&format!("nothing is delivered any more: {state:#}"));
            }
            // An event would do, but each kill ends the stream of them.
            let _ = self.session.comes_to(&["exited"], Duration::from_millis(50));
        }
    }

    /// Checks what reached the model; answers how often there was each outcome.
    fn checks(&self) -> BTreeMap<String, usize> {
        let mut outcomes = BTreeMap::new();
        let mut wrong = Vec::new();
        let got = wait_within(PATIENCE, "an end", || {
            (self.session.model.open() == 0).then(|| self.session.model.prompts())
        });
        let mut expected = Vec::new();
        for (n, sent) in self.sent.iter().enumerate() {
            let word = self.session.try_sends(&key(n as u64), &sent.text).expect("it is there");
            let outcome = word["outcome"].as_str().unwrap_or("?").to_owned();
            let arrived = |got: &&paned_fake_model::Prompt| {
                self.session.own(&got.text, &sent.text) == sent.text
            };
            let count = got.iter().filter(arrived).count();
            if count != usize::from(!sent.refused) || (outcome == "refused") != sent.refused {
                wrong.push(format!("{n} arrived {count} times: {:?} {word:#}", sent.text));
            }
            if !sent.refused {
                expected.push(&sent.text);
            }
            *outcomes.entry(outcome).or_default() += 1;
        }
        if !wrong.is_empty() || got.len() != expected.len() {
            let got: Vec<_> = got.iter().map(|got| &got.text).collect();
            self.session.complain(&format!(
                "{outcomes:?}, {} kills; wrong: {}\narrived: {got:#?}",
                self.killed,
                wrong.join("\n")
            ));
        }
        for (got, sent) in got.iter().zip(expected) {
            assert_eq!(&self.session.own(&got.text, sent), sent, "not in order");
        }
        for (file, allowed) in &self.files {
            assert_eq!(self.session.file(file).exists(), *allowed, "{file}");
        }
        outcomes
    }
}

/// By what a message is known again.
fn key(n: u64) -> String {
    format!("prompt-{n}")
}
