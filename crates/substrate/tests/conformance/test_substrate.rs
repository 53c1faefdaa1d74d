//! A substrate for one law, in a folder of its own; all of it is removed with it, also after a
//! panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use paned_backend::native::ForkServer;
use paned_backend::tmux::TmuxServerAddr;
use paned_keeper::tape::TapeReader;
use paned_model::Size;
use paned_substrate::Substrate;
use paned_substrate::{
    CaptureStyle, FakeSubstrate, Name, NativeSubstrate, Program, SubstratePane, Target,
    TmuxSubstrate,
};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;

use crate::fake_scripts;

/// How long anything may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The size of sessions where a law needs no other.
pub(crate) const SIZE: Size = Size { cols: 200, rows: 50 };

pub(crate) struct TestSubstrate {
    substrate: Box<dyn Substrate>,
    kind: SubstrateKind,
    folder: TempDir,
}

enum SubstrateKind {
    Native,
    Tmux,
    Fake(FakeSubstrate),
}

impl TestSubstrate {
    pub(crate) fn native() -> Self {
        Self::on(SubstrateKind::Native)
    }

    pub(crate) fn tmux() -> Self {
        Self::on(SubstrateKind::Tmux)
    }

    pub(crate) fn fake() -> Self {
        Self::on(SubstrateKind::Fake(fake_scripts::fake()))
    }

    fn on(kind: SubstrateKind) -> Self {
        let folder = TempDir::with_prefix("paned-law-").unwrap();
        Self { substrate: open(&kind, folder.path()), kind, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The substrate.
    pub(crate) fn substrate(&self) -> &dyn Substrate {
        self.substrate.as_ref()
    }

    /// The pid of the tmux server, if one runs here.
    fn server(&self) -> Option<u32> {
        self.run_tmux(&["display-message", "-p", "#{pid}"])?.trim().parse().ok()
    }

    /// Runs a tmux command as a user would.
    pub(crate) fn run_tmux(&self, words: &[&str]) -> Option<String> {
        let socket = self.folder.path().join("tmux.sock");
        let mut tmux = Command::new("tmux");
        let said = tmux.arg("-S").arg(socket).args(words).stderr(Stdio::null()).output().ok()?;
        said.status.success().then(|| String::from_utf8_lossy(&said.stdout).into_owned())
    }

    /// Another handle to the same substrate, as another process would have it.
    pub(crate) fn second_handle(&self) -> Box<dyn Substrate> {
        open(&self.kind, self.folder.path())
    }

    /// Replaces the handle, as after a restart of the process that used it.
    pub(crate) fn reopen(&mut self) {
        self.substrate = self.second_handle();
    }

    /// Starts a session and returns its target.
    pub(crate) async fn spawn(&self, name: &str, program: &Program) -> Target {
        let name = named(name);
        self.substrate().spawn(&name, program, SIZE).await.unwrap();
        Target::from(&name)
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        let sessions = self.substrate().list().await.unwrap();
        sessions.iter().map(|session| session.name.to_string()).collect()
    }

    pub(crate) async fn panes(&self, name: &str) -> Vec<SubstratePane> {
        self.substrate().panes(&named(name)).await.unwrap()
    }

    /// Waits until the last lines of a pane match; panics with what they were instead.
    pub(crate) async fn wait_for_lines(
        &self,
        target: &Target,
        satisfy: impl Fn(&[String]) -> bool,
    ) -> Vec<String> {
        let end = Instant::now() + TIMEOUT;
        loop {
            let lines = self.substrate().capture(target, 100).await.unwrap();
            if satisfy(&lines) {
                return lines;
            }
            assert!(Instant::now() < end, "the last lines are {lines:#?}");
            pause().await;
        }
    }

    /// Waits for a line.
    pub(crate) async fn wait_for_line(&self, target: &Target, line: &str) {
        self.wait_for_lines(target, |lines| lines.iter().any(|other| other == line)).await;
    }

    /// Queries [`crate::programs::size`] until it sees this: tmux resizes a terminal a moment after
    /// it reports the size.
    pub(crate) async fn wait_for_size(&self, target: &Target, rows_and_cols: &str) {
        self.wait_for_line(target, "ready").await;
        self.until(rows_and_cols, || async {
            self.substrate().send(target, "").await.unwrap();
            let lines = self.substrate().capture(target, 100).await.unwrap();
            lines.last().is_some_and(|last| last == rows_and_cols)
        })
        .await;
    }

    /// Waits until the last line is this.
    pub(crate) async fn wait_for_last_line(&self, target: &Target, line: &str) {
        self.wait_for_lines(target, |lines| lines.last().is_some_and(|last| last == line)).await;
    }

    /// Waits until the screen matches.
    pub(crate) async fn wait_for_screen(
        &self,
        target: &Target,
        style: CaptureStyle,
        satisfy: impl Fn(&[String]) -> bool,
    ) -> Vec<String> {
        let end = Instant::now() + TIMEOUT;
        loop {
            let rows = self.substrate().screen(target, style).await.unwrap();
            if satisfy(&rows) {
                return rows;
            }
            assert!(Instant::now() < end, "the screen is {rows:#?}");
            pause().await;
        }
    }

    /// Waits for a condition by polling.
    pub(crate) async fn until<F: Future<Output = bool>>(&self, what: &str, ask: impl Fn() -> F) {
        let end = Instant::now() + TIMEOUT;
        while !ask().await {
            assert!(Instant::now() < end, "never {what}");
            pause().await;
        }
    }
}

fn open(kind: &SubstrateKind, folder: &Path) -> Box<dyn Substrate> {
    match kind {
        SubstrateKind::Native => Box::new(native(folder)),
        SubstrateKind::Tmux => Box::new(TmuxSubstrate::new(TmuxServerAddr::own(folder))),
        SubstrateKind::Fake(fake) => Box::new(fake.clone()),
    }
}

/// Native sessions in a folder. The example is the fork server: cargo builds it with the tests.
pub(crate) fn native(folder: &Path) -> NativeSubstrate {
    let fork_server =
        ForkServer::new(example(), vec!["fork-server".into()], folder.join("keepers.log"));
    NativeSubstrate::new(folder.to_owned(), fork_server)
}

/// The example program beside this test.
pub(crate) fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples/agents");
    assert!(example.exists(), "{} is missing; run `cargo build --examples`", example.display());
    example
}

pub(crate) fn named(name: &str) -> Name {
    Name::new(name).unwrap()
}

pub(crate) async fn pause() {
    tokio::time::sleep(POLL_INTERVAL).await;
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number.try_into().unwrap()).unwrap()
}

/// Whether a process runs; a zombie does not.
pub(crate) fn is_alive(number: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    let is_zombie = stat.rsplit(')').next().unwrap_or_default().starts_with(" Z");
    test_kill_process(pid(number)).is_ok() && !is_zombie
}

impl Drop for TestSubstrate {
    fn drop(&mut self) {
        let server = self.server();
        let _ = self.run_tmux(&["kill-server"]);
        let panes = fs::read_dir(self.folder.path().join("panes"));
        let tapes = panes.into_iter().flatten().flatten().map(|pane| pane.path().join("tape"));
        let tapes: Vec<TapeReader> =
            tapes.filter_map(|tape| TapeReader::open(&tape).ok()).collect();
        let keepers: Vec<u32> =
            tapes.iter().map(TapeReader::keeper).filter(|pid| 0 < *pid).collect();
        keepers.iter().for_each(|keeper| _ = kill_process(pid(*keeper), Signal::TERM));
        let all: Vec<u32> = keepers.into_iter().chain(server).collect();
        let end = Instant::now() + TIMEOUT;
        while all.iter().any(|process| is_alive(*process)) && Instant::now() < end {
            std::thread::sleep(POLL_INTERVAL);
        }
        let left: Vec<&u32> = all.iter().filter(|process| is_alive(**process)).collect();
        left.iter().for_each(|process| _ = kill_process(pid(**process), Signal::KILL));
        assert!(left.is_empty() || std::thread::panicking(), "these do not end: {left:?}");
    }
}
