//! An interactive shell as a user has it: in a terminal, with a folder and a paned server of its
//! own. The terminal is a pane of another server, so that what is typed and seen is exact.

use std::path::Path;
use std::process::{Command, Output};

use paned_keeper::tape::TapeReader;
use paned_model::Size;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Server, binary};

const PANE: &str = "shell";
/// Variables that name the server whose pane the shell is in.
const OUTER: [&str; 4] = ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE"];

/// The shell. Dropping it ends everything that was started from it.
pub struct UserShell {
    server: Server,
    home: TempDir,
}

impl UserShell {
    /// Starts a shell with these words and these variables.
    #[must_use]
    #[track_caller]
    pub fn start(words: &[&str], size: Size, env: &[(&str, &str)]) -> Self {
        let server = Server::start();
        let home = TempDir::with_prefix("paned-user-").unwrap();
        let mut argv = vec!["env".to_owned()];
        for name in OUTER {
            argv.extend(["-u".to_owned(), name.to_owned()]);
        }
        let variables = variables(home.path()).into_iter();
        argv.extend(variables.map(|(name, value)| format!("{name}={value}")));
        argv.extend(env.iter().map(|(name, value)| format!("{name}={value}")));
        argv.extend(words.iter().map(|word| (*word).to_owned()));
        let new = json!({ "id": PANE, "argv": argv, "size": size, "cwd": home.path() });
        server.act("pane:new", new);
        Self { server, home }
    }

    /// The user's home.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Runs paned as the user, past the shell.
    #[must_use]
    pub fn paned(&self, args: &[&str]) -> Output {
        let mut command = Command::new(binary());
        for name in OUTER {
            command.env_remove(name);
        }
        command.args(args).envs(variables(self.home())).output().unwrap()
    }

    /// Types text or keys.
    #[track_caller]
    pub fn write(&self, text: &str) {
        self.server.act("pane:write", json!({ "paneId": PANE, "text": text }));
    }

    /// Pastes a text as a terminal does, and presses Enter.
    #[track_caller]
    pub fn paste(&self, text: &str) {
        self.server.act("pane:paste", json!({ "paneId": PANE, "text": text, "submit": true }));
    }

    /// Where the output ends now.
    #[track_caller]
    pub fn end(&self) -> u64 {
        let params = json!({ "paneId": PANE, "tail": 1 });
        self.server.act("pane:read", params)["next"].as_u64().unwrap()
    }

    /// Waits until a line that was printed from there on matches; answers what was met.
    #[track_caller]
    pub fn wait(&self, pattern: &str, since: u64) -> Value {
        let answer = self.server.act(
            "pane:wait",
            json!({ "paneId": PANE, "pattern": pattern, "since": since, "timeoutMs": 60_000 }),
        );
        assert_eq!(answer["met"], "pattern", "{pattern}: {answer}\n{}", self.text());
        answer
    }

    /// Everything that was printed, as lines.
    #[must_use]
    #[track_caller]
    pub fn text(&self) -> String {
        let read = self.server.act("pane:read", json!({ "paneId": PANE, "tail": 2000 }));
        let lines = read["lines"].as_array().unwrap().iter();
        let lines: Vec<&str> = lines.map(|line| line["text"].as_str().unwrap()).collect();
        lines.join("\n")
    }

    /// What its terminal shows.
    #[must_use]
    #[track_caller]
    pub fn screen(&self) -> String {
        let screen = self.server.act("pane:screen", json!({ "paneId": PANE }));
        let rows = screen["rows"].as_array().unwrap().iter();
        let rows: Vec<&str> = rows.filter_map(Value::as_str).collect();
        rows.join("\n")
    }

    /// The tape of its terminal.
    #[must_use]
    #[track_caller]
    pub fn tape(&self) -> TapeReader {
        self.server.tape(PANE)
    }
}

impl Drop for UserShell {
    fn drop(&mut self) {
        let panes = self.paned(&["ls", "--json"]).stdout;
        let panes: Value = serde_json::from_slice(&panes).unwrap_or_default();
        for id in panes.as_array().into_iter().flatten().filter_map(|pane| pane["id"].as_str()) {
            let _ = self.paned(&["close", id]);
        }
        let _ = self.paned(&["server", "stop"]);
    }
}

/// The user's environment.
fn variables(home: &Path) -> [(&'static str, String); 6] {
    let programs = binary().parent().unwrap().display().to_string();
    let home = home.display().to_string();
    [
        ("PANED_STATE_DIR", format!("{home}/state")),
        ("PANED_PORT", "0".into()),
        ("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap_or_default())),
        ("TERM", "xterm-256color".into()),
        ("LANG", "C.UTF-8".into()),
        ("HOME", home),
    ]
}
