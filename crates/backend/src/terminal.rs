//! Reads the state of a terminal: the modes of its line discipline, and whether a process in its
//! foreground waits for input. Linux only; elsewhere nothing is known.
//!
//! A screen can show a prompt while its program works. A process that waits for input sleeps in a
//! system call with the terminal among its descriptors, and `/proc` shows that.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use paned_keeper::process::identity::Process;
use paned_model::{LineModes, TerminalState};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::ioctl_fionread;
use rustix::termios::{LocalModes, tcgetattr};

/// The major device number of pseudo-terminals.
const PTS_MAJOR: u64 = 136;
/// How many descriptors of one call are checked.
const MAX_DESCRIPTORS: u64 = 1024;
/// `EPOLLIN`.
const EPOLL_IN: u64 = 1;
/// A program that runs another one on a terminal of its own and edits lines for it.
const LINE_WRAPPER: &str = "rlwrap";

/// The numbers of the system calls in which a program waits for input.
#[cfg(target_arch = "x86_64")]
mod call {
    pub(super) const READ: &[u64] = &[0, 19];
    pub(super) const POLL: &[u64] = &[7, 271];
    pub(super) const SELECT: &[u64] = &[23, 270];
    pub(super) const EPOLL: &[u64] = &[232, 281, 441];
    pub(super) const IO_URING: u64 = 426;
}
#[cfg(not(target_arch = "x86_64"))]
mod call {
    pub(super) const READ: &[u64] = &[63, 65];
    pub(super) const POLL: &[u64] = &[73];
    pub(super) const SELECT: &[u64] = &[72];
    pub(super) const EPOLL: &[u64] = &[22, 441];
    pub(super) const IO_URING: u64 = 426;
}

/// A process and its terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalProcess {
    pid: i32,
    group: i32,
    /// The device number of its terminal.
    device: u64,
    /// The foreground process group of that terminal.
    foreground: i32,
    is_stopped: bool,
}

impl TerminalProcess {
    pub(crate) fn find(pid: i32) -> Option<Self> {
        let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let line = String::from_utf8_lossy(&line);
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let [state, _, group, _, device, foreground, ..] = fields[..] else { return None };
        Some(Self {
            pid,
            group: group.parse().ok()?,
            device: device.parse().ok()?,
            foreground: foreground.parse().ok()?,
            is_stopped: matches!(state, "T" | "t"),
        })
    }
}

/// The state of the terminal of `root`; `all` are the processes that may be in its foreground.
pub(crate) fn state(root: TerminalProcess, all: &[Process]) -> TerminalState {
    let on_terminals: Vec<TerminalProcess> =
        all.iter().filter_map(|process| TerminalProcess::find(process.pid)).collect();
    let wraps = |process: &Process| process.command == LINE_WRAPPER;
    let inner = || {
        let mut others = on_terminals.iter().filter(|process| process.device != 0);
        others.find(|process| process.device != root.device).copied()
    };
    let root = all.iter().any(wraps).then(inner).flatten().unwrap_or(root);
    let mut state = modes(root.device).unwrap_or_default();
    let foreground = on_terminals.iter().filter(|process| {
        process.device == root.device && process.group == root.foreground && root.device != 0
    });
    state.reads = match (state.has_unread_line, waits(foreground)) {
        // Input is there: the reader is about to wake up.
        (true, Some(_)) => Some(false),
        (_, reads) => reads,
    };
    state
}

/// The modes of a terminal, and whether it has an unread line.
fn modes(device: u64) -> Option<TerminalState> {
    let major = (device >> 8) & 0xfff;
    let minor = (device & 0xff) | ((device >> 12) & 0xf_ff00);
    if major != PTS_MAJOR {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let terminal = open(format!("/dev/pts/{minor}"), flags, Mode::empty()).ok()?;
    let local = tcgetattr(&terminal).ok()?.local_modes;
    let modes = LineModes {
        canonical: local.contains(LocalModes::ICANON),
        echo: local.contains(LocalModes::ECHO),
        signals: local.contains(LocalModes::ISIG),
    };
    let unread = ioctl_fionread(&terminal).is_ok_and(|unread| 0 < unread);
    let has_unread_line = modes.canonical && unread;
    Some(TerminalState { modes: Some(modes), reads: None, has_unread_line })
}

/// Whether one of these processes waits for input from its terminal.
fn waits<'a>(foreground: impl Iterator<Item = &'a TerminalProcess>) -> Option<bool> {
    let mut found = None;
    let mut is_known = true;
    for process in foreground {
        found = Some(false);
        if process.is_stopped {
            continue;
        }
        for thread in threads(process.pid) {
            match wait_of(process.pid, thread) {
                ThreadWait::TerminalRead | ThreadWait::Terminal => return Some(true),
                ThreadWait::Elsewhere => {}
                ThreadWait::Unknown => is_known = false,
            }
        }
    }
    found.filter(|_| is_known)
}

fn threads(pid: i32) -> impl Iterator<Item = i32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process is in the foreground of its terminal, and its only thread sleeps in a `read`
/// of a terminal.
pub(crate) fn only_reads(process: &Process) -> bool {
    let Some(found) = TerminalProcess::find(process.pid) else { return false };
    let is_foreground = found.device != 0 && found.group == found.foreground;
    let mut threads = threads(found.pid);
    let is_single = threads.next().is_some() && threads.next().is_none();
    is_foreground
        && !found.is_stopped
        && is_single
        && wait_of(found.pid, found.pid) == ThreadWait::TerminalRead
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThreadWait {
    /// Input from a terminal, in a `read`.
    TerminalRead,
    /// Input from a terminal, perhaps among other things.
    Terminal,
    /// Something else, or the thread runs.
    Elsewhere,
    /// It cannot be determined.
    Unknown,
}

fn wait_of(pid: i32, thread: i32) -> ThreadWait {
    let folder = format!("/proc/{pid}/task/{thread}");
    match fs::read_to_string(format!("{folder}/syscall")) {
        Ok(call) => wait_in_call(pid, &call).unwrap_or(ThreadWait::Unknown),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            wait_by_name(pid, &folder)
        }
        // The thread has just ended.
        Err(_) => ThreadWait::Elsewhere,
    }
}

/// What a system call waits for: `number argument…`, or `running`, or `-1` outside of one.
fn wait_in_call(pid: i32, call: &str) -> Option<ThreadWait> {
    let mut words = call.split_ascii_whitespace();
    let Ok(number) = words.next()?.parse::<u64>() else { return Some(ThreadWait::Elsewhere) };
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let first = argument()?;
    if call::READ.contains(&number) && is_terminal(pid, first) {
        return Some(ThreadWait::TerminalRead);
    }
    let is_terminal = if call::POLL.contains(&number) {
        polls_terminal(pid, first, argument()?)?
    } else if call::SELECT.contains(&number) {
        selects_terminal(pid, first, argument()?)?
    } else if call::EPOLL.contains(&number) {
        watches_terminal(pid, first)?
    } else if number == call::IO_URING {
        return None;
    } else {
        false
    };
    Some(if is_terminal { ThreadWait::Terminal } else { ThreadWait::Elsewhere })
}

/// Whether one of `count` structures `pollfd` at an address is for a terminal.
fn polls_terminal(pid: i32, address: u64, count: u64) -> Option<bool> {
    let count = usize::try_from(count.min(MAX_DESCRIPTORS)).ok()?;
    let polled = memory(pid, address, count * 8)?;
    let fds = polled.chunks_exact(8).filter_map(|it| {
        let fd = i32::from_ne_bytes(it[..4].try_into().ok()?);
        u64::try_from(fd).ok()
    });
    Some(fds.into_iter().any(|fd| is_terminal(pid, fd)))
}

/// Whether a terminal is in the set of descriptors below `count` at an address.
fn selects_terminal(pid: i32, count: u64, address: u64) -> Option<bool> {
    let count = count.min(MAX_DESCRIPTORS);
    if address == 0 || count == 0 {
        return Some(false);
    }
    let set = memory(pid, address, usize::try_from(count.div_ceil(8)).ok()?)?;
    let is_in = |fd: u64| {
        let byte = usize::try_from(fd / 8).ok().and_then(|at| set.get(at));
        byte.is_some_and(|byte| byte & (1 << (fd % 8)) != 0)
    };
    Some((0..count).any(|fd| is_in(fd) && is_terminal(pid, fd)))
}

/// Whether an epoll descriptor watches a terminal for input. A one-shot entry has no events left
/// after it has fired.
fn watches_terminal(pid: i32, epoll: u64) -> Option<bool> {
    let watched = fs::read_to_string(format!("/proc/{pid}/fdinfo/{epoll}")).ok()?;
    let is_watched = |line: &str| {
        let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
        let fd = words.next()?.parse().ok()?;
        let events = u64::from_str_radix(words.nth(1)?, 16).ok()?;
        Some(events & EPOLL_IN != 0 && is_terminal(pid, fd))
    };
    Some(watched.lines().any(|line| is_watched(line).unwrap_or(false)))
}

fn memory(pid: i32, address: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

fn is_terminal(pid: i32, fd: u64) -> bool {
    let link = fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap_or_default();
    let is_slave = link.starts_with("/dev/pts") && !link.ends_with("ptmx");
    is_slave || link.starts_with("/dev/tty")
}

/// The same by the name of the kernel function in which the thread sleeps, if its system call is
/// not readable.
fn wait_by_name(pid: i32, folder: &str) -> ThreadWait {
    let name = fs::read_to_string(format!("{folder}/wchan")).unwrap_or_default();
    let name = name.trim();
    let elsewhere = ["hrtimer_nanosleep", "do_wait", "pipe_read", "anon_pipe_read", "sigsuspend"];
    match name {
        "n_tty_read" => ThreadWait::TerminalRead,
        // A read of a socket sleeps there, too.
        "wait_woken" if has_no_socket(pid) => ThreadWait::TerminalRead,
        name if elsewhere.contains(&name) || name.starts_with("futex") => ThreadWait::Elsewhere,
        _ => ThreadWait::Unknown,
    }
}

fn has_no_socket(pid: i32) -> bool {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let is_socket = |entry: fs::DirEntry| {
        fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy().starts_with("socket:"))
    };
    !entries.flatten().any(is_socket)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::{Duration, Instant};

    use paned_keeper::process::identity::ProcessTree;
    use paned_keeper::pty::{Pty, PtyProgram, start};
    use paned_model::Size;
    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    /// A shell script on a terminal of its own, killed when the test is over.
    struct Program {
        pty: Pty,
        pid: i32,
    }

    impl Program {
        fn start(script: &str) -> Self {
            let pty = Pty::open(Size::default()).expect("a pty");
            let argv = ["bash", "-c", script].map(str::to_owned);
            let env: Vec<(String, String)> = std::env::vars().collect();
            let program = PtyProgram { file: "/bin/bash", argv: &argv, env: &env };
            let pid = start(&pty, program).expect("it starts");
            let pid = pid.try_into().expect("a pid");
            Self { pty, pid }
        }

        #[track_caller]
        fn until(&self, what: impl Fn(&TerminalState) -> bool) {
            let deadline = Instant::now() + Duration::from_secs(20);
            loop {
                let mut all = ProcessTree::of(self.pid).living();
                all.extend(Process::find(self.pid));
                let found = TerminalProcess::find(self.pid).map(|root| state(root, &all));
                if found.as_ref().is_some_and(&what) {
                    return;
                }
                assert!(Instant::now() < deadline, "{found:?}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }

        fn types(&self, bytes: &[u8]) {
            assert_eq!(rustix::io::write(&self.pty.master, bytes), Ok(bytes.len()));
        }
    }

    impl Drop for Program {
        fn drop(&mut self) {
            if let Some(pid) = Pid::from_raw(self.pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }

    #[test]
    fn a_read_of_a_line_is_told_from_work() {
        let program = Program::start("read x; sleep 30");
        program.until(|state| state.reads == Some(true) && state.is_canonical());
        program.types(b"x\n");
        program.until(|state| state.reads == Some(false) && !state.has_unread_line);
        program.types(b"y\n");
        program.until(|state| state.has_unread_line);
    }

    #[test]
    fn every_way_to_wait_for_input_is_seen() {
        let python = |wait: &str| format!("exec python3 -c 'import select, time, os\n{wait}'");
        for wait in [
            "select.select([0], [], [])",
            "p = select.poll(); p.register(0, select.POLLIN); p.poll()",
            "e = select.epoll(); e.register(0, select.EPOLLIN); e.poll()",
        ] {
            Program::start(&python(wait)).until(|state| state.reads == Some(true));
        }
        for wait in [
            "select.select([], [], [], 30)",
            "r, w = os.pipe(); p = select.poll(); p.register(r); p.poll()",
            "r, w = os.pipe(); e = select.epoll(); e.register(r); e.poll()",
            "time.sleep(30)",
        ] {
            Program::start(&python(wait)).until(|state| state.reads == Some(false));
        }
    }
}
