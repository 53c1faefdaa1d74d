//! Signals as bytes in a pipe, so that the keeper's one `poll` sees them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};

static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Both ends of the pipe, the read end first. It delivers one byte for each signal: its number.
pub(crate) fn watch() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = rustix::pipe::pipe()?;
    for end in [&read, &write] {
        fcntl_setfd(end, FdFlags::CLOEXEC)?;
        fcntl_setfl(end, fcntl_getfl(end)? | OFlags::NONBLOCK)?;
    }
    PIPE.store(write.as_raw_fd(), Ordering::SeqCst);
    for signal in [libc::SIGCHLD, libc::SIGTERM] {
        let handler: extern "C" fn(libc::c_int) = on_signal;
        set(signal, handler as libc::sighandler_t);
    }
    Ok((read, write))
}

/// Ignores the signals for the end of a terminal, a session or a pipe: a keeper is no foreground
/// job and must survive them.
pub(crate) fn ignore_hangups() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE] {
        set(signal, libc::SIG_IGN);
    }
}

/// Has the kernel reap ended children.
pub(crate) fn ignore_children() {
    set(libc::SIGCHLD, libc::SIG_IGN);
}

fn set(signal: libc::c_int, action: libc::sighandler_t) {
    // SAFETY: the action is SIG_IGN or `on_signal`, which only does what a handler may do.
    unsafe { libc::signal(signal, action) };
}

extern "C" fn on_signal(signal: libc::c_int) {
    let byte = u8::try_from(signal).unwrap_or(0);
    // SAFETY: `write` is safe in a handler, on a descriptor that stays open as long as the process.
    // A full pipe has a byte already that wakes the reader. `errno` is restored for the interrupted
    // code.
    unsafe {
        let errno = errno();
        let saved = *errno;
        libc::write(PIPE.load(Ordering::SeqCst), (&raw const byte).cast(), 1);
        *errno = saved;
    }
}

#[cfg(target_os = "linux")]
unsafe fn errno() -> *mut libc::c_int {
    // SAFETY: answers this thread's own variable.
    unsafe { libc::__errno_location() }
}

#[cfg(not(target_os = "linux"))]
unsafe fn errno() -> *mut libc::c_int {
    // SAFETY: answers this thread's own variable.
    unsafe { libc::__error() }
}
