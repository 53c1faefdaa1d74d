//! The scripted agent of `src/bin/fake-agent`, for tests: how it is started, and what its log says.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{binary, wait_for};

/// A `fake-agent` that can be started, with a log of its own.
pub struct FakeAgent {
    dir: TempDir,
    argv: Vec<String>,
}

impl FakeAgent {
    /// Its profile, for the folder of the user's own.
    pub const PROFILE: &'static str = include_str!("../data/profiles/fake-agent.toml");

    /// One with these flags; `tests/src/bin/fake-agent/flags.rs` has them.
    #[must_use]
    #[track_caller]
    pub fn new(flags: &[&str]) -> Self {
        let program = binary().with_file_name("fake-agent");
        assert!(program.is_file(), "{} is missing; build the workspace first", program.display());
        let dir = TempDir::with_prefix("paned-fake-agent-").unwrap();
        let log = dir.path().join("log");
        let mut argv =
            vec![program.display().to_string(), "--log".into(), log.display().to_string()];
        argv.extend(flags.iter().map(|flag| (*flag).to_owned()));
        Self { dir, argv }
    }

    /// The program and its arguments.
    #[must_use]
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// The parameters that start it in a pane of this name.
    #[must_use]
    pub fn params(&self, id: &str) -> Value {
        json!({ "id": id, "argv": self.argv, "cwd": self.dir.path() })
    }

    /// Everything it has logged, in order; each has `event` and `at`.
    #[must_use]
    pub fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.path().join("log")).unwrap_or_default();
        // A last line without its end is still being written.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The prompts that were submitted, as they are.
    #[must_use]
    pub fn prompts(&self) -> Vec<String> {
        let told = self.log().into_iter().filter(|line| line["event"] == "prompt");
        told.map(|line| line["text"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until so many events of a name were logged; answers the last.
    #[track_caller]
    pub fn wait(&self, event: &str, count: usize) -> Value {
        wait_for(&format!("{count} of `{event}`"), || {
            self.log().into_iter().filter(|line| line["event"] == event).nth(count.checked_sub(1)?)
        })
    }
}
