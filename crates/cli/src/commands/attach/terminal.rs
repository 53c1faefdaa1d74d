//! The user's own terminal, in raw mode, and restored afterwards.
//!
//! It is opened again, because `O_NONBLOCK` would be shared with the shell that started us.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::panic;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use paned_keeper::input::tty_guard::TtyGuard;
use paned_model::Size;
use paned_term::reset::TerminalReset;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr, ttyname};
use tokio::net::unix::pipe::{Receiver, Sender};

use super::super::support::tty;

/// Resets origin mode, and moves the cursor to a new row below everything that was drawn: for a
/// terminal without an alternate screen.
const CURSOR_BELOW: &[u8] = b"\x1b[?6l\x1b[999;1H\r\n";
/// How long to wait for a terminal that does not read, while it is restored.
const RESTORE_TIMEOUT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// The terminal's attributes from before raw mode, while we use it.
static SAVED_TERMIOS: Mutex<Option<Termios>> = Mutex::new(None);

/// The user's terminal. Dropping it restores it.
pub(super) struct UserTerminal {
    file: File,
    keys: Receiver,
    display: Sender,
    reset: TerminalReset,
    /// Restores it if we die first; dropped last.
    guard: Option<TtyGuard>,
}

impl UserTerminal {
    /// Takes the terminal behind standard input, which `guard` protects already.
    ///
    /// # Errors
    /// When there is none, or its attributes cannot be set.
    pub(super) fn open(guard: Option<TtyGuard>) -> Result<Self> {
        let file = reopen().context("cannot open the terminal")?;
        // A terminal is not a pipe, but is polled like one.
        let keys = Receiver::from_file_unchecked(file.try_clone()?)?;
        let display = Sender::from_file_unchecked(file.try_clone()?)?;
        let mut terminal = Self { file, keys, display, reset: TerminalReset::default(), guard };
        terminal.tell_guard(&[]);
        take().context("cannot use the terminal")?;
        Ok(terminal)
    }

    /// Tells the guard how to undo these bytes. Call it before they are written, so that the guard
    /// is never behind.
    pub(super) fn tell_guard(&mut self, bytes: &[u8]) {
        if let Some(guard) = &mut self.guard {
            let mut reset = self.reset.clone();
            reset.observe(bytes);
            guard.set_undo(undo(&reset));
        }
    }

    /// Reads input. Cancel-safe: nothing is lost.
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

    /// Writes some of these bytes, from the start; returns how many. Cancel-safe.
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

    /// Restores it for a while.
    pub(super) fn release(&mut self) {
        self.put_back();
        // The modes are reset, and must not be reset again.
        self.reset = TerminalReset::default();
        self.tell_guard(&[]);
        let before = SAVED_TERMIOS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = &*before {
            // If the terminal is gone, the next read or write fails.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }

    /// Takes it again after we were stopped: the shell has changed its attributes meanwhile.
    ///
    /// # Errors
    /// When its attributes cannot be set.
    pub(super) fn retake(&self) -> io::Result<()> {
        make_raw().map(drop)
    }

    /// Records the modes that these written bytes have changed.
    pub(super) fn track_modes(&mut self, bytes: &[u8]) {
        self.reset.observe(bytes);
    }

    /// The bytes that reset it to the state of a new terminal.
    pub(super) fn reset_sequence(&self) -> Vec<u8> {
        self.reset.bytes()
    }

    /// Its size, if it reports one.
    pub(super) fn size(&self) -> Option<Size> {
        tty::size_of(&self.file)
    }

    /// Writes the bytes that restore it.
    fn put_back(&self) {
        self.show_last(&undo(&self.reset));
    }

    /// Writes bytes without a runtime; gives up on a terminal that does not read.
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

/// The bytes that restore a terminal, with the text that it showed before where it has an
/// alternate screen.
fn undo(reset: &TerminalReset) -> Vec<u8> {
    let below = if reset.is_on_alternate_screen() { b"" } else { CURSOR_BELOW };
    [&reset.bytes(), below].concat()
}

/// Opens the terminal behind standard input again, non-blocking for us alone.
fn reopen() -> io::Result<File> {
    let mut open = OpenOptions::new();
    open.read(true).write(true).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
    let named = ttyname(io::stdin(), Vec::new()).ok();
    let named =
        named.and_then(|name| open.open(Path::new(OsStr::from_bytes(name.as_bytes()))).ok());
    // Inside a container the name may be one of the host.
    named.map_or_else(|| open.open("/dev/tty"), Ok)
}

/// Switches the terminal to raw mode, and installs a panic hook that restores it.
fn take() -> io::Result<()> {
    let before = make_raw()?;
    *SAVED_TERMIOS.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
    let previous = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        restore_termios();
        previous(info);
    }));
    Ok(())
}

/// Switches line editing, echo and signals off; returns the attributes from before.
fn make_raw() -> io::Result<Termios> {
    let before = tcgetattr(io::stdin())?;
    let mut raw = before.clone();
    raw.make_raw();
    tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
    Ok(before)
}

/// Restores the terminal's attributes, once.
fn restore_termios() {
    let before = SAVED_TERMIOS.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(before) = before {
        // If it is gone, there is nothing to restore.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}
