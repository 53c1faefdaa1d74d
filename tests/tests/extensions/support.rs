//! A server with extensions of its own.

use std::fs;
use std::path::PathBuf;

use paned_e2e::{Server, wait_for};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Functions that every extension of these tests begins with.
const PRELUDE: &str = r#"
import json, os, sys, time
SERVER = os.getppid()
def hang():
    # Reads nothing, and is not left behind by a server that was killed.
    while os.getppid() == SERVER:
        time.sleep(0.05)
def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
def notify(method, **params):
    send(method=method, params=params)
def answer(message, result=None):
    send(id=message["id"], result=result)
def messages():
    for line in sys.stdin:
        yield json.loads(line)
"#;

/// An extension: its name, more lines of its `paned.toml`, and its code.
pub(crate) type Extension<'a> = (&'a str, &'a str, &'a str);

pub(crate) struct ExtensionServer {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
}

impl ExtensionServer {
    /// A server that starts with these extensions, once they run.
    #[track_caller]
    pub(crate) fn start(extensions: &[Extension<'_>]) -> Self {
        Self::start_with(&[], extensions)
    }

    /// The same, with more arguments for the server.
    #[track_caller]
    pub(crate) fn start_with(args: &[&str], extensions: &[Extension<'_>]) -> Self {
        let server = Self::start_only(args, extensions);
        for (name, _, _) in extensions {
            server.until_status(name, "running");
        }
        server
    }

    /// The same, without waiting for the extensions.
    #[track_caller]
    pub(crate) fn start_only(args: &[&str], extensions: &[Extension<'_>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for extension in extensions {
            write(&folder, *extension);
        }
        let path = folder.path().to_string_lossy().into_owned();
        let args: Vec<&str> = ["--extensions-dir", &path].iter().chain(args).copied().collect();
        Self { server: Server::start_with(&args), folder }
    }

    /// Writes an extension into the folder.
    pub(crate) fn write(&self, extension: Extension<'_>) {
        write(&self.folder, extension);
    }

    /// What `ext:info` says.
    #[track_caller]
    pub(crate) fn info(&self, name: &str) -> Value {
        self.server.act("ext:info", json!({ "name": name }))
    }

    /// Waits until an extension has this status.
    #[track_caller]
    pub(crate) fn until_status(&self, name: &str, status: &str) -> Value {
        self.until(name, |info| info["status"] == status)
    }

    /// Waits until this holds of an extension.
    #[track_caller]
    pub(crate) fn until(&self, name: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let what = format!("the extension `{name}`; its log: {}", self.log(name));
        wait_for(&what, || {
            last = self.info(name);
            holds(&last).then(|| last.clone())
        })
    }

    /// The process of an extension.
    #[track_caller]
    pub(crate) fn pid(&self, name: &str) -> u32 {
        let info = self.until_status(name, "running");
        u32::try_from(info["pid"].as_u64().unwrap()).unwrap()
    }

    /// What the server keeps about an extension.
    pub(crate) fn state_of(&self, name: &str) -> PathBuf {
        self.server.state().join("extensions").join(name)
    }

    pub(crate) fn log(&self, name: &str) -> String {
        fs::read_to_string(self.state_of(name).join("log")).unwrap_or_default()
    }
}

fn write(folder: &TempDir, (name, manifest, code): Extension<'_>) {
    let folder = folder.path().join(name);
    fs::create_dir_all(&folder).unwrap();
    let text = format!("name = \"{name}\"\ncommand = [\"python3\", \"main.py\"]\n{manifest}\n");
    fs::write(folder.join("paned.toml"), text).unwrap();
    fs::write(folder.join("main.py"), format!("{PRELUDE}{code}")).unwrap();
}
