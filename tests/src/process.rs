//! Other processes: whether they exist, and waiting for their exit.

use std::fs;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

fn pid(number: u32) -> Pid {
    Pid::from_raw(i32::try_from(number).unwrap()).unwrap()
}

/// Waits until a process is gone; a zombie is.
#[must_use]
pub fn gone(number: u32, within: Duration) -> bool {
    let Ok(process) = pidfd_open(pid(number), PidfdFlags::empty()) else { return true };
    let mut fds = [PollFd::new(&process, PollFlags::IN)];
    let within = Timespec::try_from(within).unwrap();
    poll(&mut fds, Some(&within)).unwrap() == 1
}

/// Whether a process is there and no zombie.
#[must_use]
pub fn is_alive(number: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Kills a process of ours, as the out-of-memory killer would.
pub fn kill9(number: u32) {
    let _ = kill_process(pid(number), Signal::KILL);
}

/// Sends a process of ours any signal.
pub fn signal(number: u32, signal: Signal) {
    let _ = kill_process(pid(number), signal);
}

/// Asks a process of ours to end.
pub(crate) fn terminate(number: u32) {
    let _ = kill_process(pid(number), Signal::TERM);
}

/// The living children of a process.
#[must_use]
pub fn children_of(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        fields.split_ascii_whitespace().nth(1) == Some(&parent.to_string())
    };
    pids.filter(is_child).filter(|pid| is_alive(*pid)).collect()
}
