//! Bringing one pane to life: the tape, the pty, the socket, the program.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use paned_model::frame::{Birth, Stillborn};
use paned_model::{Time, machine_limit};
use rustix::process::{Pid, chdir};

use crate::own::Own;
use crate::pty::{self, Program, Pty};
use crate::tape::Writer;
use crate::{clock, core_limit};

/// What a new pane consists of.
pub(crate) struct Newborn {
    pub(crate) master: OwnedFd,
    pub(crate) child: Pid,
    pub(crate) tape: Writer,
    pub(crate) listener: UnixListener,
    pub(crate) socket: Own,
    pub(crate) started: Time,
}

/// Brings the pane to life, or says why not and leaves nothing behind.
pub(crate) fn bear(birth: &Birth, pty: io::Result<Pty>) -> Result<Newborn, Stillborn> {
    let (tape, socket) = (Path::new(&birth.tape), PathBuf::from(&birth.socket));
    try_bear(birth, pty, tape, &socket).inspect_err(|_| {
        let _ = fs::remove_file(tape);
        let _ = fs::remove_file(&socket);
    })
}

fn try_bear(
    birth: &Birth,
    pty: io::Result<Pty>,
    tape: &Path,
    socket: &Path,
) -> Result<Newborn, Stillborn> {
    let started = clock::now();
    let machine = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| Stillborn { reason: reason(&what, &error), invalid: false }
    };
    let pty = pty.map_err(no_pty)?;
    pty::resize(&pty.master, birth.size).map_err(machine("cannot size the pty"))?;
    let mut tape =
        Writer::create(tape, birth.capacity, started).map_err(machine("cannot make the tape"))?;
    tape.set_size(birth.size);
    let (listener, socket) = listen(socket).map_err(machine("cannot listen for the server"))?;
    let pid = start(birth, &pty)?;
    tape.set_pid(pid);
    let child = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process has a number");
    Ok(Newborn { master: pty.master, child, tape, listener, socket, started })
}

/// What went wrong, and what to change where it is a limit of the machine.
pub(crate) fn reason(what: &str, error: &io::Error) -> String {
    match machine_limit(error) {
        Some((_, hint)) => format!("{what}: {error}; {hint}"),
        None => format!("{what}: {error}"),
    }
}

/// There are as many ptys as the machine allows: Linux says that there is no space, others that one should try again.
fn no_pty(error: io::Error) -> Stillborn {
    let errno = error.raw_os_error().unwrap_or_default();
    let reason = if [libc::ENOSPC, libc::EAGAIN, libc::ENXIO].contains(&errno) {
        "cannot open a pty: all that this machine allows are in use; close some, or raise the limit with \
         `sysctl kernel.pty.max=4096`"
            .to_owned()
    } else {
        reason("cannot open a pty", &error)
    };
    Stillborn { reason, invalid: false }
}

/// Listens for clients, and owns the socket's file.
pub(crate) fn listen(socket: &Path) -> io::Result<(UnixListener, Own)> {
    let listener = UnixListener::bind(socket)?;
    fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((listener, Own::new(socket)?))
}

/// Starts the program where it wants to be; the keeper itself holds on to no folder.
fn start(birth: &Birth, pty: &Pty) -> Result<u32, Stillborn> {
    chdir(&birth.cwd).map_err(|error| Stillborn {
        reason: format!("cannot start in `{}`: {}", birth.cwd, io::Error::from(error)),
        invalid: true,
    })?;
    let program = Program { file: &birth.program, argv: &birth.argv, env: &birth.env };
    let started = core_limit::with_original(|| pty::start(pty, program));
    let _ = chdir("/");
    started.map_err(|error| Stillborn {
        reason: reason(&format!("cannot run `{}`", birth.program), &error),
        invalid: machine_limit(&error).is_none(),
    })
}
