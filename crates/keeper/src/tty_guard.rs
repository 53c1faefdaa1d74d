//! Somebody who puts a terminal back when the process that uses it dies, however it dies.
//!
//! A process that was killed cannot clean up after itself. So it forks a guard first, which holds the terminal and
//! knows how it was, and waits at a pipe whose other end nobody else has. It is told what would undo what the terminal
//! shows by now. When the pipe closes without a word, the guard does that. It has no terminal of its own, so that it
//! is nobody's job, hears no keys, and may set a terminal it is not in the foreground of.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustix::io::{Errno, FdFlags, fcntl_setfd, read, write};
use rustix::process::{Pid, WaitOptions, setsid, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::{fds, signals};

/// The longest message that is written whole or not at all.
const MAX_MESSAGE: usize = 4096;
/// How long a terminal that takes nothing is waited for.
const WRITE_TIMEOUT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// A guard at its post. Dropping it says that the terminal is as it was.
#[derive(Debug)]
pub struct TtyGuard {
    pipe: Option<OwnedFd>,
    process: Pid,
    sent: Vec<u8>,
}

impl TtyGuard {
    /// Posts a guard for this terminal as it is now. Only for a process with one thread: it forks.
    ///
    /// # Errors
    /// When it is no terminal, or the system has no process to spare.
    pub fn spawn(terminal: BorrowedFd<'_>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let (from, pipe) = rustix::pipe::pipe()?;
        fcntl_setfd(&pipe, FdFlags::CLOEXEC)?;
        // A guard that was stopped must not stop us.
        fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        // SAFETY: the caller has one thread, so the child may go on as if nothing had happened.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(pipe);
                let _ = run_guard(terminal, &from, &before);
                // SAFETY: ends the process at once; nothing that it shares with its parent is flushed or freed.
                unsafe { libc::_exit(0) }
            }
            process => {
                let process = Pid::from_raw(process).expect("a process has a number");
                Ok(Self { pipe: Some(pipe), process, sent: Vec::new() })
            }
        }
    }

    /// Says what is to be shown to the terminal should we die now.
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
        // It has the terminal open, which is not to look used when we are gone.
        let _ = waitpid(Some(self.process), WaitOptions::empty());
    }
}

/// A length that no message has.
const CLEAN_EXIT: [u8; 4] = u32::MAX.to_le_bytes();

/// Waits for the end of whoever posted us; puts the terminal back unless they have.
fn run_guard(terminal: BorrowedFd<'_>, pipe: &OwnedFd, before: &Termios) -> io::Result<()> {
    let _ = setsid();
    signals::ignore_hangups();
    // Whoever waits for the end of our output must not wait for us.
    let null = open("/dev/null", OFlags::RDWR, Mode::empty())?;
    let (terminal, pipe) = (terminal.try_clone_to_owned()?, pipe.try_clone()?);
    rustix::stdio::dup2_stdin(&terminal)?;
    rustix::stdio::dup2_stdout(&pipe)?;
    rustix::stdio::dup2_stderr(&null)?;
    drop((terminal, pipe, null));
    fds::close_inherited()?;
    if let Some(undo) = listen(rustix::stdio::stdout())? {
        restore(rustix::stdio::stdin(), before);
        show(rustix::stdio::stdin(), &undo);
    }
    Ok(())
}

/// Hears to the end; answers what is to be undone, if anything is.
fn listen(pipe: BorrowedFd<'_>) -> io::Result<Option<Vec<u8>>> {
    let (mut heard, mut undo, mut bytes) = (Vec::new(), Vec::new(), [0; MAX_MESSAGE]);
    loop {
        match read(pipe, &mut bytes) {
            Ok(0) => return Ok(Some(undo)),
            Ok(got) => heard.extend(&bytes[..got]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        while let Some(&length) = heard.first_chunk::<4>() {
            if length == CLEAN_EXIT {
                return Ok(None);
            }
            let end = 4 + u32::from_le_bytes(length) as usize;
            if heard.len() < end {
                break;
            }
            undo = heard[4..end].to_vec();
            heard.drain(..end);
        }
    }
}

/// Sets the modes as they were, if they are as we left them: a shell that has put them back knows better.
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
