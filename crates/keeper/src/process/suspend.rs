//! Stopping this process, as a program does that has caught `SIGTSTP`.

use std::mem::MaybeUninit;
use std::{io, ptr};

/// Does what SIGTSTP does to a program that does not catch it: stops this process until it gets
/// SIGCONT. In an orphaned process group, which no shell could continue, it does nothing.
/// Afterwards the signal is caught again, as before.
///
/// # Errors
/// When the system refuses.
pub fn suspend_self() -> io::Result<()> {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zero is an action without flags, with no signal blocked; its handler is the
    // default one.
    let mut default = unsafe { MaybeUninit::<libc::sigaction>::zeroed().assume_init() };
    default.sa_sigaction = libc::SIG_DFL;
    // SAFETY: both actions are valid; the one that is read was there before, so it may be set
    // again. A signal to our own thread has been delivered when `raise` returns.
    let done = unsafe {
        if libc::sigaction(libc::SIGTSTP, &raw const default, before.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        libc::raise(libc::SIGTSTP);
        libc::sigaction(libc::SIGTSTP, before.as_ptr(), ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
