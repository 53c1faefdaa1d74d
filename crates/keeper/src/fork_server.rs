//! The fork server: a small process that forks keepers.
//!
//! The server cannot fork (with full buffers it would stall), and starting a fresh program for each
//! keeper costs as much as starting the pane's own program. So the server starts one fork server by
//! `posix_spawn` and sends it a socket for each keeper it wants. The fork server has one thread and
//! a few pages, so its forks are cheap, and keepers share those pages. It exits with its server;
//! its keepers do not.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use paned_model::frame::{FrameMessage as _, FromKeeper};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Resource, Rlimit, chdir, getrlimit, setrlimit, setsid};

use crate::process::spawn::failed;
use crate::process::{core_limit, signals};
use crate::{event_loop, fds, process_title};

/// Runs a fork server on standard input, the socket of its server, until the server is gone.
/// `files` is the limit of open files that programs are to have; the server's own is higher.
///
/// # Errors
/// When standard input is no socket.
pub fn run(files: Option<u64>) -> io::Result<()> {
    process_title::set("paned: fork server");
    // Leave the server's terminal: a ^C there must not reach us.
    let _ = setsid();
    fds::close_inherited()?;
    signals::ignore_hangups();
    signals::ignore_children();
    lower_fd_limit(files);
    core_limit::forbid();
    chdir("/")?;
    let server = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let null = open("/dev/null", OFlags::RDWR, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    drop(null);
    while let Some(socket) = fds::receive(&server)? {
        let first = UnixStream::from(socket);
        match fork() {
            Ok(ForkSide::Child) => {
                drop(server);
                process_title::set("paned: keeper (spare)");
                return event_loop::run(first);
            }
            Ok(ForkSide::Parent) => {}
            // The next fork may succeed.
            Err(error) => refuse(first, &error),
        }
    }
    Ok(())
}

/// Answers why there is no keeper.
fn refuse(mut first: UnixStream, error: &io::Error) {
    let mut frame = Vec::new();
    FromKeeper::SpawnFailed(failed("cannot start a keeper", error)).encode(&mut frame);
    // If this fails, the closed socket tells the server.
    let _ = first.write_all(&frame);
}

/// Programs that use `select` break above 1024 open files, so they get the limit their user had.
fn lower_fd_limit(files: Option<u64>) {
    let hard = getrlimit(Resource::Nofile).maximum;
    if let Some(files) = files {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum: hard });
    }
}

#[derive(PartialEq, Eq)]
enum ForkSide {
    Parent,
    Child,
}

fn fork() -> io::Result<ForkSide> {
    // SAFETY: this process has one thread, so the child may go on as if nothing had happened.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(ForkSide::Child),
        _ => Ok(ForkSide::Parent),
    }
}
