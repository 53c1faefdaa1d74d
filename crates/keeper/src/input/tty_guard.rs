//! A guard process that restores a terminal when the process that uses it dies, however it dies.
//!
//! A process that was killed cannot clean up after itself. So it forks a guard first. The guard
//! keeps the terminal open, remembers its modes, and reads a pipe whose write end only the parent
//! has. The parent sends it the bytes that undo what the terminal shows now. When the pipe closes
//! without `CLEAN_EXIT`, the guard restores the modes and writes those bytes. The guard has no
//! controlling terminal: it belongs to no job, gets no signals from keys, and may set the modes of
//! a terminal without being in its foreground.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustix::io::{Errno, FdFlags, fcntl_setfd, read, write};
use rustix::process::{Pid, WaitOptions, setsid, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::fds;
use crate::process::signals;

/// The longest message. A write to a pipe is atomic up to this size (`PIPE_BUF` on Linux).
const MAX_MESSAGE: usize = 4096;
/// How long to wait for a terminal that accepts no bytes.
const WRITE_TIMEOUT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A running guard. Dropping it tells the guard process that the terminal is restored already.
#[derive(Debug)]
pub struct TtyGuard {
    pipe: Option<OwnedFd>,
    process: Pid,
    sent: Vec<u8>,
}

impl TtyGuard {
    /// Forks a guard for this terminal in its current state. Only for a process with one thread,
    /// because it forks.
    ///
    /// # Errors
    /// When it is no terminal, or the pipe or the fork fails.
    pub fn spawn(terminal: BorrowedFd<'_>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let (from, pipe) = rustix::pipe::pipe()?;
        fcntl_setfd(&pipe, FdFlags::CLOEXEC)?;
        // A stopped guard must not block us.
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        // SAFETY: the caller has one thread, so the child may go on as if nothing had happened.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(pipe);
                let _ = run_guard(terminal, &from, &before);
                // SAFETY: ends the process at once; nothing that it shares with its parent is
                // flushed or freed.
                unsafe { libc::_exit(0) }
            }
            process => {
                let process = Pid::from_raw(process).expect("a process has a number");
                Ok(Self { pipe: Some(pipe), process, sent: Vec::new() })
            }
        }
    }

    /// Sets the bytes that the guard writes to the terminal if this process dies.
    pub fn set_undo(&mut self, undo: Vec<u8>) {
        let Some(pipe) = self.pipe.as_ref().filter(|_| undo != self.sent) else {
            return;
        };
        let mut message = u32::try_from(undo.len()).unwrap_or(0).to_le_bytes().to_vec();
        message.extend(&undo);
        if message.len() <= MAX_MESSAGE && write(pipe, &message) == Ok(message.len()) {
            self.sent = undo;
        }
    }
}

impl Drop for TtyGuard {
    fn drop(&mut self) {
        if let Some(pipe) = self.pipe.take() {
            let _ = write(&pipe, &CLEAN_EXIT);
        }
        // The guard has the terminal open. Wait for its exit, so that the terminal is not in use
        // after ours.
        let _ = waitpid(Some(self.process), WaitOptions::empty());
    }
}

/// Sent for a clean exit: a length that no message has.
const CLEAN_EXIT: [u8; 4] = u32::MAX.to_le_bytes();

/// Waits until the parent ends, and restores the terminal unless the parent has done so.
fn run_guard(terminal: BorrowedFd<'_>, pipe: &OwnedFd, before: &Termios) -> io::Result<()> {
    let _ = setsid();
    signals::ignore_hangups();
    // A process that waits for end of file on our standard output or error must not wait for the
    // guard.
    let null = open("/dev/null", OFlags::RDWR, Mode::empty())?;
    let terminal = terminal.try_clone_to_owned()?;
    let pipe = pipe.try_clone()?;
    rustix::stdio::dup2_stdin(&terminal)?;
    rustix::stdio::dup2_stdout(&pipe)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop((terminal, pipe, null));
    fds::close_inherited()?;
    if let Some(undo) = read_undo(rustix::stdio::stdout())? {
        restore(rustix::stdio::stdin(), before);
        show(rustix::stdio::stdin(), &undo);
    }
    Ok(())
}

/// Reads messages until the pipe closes. Answers the last undo bytes, or nothing after a clean
/// exit.
fn read_undo(pipe: BorrowedFd<'_>) -> io::Result<Option<Vec<u8>>> {
    let mut received = Vec::new();
    let mut undo = Vec::new();
    let mut bytes = [0; MAX_MESSAGE];
    loop {
        match read(pipe, &mut bytes) {
            Ok(0) => return Ok(Some(undo)),
            Ok(got) => received.extend(&bytes[..got]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        while let Some(&length) = received.first_chunk::<4>() {
            if length == CLEAN_EXIT {
                return Ok(None);
            }
            let end = 4 + u32::from_le_bytes(length) as usize;
            if received.len() < end {
                break;
            }
            undo = received[4..end].to_vec();
            received.drain(..end);
        }
    }
}

/// Restores the modes if the terminal is still in raw mode. If a shell has restored them already,
/// its modes stay.
fn restore(terminal: BorrowedFd<'_>, before: &Termios) {
    let mut raw = before.clone();
    raw.make_raw();
    let modes = |of: &Termios| (of.input_modes, of.output_modes, of.local_modes);
    if tcgetattr(terminal).is_ok_and(|now| modes(&now) == modes(&raw)) {
        let _ = tcsetattr(terminal, OptionalActions::Now, before);
    }
}

fn show(terminal: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let mut fds = [PollFd::from_borrowed_fd(terminal.as_fd(), PollFlags::OUT)];
        let is_ready = matches!(poll(&mut fds, Some(&WRITE_TIMEOUT)), Ok(1..));
        match write(terminal, bytes) {
            Ok(wrote) if is_ready => bytes = &bytes[wrote..],
            Ok(_) | Err(_) => return,
        }
    }
}
