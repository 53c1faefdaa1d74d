//! What the system says of processes, and ending them by their numbers.

use std::fs;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open, waitpid};

use crate::error::{Error, IoContext};

/// The process with this number.
pub(crate) fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

/// Waits until a process has ended, also one that is not our child. Returns whether it has.
pub(crate) fn has_ended_within(pid: Pid, limit: Duration) -> bool {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return true;
    };
    let limit = Timespec::try_from(limit).ok();
    let mut fds = [PollFd::new(&process, PollFlags::IN)];
    retry_on_intr(|| poll(&mut fds, limit.as_ref())).is_ok_and(|ready| ready != 0)
}

/// Waits for a child of ours to end.
pub(crate) fn reap(pid: Pid, limit: Duration) -> Result<WaitStatus, Error> {
    if !has_ended_within(pid, limit) {
        return Err(Error::Timeout { what: format!("process {pid}"), limit });
    }
    let ended = retry_on_intr(|| waitpid(Some(pid), WaitOptions::NOHANG)).doing("reap a child")?;
    let (_, status) =
        ended.ok_or(Error::Unexpected { what: "an ended child", found: "alive".into() })?;
    Ok(status)
}

/// Makes a process end. One that is gone already is fine.
pub(crate) fn kill(pid: Pid) {
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

/// Whether this is still a process of paned's: process ids are reused.
pub(crate) fn is_paned(pid: Pid) -> bool {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("paned"))
}

/// The children of a process.
pub(crate) fn children(of: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| stat(*pid, PARENT) == Some(u64::from(of))).collect()
}

/// Bytes in memory.
pub(crate) fn resident(pid: u32) -> Result<u64, Error> {
    sum(&format!("/proc/{pid}/status"), &["VmRSS:"])
}

/// Bytes in memory that come from no file. How much of a program's file counts is the system's
/// choice: with each page that is needed it maps more of what it has in its cache, in pieces that
/// depend on how the file came there.
pub(crate) fn anonymous(pid: u32) -> Result<u64, Error> {
    sum(&format!("/proc/{pid}/status"), &["RssAnon:"])
}

/// Bytes in memory that no other process shares.
pub(crate) fn private(pid: u32) -> Result<u64, Error> {
    sum(&format!("/proc/{pid}/smaps_rollup"), &["Private_Clean:", "Private_Dirty:"])
}

/// Adds up lines of the form `Name:  12 kB`.
fn sum(file: &str, names: &[&str]) -> Result<u64, Error> {
    let text = fs::read_to_string(file).doing(&format!("read {file}"))?;
    let kib = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?;
        names.contains(&name).then(|| words.next()?.parse::<u64>().ok()).flatten()
    });
    Ok(kib.sum::<u64>() * 1024)
}

/// Fields of `/proc/PID/stat`, counted from the first after the command.
const PARENT: usize = 1;
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;
/// The length of a tick as programs see it, whatever the kernel uses.
const MILLIS_PER_TICK: u64 = 10;

/// The time a process has spent on a core, with all its threads.
pub(crate) fn cpu(pid: u32) -> Duration {
    let ticks = [USER_TICKS, SYSTEM_TICKS].into_iter().filter_map(|field| stat(pid, field));
    Duration::from_millis(ticks.sum::<u64>() * MILLIS_PER_TICK)
}

/// The same to the nanosecond, of the threads that are there now.
pub(crate) fn busy(pid: u32) -> Result<Duration, Error> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).doing("read a process's threads")?;
    let nanos = threads.flatten().filter_map(|thread| {
        let line = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    });
    Ok(Duration::from_nanos(nanos.sum()))
}

/// How many processes and threads were ever started on this machine.
pub(crate) fn started() -> Result<u64, Error> {
    let text = fs::read_to_string("/proc/stat").doing("read /proc/stat")?;
    let count = text.lines().find_map(|line| line.strip_prefix("processes ")?.parse().ok());
    count.ok_or(Error::Unexpected { what: "/proc/stat", found: text })
}

/// A number in `pid (command) state ppid …`; the command may hold anything, so the last `)` counts.
fn stat(pid: u32, field: usize) -> Option<u64> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = String::from_utf8_lossy(&line);
    line.rsplit_once(')')?.1.split_ascii_whitespace().nth(field)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_a_parent_and_time() {
        let me = std::process::id();
        assert!(private(me).unwrap() <= resident(me).unwrap());
        assert_eq!(stat(me, PARENT), Some(u64::from(std::os::unix::process::parent_id())));
        assert!(cpu(me) < Duration::from_secs(3600));
        assert!(children(std::os::unix::process::parent_id()).contains(&me));
    }

    #[test]
    fn a_process_that_is_started_is_counted() {
        let before = started().unwrap();
        std::process::Command::new("true").status().unwrap();
        assert!(before < started().unwrap());
    }
}
