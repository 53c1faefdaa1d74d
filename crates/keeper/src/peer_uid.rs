//! Which user is at the other end of a unix socket.

use std::io;
use std::os::fd::BorrowedFd;

/// The user that the process at the other end ran as when the connection was made or, for a
/// listener, when it began to listen.
///
/// # Errors
/// When the descriptor is no connected unix socket.
#[cfg(target_os = "linux")]
pub fn peer_uid(socket: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(socket)?.uid.as_raw())
}

/// The user that the process at the other end ran as when the connection was made or, for a
/// listener, when it began to listen.
///
/// # Errors
/// When the descriptor is no connected unix socket.
#[cfg(not(target_os = "linux"))]
pub fn peer_uid(socket: BorrowedFd<'_>) -> io::Result<u32> {
    use std::os::fd::AsRawFd;

    let mut uid: libc::uid_t = 0;
    let mut gid: libc::gid_t = 0;
    // SAFETY: the descriptor is open as long as it is borrowed, and both pointers are to values
    // that live on.
    if unsafe { libc::getpeereid(socket.as_raw_fd(), &mut uid, &mut gid) } == 0 {
        return Ok(uid);
    }
    Err(io::Error::last_os_error())
}

/// Whether the process at the other end runs as our user or as root. The file modes of the socket
/// and its folder enforce that already; this check holds even if they were changed.
pub(crate) fn is_ours(socket: BorrowedFd<'_>) -> bool {
    let own = rustix::process::getuid().as_raw();
    peer_uid(socket).is_ok_and(|peer| peer == own || peer == 0)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn we_are_at_both_ends_of_a_pair() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(peer_uid(one.as_fd()).unwrap(), rustix::process::getuid().as_raw());
        assert!(is_ours(one.as_fd()));
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(!is_ours(file.as_fd()), "what is no socket has no peer");
    }
}
