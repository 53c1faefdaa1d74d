//! The user's own terminal: every key as it is pressed, every byte as it is, and put back afterwards.
//!
//! It is opened anew, because not waiting is a property that would be shared with the shell that started us.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::panic;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use paned_keeper::tty_guard::TtyGuard;
use paned_model::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr, ttyname};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::super::tty;
use paned_term::reset::TerminalReset;

/// The last row, below all that was drawn; rows are counted from the top again.
const CURSOR_BELOW: &[u8] = b"\x1b[?6l\x1b[999;1H\r\n";
/// How long a terminal that takes nothing is waited for when it is put back.
const RESTORE_TIMEOUT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// How the terminal was before us, while it is ours.
static SAVED_TERMIOS: Mutex<Option<Termios>> = Mutex::new(None);

/// The user's terminal. Dropping it puts it back.
pub(super) struct UserTerminal {
    file: File,
    keys: Receiver,
    display: Sender,
    afterwards: TerminalReset,
    /// Puts it back should we not come to it; let go last of all.
    guard: Option<TtyGuard>,
}

impl UserTerminal {
    /// Takes the terminal that we stand in, and that is guarded already.
    ///
    /// # Errors
    /// When there is none, or it refuses.
    pub(super) fn open(guard: Option<TtyGuard>) -> Result<Self> {
        let file = reopen().context("cannot open the terminal")?;
        // A terminal is no pipe, but is waited for as one.
        let keys = Receiver::from_file_unchecked(file.try_clone()?)?;
        let display = Sender::from_file_unchecked(file.try_clone()?)?;
        let mut terminal =
            Self { file, keys, display, afterwards: TerminalReset::default(), guard };
        terminal.tell_guard(&[]);
        take().context("cannot use the terminal")?;
        Ok(terminal)
    }

    /// These bytes are about to be shown: the guard is told before, or there were a moment when it does not know.
    pub(super) fn tell_guard(&mut self, bytes: &[u8]) {
        if let Some(guard) = &mut self.guard {
            let mut afterwards = self.afterwards.clone();
            afterwards.observe(bytes);
            guard.set_undo([&afterwards.bytes(), CURSOR_BELOW].concat());
        }
    }

    /// What is typed. May be dropped and called again: nothing is lost.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.keys.readable().await?;
            match self.keys.try_read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }

    /// Shows the beginning of some bytes; answers how many. May be dropped and called again.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.display.writable().await?;
            match self.display.try_write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }

    /// Puts it back for a while.
    pub(super) fn release(&mut self) {
        self.put_back();
        // That is undone, and must not be once more.
        self.afterwards = TerminalReset::default();
        self.tell_guard(&[]);
        let before = SAVED_TERMIOS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = &*before {
            // Where it is gone, that is noticed soon.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }

    /// Takes it again after we were stopped: the shell has put it back meanwhile.
    ///
    /// # Errors
    /// When it refuses.
    pub(super) fn retake(&self) -> io::Result<()> {
        make_raw().map(drop)
    }

    /// These bytes were shown.
    pub(super) fn track_modes(&mut self, bytes: &[u8]) {
        self.afterwards.observe(bytes);
    }

    /// What makes it as fresh as a new one.
    pub(super) fn reset_sequence(&self) -> Vec<u8> {
        self.afterwards.bytes()
    }

    /// How large it is, where it knows.
    pub(super) fn size(&self) -> Option<Size> {
        tty::size_of(&self.file)
    }

    /// Shows what makes it as it was.
    fn put_back(&self) {
        self.show_last(&self.afterwards.bytes());
        self.show_last(CURSOR_BELOW);
    }

    /// Shows bytes without a runtime; gives up on a terminal that takes nothing.
    fn show_last(&self, mut bytes: &[u8]) {
        let mut file = &self.file;
        while !bytes.is_empty() {
            let mut fds = [PollFd::new(file, PollFlags::OUT)];
            let is_ready = matches!(poll(&mut fds, Some(&RESTORE_TIMEOUT)), Ok(1..));
            match file.write(bytes) {
                Ok(wrote) if is_ready => bytes = &bytes[wrote..],
                Ok(_) | Err(_) => return,
            }
        }
    }
}

impl Drop for UserTerminal {
    fn drop(&mut self) {
        self.put_back();
        restore_termios();
    }
}

/// The terminal behind standard input, with waiting switched off for us alone.
fn reopen() -> io::Result<File> {
    let mut open = OpenOptions::new();
    open.read(true).write(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    let named = ttyname(io::stdin(), Vec::new()).ok();
    let named =
        named.and_then(|name| open.open(Path::new(OsStr::from_bytes(name.as_bytes()))).ok());
    // Inside a container the name may be one of the world outside.
    named.map_or_else(|| open.open("/dev/tty"), Ok)
}

/// Makes the terminal ours, and sees to it that even a panic puts it back.
fn take() -> io::Result<()> {
    let before = make_raw()?;
    *SAVED_TERMIOS.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        restore_termios();
        usual(info);
    }));
    Ok(())
}

/// Switches line editing, echo and signals off; answers how it was before.
fn make_raw() -> io::Result<Termios> {
    let before = tcgetattr(io::stdin())?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    Ok(before)
}

/// Puts the terminal back, once.
fn restore_termios() {
    let before = SAVED_TERMIOS.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // Where it is gone there is nothing to put back.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}
