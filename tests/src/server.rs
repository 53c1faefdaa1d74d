//! One real server in a temporary folder.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use paned_keeper::tape::TapeReader;
use paned_model::Refusal;
use serde_json::Value;
use tempfile::TempDir;

use crate::http::{Reply, Request};
use crate::process::{gone, kill9, terminate};
use crate::{Events, Socket, WAIT_TIMEOUT, tmux};

/// The `paned` binary beside this test: the same build, the same profile.
#[must_use]
pub fn binary() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    // A test is one folder deeper than a program.
    let folders = own.ancestors().skip(1).take(2).map(|folder| folder.join("paned"));
    let binary = folders.into_iter().find(|file| file.is_file()).unwrap_or_default();
    assert!(
        binary.exists(),
        "there is no `paned` beside {}; run `cargo build` first",
        own.display()
    );
    binary
}

/// How much of its log is shown for a server that does not start.
const LOG_SHOWN: usize = 40;

/// A real server. Dropping it ends the server, every keeper in its folder, and the tmux server
/// there.
pub struct Server {
    dir: TempDir,
    child: Child,
    ready: Value,
    args: Vec<String>,
    env: Vec<(String, String)>,
    bare: bool,
    /// What the server is started by.
    before: Vec<String>,
}

impl Server {
    /// A fresh server on a free port.
    #[must_use]
    #[track_caller]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// A fresh server with more arguments.
    #[must_use]
    #[track_caller]
    pub fn start_with(args: &[&str]) -> Self {
        let dir = tempfile::Builder::new().prefix("paned-e2e-").tempdir().unwrap();
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self::launch(dir, args, Vec::new())
    }

    /// A fresh server with this `config.toml` and more variables.
    #[must_use]
    #[track_caller]
    pub fn start_set(config: &str, env: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new().prefix("paned-e2e-").tempdir().unwrap();
        let folder = dir.path().join(".config/paned");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), config).unwrap();
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Self::launch(dir, Vec::new(), env.collect())
    }

    /// A fresh server in a folder whose name begins like this.
    #[must_use]
    #[track_caller]
    pub fn start_in(prefix: &str) -> Self {
        let dir = tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
        Self::launch(dir, Vec::new(), Vec::new())
    }

    /// A fresh server that has nothing of our own environment but where programs are.
    #[must_use]
    #[track_caller]
    pub fn start_bare() -> Self {
        let dir = tempfile::Builder::new().prefix("paned-e2e-").tempdir().unwrap();
        let env = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
        let (child, ready) = launch(dir.path(), &[], &env, true, &[]);
        let before = Vec::new();
        Self { dir, child, ready, args: Vec::new(), env, bare: true, before }
    }

    #[track_caller]
    fn launch(dir: TempDir, args: Vec<String>, env: Vec<(String, String)>) -> Self {
        let (child, ready) = launch(dir.path(), &args, &env, false, &[]);
        Self { dir, child, ready, args, env, bare: false, before: Vec::new() }
    }

    /// A fresh server that a shell executes after these commands, such as `ulimit`. `words` are the
    /// program and arguments that start the shell.
    #[must_use]
    #[track_caller]
    pub fn start_after(words: &[&str], commands: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("paned-e2e-").tempdir().unwrap();
        let shell = ["sh", "-c", &format!("{commands}; exec \"$0\" \"$@\"")].map(str::to_owned);
        let before: Vec<String> =
            words.iter().map(|word| (*word).to_owned()).chain(shell).collect();
        let (child, ready) = launch(dir.path(), &[], &[], false, &before);
        Self { dir, child, ready, args: Vec::new(), env: Vec::new(), bare: false, before }
    }

    /// Kills the server the hard way.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again over the same folder.
    #[track_caller]
    pub fn start_again(&mut self) {
        (self.child, self.ready) =
            launch(self.dir.path(), &self.args, &self.env, self.bare, &self.before);
    }

    /// The same, for a start that may fail.
    ///
    /// # Errors
    /// With what the server said instead.
    pub fn try_start_again(&mut self) -> Result<(), String> {
        let started = try_launch(self.dir.path(), &self.args, &self.env, self.bare, &self.before);
        (self.child, self.ready) = started?;
        Ok(())
    }

    /// The folder that is its home.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.dir.path()
    }

    /// The server's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The server, as a child of this process.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// The folder with everything that must survive.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// What the server said first.
    #[must_use]
    pub fn ready(&self) -> &Value {
        &self.ready
    }

    /// Host and port.
    #[must_use]
    pub fn authority(&self) -> String {
        let url = self.ready["url"].as_str().unwrap();
        url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned()
    }

    /// The unix socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.ready["socket"].as_str().unwrap().into()
    }

    /// The owner's token.
    #[must_use]
    pub fn token(&self) -> String {
        let file = self.ready["token_file"].as_str().unwrap();
        fs::read_to_string(file).unwrap().trim().to_owned()
    }

    /// Everything the server has logged.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap()
    }

    /// Runs an action as the owner.
    ///
    /// # Errors
    /// With the refusal.
    #[track_caller]
    pub fn try_act(&self, name: &str, params: Value) -> Result<Value, Refusal> {
        self.reply(name, &params).unwrap().outcome()
    }

    /// Runs an action as the owner, on a server that may be killed meanwhile.
    ///
    /// # Errors
    /// When the connection breaks before the whole answer is there.
    pub fn reply(&self, name: &str, params: &Value) -> io::Result<Reply> {
        let request = Request::new("POST", &format!("/action/{name}")).header("host", "paned");
        request.json(params).over_unix(&self.socket())
    }

    /// Runs an action that must go well.
    #[track_caller]
    pub fn act(&self, name: &str, params: Value) -> Value {
        self.try_act(name, params).unwrap_or_else(|refusal| panic!("{name}: {refusal:?}"))
    }

    /// A pane as it is now.
    #[track_caller]
    pub fn pane(&self, id: &str) -> Value {
        self.act("pane:get", serde_json::json!({ "paneId": id }))
    }

    /// Asks over TCP with the owner's token and the right host.
    #[must_use]
    pub fn ask(&self, method: &str, path: &str) -> Reply {
        let request = Request::new(method, path).header("host", &self.authority());
        let bearer = format!("Bearer {}", self.token());
        request.header("authorization", &bearer).over_tcp(&self.authority())
    }

    /// The events after an id.
    #[must_use]
    #[track_caller]
    pub fn events(&self, include: &str, after: Option<u64>) -> Events {
        Events::open(&self.socket(), include, after).unwrap()
    }

    /// A WebSocket.
    #[must_use]
    #[track_caller]
    pub fn socket_to_panes(&self) -> Socket {
        Socket::open(&self.socket()).unwrap()
    }

    /// Every event there has been, up to now.
    #[must_use]
    #[track_caller]
    pub fn history(&self) -> Vec<crate::ReceivedEvent> {
        let end = self.act("event:emit", serde_json::json!({ "name": "test:end" }));
        let mut events = self.events("*", Some(0));
        let mut history = Vec::new();
        loop {
            let told = events.next();
            if told.id == end["id"].as_u64() {
                return history;
            }
            history.push(told);
        }
    }

    /// A pane's tape.
    #[must_use]
    #[track_caller]
    pub fn tape(&self, id: &str) -> TapeReader {
        TapeReader::open(&self.state().join("panes").join(id).join("tape")).unwrap()
    }

    /// All that is kept of what a pane printed.
    #[must_use]
    #[track_caller]
    pub fn printed(&self, id: &str) -> Vec<u8> {
        let tape = self.tape(id);
        let mut bytes = vec![0; usize::try_from(tape.end() - tape.first()).unwrap()];
        let mut filled = 0;
        while filled < bytes.len() {
            let offset = tape.first() + filled as u64;
            filled += tape.read(offset, &mut bytes[filled..]).unwrap().unwrap();
        }
        bytes
    }

    /// The same, as text.
    #[must_use]
    #[track_caller]
    pub fn text(&self, id: &str) -> String {
        String::from_utf8(self.printed(id)).unwrap()
    }

    /// Runs the command line against this server.
    #[must_use]
    pub fn cli(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that must go well; answers what it printed.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        let (out, err, code) = decode_output(&self.cli(args));
        assert_eq!(code, 0, "{args:?}: {err}");
        out
    }

    /// Runs a command with `--json`; answers what it printed.
    #[track_caller]
    pub fn answer(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        serde_json::from_str(&self.ok(&args)).unwrap()
    }

    /// The command line against this server, not yet run.
    #[must_use]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.args(args).env("PANED_STATE_DIR", self.state()).env("HOME", self.dir.path());
        command.env("PANED_NO_AUTOSTART", "1");
        for name in ["PANED_SOCKET", "PANED_URL", "PANED_TOKEN", "PANED_PANE", "PANED_CONFIG"] {
            command.env_remove(name);
        }
        command
    }

    /// The keepers that are there, by pane.
    #[must_use]
    pub fn keepers(&self) -> Vec<u32> {
        let panes = fs::read_dir(self.state().join("panes")).into_iter().flatten().flatten();
        let tapes = panes.filter_map(|pane| TapeReader::open(&pane.path().join("tape")).ok());
        tapes.map(|tape| tape.keeper()).filter(|pid| crate::is_alive(*pid)).collect()
    }
}

#[track_caller]
fn launch(
    dir: &Path,
    args: &[String],
    env: &[(String, String)],
    bare: bool,
    before: &[String],
) -> (Child, Value) {
    try_launch(dir, args, env, bare, before).unwrap_or_else(|error| panic!("{error}"))
}

fn try_launch(
    dir: &Path,
    args: &[String],
    env: &[(String, String)],
    bare: bool,
    before: &[String],
) -> Result<(Child, Value), String> {
    let log = File::options().create(true).append(true).open(dir.join("log")).unwrap();
    let mut command = match before {
        [] => Command::new(binary()),
        [first, words @ ..] => {
            let mut command = Command::new(first);
            command.args(words).arg(binary());
            command
        }
    };
    if bare {
        command.env_clear();
    }
    command.args(["serve", "--port", "0", "--json"]).args(args).stdin(Stdio::null());
    command.env("PANED_STATE_DIR", dir.join("state")).env("HOME", dir).env("SHELL", "/bin/sh");
    command.env_remove("PANED_CONFIG").env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME");
    command.env_remove("XDG_DATA_HOME").env_remove("PANED_EXTENSIONS_DIR");
    // No person answers in most tests; those of permission rules set it to `ask`.
    command.env("PANED_PERMISSIONS_AGENTS", "allow");
    command.envs(env.iter().map(|(name, value)| (name, value)));
    let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    match serde_json::from_str(&line) {
        Ok(ready) => Ok((child, ready)),
        Err(_) => {
            let _ = child.kill();
            let _ = child.wait();
            let log = fs::read_to_string(dir.join("log")).unwrap_or_default();
            let tail = log.lines().count().saturating_sub(LOG_SHOWN);
            let log: Vec<&str> = log.lines().skip(tail).collect();
            Err(format!("the server did not start: {line:?}\n{}", log.join("\n")))
        }
    }
}

impl Server {
    /// Prints the last lines of the log beside a test that failed: a rare failure leaves no other
    /// trace.
    #[expect(clippy::print_stderr, reason = "a test's output")]
    fn print_log(&self) {
        const LINES: usize = 40;
        let log = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        eprintln!("the server's log:\n{}", lines[lines.len().saturating_sub(LINES)..].join("\n"));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.print_log();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        tmux::end(&tmux::tmux_dir(&self.state()));
        let keepers = self.keepers();
        // A keeper that gets SIGTERM ends its pane properly; one that does not is killed.
        keepers.iter().for_each(|keeper| terminate(*keeper));
        for keeper in keepers {
            if !gone(keeper, Duration::from_secs(10)) {
                kill9(keeper);
                assert!(gone(keeper, WAIT_TIMEOUT) || std::thread::panicking());
            }
        }
    }
}

/// What a command printed, what it complained of, and its code.
#[must_use]
pub fn decode_output(output: &Output) -> (String, String, i32) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}
