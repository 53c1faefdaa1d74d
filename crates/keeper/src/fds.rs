//! Passing descriptors between processes.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use rustix::io::{Errno, FdFlags, fcntl_getfd, fcntl_setfd, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sets close-on-exec on arrival, so that a program spawned at the same moment does not inherit it.
#[cfg(target_os = "linux")]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::empty();

/// Sends one descriptor.
///
/// # Errors
/// When the other end is closed.
pub fn send(to: &UnixStream, fd: BorrowedFd<'_>) -> io::Result<()> {
    let fds = [fd];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    // A descriptor can only be sent with at least one byte.
    let byte = [IoSlice::new(&[0])];
    retry_on_intr(|| sendmsg(to, &byte, &mut control, SendFlags::empty()))?;
    Ok(())
}

/// Waits for one descriptor; `None` when the other end is closed.
///
/// # Errors
/// When the connection fails.
pub fn receive(from: &UnixStream) -> io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let got = loop {
        match recvmsg(from, &mut parts, &mut control, CLOSED_ON_EXEC) {
            Err(Errno::INTR) => {}
            other => break other?,
        }
    };
    if got.bytes == 0 {
        return Ok(None);
    }
    let fd = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    let fd = fd.ok_or_else(|| io::Error::other("a byte came without its descriptor"))?;
    fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
    Ok(Some(fd))
}

/// Keeps a descriptor open across `exec`, for the next program.
///
/// # Errors
/// When the descriptor is closed.
pub fn keep_through_exec(fd: impl AsFd) -> io::Result<()> {
    let flags = fcntl_getfd(&fd)?;
    Ok(fcntl_setfd(&fd, flags - FdFlags::CLOEXEC)?)
}

/// Takes over a descriptor that the previous program kept open across `exec`. Each number can be
/// taken once; one that is not open is refused.
///
/// # Errors
/// When there is no such descriptor, or it is one of the standard three.
pub fn take_over(number: RawFd) -> io::Result<OwnedFd> {
    if number <= 2 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: only borrowed for the check, which is answered with an error when nothing is open
    // there.
    let flags = fcntl_getfd(unsafe { BorrowedFd::borrow_raw(number) })?;
    if flags.contains(FdFlags::CLOEXEC) {
        // Opened by this program, so it has an owner here already.
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // SAFETY: it is open and came through `exec`, so nothing in this program owns it; setting
    // CLOEXEC below makes a second call for the same number fail above.
    let fd = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl_setfd(&fd, FdFlags::CLOEXEC)?;
    Ok(fd)
}

/// Closes every inherited descriptor except the standard three: a process that waits for end of
/// file on one of them must not wait for us, nor for the programs we start.
///
/// # Errors
/// When the system does not say which are open.
pub fn close_inherited() -> io::Result<()> {
    let open = std::fs::read_dir("/dev/fd")?;
    let numbers: Vec<RawFd> =
        open.flatten().filter_map(|file| file.file_name().to_str()?.parse().ok()).collect();
    // Descriptors that this program opened are refused.
    numbers.into_iter().for_each(|number| drop(take_over(number)));
    Ok(())
}
