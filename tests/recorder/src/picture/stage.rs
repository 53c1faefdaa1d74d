//! Where the story is played: a shell in a pane, typed into at the speed of a person, and the tape
//! of that pane.

use std::time::{Duration, Instant};

use paned_e2e::{FakeAgent, UserShell};
use paned_model::Size;

use crate::record::TapeWatcher;

/// Between two keys.
const KEY: Duration = Duration::from_millis(28);
/// Before Enter.
const BEFORE_ENTER: Duration = Duration::from_millis(250);
/// After the screen was cleared.
const AFTER_CLEAR: Duration = Duration::from_millis(600);
/// The prompt of the shell.
const PROMPT: &str = r"\[\e[1;32m\]❯\[\e[0m\] ";

/// A shell, and what its terminal shows over time.
pub(super) struct Stage {
    watcher: TapeWatcher,
    shell: UserShell,
}

impl Stage {
    pub(super) fn start(size: Size) -> Self {
        let words = ["bash", "--norc", "--noprofile", "-i"];
        let shell = UserShell::start(&words, size, &[("PS1", PROMPT)]);
        let profiles = shell.home().join(".config/paned/profiles");
        std::fs::create_dir_all(&profiles).unwrap();
        std::fs::write(profiles.join("scripted.toml"), FakeAgent::PROFILE).unwrap();
        let stage = Self { watcher: TapeWatcher::start(shell.tape(), size), shell };
        stage.until("❯ $");
        stage
    }

    /// Runs paned in the story's folder, unseen.
    pub(super) fn prepare(&self, args: &[&str]) {
        let output = self.shell.paned(args);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {error}");
    }

    /// Empties the screen. The recording begins at the first time.
    pub(super) fn clear(&self) {
        self.write("\x0c");
        self.rest(AFTER_CLEAR);
    }

    /// Types a command and presses Enter.
    pub(super) fn command(&self, line: &str) {
        for key in line.chars() {
            self.write(&key.to_string());
            self.rest(KEY);
        }
        self.rest(BEFORE_ENTER);
        self.write("\r");
    }

    /// Types a command and waits until the shell takes the next one.
    pub(super) fn run(&self, line: &str) {
        let since = self.shell.end();
        self.command(line);
        self.shell.wait("^❯ $", since);
    }

    /// Types text or keys.
    pub(super) fn write(&self, text: &str) {
        self.shell.write(text);
    }

    /// Waits until a line matches.
    pub(super) fn until(&self, pattern: &str) {
        self.shell.wait(pattern, 0);
    }

    /// Leaves time to read.
    pub(super) fn rest(&self, time: Duration) {
        std::thread::sleep(time); // not a wait: the picture is as slow as a person
    }

    /// Everything that was printed since the screen was cleared for the first time.
    pub(super) fn recorded(&self) -> Vec<(Instant, Vec<u8>)> {
        let printed = self.watcher.seen.lock().unwrap().printed.clone();
        let is_clear = |bytes: &[u8]| bytes.windows(3).any(|piece| piece == b"\x1b[H");
        let begin = printed.iter().position(|(_, bytes)| is_clear(bytes)).unwrap_or_default();
        printed[begin..].to_vec()
    }
}
