//! Reads the processes of a program from `/proc`: their command lines, whether they compute, and
//! whether one waits for input. Linux only; elsewhere nothing is known.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use paned_keeper::process::identity::{Process, ProcessTree};
use paned_model::TerminalState;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::terminal::{self, TerminalProcess};

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

/// The processes of one program.
pub struct Processes {
    root: Option<i32>,
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
        Self { root, measured: None }
    }

    /// The command lines of the program and its descendants.
    #[must_use]
    pub fn command_lines(&self) -> Vec<Vec<String>> {
        self.all().iter().map(Process::argv).collect()
    }

    /// Whether they have used much processor time since the last call; `None` if that was just
    /// now.
    pub fn is_computing(&mut self, now: Instant) -> Option<bool> {
        if self.measured.is_some_and(|(at, _)| now < at + SPAN) {
            return None;
        }
        let all = self.all();
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
    #[must_use]
    pub fn program(&self) -> Option<ProgramIdentity> {
        ProgramIdentity::of(&Process::find(self.root?)?)
    }

    /// Whether a process in the foreground of the terminal only waits for input: its only thread
    /// sleeps in a `read` of the terminal. Programs that wait with `poll` or the like are not
    /// recognised.
    #[must_use]
    pub fn is_waiting_for_input(&self) -> bool {
        self.all().iter().any(|process| reads_terminal(process.pid).unwrap_or(false))
    }

    /// The state of their terminal; for a program inside `rlwrap`, of its inner terminal.
    #[must_use]
    pub fn terminal_state(&self) -> TerminalState {
        let all = self.all();
        let root = self.root.and_then(TerminalProcess::find);
        root.map_or_else(TerminalState::default, |root| terminal::state(root, &all))
    }

    fn all(&self) -> Vec<Process> {
        let Some(root) = self.root else { return Vec::new() };
        let mut all = ProcessTree::of(root).living();
        all.extend(Process::find(root));
        all
    }
}

fn reads_terminal(pid: i32) -> Option<bool> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = line.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let [state, _, group, _, _, foreground, ..] = fields[..] else { return None };
    let is_single = *fields.get(17)? == "1";
    if state != "S" || group != foreground || !is_single {
        return Some(false);
    }
    // Only a process that may trace this one can read its system call.
    if let Some(reads) = fs::read_to_string(format!("/proc/{pid}/syscall")).ok().and_then(|call| {
        let mut words = call.split_ascii_whitespace();
        let number: i64 = words.next()?.parse().ok()?;
        let fd = u32::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        Some(number == read_call() && is_terminal(pid, fd))
    }) {
        return Some(reads);
    }
    // All processes of the user can read where it sleeps in the kernel. There, a read of a socket
    // may look like a read of a terminal.
    match fs::read_to_string(format!("/proc/{pid}/wchan")).ok()?.trim() {
        "n_tty_read" => Some(true),
        "wait_woken" => has_no_socket(pid),
        _ => Some(false),
    }
}

/// The number of the system call `read`.
const fn read_call() -> i64 {
    if cfg!(target_arch = "x86_64") { 0 } else { 63 }
}

fn is_terminal(pid: i32, fd: u32) -> bool {
    let link = fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap_or_default();
    link.starts_with("/dev/pts") || link.starts_with("/dev/tty")
}

fn has_no_socket(pid: i32) -> Option<bool> {
    let mut links = fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let is_socket = |link: fs::DirEntry| {
        fs::read_link(link.path()).is_ok_and(|link| link.to_string_lossy().starts_with("socket:"))
    };
    Some(!links.any(is_socket))
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
        let own = Processes::new(Some(std::process::id())).program();
        let processes = Processes::new(Some(child.id()));
        // Between fork and exec it is still this test.
        let found = wait(|| processes.program().filter(|program| Some(program) != own.as_ref()));
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

    #[test]
    fn a_read_of_a_pipe_is_no_wait_for_input() {
        let (mut child, _) = program(&["cat"]);
        let stat = || fs::read_to_string(format!("/proc/{}/stat", child.id())).ok();
        wait(|| stat().filter(|stat| stat.contains(") S ")));
        assert!(!Processes::new(Some(child.id())).is_waiting_for_input());
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

    #[test]
    fn a_program_that_computes_is_told_from_one_that_sleeps() {
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
        assert!(of_idle.command_lines().contains(&vec!["sleep".to_owned(), "60".to_owned()]));
    }
}
