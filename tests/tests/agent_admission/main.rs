//! Agents from start to exit: what they do is reported, waited for, recorded and cleaned up.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod cost;
mod ends;
mod life;
mod profiles;
mod states;
mod worktree;

use std::fs;
use std::path::{Path, PathBuf};

use paned_e2e::Server;
use serde_json::{Value, json};

/// How long a step of an agent may take, in milliseconds.
const LONG: u64 = 20_000;

/// A server with a profile for the small agent of these tests.
struct MiniAgentServer {
    server: Server,
}

impl MiniAgentServer {
    fn new() -> Self {
        Self::set("")
    }

    /// With this `config.toml`.
    fn set(config: &str) -> Self {
        let room = Self { server: Server::start_set(config, &[]) };
        fs::create_dir_all(room.profiles()).unwrap();
        fs::write(room.profiles().join("mini.toml"), include_str!("mini.toml")).unwrap();
        fs::write(room.home().join("mini.sh"), include_str!("mini.sh")).unwrap();
        room
    }

    fn home(&self) -> PathBuf {
        self.server.state().parent().unwrap().to_owned()
    }

    fn profiles(&self) -> PathBuf {
        self.home().join(".config/paned/profiles")
    }

    fn act(&self, name: &str, params: Value) -> Value {
        self.server.act(name, params)
    }

    /// The parameters that start the small agent in a pane of this name, with more.
    fn mini(&self, id: &str, more: &Value) -> Value {
        let script = self.home().join("mini.sh");
        let mut params = json!({ "id": id, "profile": "mini", "argv": ["/bin/bash", script] });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    }

    /// Starts the small agent, which is ready then.
    #[track_caller]
    fn start(&self, id: &str) -> Value {
        let pane = self.act("agent:create", self.mini(id, &json!({})));
        assert_eq!(pane["agent"]["state"], "ready", "{pane:#}");
        pane
    }

    /// Types a line to an agent.
    fn say(&self, id: &str, line: &str) {
        self.press(id, line);
        self.press(id, "\r");
    }

    fn press(&self, id: &str, keys: &str) {
        self.act("pane:write", json!({ "paneId": id, "text": keys }));
    }

    /// Waits until an agent does this.
    #[track_caller]
    fn until(&self, id: &str, state: &str) -> Value {
        let waited =
            self.act("agent:wait", json!({ "paneId": id, "state": state, "timeoutMs": LONG }));
        assert_eq!(waited["met"], "state", "{waited:#}");
        waited["agent"].clone()
    }

    fn state(&self, id: &str) -> String {
        let agent = self.act("agent:state", json!({ "paneId": id }));
        agent["state"].as_str().unwrap().to_owned()
    }

    fn ids(&self, name: &str, params: Value) -> Vec<String> {
        let panes = self.act(name, params);
        let panes = panes.as_array().unwrap().iter();
        panes.map(|pane| pane["id"].as_str().unwrap().to_owned()).collect()
    }
}

/// Runs git in a folder.
#[track_caller]
fn git(folder: &Path, args: &[&str]) -> String {
    let mut git = std::process::Command::new("git");
    git.args(["-c", "user.name=Test", "-c", "user.email=test@localhost"]);
    let output = git.current_dir(folder).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
