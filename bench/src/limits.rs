//! The minimal programs that ours is measured against: a bare pty, with nothing between it and us.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use paned_keeper::pty::{self, Pty, PtyProgram};
use paned_model::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::{Errno, read};
use rustix::process::{Pid, WaitStatus};

use crate::error::{Error, IoContext};
use crate::{interrupt, proc};

/// How long any one child may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A program on a pty of its own. Dropping it ends the program.
pub(crate) struct BarePty {
    pty: Pty,
    child: Option<Pid>,
}

impl BarePty {
    /// Opens a pty and starts a program on it, in a session of its own, by `posix_spawn`.
    pub(crate) fn start(argv: &[String]) -> Result<Self, Error> {
        interrupt::check()?;
        let pty = Pty::open(Size::default()).doing("open a pty")?;
        let env: Vec<_> = std::env::vars().collect();
        let program = PtyProgram { file: &argv[0], argv, env: &env };
        let pid = pty::start(&pty, program).doing("start a program")?;
        Ok(Self { pty, child: proc::pid(pid) })
    }

    /// Reads everything the program prints and discards it; returns how much that was.
    pub(crate) fn drain(&self) -> Result<u64, Error> {
        let mut buffer = vec![0; 64 << 10];
        let mut bytes = 0;
        loop {
            match read(&self.pty.master, &mut buffer) {
                // The program's side is closed, and all was read.
                Ok(0) | Err(Errno::IO) => return Ok(bytes),
                Ok(got) => bytes += got as u64,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.await_bytes()?,
                Err(error) => return Err(error).doing("read a pty"),
            }
        }
    }

    fn await_bytes(&self) -> Result<(), Error> {
        let limit = Timespec::try_from(PATIENCE).ok();
        let mut fds = [PollFd::new(&self.pty.master, PollFlags::IN)];
        match poll(&mut fds, limit.as_ref()) {
            Ok(0) => Err(Error::Timeout { what: "a bare program".into(), limit: PATIENCE }),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error).doing("wait for a pty"),
        }
    }

    /// Another handle to the program's terminal.
    pub(crate) fn terminal(&self) -> Result<OwnedFd, Error> {
        self.pty.master.as_fd().try_clone_to_owned().doing("share a pty")
    }

    /// From now on a read of the terminal waits for bytes.
    pub(crate) fn wait_on_reads(&self) -> Result<(), Error> {
        fcntl_setfl(&self.pty.master, OFlags::empty()).doing("set up a pty")
    }

    /// Reads what is there now.
    pub(crate) fn printed(&self) -> Result<String, Error> {
        let mut buffer = [0; 256];
        let got = read(self.pty.master.as_fd(), &mut buffer).doing("read a pty")?;
        Ok(String::from_utf8_lossy(&buffer[..got]).into_owned())
    }

    /// Waits for the program to end.
    pub(crate) fn wait(&mut self) -> Result<WaitStatus, Error> {
        let child = self.child.expect("a program is waited for once");
        let status = proc::reap(child, PATIENCE)?;
        self.child = None;
        Ok(status)
    }
}

impl Drop for BarePty {
    fn drop(&mut self) {
        if let Some(child) = self.child {
            proc::kill(child);
            let _ = proc::reap(child, PATIENCE);
        }
    }
}

/// How long a bare pty takes to give everything a program prints.
pub(crate) fn drain(argv: &[String]) -> Result<Duration, Error> {
    let mut bare = BarePty::start(argv)?;
    let begun = Instant::now();
    bare.drain()?;
    bare.wait()?;
    Ok(begun.elapsed())
}

/// How long it takes to open a pty, start a program and see it end, so many times one after the
/// other.
pub(crate) fn spawn(argv: &[String], count: u64) -> Result<Duration, Error> {
    let begun = Instant::now();
    for _ in 0..count {
        BarePty::start(argv)?.wait()?;
    }
    Ok(begun.elapsed())
}
