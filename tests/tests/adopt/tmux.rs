//! A tmux server of a test's own, as a person would have it.

use std::path::PathBuf;
use std::process::{Command, Output};

use paned_e2e::{Server, WAIT_TIMEOUT, gone, kill9};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A tmux server with a session `work`. It is gone with this, also after a panic.
pub(crate) struct Tmux {
    folder: TempDir,
    servers: Vec<u32>,
}

impl Tmux {
    /// One whose first pane, `%0`, runs this.
    #[track_caller]
    pub(crate) fn start(script: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("paned-adopt-").tempdir().unwrap();
        let mut tmux = Self { folder, servers: Vec::new() };
        tmux.start_again(script);
        tmux
    }

    /// Another server at the same socket.
    #[track_caller]
    pub(crate) fn start_again(&mut self, script: &str) {
        self.ok(
            &["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", "-s", "work"],
            &["bash", "--norc", "-c", script],
        );
        self.servers.push(self.say("#{pid}").parse().unwrap());
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("t.sock")
    }

    /// A file in the folder that programs start in.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The server's process.
    pub(crate) fn pid(&self) -> u32 {
        *self.servers.last().unwrap()
    }

    fn command(&self) -> Command {
        // Nothing waits for ever, not for a word that is never said.
        let mut command = Command::new("timeout");
        command.args(["30", "tmux", "-S"]).arg(self.socket()).current_dir(self.folder.path());
        command.env_remove("TMUX").env_remove("TMUX_PANE").env("HOME", self.folder.path());
        command
    }

    fn run(&self, args: &[&str], more: &[&str]) -> Output {
        self.command().args(args).args(more).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, args: &[&str], more: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.run(args, more);
        assert!(status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap().trim_end_matches('\n').to_owned()
    }

    /// Runs a command that must go well.
    #[track_caller]
    pub(crate) fn act(&self, args: &[&str]) -> String {
        self.ok(args, &[])
    }

    /// One more pane; answers its id.
    #[track_caller]
    pub(crate) fn split(&self, script: &str) -> String {
        let split = ["split-window", "-d", "-t", "%0", "-P", "-F", "#{pane_id}"];
        self.ok(&split, &["bash", "--norc", "-c", script])
    }

    /// What tmux says of the first pane.
    #[track_caller]
    pub(crate) fn say(&self, format: &str) -> String {
        self.say_of("%0", format)
    }

    #[track_caller]
    pub(crate) fn say_of(&self, pane: &str, format: &str) -> String {
        self.act(&["display-message", "-p", "-t", pane, format])
    }

    /// Waits until a program says `tmux wait-for -S` with this word.
    #[track_caller]
    pub(crate) fn wait(&self, word: &str) {
        self.act(&["wait-for", word]);
    }

    /// What a person sees in the first pane.
    #[track_caller]
    pub(crate) fn screen(&self) -> Vec<String> {
        let text = self.act(&["capture-pane", "-p", "-t", "%0"]);
        let rows: usize = self.say("#{pane_height}").parse().unwrap();
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        lines.chain(std::iter::repeat(String::new())).take(rows).collect()
    }

    /// Adopts a pane under this name.
    #[track_caller]
    pub(crate) fn adopt(&self, server: &Server, pane: &str, id: &str) -> Value {
        server.act("pane:adopt", json!({ "tmux": self.socket(), "pane": pane, "id": id }))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        for server in &self.servers {
            kill9(*server);
            assert!(gone(*server, WAIT_TIMEOUT) || std::thread::panicking());
        }
    }
}
