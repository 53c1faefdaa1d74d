//! Watches a process that is not our child, until it ends.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, test_kill_process};

/// How often to check a process where the system has no pidfd.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A process that is not our child. Its pid may be reused; its pidfd always means the same process.
#[derive(Debug)]
pub struct ProcessWatch {
    pid: Option<Pid>,
    fd: Option<OwnedFd>,
}

impl ProcessWatch {
    /// Watches the process with this pid.
    #[must_use]
    pub fn new(pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Self { pid, fd: pid.and_then(open) }
    }

    /// Whether it has ended; with a pidfd, also if it is not reaped yet.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let Some(fd) = &self.fd else { return self.is_gone() };
        poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&Timespec::default())) == Ok(1)
    }

    /// The pidfd, which is readable once it has ended, where the system has one.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.fd.as_ref().map(AsFd::as_fd)
    }

    /// When to check again, where there is no pidfd.
    pub(crate) fn next_check(&self) -> Option<Instant> {
        self.fd.is_none().then(|| Instant::now() + POLL_INTERVAL)
    }

    /// Whether it is gone by its pid. With a pidfd this is always false: poll that instead.
    pub(crate) fn is_gone(&self) -> bool {
        self.fd.is_none() && self.pid.is_none_or(|pid| test_kill_process(pid).is_err())
    }
}

#[cfg(target_os = "linux")]
fn open(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn open(_: Pid) -> Option<OwnedFd> {
    None
}
