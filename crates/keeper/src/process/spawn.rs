//! Spawning one pane: the tape, the pty, the socket, the program.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use paned_model::frame::{SpawnFailure, SpawnRequest};
use paned_model::{Code, Time, machine_limit};
use rustix::fs::Mode;
use rustix::process::{Pid, chdir, umask};

use crate::owned_file::OwnedFile;
use crate::process::{core_limit, exec_error};
use crate::pty::{self, Pty, PtyProgram};
use crate::tape::TapeWriter;
use crate::time;

/// What a new pane consists of.
pub(crate) struct SpawnedPane {
    pub(crate) master: OwnedFd,
    pub(crate) child: Pid,
    pub(crate) tape: TapeWriter,
    pub(crate) listener: UnixListener,
    pub(crate) socket: OwnedFile,
    pub(crate) started: Time,
}

/// Spawns the pane. On failure it removes the tape and the socket, but no tape that was there
/// before: that is the output of another pane.
pub(crate) fn spawn(
    request: &SpawnRequest,
    pty: io::Result<Pty>,
) -> Result<SpawnedPane, SpawnFailure> {
    let tape = Path::new(&request.tape);
    let socket = Path::new(&request.socket);
    let had_tape = fs::symlink_metadata(tape).is_ok();
    try_spawn(request, pty, tape, socket).inspect_err(|_| {
        if !had_tape {
            let _ = fs::remove_file(tape);
        }
        let _ = fs::remove_file(socket);
    })
}

fn try_spawn(
    request: &SpawnRequest,
    pty: io::Result<Pty>,
    tape: &Path,
    socket: &Path,
) -> Result<SpawnedPane, SpawnFailure> {
    let started = time::now();
    let machine = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| failed(&what, &error)
    };
    let pty = pty.map_err(no_pty)?;
    pty::resize(&pty.master, request.size).map_err(machine("cannot size the pty"))?;
    if request.piped_input {
        pty::pipe_input(&pty.master).map_err(machine("cannot set up the pty"))?;
    }
    let mut tape = TapeWriter::create(tape, request.capacity, started)
        .map_err(machine("cannot create the tape"))?;
    tape.set_size(request.size);
    request.max_lines.into_iter().for_each(|most| tape.limit_lines(most));
    let (listener, socket) = listen(socket).map_err(machine("cannot listen for the server"))?;
    let pid = start(request, &pty)?;
    tape.set_pid(pid);
    let child = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process has a number");
    Ok(SpawnedPane { master: pty.master, child, tape, listener, socket, started })
}

/// Describes an error of the system, with what to change where a limit of the machine was reached.
pub(crate) fn failed(what: &str, error: &io::Error) -> SpawnFailure {
    let limit = machine_limit(error);
    let hint = limit.map(|(_, hint)| format!("; {hint}")).unwrap_or_default();
    let limit = matches!(limit, Some((Code::Limit, _)));
    SpawnFailure { reason: format!("{what}: {error}{hint}"), invalid: false, limit }
}

/// The machine's limit of ptys is reached: Linux reports ENOSPC, other systems EAGAIN or ENXIO.
fn no_pty(error: io::Error) -> SpawnFailure {
    let errno = error.raw_os_error().unwrap_or_default();
    if ![libc::ENOSPC, libc::EAGAIN, libc::ENXIO].contains(&errno) {
        return failed("cannot open a pty", &error);
    }
    let reason = "cannot open a pty: all of them are in use; close some, or raise the limit with \
                 `sysctl kernel.pty.max=4096`";
    SpawnFailure { reason: reason.to_owned(), invalid: false, limit: false }
}

/// Listens for clients, and owns the socket's file.
pub(crate) fn listen(socket: &Path) -> io::Result<(UnixListener, OwnedFile)> {
    let listener = UnixListener::bind(socket)?;
    fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((listener, OwnedFile::new(socket)?))
}

/// Starts the program in its folder. The keeper itself stays in `/`, so that it keeps no folder in
/// use.
fn start(request: &SpawnRequest, pty: &Pty) -> Result<u32, SpawnFailure> {
    chdir(&request.cwd).map_err(|error| SpawnFailure {
        reason: format!("cannot start in `{}`: {}", request.cwd, io::Error::from(error)),
        invalid: true,
        limit: false,
    })?;
    let program = PtyProgram { file: &request.program, argv: &request.argv, env: &request.env };
    let started =
        with_umask(request.umask, || core_limit::with_original(|| pty::start(pty, program)));
    let started = started.map_err(|error| match exec_error::explain(request, &error) {
        Some(reason) => SpawnFailure { reason, invalid: true, limit: false },
        None => SpawnFailure {
            invalid: machine_limit(&error).is_none(),
            ..failed(&format!("cannot run `{}`", request.program), &error)
        },
    });
    let _ = chdir("/");
    started
}

/// Runs `start` with this file mode creation mask, which new processes inherit.
fn with_umask<T>(mask: Option<u32>, start: impl FnOnce() -> T) -> T {
    let Some(mask) = mask else { return start() };
    let before = umask(Mode::from_raw_mode(mask & 0o777));
    let started = start();
    umask(before);
    started
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_can_be_raised_is_reported_as_one() {
        for (errno, is_limit) in
            [(libc::EAGAIN, true), (libc::EMFILE, true), (libc::ENOMEM, false), (libc::EIO, false)]
        {
            let failed = failed("cannot start a keeper", &io::Error::from_raw_os_error(errno));
            assert_eq!((failed.limit, failed.invalid), (is_limit, false), "{failed:?}");
        }
    }
}
