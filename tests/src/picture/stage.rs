//! Where the story is played: a shell in a pane, typed into at the speed of a person, and the tape
//! of that pane.

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use paned_model::Size;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::record::TapeWatcher;
use crate::{FakeAgent, Server, binary};

/// Between two keys.
const KEY: Duration = Duration::from_millis(28);
/// Before Enter.
const BEFORE_ENTER: Duration = Duration::from_millis(250);
/// After the screen was cleared.
const AFTER_CLEAR: Duration = Duration::from_millis(600);
/// The prompt of the shell.
const PROMPT: &str = r"\[\e[1;32m\]❯\[\e[0m\] ";
const PANE: &str = "stage";
/// Variables that name the server that records.
const RECORDERS: [&str; 4] = ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE"];

/// A shell in a pane of one server, and the folder of the other server, which the story is about.
pub(super) struct Stage {
    server: Server,
    watcher: TapeWatcher,
    home: TempDir,
}

impl Stage {
    pub(super) fn start(size: Size) -> Self {
        let server = Server::start();
        let home = TempDir::with_prefix("paned-picture-").unwrap();
        let profiles = home.path().join(".config/paned/profiles");
        std::fs::create_dir_all(&profiles).unwrap();
        std::fs::write(profiles.join("scripted.toml"), FakeAgent::PROFILE).unwrap();
        let mut argv: Vec<String> = vec!["env".into()];
        for name in RECORDERS {
            argv.extend(["-u".into(), name.into()]);
        }
        let variables = variables(home.path());
        argv.extend(variables.into_iter().map(|(name, value)| format!("{name}={value}")));
        argv.extend(["bash", "--norc", "--noprofile", "-i"].map(str::to_owned));
        server
            .act("pane:new", json!({ "id": PANE, "argv": argv, "size": size, "cwd": home.path() }));
        let watcher = TapeWatcher::start(server.tape(PANE), size);
        let stage = Self { server, watcher, home };
        stage.until("❯ $");
        stage
    }

    /// Runs paned in the story's folder, unseen.
    pub(super) fn prepare(&self, args: &[&str]) {
        let output = self.paned(args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {error}");
    }

    fn paned(&self, args: &[&str]) -> Output {
        let mut command = Command::new(binary());
        for name in RECORDERS {
            command.env_remove(name);
        }
        command.args(args).envs(variables(self.home.path())).output().unwrap()
    }

    /// Empties the screen. The recording begins at the first time.
    pub(super) fn clear(&self) {
        self.write("\x0c");
        self.rest(AFTER_CLEAR);
    }

    /// Types a command and presses Enter.
    pub(super) fn command(&self, line: &str) {
        for key in line.chars() {
            self.write(&key.to_string());
            self.rest(KEY);
        }
        self.rest(BEFORE_ENTER);
        self.write("\r");
    }

    /// Types a command and waits until the shell takes the next one.
    pub(super) fn run(&self, line: &str) {
        let since = self.next();
        self.command(line);
        self.wait("^❯ $", since);
    }

    /// Types text or keys.
    pub(super) fn write(&self, text: &str) {
        self.server.act("pane:write", json!({ "paneId": PANE, "text": text }));
    }

    /// Waits until a new line matches.
    pub(super) fn until(&self, pattern: &str) {
        self.wait(pattern, 0);
    }

    /// Leaves time to read.
    pub(super) fn rest(&self, time: Duration) {
        std::thread::sleep(time); // not a wait: the picture is as slow as a person
    }

    /// Everything that was printed since the screen was cleared for the first time.
    pub(super) fn recorded(&self) -> Vec<(Instant, Vec<u8>)> {
        let printed = self.watcher.seen.lock().unwrap().printed.clone();
        let is_clear = |bytes: &[u8]| bytes.windows(3).any(|piece| piece == b"\x1b[H");
        let begin = printed.iter().position(|(_, bytes)| is_clear(bytes)).unwrap_or_default();
        printed[begin..].to_vec()
    }

    fn next(&self) -> Value {
        self.server.act("pane:read", json!({ "paneId": PANE, "tail": 1 }))["next"].clone()
    }

    fn wait(&self, pattern: &str, since: impl Into<Value>) {
        let params = json!({
            "paneId": PANE, "pattern": pattern, "since": since.into(), "timeoutMs": 60_000,
        });
        let answer = self.server.act("pane:wait", params);
        assert_eq!(answer["met"], "pattern", "{pattern}: {answer}");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let panes = String::from_utf8(self.paned(&["ls", "--json"]).stdout).unwrap_or_default();
        let panes: Value = serde_json::from_str(&panes).unwrap_or_default();
        for pane in panes.as_array().into_iter().flatten() {
            self.paned(&["close", pane["id"].as_str().unwrap_or_default()]);
        }
        self.paned(&["server", "stop"]);
    }
}

/// The environment of the story: a folder and a server of its own.
fn variables(home: &Path) -> [(&'static str, String); 7] {
    let programs = binary().parent().unwrap().display().to_string();
    let home = home.display().to_string();
    [
        ("PANED_STATE_DIR", format!("{home}/state")),
        ("PANED_PORT", "0".into()),
        ("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap_or_default())),
        ("PS1", PROMPT.into()),
        ("TERM", "xterm-256color".into()),
        ("LANG", "C.UTF-8".into()),
        ("HOME", home),
    ]
}
