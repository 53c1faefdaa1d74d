//! What the system tells of a program and all it started: which commands they are, and whether they compute. Linux only;
//! elsewhere nothing is known.

use std::time::Duration;

use paned_keeper::process::{Process, Tree};
use tokio::time::Instant;

/// How long processor time is measured, at least.
const SPAN: Duration = Duration::from_millis(250);
/// A share of one processor that means work: an idle program that draws a clock uses less.
const SHARE: f64 = 0.3;
/// The length of a tick.
const TICK: f64 = 0.01;

/// The processes of one program.
pub struct Processes {
    root: Option<i32>,
    /// When they were last measured, and what they had used.
    measured: Option<(Instant, u64)>,
}

impl Processes {
    /// A program and what it starts.
    #[must_use]
    pub fn new(pid: Option<u32>) -> Self {
        let root = pid.and_then(|pid| i32::try_from(pid).ok());
        Self { root, measured: None }
    }

    /// The command lines of the program and of everything it has started.
    #[must_use]
    pub fn command_lines(&self) -> Vec<Vec<String>> {
        self.all().iter().map(Process::argv).collect()
    }

    /// Whether they have used much of a processor since the last call; nothing when that was just now.
    pub fn compute(&mut self, now: Instant) -> Option<bool> {
        if self.measured.is_some_and(|(at, _)| now < at + SPAN) {
            return None;
        }
        let used = self.all().iter().filter_map(Process::cpu_ticks).sum();
        let (at, before) = self.measured.replace((now, used))?;
        let share = ticks(used.saturating_sub(before)) / now.duration_since(at).as_secs_f64();
        Some(SHARE <= share)
    }

    fn all(&self) -> Vec<Process> {
        let Some(root) = self.root else { return Vec::new() };
        let mut all = Tree::of(root).living();
        all.extend(Process::find(root));
        all
    }
}

fn ticks(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from) * TICK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_computes_is_told_from_one_that_sleeps() {
        let busy =
            std::process::Command::new("yes").stdout(std::process::Stdio::null()).spawn().unwrap();
        let idle = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut of_busy = Processes::new(Some(busy.id()));
        let mut of_idle = Processes::new(Some(idle.id()));
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut computes = false;
        while !computes && Instant::now() < deadline {
            computes |= of_busy.compute(Instant::now()) == Some(true);
            assert_ne!(of_idle.compute(Instant::now()), Some(true));
            std::thread::yield_now();
        }
        assert!(computes);
        assert!(of_idle.command_lines().contains(&vec!["sleep".to_owned(), "60".to_owned()]));
        for mut child in [busy, idle] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
