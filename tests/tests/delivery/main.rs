//! Messages to a scripted agent that misbehaves, through the real server, compared with what the
//! agent's log says that it got.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod approvals;
mod crowds;
mod losses;
mod people;
mod texts;
mod tricks;
mod turns;

use std::fs;
use std::thread;

use paned_e2e::{FakeAgent, Server, wait_for};
use paned_model::Refusal;
use serde_json::{Value, json};

/// A server with one scripted agent in pane `a`.
struct ScriptedAgentServer {
    server: Server,
    agent: FakeAgent,
}

impl ScriptedAgentServer {
    #[track_caller]
    fn new(flags: &[&str]) -> Self {
        let server = Server::start();
        let profiles = server.state().parent().unwrap().join(".config/paned/profiles");
        fs::create_dir_all(&profiles).unwrap();
        fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE).unwrap();
        let agent = FakeAgent::new(flags);
        let mut params = agent.params("a");
        params["profile"] = json!("fake-agent");
        let made = server.act("agent:create", params);
        assert_ne!(made["agent"]["state"], "starting", "{made}");
        Self { server, agent }
    }

    /// A house with an agent that waits for a prompt.
    #[track_caller]
    fn ready(flags: &[&str]) -> Self {
        let house = Self::new(flags);
        house.is("ready");
        house
    }

    #[track_caller]
    fn try_send(&self, more: Value) -> Result<Value, Refusal> {
        let mut params = json!({ "paneId": "a" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.server.try_act("agent:message", params)
    }

    #[track_caller]
    fn send_with(&self, more: Value) -> Value {
        self.try_send(more).unwrap_or_else(|refusal| panic!("{refusal:?}"))
    }

    #[track_caller]
    fn send(&self, text: &str) -> Value {
        self.send_with(json!({ "text": text }))
    }

    fn state(&self) -> Value {
        self.server.act("agent:state", json!({ "paneId": "a" }))
    }

    /// Waits until the agent is in a state.
    #[track_caller]
    fn is(&self, state: &str) -> Value {
        wait_for(state, || Some(self.state()).filter(|now| now["state"] == state))
    }

    /// Waits until nothing waits for the agent any more.
    #[track_caller]
    fn settled(&self) {
        wait_for("an empty queue", || (self.state()["queued"] == 0).then_some(()));
    }

    #[track_caller]
    fn screen(&self) -> String {
        let screen = self.server.act("pane:screen", json!({ "paneId": "a" }));
        let rows = screen["rows"].as_array().unwrap().iter();
        rows.map(|row| row.as_str().unwrap()).collect::<Vec<_>>().join("\n")
    }

    #[track_caller]
    fn wait_for_text(&self, text: &str) {
        wait_for(text, || self.screen().contains(text).then_some(()));
    }

    /// What became of each message, in the order in which that was told.
    #[track_caller]
    fn delivered(&self) -> Vec<(String, String)> {
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let told = self.server.history().into_iter().filter(|told| told.name == "agent:delivered");
        told.map(|told| (word(&told.data["messageId"]), word(&told.data["outcome"]))).collect()
    }
}

#[track_caller]
fn check(sent: &Value, outcome: &str, because: &str) {
    assert_eq!(sent["outcome"], outcome, "{sent:#}");
    let evidence = sent["evidence"].to_string();
    assert!(evidence.contains(because), "no `{because}` in {evidence}");
}

/// Does this many things at once.
fn at_once(count: usize, thing: impl Fn(usize) + Sync) {
    let thing = &thing;
    thread::scope(|scope| {
        for n in 0..count {
            scope.spawn(move || thing(n));
        }
    });
}
