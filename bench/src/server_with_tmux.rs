//! Panes that are shown in the server's own tmux, and a control client of this program's beside it.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use paned_backend::tmux::{self, ControlClient, TmuxEvents, TmuxPane, TmuxServerAddr};
use paned_model::Size;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, IoContext};
use crate::http;
use crate::plan::Plan;
use crate::server::Server;

/// The session that everything is shown in.
const SESSION: &str = "main";

/// A window that holds more than 100 panes.
pub(crate) const LARGE: Size = Size { cols: 500, rows: 200 };

/// A server with a session in its tmux. Its first pane is there until the end.
pub(crate) struct ServerWithTmux {
    pub(crate) server: Server,
    /// Its first pane.
    pub(crate) first: String,
}

impl ServerWithTmux {
    /// Starts a session with `cat` in its first pane.
    pub(crate) fn start(plan: &Plan, size: Size) -> Result<Self, Error> {
        let server = Server::start(plan)?;
        let mut client = server.client()?;
        let params = json!({ "name": SESSION, "argv": ["/bin/cat"], "cwd": "/", "size": size });
        client.action("session:start", &params)?;
        let panes = client.action("pane:list", &json!({}))?;
        let first = panes[0]["id"].as_str().map(str::to_owned);
        let first = first
            .ok_or_else(|| Error::Unexpected { what: "a session", found: panes.to_string() })?;
        Ok(Self { server, first })
    }

    /// Starts a program in a new pane that is shown there; returns the pane's name.
    pub(crate) fn show(&self, client: &mut http::Client, argv: &[String]) -> Result<String, Error> {
        let params = json!({ "argv": argv, "cwd": "/", "substrate": "tmux", "session": SESSION });
        let pane = client.action("pane:new", &params)?;
        match (pane["id"].as_str(), pane["view"]["state"].as_str()) {
            (Some(id), Some("shown")) => Ok(id.to_owned()),
            _ => Err(Error::Unexpected { what: "a pane in tmux", found: pane.to_string() }),
        }
    }

    /// Runs tmux once, as a user or a script does.
    pub(crate) fn tmux(&self, args: &[&str]) -> Result<Output, Error> {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(self.socket()).args(args).stdin(Stdio::null());
        let output = command.output().doing("run tmux")?;
        if output.status.success() {
            return Ok(output);
        }
        let answer = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::Refused { what: format!("tmux {}", args.join(" ")), answer })
    }

    fn socket(&self) -> PathBuf {
        self.server.state.tmux_dir().join("tmux.sock")
    }

    /// A control client like the server's own.
    pub(crate) fn control(&self) -> Result<Control, Error> {
        let runtime =
            Builder::new_current_thread().enable_all().build().doing("start a runtime")?;
        let addr = TmuxServerAddr::own(&self.server.state.tmux_dir());
        let (client, events) = runtime.block_on(tmux::connect(addr)).map_err(odd)?;
        Ok(Control { client, _events: events, runtime })
    }
}

/// A control client. Dropping it ends it.
pub(crate) struct Control {
    client: ControlClient,
    _events: TmuxEvents,
    runtime: Runtime,
}

impl Control {
    /// Does one thing in tmux and waits for the answer.
    pub(crate) fn run<T>(
        &self,
        act: impl AsyncFnOnce(&ControlClient) -> Result<T, tmux::Error>,
    ) -> Result<T, Error> {
        self.runtime.block_on(act(&self.client)).map_err(odd)
    }

    /// The tmux pane that shows a pane of ours.
    pub(crate) fn view(&self, pane: &str) -> Result<TmuxPane, Error> {
        let views = self.run(async |client| client.views().await)?;
        let view = views
            .iter()
            .find(|view| view.shows.as_ref().is_some_and(|shows| shows.as_str() == pane));
        let missing = || Error::Unexpected { what: "what tmux shows", found: format!("{views:?}") };
        view.map(|view| view.id).ok_or_else(missing)
    }

    /// The process of the tmux server.
    pub(crate) fn server(&self) -> Result<u32, Error> {
        let server = self.client.server().map(|server| server.pid);
        server.ok_or_else(|| Error::Unexpected { what: "tmux", found: "gone".into() })
    }
}

fn odd(error: tmux::Error) -> Error {
    Error::Unexpected { what: "what tmux says", found: error.to_string() }
}
