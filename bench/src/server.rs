//! The real server, as a user starts it, on a state folder of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use serde_json::{Value, json};

use crate::error::{Error, IoContext};
use crate::exits::Exits;
use crate::http::{Address, Client};
use crate::pane_watcher::PaneWatcher;
use crate::plan::Plan;
use crate::state::State;

/// How long the server may take to start.
const START: Duration = Duration::from_secs(30);

/// What the server and its panes must not learn from the environment of this program.
const VARIABLES: [&str; 6] =
    ["PANED_CONFIG", "PANED_PANE", "PANED_SOCKET", "PANED_STATE_DIR", "PANED_TOKEN", "PANED_URL"];

/// A running server. Dropping it ends it, then its panes.
pub(crate) struct Server {
    process: Process,
    /// Its folder. After the process, because fields are dropped in order.
    pub(crate) state: State,
    address: Address,
    /// Where its socket is.
    pub(crate) socket: PathBuf,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Killed, not asked to stop: nothing of it is kept.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Server {
    /// Starts it, and waits until it serves.
    pub(crate) fn start(plan: &Plan) -> Result<Self, Error> {
        Self::start_with_extensions(plan, &plan.fresh_folder())
    }

    /// The same, with the extensions in this folder.
    pub(crate) fn start_with_extensions(plan: &Plan, extensions: &Path) -> Result<Self, Error> {
        let state = State::new(plan)?;
        let config = state.beside("toml");
        let log = state.beside("log");
        fs::write(&config, "").doing("write a configuration")?;
        let mut command = command(plan, &state);
        command.env("PANED_EXTENSIONS_DIR", extensions);
        command.arg("--config").arg(config).args(["--json", "serve", "--port", "0"]);
        command.stdout(Stdio::piped()).stderr(File::create(&log).doing("make a log")?);
        let mut process = Process(command.spawn().doing("start the server")?);
        let stdout = process.0.stdout.take().expect("it is piped");
        let (address, socket) = read_address(stdout).ok_or_else(|| did_not_start(&log))?;
        Ok(Self { process, state, address, socket })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.0.id()
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// A client that follows a pane over a WebSocket.
    pub(crate) fn watch(&self, pane: &str) -> Result<PaneWatcher, Error> {
        PaneWatcher::start(&self.address, pane)
    }

    /// A new connection to it. The server closes one that is idle for long, so none is kept across
    /// a wait.
    pub(crate) fn client(&self) -> Result<Client, Error> {
        Client::connect(&self.address)
    }

    /// The exits it publishes from now on.
    pub(crate) fn exits(&self) -> Result<Exits, Error> {
        Exits::follow(&self.address)
    }

    /// A command of the CLI for this server.
    pub(crate) fn cli(&self, plan: &Plan) -> Command {
        command(plan, &self.state)
    }
}

fn command(plan: &Plan, state: &State) -> Command {
    let mut command = Command::new(&plan.paned);
    for name in VARIABLES {
        command.env_remove(name);
    }
    // Sockets that do not fit into the state folder go there.
    command.env("XDG_RUNTIME_DIR", plan.scratch());
    command.stdin(Stdio::null()).arg("--state-dir").arg(state.path());
    command
}

/// Waits for the line that says where the server is.
fn read_address(stdout: ChildStdout) -> Option<(Address, PathBuf)> {
    let limit = Timespec::try_from(START).ok();
    let mut fds = [PollFd::new(&stdout, PollFlags::IN)];
    let ready = retry_on_intr(|| poll(&mut fds, limit.as_ref())).ok()?;
    let mut line = String::new();
    // The line is written in one go, so what can be read is complete.
    (ready != 0).then(|| BufReader::new(stdout).read_line(&mut line))?.ok()?;
    let served: Value = serde_json::from_str(&line).ok()?;
    let authority = served["url"].as_str()?.strip_prefix("http://")?.trim_end_matches('/');
    let token = fs::read_to_string(served["token_file"].as_str()?).ok()?;
    let address = Address { authority: authority.to_owned(), token: token.trim().to_owned() };
    Some((address, served["socket"].as_str()?.into()))
}

fn did_not_start(log: &Path) -> Error {
    let found = fs::read_to_string(log).unwrap_or_default();
    Error::Unexpected { what: "the start of the server", found: found.trim().to_owned() }
}

/// Starts a program in a new pane; returns the pane's name.
pub(crate) fn open(client: &mut Client, argv: &[String]) -> Result<String, Error> {
    let pane = client.action("pane:new", &json!({ "argv": argv, "cwd": "/" }))?;
    let id = pane["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| Error::Unexpected { what: "a new pane", found: pane.to_string() })
}

/// Ends these panes and removes them.
pub(crate) fn close(client: &mut Client, panes: &[String]) -> Result<(), Error> {
    panes.iter().try_for_each(|pane| {
        client.action("pane:close", &json!({ "paneId": pane, "force": true })).map(drop)
    })
}
