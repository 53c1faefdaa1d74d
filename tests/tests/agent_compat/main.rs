//! The compat of agentmux and agentapi at ports of their own, with a scripted agent in real panes.
#![forbid(unsafe_code)]

mod agentapi;
mod agentmux;
mod cli;
mod entry;
mod lives;
mod programs;
mod submit;

use std::fs;

use paned_e2e::{FakeAgent, Reply, Request, Server, wait_for};
use serde_json::{Value, json};

/// A server whose listener of agentmux starts scripted agents.
struct CompatServer {
    server: Server,
    agent: FakeAgent,
}

impl CompatServer {
    /// With these flags for the agents.
    #[track_caller]
    fn new(flags: &[&str]) -> Self {
        Self::with(flags, "", &[])
    }

    /// With more settings for compat, and more variables.
    #[track_caller]
    fn with(flags: &[&str], compat: &str, env: &[(&str, &str)]) -> Self {
        let agent = FakeAgent::new(flags);
        let config = format!(
            "[compat]\nagentmux_command = {}\nagentapi = '127.0.0.1:0,open'\n{compat}",
            json!(agent.argv())
        );
        Self::over(agent, &config, env)
    }

    /// With this `config.toml`.
    #[track_caller]
    fn over(agent: FakeAgent, config: &str, env: &[(&str, &str)]) -> Self {
        let usual =
            [("PANED_COMPAT_AGENTMUX", "127.0.0.1:0,open"), ("AGENTMUX_AGENT", "fake-agent")];
        let is_said = |name: &str| env.iter().any(|(said, _)| *said == name);
        let usual = usual.iter().filter(|(name, _)| !is_said(name));
        let env: Vec<_> =
            usual.chain(env).copied().filter(|(_, value)| !value.is_empty()).collect();
        let server = Server::start_set(config, &env);
        let profiles = server.state().parent().map(|home| home.join(".config/paned/profiles"));
        let profiles = profiles.unwrap_or_default();
        fs::create_dir_all(&profiles).expect("the folder is ours");
        fs::write(profiles.join("fake-agent.toml"), FakeAgent::PROFILE)
            .expect("the folder is ours");
        Self { server, agent }
    }

    /// Host and port of a listener.
    #[track_caller]
    fn authority(&self, listener: &str) -> String {
        let url = self.server.ready()["compat"][listener].as_str().expect("the listener is there");
        url.trim_start_matches("http://").to_owned()
    }

    fn request(&self, listener: &str, method: &str, path: &str) -> Request {
        Request::new(method, path).header("host", &self.authority(listener))
    }

    /// Asks the listener of agentmux.
    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Reply {
        let request = self.request("agentmux", method, path);
        let request = match body {
            // As a client sends it whose library knows nothing of JSON.
            Some(body) => request
                .header("content-type", "application/x-www-form-urlencoded")
                .body(body.to_string()),
            None => request,
        };
        request.over_tcp(&self.authority("agentmux"))
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let reply = self.ask("GET", path, None);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    #[track_caller]
    fn post(&self, path: &str, body: Value) -> Value {
        let reply = self.ask("POST", path, Some(body));
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.json()
    }

    /// It refuses with this status and exactly this text.
    #[track_caller]
    fn refuses(&self, method: &str, path: &str, body: Option<Value>, expect: (u16, &str)) {
        let reply = self.ask(method, path, body);
        assert_eq!(
            (reply.status, reply.json()),
            (expect.0, json!({ "error": expect.1 })),
            "{path}"
        );
    }

    /// Starts an agent with a first prompt; answers its session's name.
    #[track_caller]
    fn run(&self, text: &str) -> String {
        let ran = self.post("/run", json!({ "text": text }));
        ran["session"].as_str().expect("a name").to_owned()
    }

    /// The names of all sessions.
    fn sessions(&self) -> Vec<String> {
        let told = self.get("/sessions");
        let all = told["sessions"].as_array().into_iter().flatten();
        all.filter_map(|session| session["name"].as_str()).map(str::to_owned).collect()
    }

    /// Waits until the active session is idle.
    #[track_caller]
    fn idle(&self) -> Value {
        wait_for("an idle session", || Some(self.get("/idle")).filter(|it| it["idle"] == true))
    }
}
