//! One real agent, the model it talks to, and everything paned says about it.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use paned_e2e::{Cli, RealAgent, ReceivedEvent, Server};
use paned_fake_model::FakeModel;
use paned_fake_model::{ModelEvent, ModelEventKind};
use serde_json::{Value, json};

/// How long anything may take. A machine that builds something else is slow.
const LONG: Duration = Duration::from_secs(120);
/// How long one request may wait; less than our client does.
const ONE_WAIT: u64 = 20_000;
/// How long until the next look at what no event reports.
const SOON: Duration = Duration::from_millis(50);
/// How long a screen may lag behind the model before paned is to blame.
const LAG: Duration = Duration::from_secs(2);

pub(crate) struct RealAgentSession {
    pub(crate) cli: Cli,
    pub(crate) model: FakeModel,
    real: RealAgent,
    states: Arc<Mutex<Vec<(Instant, Value)>>>,
    /// What became of each message.
    outcomes: Mutex<Vec<(Instant, Value)>>,
    pub(crate) server: Server,
}

impl RealAgentSession {
    /// Starts the program as an agent and waits until it takes a prompt.
    #[track_caller]
    pub(crate) fn start(cli: Cli) -> Self {
        // Others are set up to ask; Claude Code has an argument for it.
        let more = match cli {
            Cli::Claude => json!({ "permissions": "ask" }),
            _ => json!({}),
        };
        let session = Self::launch(cli, |_| {}, &more);
        session.until(&["ready"]);
        session
    }

    /// Starts the program after a change to its files, with more parameters of `agent:create`;
    /// waits for nothing.
    #[track_caller]
    pub(crate) fn launch(cli: Cli, prepare: impl FnOnce(&mut RealAgent), more: &Value) -> Self {
        let (server, model) = (Server::start_bare(), FakeModel::start());
        let mut real = RealAgent::new(cli, &model);
        prepare(&mut real);
        let states = Arc::default();
        listen(&server, &states);
        let mut params = json!({ "id": "agent", "profile": cli.name(), "argv": real.argv(), "cwd": real.cwd(),
            "env": real.env(), "size": { "cols": 100, "rows": 30 }, "waitReady": false });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        server.act("agent:create", params);
        Self { cli, model, real, states, outcomes: Mutex::default(), server }
    }

    /// A file in the folder that the agent works in.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.real.cwd().join(name)
    }

    /// Waits until paned says that it is in one of these states; answers what it says.
    #[track_caller]
    pub(crate) fn until(&self, states: &[&str]) -> Value {
        let found = self.comes_to(states, LONG);
        found.unwrap_or_else(|now| self.complain(&format!("never {states:?}, but {now}")))
    }

    /// The same, for so long; answers the agent as it is in both cases.
    pub(crate) fn comes_to(&self, states: &[&str], within: Duration) -> Result<Value, Value> {
        let end = Instant::now() + within;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let wait = u64::try_from(left.as_millis()).map_or(ONE_WAIT, |left| left.min(ONE_WAIT));
            let params = json!({ "paneId": "agent", "state": states, "timeoutMs": wait.max(1) });
            let waited = self.server.act("agent:wait", params);
            if waited["met"] == "state" {
                return Ok(waited["agent"].clone());
            }
            if left.is_zero() {
                return Err(waited["agent"].clone());
            }
        }
    }

    /// Waits until it asks something and the question is read; that it asks may be known before.
    #[track_caller]
    pub(crate) fn asked(&self) -> Value {
        self.until(&["blocked"]);
        let end = Instant::now() + LONG;
        loop {
            let agent = self.server.act("agent:state", json!({ "paneId": "agent" }));
            let agent = agent.get("agent").cloned().unwrap_or(agent);
            if agent["dialog"].is_object() {
                return agent;
            }
            if end < Instant::now() {
                self.complain(&format!("never a question that can be read, but {agent:#}"));
            }
            let _ = self.comes_to(&["ready", "exited"], SOON);
        }
    }

    /// Sends a message; answers what became of it.
    #[track_caller]
    pub(crate) fn sends(&self, text: &str) -> Value {
        let params = json!({ "paneId": "agent", "text": text, "timeoutMs": ONE_WAIT });
        let sent = self.server.act("agent:message", params);
        self.outcomes.lock().expect("nobody panics with it").push((Instant::now(), sent.clone()));
        sent
    }

    /// Sends a message under an idempotency key, so that a second call sends the same message. An
    /// error when the server is killed meanwhile.
    pub(crate) fn try_sends(&self, key: &str, text: &str) -> io::Result<Value> {
        let params = json!({ "paneId": "agent", "text": text, "idempotencyKey": key, "timeoutMs": ONE_WAIT });
        let sent = self.server.reply("agent:message", &params)?.outcome();
        let sent = sent.unwrap_or_else(|refusal| self.complain(&format!("{key}: {refusal:?}")));
        self.outcomes.lock().expect("nobody panics with it").push((Instant::now(), sent.clone()));
        Ok(sent)
    }

    /// Starts the server again that was killed.
    #[track_caller]
    pub(crate) fn restart(&mut self) {
        self.server.kill();
        self.server.start_again();
        listen(&self.server, &self.states);
    }

    /// Sends a message that the agent must take, and the model must get as it is.
    #[track_caller]
    pub(crate) fn submits(&self, text: &str) {
        let before = self.model.prompts().len();
        let mark = self.model.mark();
        let sent = self.sends(text);
        if sent["outcome"] != "submitted" {
            self.complain(&format!("{text:?} was not submitted: {sent:#}"));
        }
        self.waits_for_model("the prompt", mark, |fact| {
            matches!(fact.kind, ModelEventKind::Asked { aside: false, .. })
        });
        let prompts = self.model.prompts().into_iter().skip(before);
        let prompts: Vec<_> = prompts.map(|prompt| self.own(&prompt.text, text)).collect();
        assert_eq!(prompts, [text]);
    }

    /// What the model got, without what this program adds: opencode puts a blank after a paste of
    /// several lines, and goose repeats a prompt that was interrupted.
    pub(crate) fn own(&self, got: &str, sent: &str) -> String {
        match self.cli {
            Cli::Opencode => got.strip_suffix(' ').unwrap_or(got).to_owned(),
            // It takes a text that begins with `!`, `#` or `?` with a blank before it.
            Cli::Claude if sent.starts_with(['!', '#', '?']) => got.trim_start().to_owned(),
            Cli::Goose if got.ends_with(&format!("\n{sent}")) => sent.to_owned(),
            _ => got.to_owned(),
        }
    }

    /// Waits until the model knows something.
    #[track_caller]
    pub(crate) fn waits_for_model(
        &self,
        what: &str,
        mark: usize,
        fits: impl Fn(&ModelEvent) -> bool,
    ) {
        self.model.wait_within(LONG, what, mark, |facts| facts.iter().any(&fits).then_some(()));
    }

    /// What is on its screen.
    pub(crate) fn screen(&self) -> String {
        let screen = self.server.act("pane:screen", json!({ "paneId": "agent" }));
        let rows = screen["rows"].as_array().into_iter().flatten().filter_map(Value::as_str);
        rows.collect::<Vec<_>>().join("\n")
    }

    /// Checks all states that paned has reported so far: it was never ready while the model was
    /// working for it.
    #[track_caller]
    pub(crate) fn check_never_falsely_ready(&self) {
        for (from, to) in busy(&self.model.events()) {
            let (from, to) = (from + LAG, to.unwrap_or_else(Instant::now));
            let lies = self.states().into_iter().filter(|(at, end, state)| {
                let overlaps = *at < to && end.is_none_or(|end| from < end);
                overlaps && from < to && matches!(state.as_str(), "ready" | "error")
            });
            let lies: Vec<_> = lies.map(|(_, _, state)| state).collect();
            if !lies.is_empty() {
                self.complain(&format!("it was {lies:?} while the model was asked"));
            }
        }
    }

    /// What paned has said, with from and until when.
    fn states(&self) -> Vec<(Instant, Option<Instant>, String)> {
        let said = self.states.lock().expect("the listener does not panic");
        let ends = said.iter().skip(1).map(|(at, _)| Some(*at)).chain([None]);
        let states = said.iter().zip(ends);
        states
            .map(|((at, told), end)| (*at, end, told["to"].as_str().unwrap_or("?").to_owned()))
            .collect()
    }

    /// Ends the test with all that is known.
    #[track_caller]
    pub(crate) fn complain(&self, sentence: &str) -> ! {
        let start = self.states.lock().ok().and_then(|said| said.first().map(|(at, _)| *at));
        let start = start.unwrap_or_else(Instant::now);
        let mut known: Vec<(f64, String)> = Vec::new();
        let seconds = |at: Instant| at.saturating_duration_since(start).as_secs_f64();
        known.extend(
            self.states().into_iter().map(|(at, _, state)| (seconds(at), format!("said {state}"))),
        );
        let facts = self.model.events().into_iter();
        known.extend(facts.map(|fact| (seconds(fact.at), format!("model {:?}", fact.kind))));
        let fates = self.outcomes.lock().map(|fates| fates.clone()).unwrap_or_default();
        known.extend(fates.iter().map(|(at, sent)| {
            (seconds(*at), format!("message {}: {}", sent["outcome"], sent["evidence"]))
        }));
        known.sort_by(|one, other| one.0.total_cmp(&other.0));
        let lines = known.iter().map(|(at, what)| format!("{at:8.3} {what:.160}\n"));
        let why = self.server.try_act("agent:explain", json!({ "paneId": "agent" }));
        let why = why.map_or_else(|refusal| refusal.sentence, |why| format!("{why:#}"));
        panic!(
            "{}: {sentence}\n{}\n{why}\n{}",
            self.cli.name(),
            lines.collect::<String>(),
            self.screen()
        )
    }
}

/// Notes every state that the server reports, and when, until the server is gone.
fn listen(server: &Server, said: &Arc<Mutex<Vec<(Instant, Value)>>>) {
    let mut events = server.events("agent:state", None);
    let heard = said.clone();
    let note = move |data: Value| {
        heard.lock().expect("nobody panics with it").push((Instant::now(), data));
    };
    std::thread::spawn(move || {
        loop {
            match events.try_next() {
                Ok(ReceivedEvent { data, .. }) => note(data),
                Err(error) if error.kind() == ErrorKind::TimedOut => {}
                // A server that is gone reports nothing, true or false.
                Err(_) => return note(json!({ "to": "down" })),
            }
        }
    });
}

/// From when to when the model was answering, or waiting for what a tool gives.
fn busy(facts: &[ModelEvent]) -> Vec<(Instant, Option<Instant>)> {
    let turns =
        facts.iter().filter(|fact| matches!(fact.kind, ModelEventKind::Asked { aside: false, .. }));
    let end = |request: usize| {
        let ends = |fact: &&ModelEvent| {
            fact.request == request
                && matches!(fact.kind, ModelEventKind::Ended(_) | ModelEventKind::Aborted)
        };
        facts.iter().find(ends).map(|fact| fact.at)
    };
    turns.map(|fact| (fact.at, end(fact.request))).collect()
}
