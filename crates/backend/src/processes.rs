//! Reads the processes of a program from `/proc`: their command lines, whether they compute, and
//! whether one waits for input. Linux only; elsewhere nothing is known.
//!
//! What needs the memory of a process, or a path that it chose, is read on a blocking thread with a
//! deadline: a process can map a file of its own file system and not answer.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use paned_keeper::process::identity::{Process, ProcessTree};
use paned_model::TerminalState;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::terminal::{self, TerminalProcess};

/// How long one read of `/proc` may take. It takes microseconds, unless the process stalls it.
const READ_TIMEOUT: Duration = Duration::from_secs(1);

/// The shortest interval over which processor time is measured.
const SPAN: Duration = Duration::from_millis(250);
/// The share of one processor that counts as work: an idle program that draws a clock uses less.
const SHARE: f64 = 0.3;
/// The length of a clock tick, in seconds.
const TICK: f64 = 0.01;

/// The longest command line of an interpreter that identifies a program.
const LONGEST: usize = 512;
/// Names of interpreters, without version numbers.
const INTERPRETERS: [&str; 20] = [
    "python", "pypy", "node", "nodejs", "bun", "deno", "ruby", "perl", "php", "lua", "bash", "sh",
    "dash", "zsh", "ksh", "fish", "java", "busybox", "tclsh", "env",
];

/// A program and its version, as far as that is known without running it: its file, and the size
/// and modification time of that file. For an interpreter these are those of the script; without a
/// script, its arguments identify the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProgramIdentity {
    /// The executable file, with links resolved.
    pub executable: String,
    /// What an interpreter runs: a script, or its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<String>,
    /// The size of the script, else of the executable.
    pub size: u64,
    /// The modification time of the same file, in milliseconds since 1970.
    pub modified: i64,
}

impl ProgramIdentity {
    /// Whether it is the same program, of this or another version.
    #[must_use]
    pub fn is_same_program(&self, other: &Self) -> bool {
        self.executable == other.executable && self.runs == other.runs
    }

    fn of(process: &Process) -> Option<Self> {
        let folder = format!("/proc/{}", process.pid);
        // If the executable was deleted or replaced, the link is dangling: the version is unknown.
        let executable = fs::read_link(format!("{folder}/exe")).ok()?;
        let file = executable.to_str()?.to_owned();
        let (runs, version_file) = match is_interpreter(&executable) {
            true => script(&folder, process.argv().get(1..)?)?,
            false => (None, file.clone()),
        };
        let found = fs::metadata(version_file).ok().filter(fs::Metadata::is_file)?;
        let modified =
            found.mtime().checked_mul(1000)?.checked_add(found.mtime_nsec() / 1_000_000)?;
        Some(Self { executable: file, runs, size: found.len(), modified })
    }
}

fn is_interpreter(executable: &Path) -> bool {
    let name = executable.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c));
    INTERPRETERS.contains(&name)
}

/// What an interpreter runs, and the file whose size and time stand for its version.
fn script(folder: &str, arguments: &[String]) -> Option<(Option<String>, String)> {
    let first = arguments.iter().find(|word| !word.starts_with('-'));
    let resolve = |word: &String| {
        let path = Path::new(folder).join("cwd").join(word);
        let path = fs::canonicalize(path).ok().filter(|path| path.is_file())?;
        path.to_str().map(str::to_owned)
    };
    if let Some(file) = first.and_then(resolve) {
        return Some((Some(file.clone()), file));
    }
    let words = arguments.join(" ");
    let runs = Some(words).filter(|words| !words.is_empty());
    (runs.as_ref().is_none_or(|words| words.len() <= LONGEST))
        .then(|| (runs, format!("{folder}/exe")))
}

/// Runs reads of `/proc` on a blocking thread, one at a time.
#[derive(Default)]
struct ProcReader {
    /// A read that did not return in time.
    stalled: Option<JoinHandle<()>>,
}

impl ProcReader {
    /// The result of a read; `None` if it takes too long, or an earlier one has still not returned.
    async fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if self.stalled.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return None;
        }
        let (reply, result) = oneshot::channel();
        self.stalled = Some(tokio::task::spawn_blocking(move || {
            let _ = reply.send(read());
        }));
        let result = timeout(READ_TIMEOUT, result).await.ok()?;
        self.stalled = None;
        result.ok()
    }
}

/// The processes of one program.
pub struct Processes {
    root: Option<i32>,
    reader: ProcReader,
    /// The last measurement and its time.
    measured: Option<(Instant, CpuUsage)>,
}

/// The processor time of some processes.
#[derive(Clone, Copy, Default)]
struct CpuUsage {
    /// Processor time, in ticks.
    ticks: u64,
    /// How long they were runnable and waited for a processor, in nanoseconds.
    waited: u64,
}

impl Processes {
    /// The processes of the program with this pid.
    #[must_use]
    pub fn new(pid: Option<u32>) -> Self {
        let root = pid.and_then(|pid| i32::try_from(pid).ok());
        Self { root, reader: ProcReader::default(), measured: None }
    }

    /// The command lines of the program and its descendants.
    pub async fn command_lines(&mut self) -> Vec<Vec<String>> {
        let Some(root) = self.root else { return Vec::new() };
        let lines = move || processes_of(root).iter().map(Process::argv).collect();
        self.reader.read(lines).await.unwrap_or_default()
    }

    /// Whether they have used much processor time since the last call; `None` if that was just
    /// now.
    pub fn is_computing(&mut self, now: Instant) -> Option<bool> {
        if self.measured.is_some_and(|(at, _)| now < at + SPAN) {
            return None;
        }
        let all = self.root.map(processes_of).unwrap_or_default();
        let ticks = all.iter().filter_map(Process::cpu_ticks).sum();
        let waited = all.iter().filter_map(|process| queue_time(process.pid)).sum();
        let (at, before) = self.measured.replace((now, CpuUsage { ticks, waited }))?;
        let span = now.duration_since(at);
        let used = seconds(ticks.saturating_sub(before.ticks));
        let waited = Duration::from_nanos(waited.saturating_sub(before.waited)).as_secs_f64();
        // On a loaded system a program gets less processor time than it needs.
        let wanted = if used < SHARE / 4.0 * span.as_secs_f64() { used } else { used + waited };
        Some(SHARE * span.as_secs_f64() <= wanted)
    }

    /// The identity of the program, if it is known.
    pub async fn program(&mut self) -> Option<ProgramIdentity> {
        let root = self.root?;
        self.reader.read(move || ProgramIdentity::of(&Process::find(root)?)).await.flatten()
    }

    /// Whether a process in the foreground of the terminal only waits for input: its only thread
    /// sleeps in a `read` of the terminal. Programs that wait with `poll` or the like may wait for
    /// other things, too.
    pub async fn is_waiting_for_input(&mut self) -> bool {
        let Some(root) = self.root else { return false };
        let waits = move || processes_of(root).iter().any(terminal::only_reads);
        self.reader.read(waits).await.unwrap_or(false)
    }

    /// The state of their terminal; for a program inside `rlwrap`, of its inner terminal.
    pub async fn terminal_state(&mut self) -> TerminalState {
        let Some(root) = self.root else { return TerminalState::default() };
        let state = move || {
            let root_process = TerminalProcess::find(root)?;
            Some(terminal::state(root_process, &processes_of(root)))
        };
        self.reader.read(state).await.flatten().unwrap_or_default()
    }
}

/// A process and its living descendants.
fn processes_of(root: i32) -> Vec<Process> {
    let mut all = ProcessTree::of(root).living();
    all.extend(Process::find(root));
    all
}

/// How long a process was runnable and waited for a processor, in nanoseconds.
fn queue_time(pid: i32) -> Option<u64> {
    let line = fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn seconds(count: u64) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from) * TICK
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits until something is found.
    #[track_caller]
    fn wait<T>(found: impl Fn() -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(found) = found() {
                return found;
            }
            assert!(Instant::now() < deadline, "it does not come");
            std::thread::yield_now();
        }
    }

    fn program(argv: &[&str]) -> (std::process::Child, ProgramIdentity) {
        let mut command = std::process::Command::new(argv[0]);
        command.args(&argv[1..]).stdin(std::process::Stdio::piped());
        let child = command.spawn().unwrap();
        let identity = |pid: u32| ProgramIdentity::of(&Process::find(i32::try_from(pid).ok()?)?);
        let own = identity(std::process::id());
        // Between fork and exec it is still this test.
        let found = wait(|| identity(child.id()).filter(|program| Some(program) != own.as_ref()));
        (child, found)
    }

    #[test]
    fn a_program_is_known_by_its_file_a_script_by_its_own_and_a_version_by_its_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (one, other) = (file("one.sh"), file("other.sh"));
        fs::write(&one, "read line\n").unwrap();
        fs::write(&other, "read line\n").unwrap();
        let shells = [
            &["sh", &one][..],
            &["sh", &one],
            &["sh", &other],
            &["sh", "-c", "read line"],
            &["cat"],
        ];
        let (children, found): (Vec<_>, Vec<_>) = shells.iter().map(|argv| program(argv)).unzip();
        assert_eq!(found[0], found[1]);
        assert_eq!(
            found[0].runs.as_ref(),
            Some(&fs::canonicalize(&one).unwrap().to_str().unwrap().to_owned())
        );
        assert_ne!(found[0], found[2], "another script");
        assert_eq!(found[3].runs.as_deref(), Some("-c read line"));
        assert_eq!(found[4].runs, None);
        fs::write(&one, "read line; read more\n").unwrap();
        let (again, changed) = program(&["sh", &one]);
        assert_ne!(changed, found[0], "another version");
        assert!(changed.is_same_program(&found[0]) && !changed.is_same_program(&found[2]));
        for mut child in children.into_iter().chain([again]) {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[tokio::test]
    async fn a_read_of_a_pipe_is_no_wait_for_input() {
        let (mut child, _) = program(&["cat"]);
        let stat = || fs::read_to_string(format!("/proc/{}/stat", child.id())).ok();
        wait(|| stat().filter(|stat| stat.contains(") S ")));
        assert!(!Processes::new(Some(child.id())).is_waiting_for_input().await);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Processes that are killed when the test is over, however it ends.
    struct Ended([std::process::Child; 2]);

    impl Drop for Ended {
        fn drop(&mut self) {
            for child in &mut self.0 {
                child.kill().unwrap();
                child.wait().unwrap();
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_that_stalls_is_given_up_and_not_repeated() {
        let mut reader = ProcReader::default();
        let (release, stalls) = std::sync::mpsc::channel::<()>();
        let stalled = reader.read(move || stalls.recv());
        let clock = async {
            tokio::task::yield_now().await;
            tokio::time::advance(READ_TIMEOUT * 2).await;
        };
        let (stalled, ()) = tokio::join!(stalled, clock);
        assert_eq!(stalled, None);
        assert_eq!(reader.read(|| 1).await, None, "the first read still blocks its thread");
        release.send(()).unwrap();
        let mut read = None;
        while read.is_none() {
            read = reader.read(|| 2).await;
        }
        assert_eq!(read, Some(2));
        assert_eq!(reader.read(|| 3).await, Some(3));
    }

    #[tokio::test]
    async fn a_program_that_computes_is_told_from_one_that_sleeps() {
        let busy =
            std::process::Command::new("yes").stdout(std::process::Stdio::null()).spawn().unwrap();
        let idle = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let children = Ended([busy, idle]);
        let [busy, idle] = &children.0;
        let mut of_busy = Processes::new(Some(busy.id()));
        let mut of_idle = Processes::new(Some(idle.id()));
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut computes = false;
        while !computes && Instant::now() < deadline {
            computes |= of_busy.is_computing(Instant::now()) == Some(true);
            assert_ne!(of_idle.is_computing(Instant::now()), Some(true));
            std::thread::yield_now();
        }
        assert!(computes);
        assert!(of_idle.command_lines().await.contains(&vec!["sleep".to_owned(), "60".to_owned()]));
    }
}
