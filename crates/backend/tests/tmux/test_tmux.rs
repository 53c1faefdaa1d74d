//! A tmux server for one test, and waits with a time-out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use paned_backend::tmux::operations::{TmuxCreateResult, TmuxProgram};
use paned_backend::tmux::{
    ControlClient, SessionName, TmuxEvent, TmuxEvents, TmuxPane, TmuxServerAddr, TmuxServerInfo,
    connect,
};
use paned_model::Size;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

/// How long anything may take that is not itself measured.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// A server of our own in a folder of its own; both are gone with it, also after a panic.
pub(crate) struct TestTmuxServer {
    folder: TempDir,
    pub(crate) client: ControlClient,
    pub(crate) events: TmuxEvents,
    /// The processes of servers that were connected.
    servers: Vec<u32>,
}

impl TestTmuxServer {
    pub(crate) async fn open() -> Self {
        let folder = TempDir::with_prefix("paned-tmux-").unwrap();
        let (client, facts) =
            connect(TmuxServerAddr::own(&folder.path().join("stage"))).await.unwrap();
        let mut test = Self { folder, client, events: facts, servers: Vec::new() };
        test.connected().await;
        test
    }

    /// A folder to put things into.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("stage/tmux.sock")
    }

    /// A session with one pane that runs this.
    pub(crate) async fn session(&self, name: &str, argv: &[&str]) -> TmuxCreateResult {
        let size = Size { cols: 100, rows: 30 };
        let name = SessionName::new(name).unwrap();
        self.client.new_session(&name, size, &program(argv)).await.unwrap()
    }

    pub(crate) async fn connected(&mut self) -> TmuxServerInfo {
        let connected = |fact: &TmuxEvent| match fact {
            TmuxEvent::Connected(server) => Some(server.clone()),
            _ => None,
        };
        let server = self.wait_for_event("connected", connected).await;
        self.servers.push(server.pid);
        server
    }

    /// Waits for an event; panics with those that came instead.
    pub(crate) async fn wait_for_event<T>(
        &mut self,
        what: &str,
        pick: impl Fn(&TmuxEvent) -> Option<T>,
    ) -> T {
        let mut seen = Vec::new();
        let until = tokio::time::Instant::now() + TIMEOUT;
        loop {
            match tokio::time::timeout_at(until, self.events.recv()).await {
                Ok(Some(fact)) => {
                    if let Some(found) = pick(&fact) {
                        return found;
                    }
                    seen.push(fact);
                }
                _ => panic!("never {what}; seen {seen:#?}"),
            }
        }
    }

    /// Waits until a pane's screen matches; panics with what it showed instead.
    pub(crate) async fn wait_for_screen(
        &self,
        pane: TmuxPane,
        until: impl Fn(&str) -> bool,
    ) -> String {
        let style = paned_backend::tmux::capture::CaptureStyle::Plain;
        let mut text = String::new();
        let end = Instant::now() + TIMEOUT;
        while Instant::now() < end {
            let lines = self.client.screen(pane, style).await.unwrap();
            text = String::from_utf8_lossy(&lines.join(&b'\n')).into_owned();
            if until(&text) {
                return text;
            }
            pause().await;
        }
        panic!("the screen shows {text}");
    }
}

impl Drop for TestTmuxServer {
    fn drop(&mut self) {
        // A server that a test has stopped reads nothing.
        self.servers.iter().for_each(|pid| signal(*pid, Signal::CONT));
        let mut kill = Process::new("tmux");
        let _ = kill.arg("-S").arg(self.socket()).arg("kill-server").stderr(Stdio::null()).status();
        let all_gone = || self.servers.iter().all(|pid| !is_alive(*pid));
        let end = Instant::now() + TIMEOUT;
        while !all_gone() && Instant::now() < end {
            std::thread::sleep(POLL_INTERVAL);
        }
        // Only needed for a server that a failed test has left behind.
        self.servers
            .iter()
            .filter(|pid| is_alive(**pid))
            .for_each(|pid| signal(*pid, Signal::KILL));
    }
}

pub(crate) fn program(argv: &[&str]) -> TmuxProgram {
    let argv = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
    TmuxProgram { argv, ..TmuxProgram::default() }
}

pub(crate) fn signal(pid: u32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal);
}

/// Whether a process runs; a zombie does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let there = test_kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap()).is_ok();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    there && !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z")
}

/// The process of our control client.
pub(crate) fn client_pid(server: &TmuxServerInfo) -> u32 {
    server.client_pid
}

/// Waits for a condition that no event reports.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !done() {
        assert!(Instant::now() < end, "never {what}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

const POLL_INTERVAL: Duration = Duration::from_millis(5);

pub(crate) async fn pause() {
    tokio::time::sleep(POLL_INTERVAL).await;
}
