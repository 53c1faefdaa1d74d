//! Processes as `/proc` shows them: one of them, its descendants, and how to end them for certain.
//!
//! A scan of `/proc` is not atomic: it can miss a program that forks and exits every millisecond.
//! So nothing here takes one empty scan for the end. [`kill_all`] stops what it finds until nothing
//! new is found, and the caller repeats it until the kernel itself says that nothing is left
//! ([`ProcessTree::is_over`], or `ECHILD` for a subreaper).

use std::collections::{HashMap, HashSet};
use std::{fs, io};

use paned_model::Time;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// How many times [`kill_all`] scans for processes that were started meanwhile.
const ROUNDS: usize = 32;

/// A process. Its pid together with its start time is unique; the pid alone may be reused by now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its process id.
    pub pid: i32,
    /// When it was started, in ticks since the machine was.
    pub start: u64,
    /// Its parent's process id.
    pub parent: i32,
    /// Its session's id.
    pub session: i32,
    /// Its name.
    pub command: String,
    /// Whether all of its threads have ended and it is not reaped yet.
    pub is_zombie: bool,
}

impl Process {
    /// The process with this pid, if there is one.
    ///
    /// Reads `pid (command) state ppid …`; the command may hold anything, so the last `)` counts.
    #[must_use]
    pub fn find(pid: i32) -> Option<Self> {
        let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let line = String::from_utf8_lossy(&line);
        let (head, tail) = line.rsplit_once(')')?;
        let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let has_ended = matches!(*fields.first()?, "Z" | "X" | "x");
        Some(Self {
            pid,
            start: number(19)?,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            command: head.split_once('(')?.1.to_owned(),
            // The first thread may end before the others: that is no zombie, though it is shown as
            // one.
            is_zombie: has_ended && number(17)? <= 1,
        })
    }

    /// Every process of the machine.
    pub fn all() -> impl Iterator<Item = Self> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(Self::find)
    }

    /// When it was started, by the machine's clock, to about a second.
    #[must_use]
    pub fn started(&self) -> Option<Time> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let boot = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
        let boot: u64 = boot.trim().parse().ok()?;
        // SAFETY: asks for a number, and changes nothing.
        let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        let ticks = u64::try_from(ticks).ok().filter(|ticks| 0 < *ticks)?;
        Some(Time(boot * 1000 + self.start * 1000 / ticks))
    }

    /// The processor time it has used so far, in ticks of 10 ms on most machines.
    #[must_use]
    pub fn cpu_ticks(&self) -> Option<u64> {
        let line = fs::read(format!("/proc/{}/stat", self.pid)).ok()?;
        let line = String::from_utf8_lossy(&line);
        let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
        let mut number = || fields.next()?.parse::<u64>().ok();
        Some(number()? + number()?)
    }

    /// The words of its command line.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// What makes it unique.
    #[must_use]
    pub fn id(&self) -> (i32, u64) {
        (self.pid, self.start)
    }

    /// Sends it a signal, and never to another process that has reused its pid.
    pub fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.pid) else { return };
        // The descriptor comes first: it stays the same process even if the pid is reused.
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if Self::find(self.pid).is_some_and(|found| found.start == self.start) {
            let _ = pidfd_send_signal(process, signal);
        }
    }
}

/// All descendants of a process as one scan found them, zombies included.
#[derive(Debug)]
pub struct ProcessTree {
    /// The descendants, parents before their children.
    pub processes: Vec<Process>,
    /// Whether the kernel said at one moment that the process has no children, and so no
    /// descendants.
    has_no_children: bool,
}

impl ProcessTree {
    /// Scans the descendants of a process. Where the kernel lists children, the cost depends only
    /// on how many there are.
    #[must_use]
    pub fn of(root: i32) -> Self {
        match children(root) {
            Ok(first) => Self::walk(first),
            // A kernel without CONFIG_PROC_CHILDREN, or the process is gone.
            Err(_) => Self::search(root),
        }
    }

    fn walk(first: Vec<i32>) -> Self {
        let has_no_children = first.is_empty();
        let mut known: HashSet<i32> = first.iter().copied().collect();
        let mut open = first;
        let mut processes = Vec::new();
        while let Some(pid) = open.pop() {
            processes.extend(Process::find(pid));
            // One that has ended meanwhile has no children: they were reparented to the root, where
            // the next scan finds them.
            let more = children(pid).unwrap_or_default();
            open.extend(more.into_iter().filter(|pid| known.insert(*pid)));
        }
        Self { processes, has_no_children }
    }

    /// The same, found by the parents of all processes of the machine.
    fn search(root: i32) -> Self {
        let table: HashMap<i32, Process> =
            Process::all().map(|process| (process.pid, process)).collect();
        let parent = |pid: &i32| table.get(pid).map(|process| process.parent);
        let descends = |pid: i32| {
            // Bounded, because the table was not read atomically and may hold a cycle.
            let ancestors = std::iter::successors(Some(pid), parent).skip(1).take(table.len());
            ancestors.into_iter().any(|pid| pid == root)
        };
        let ours = table.values().filter(|process| descends(process.pid));
        Self { processes: ours.cloned().collect(), has_no_children: false }
    }

    /// Those that have not ended.
    #[must_use]
    pub fn living(self) -> Vec<Process> {
        self.processes.into_iter().filter(|process| !process.is_zombie).collect()
    }

    /// Whether no process of the tree is alive, given what the scan before found.
    ///
    /// All are zombies, and they are the same as before: a zombie has no children, so nothing can
    /// have been started between the scans. If the root does not reap (it is stopped), this is the
    /// only end there is.
    #[must_use]
    pub fn is_over(&self, before: &Self) -> bool {
        let ids = |tree: &Self| tree.processes.iter().map(Process::id).collect::<HashSet<_>>();
        let all_ended = |tree: &Self| tree.processes.iter().all(|process| process.is_zombie);
        self.has_no_children || all_ended(before) && all_ended(self) && ids(before) == ids(self)
    }
}

/// The children of a process: of each of its threads.
fn children(pid: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let listed = match fs::read_to_string(thread?.path().join("children")) {
            // The thread has just ended; another thread of the process has its children.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
            listed => listed?,
        };
        children.extend(listed.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Ok(children)
}

/// Kills all processes that `find` finds. It stops them first, until nothing new is found, so that
/// none of them forks while the others are killed.
pub fn kill_all(find: impl Fn() -> Vec<Process>) {
    let mut known = HashSet::new();
    let mut found = Vec::new();
    for _ in 0..ROUNDS {
        let new = find().into_iter().filter(|process| known.insert(process.id()));
        let new: Vec<_> = new.collect();
        if new.is_empty() {
            break;
        }
        new.iter().for_each(|process| process.signal(Signal::STOP));
        found.extend(new);
    }
    found.iter().for_each(|process| process.signal(Signal::KILL));
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell with children, and their pids, which it prints in one line.
    fn family(script: &str) -> (Child, Vec<i32>) {
        let shell = Command::new("/bin/sh").args(["-c", script]).stdout(Stdio::piped()).spawn();
        let mut shell = shell.unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (shell, line.split_ascii_whitespace().map(|pid| pid.parse().unwrap()).collect())
    }

    fn number(child: &Child) -> i32 {
        child.id().try_into().unwrap()
    }

    #[test]
    fn both_ways_find_the_same_descendants() {
        let script = "sleep 1000 & a=$!; sh -c 'sleep 1000 & echo $! $$; wait' | { read b; echo $a $b; cat; } ";
        let (mut shell, pids) = family(script);
        let sorted = |tree: ProcessTree| {
            let mut pids: Vec<i32> = tree.living().iter().map(|process| process.pid).collect();
            pids.sort_unstable();
            pids
        };
        let root = number(&shell);
        let (walked, searched) = (sorted(ProcessTree::of(root)), sorted(ProcessTree::search(root)));
        assert_eq!(walked, searched);
        assert!(pids.iter().all(|pid| walked.contains(pid)), "{pids:?} in {walked:?}");
        kill_all(|| ProcessTree::of(root).living());
        shell.kill().unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn a_tree_is_over_when_two_looks_find_the_same_zombies() {
        let (mut shell, _) = family("sleep 1000 & echo $!; kill -STOP $$");
        let root = number(&shell);
        let mut before = ProcessTree::of(root);
        assert!(!before.is_over(&ProcessTree::of(root)), "it sleeps");
        // The shell is stopped, so it does not reap its child.
        loop {
            kill_all(|| ProcessTree::of(root).living());
            let now = ProcessTree::of(root);
            if now.is_over(&before) {
                break;
            }
            before = now;
        }
        assert_eq!(ProcessTree::of(root).living(), []);
        shell.kill().unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn another_process_of_the_same_number_is_not_hit() {
        let (mut shell, pids) = family("sleep 1000 & echo $!; wait");
        let process = Process::find(pids[0]).unwrap();
        Process { start: process.start + 1, ..process.clone() }.signal(Signal::KILL);
        assert_eq!(Process::find(pids[0]).map(|found| found.is_zombie), Some(false));
        kill_all(|| ProcessTree::of(number(&shell)).living());
        shell.wait().unwrap();
    }
}
