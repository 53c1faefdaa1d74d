//! Signals as bytes in a pipe, so that the keeper's one `poll` sees them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_setfd};

static PIPE: AtomicI32 = AtomicI32::new(-1);

/// The end to read: one byte, the signal's number, for each signal that came.
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

/// A keeper is nobody's foreground job: the ends of terminals, sessions and pipes mean nothing to it.
pub(crate) fn ignore_hangups() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE] {
        set(signal, libc::SIG_IGN);
    }
}

/// Ended children vanish by themselves.
pub(crate) fn ignore_children() {
    set(libc::SIGCHLD, libc::SIG_IGN);
}

fn set(signal: libc::c_int, action: libc::sighandler_t) {
    // SAFETY: the action is SIG_IGN or `on_signal`, which only does what a handler may do.
    unsafe { libc::signal(signal, action) };
}

extern "C" fn on_signal(signal: libc::c_int) {
    let byte = u8::try_from(signal).unwrap_or(0);
    // SAFETY: `write` is safe in a handler, on a descriptor that stays open as long as the process. A
    // full pipe already says what this byte would. `errno` is put back for the code that was interrupted.
    unsafe {
        let errno = errno();
        let kept = *errno;
        libc::write(PIPE.load(Ordering::SeqCst), (&raw const byte).cast(), 1);
        *errno = kept;
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
