//! Other programs that do the same work, run by small programs of ours in `bench/rivals`.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::error::{Error, IoContext};
use crate::http::Address;

/// Rivals that come by npm; `scripts/rivals` puts them into `.cache`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    NodePty,
    OpencodePty,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::NodePty => "node-pty and ws",
            Self::OpencodePty => "opencode-pty",
        }
    }
}

/// A rival that serves. Dropping it ends it.
pub(crate) struct Rival {
    process: Child,
    pub(crate) address: Address,
    /// What to run once it has ended.
    after: Option<Command>,
}

impl Rival {
    /// Starts a program that prints its port as JSON.
    pub(crate) fn start(program: &OsStr, args: &[&OsStr]) -> Result<Self, Error> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().doing(&format!("start {}", program.display()))?;
        let mut line = String::new();
        let stdout = process.stdout.take().expect("it is piped");
        let read = BufReader::new(stdout).read_line(&mut line);
        let started: Value = serde_json::from_str(&line).unwrap_or_default();
        let authority = format!("127.0.0.1:{}", started["port"].as_u64().unwrap_or_default());
        let address = Address { authority, token: "none".to_owned() };
        let rival = Self { process, address, after: None };
        read.doing("hear where a rival is")?;
        match started["port"].as_u64() {
            Some(_) => Ok(rival),
            None => Err(Error::Unexpected { what: "the start of a rival", found: line }),
        }
    }

    /// One of those that come by npm.
    pub(crate) fn of(kind: Kind) -> Result<Self, Error> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/rivals");
        let (program, script) = match kind {
            Kind::NodePty => (PathBuf::from("node"), "node_pty.js"),
            Kind::OpencodePty => (folder.join("node_modules/.bin/bun"), "opencode_pty.js"),
        };
        Self::start(program.as_ref(), &[folder.join(script).as_ref()])
    }

    /// A bridge to a tmux of its own, whose socket is at this path.
    pub(crate) fn tmux_bridge(socket: &Path) -> Result<Self, Error> {
        let mut end = Command::new("tmux");
        end.arg("-S").arg(socket).arg("kill-server").stderr(Stdio::null());
        let bridge = script("tmux_bridge.py");
        let mut rival = Self::start("python3".as_ref(), &[bridge.as_ref(), socket.as_ref()])?;
        rival.after = Some(end);
        Ok(rival)
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if let Some(after) = &mut self.after {
            let _ = after.status();
        }
    }
}

/// A program of ours that runs a rival.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals").join(name)
}
