//! The program that runs Node packages, and the host that loads them.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::process::Command;
use tokio::time::timeout;

/// The host, if this build has one.
const HOST: Option<&str> = include!(concat!(env!("OUT_DIR"), "/host.rs"));
/// The oldest Node that can run it.
const OLDEST_NODE: u32 = 20;
/// How long a program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
const HOST_PREFIX: &str = "host-";

/// Which program runs Node packages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeChoice {
    /// The user's choice; otherwise Node or Bun is searched on `PATH`.
    pub program: Option<PathBuf>,
}

/// Finds the program once. A failure is tried again the next time.
pub(crate) struct NodeFinder {
    choice: NodeChoice,
    env: Vec<(String, String)>,
    found: Mutex<Option<PathBuf>>,
    /// Extensions start at the same time, and only one of them may replace the host's file.
    writing: Mutex<()>,
}

/// A program that can run the host, or why one cannot.
type Usable = Result<(), String>;

impl NodeFinder {
    pub(crate) fn new(choice: NodeChoice, env: Vec<(String, String)>) -> Self {
        Self { choice, env, found: Mutex::default(), writing: Mutex::default() }
    }

    /// The command that runs a Node package, without the package's folder.
    ///
    /// # Errors
    /// With a sentence that says what is missing.
    pub(crate) async fn command(&self, root: &Path) -> Result<Vec<String>, String> {
        let Some(host) = HOST else {
            return Err(
                "this build of paned has no Node host, so it runs no Node packages; build \
                        it with `make`, or install a release"
                    .to_owned(),
            );
        };
        let host = self
            .write_host(host, root)
            .map_err(|error| format!("cannot write the Node host: {error}"))?;
        let program = self.find().await?;
        Ok([program, host].map(|path| path.to_string_lossy().into_owned()).to_vec())
    }

    fn write_host(&self, host: &str, root: &Path) -> io::Result<PathBuf> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        write_host(host, root)
    }

    async fn find(&self) -> Result<PathBuf, String> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(found) = found {
            return Ok(found);
        }
        let program = match &self.choice.program {
            Some(program) => {
                self.check(program).await.map_err(|why| {
                    format!("{} (`node` under `[extensions]`) {why}", program.display())
                })?;
                program.clone()
            }
            None => self.search().await?,
        };
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(program.clone());
        Ok(program)
    }

    async fn search(&self) -> Result<PathBuf, String> {
        let path = self.env.iter().find(|(name, _)| name == "PATH");
        let folders = || std::env::split_paths(path.map_or("", |(_, value)| value.as_str()));
        let mut refused = String::new();
        for name in ["node", "nodejs", "bun"] {
            for program in folders().map(|folder| folder.join(name)) {
                if !program.is_absolute() || !program.is_file() {
                    continue;
                }
                match self.check(&program).await {
                    Ok(()) => return Ok(program),
                    Err(why) => refused = format!(" ({} {why})", program.display()),
                }
            }
        }
        Err(format!(
            "Node.js {OLDEST_NODE} or newer, or Bun, is needed for Node packages and was not found \
            on PATH{refused}; install it, or set `node` under `[extensions]` in config.toml"
        ))
    }

    /// Whether a program is a Node that is new enough, or Bun.
    async fn check(&self, program: &Path) -> Usable {
        let mut command = Command::new(program);
        command.arg("--version").env_clear().stdin(Stdio::null()).stderr(Stdio::null());
        command.envs(self.env.iter().map(|(name, value)| (name, value))).kill_on_drop(true);
        let output = match timeout(VERSION_TIMEOUT, command.output()).await {
            Ok(output) => output.map_err(|error| format!("cannot be run: {error}"))?,
            Err(_) => return Err("does not print its version".to_owned()),
        };
        check_version(String::from_utf8_lossy(&output.stdout).trim())
    }
}

/// Node prints `v22.1.0`, Bun `1.2.3`.
fn check_version(version: &str) -> Usable {
    let number = |text: &str| text.split('.').next().and_then(|first| first.parse::<u32>().ok());
    match version.strip_prefix('v') {
        Some(node) => match number(node) {
            Some(major) if OLDEST_NODE <= major => Ok(()),
            Some(_) | None => Err(format!("is {}, which is too old", version.escape_debug())),
        },
        None if number(version).is_some() => Ok(()),
        None => Err("is neither Node nor Bun".to_owned()),
    }
}

/// Writes the host to a file of its own version, unless it is there, and removes other versions.
fn write_host(host: &str, root: &Path) -> io::Result<PathBuf> {
    let digest: String =
        Sha256::digest(host).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let name = format!("{HOST_PREFIX}{digest}.mjs");
    let path = root.join(&name);
    if fs::read(&path).is_ok_and(|text| text == host.as_bytes()) {
        return Ok(path);
    }
    fs::create_dir_all(root)?;
    for entry in fs::read_dir(root)?.flatten() {
        let other = entry.file_name();
        if other.to_string_lossy().starts_with(HOST_PREFIX) && entry.path().is_file() {
            let _ = fs::remove_file(entry.path());
        }
    }
    let fresh = root.join(format!("{name}.new"));
    let _ = fs::remove_file(&fresh);
    let mut open = fs::OpenOptions::new();
    let mut file = open.write(true).create_new(true).mode(0o600).open(&fresh)?;
    file.write_all(host.as_bytes())?;
    fs::rename(fresh, &path)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_from_20_on_and_bun_are_good() {
        for version in ["v20.0.0", "v22.13.1", "v100.0.0", "1.2.3"] {
            assert_eq!(check_version(version), Ok(()), "{version}");
        }
        for version in ["v18.20.0", "v1", "vx", "", "Python 3.12"] {
            assert!(check_version(version).is_err(), "{version}");
        }
    }

    #[test]
    fn the_host_is_written_once_and_replaces_another_version() {
        let dir = tempfile::tempdir().unwrap();
        let old = write_host("old", dir.path()).unwrap();
        let host = write_host("new", dir.path()).unwrap();
        assert_eq!(write_host("new", dir.path()).unwrap(), host);
        assert_eq!(fs::read_to_string(&host).unwrap(), "new");
        assert!(!old.exists());
    }

    #[test]
    fn extensions_that_start_at_the_same_time_all_get_the_host() {
        let host = "x".repeat(64 << 10);
        for _ in 0..20 {
            let dir = tempfile::tempdir().unwrap();
            let finder = NodeFinder::new(NodeChoice::default(), Vec::new());
            let start = std::sync::Barrier::new(6);
            let write = || {
                start.wait();
                let path = finder.write_host(&host, dir.path()).unwrap();
                assert_eq!(fs::read_to_string(path).unwrap().len(), host.len());
            };
            std::thread::scope(|scope| {
                for _ in 0..6 {
                    scope.spawn(write);
                }
            });
        }
    }

    #[tokio::test]
    async fn without_node_the_sentence_says_what_is_missing() {
        let dir = tempfile::tempdir().unwrap();
        let env = vec![("PATH".to_owned(), dir.path().display().to_string())];
        let finder = NodeFinder::new(NodeChoice::default(), env);
        let sentence = finder.find().await.unwrap_err();
        assert!(sentence.contains("Node.js 20 or newer"), "{sentence}");
    }
}
