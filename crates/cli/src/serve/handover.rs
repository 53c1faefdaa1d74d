//! The upgrade: this process executes the program that is now in its file.
//!
//! The lock and the listeners stay open through `exec`, so that no connection is refused and no
//! other server gets the folder in between. Their numbers are passed in a variable, which is
//! accepted only by the process it names.

use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use paned_backend::SECRET_VARIABLES;
use paned_keeper::fds::{keep_through_exec, take_over};
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use super::lock::Lock;
use super::server_fds::ServerFds;

/// The variable with the descriptors that are handed over. Panes do not get it.
const VARIABLE: &str = "PANED_HANDOVER";

/// How long the new program may take to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Numbers of descriptors, and the process that has them open.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FdHandover {
    pid: u32,
    lock: RawFd,
    tcp: Vec<RawFd>,
    unix: RawFd,
    #[serde(default)]
    compat: Vec<RawFd>,
    #[serde(default)]
    remote: Option<RawFd>,
    files: Option<u64>,
}

/// Takes over the descriptors of the previous program, if there was one.
///
/// # Errors
/// When the variable is malformed, or a descriptor is not open.
pub(super) fn take() -> Result<Option<ServerFds>> {
    let Ok(text) = std::env::var(VARIABLE) else { return Ok(None) };
    let handover: FdHandover =
        serde_json::from_str(&text).with_context(|| format!("cannot parse `{VARIABLE}`"))?;
    // Inherited through the environment of a server: not meant for this process.
    if handover.pid != std::process::id() {
        return Ok(None);
    }
    let take = |number| {
        take_over(number).with_context(|| {
            format!(
                "file descriptor {number} was not \
            inherited"
            )
        })
    };
    let all = |numbers: &[RawFd]| {
        numbers.iter().map(|number| Ok(take(*number)?.into())).collect::<Result<Vec<TcpListener>>>()
    };
    Ok(Some(ServerFds {
        lock: Lock::inherited(take(handover.lock)?),
        _path_lock: None,
        tcp: all(&handover.tcp)?,
        unix: take(handover.unix)?.into(),
        compat: all(&handover.compat)?,
        remote: handover.remote.map(|number| take(number).map(Into::into)).transpose()?,
        files: handover.files,
        is_inherited: true,
        notes: Vec::new(),
    }))
}

/// The path of our program's file, to be executed at an upgrade.
pub(super) struct Upgrade {
    program: PathBuf,
}

/// The arguments that this program was started with. The title of the process is written over the
/// originals, so call this once before that.
pub(super) fn original_args() -> &'static [OsString] {
    static ARGS: OnceLock<Vec<OsString>> = OnceLock::new();
    ARGS.get_or_init(|| std::env::args_os().skip(1).collect())
}

impl Upgrade {
    /// Remembers the path of our file now: the system no longer knows it once the file is replaced.
    ///
    /// # Errors
    /// When the system does not know it.
    pub(super) fn new() -> Result<Self> {
        let program =
            std::env::current_exe().context("cannot determine the path of this program")?;
        Ok(Self { program })
    }

    /// Executes the program in our file. Returns only with the error. Call it when no thread is
    /// left that could spawn a process, which would inherit the descriptors.
    pub(super) fn exec(&self, fds: &ServerFds) -> anyhow::Error {
        match self.check().and_then(|()| self.hand_over(fds)) {
            Ok(error) => anyhow::Error::new(error)
                .context(format!("cannot execute {}", self.program.display())),
            Err(error) => error,
        }
    }

    fn hand_over(&self, fds: &ServerFds) -> Result<io::Error> {
        let handover = serde_json::to_string(&FdHandover {
            pid: std::process::id(),
            lock: fds.lock.as_fd().as_raw_fd(),
            tcp: fds.tcp.iter().map(AsRawFd::as_raw_fd).collect(),
            unix: fds.unix.as_raw_fd(),
            compat: fds.compat.iter().map(AsRawFd::as_raw_fd).collect(),
            remote: fds.remote.as_ref().map(AsRawFd::as_raw_fd),
            files: fds.files,
        })?;
        for fd in descriptors(fds) {
            keep_through_exec(fd)?;
        }
        let args = original_args().iter();
        let error = Command::new(&self.program).args(args).env(VARIABLE, handover).exec();
        for fd in descriptors(fds) {
            fcntl_setfd(fd, FdFlags::CLOEXEC)?;
        }
        Ok(error)
    }

    /// Checks that the file holds a program that runs on this machine. Its output is ignored.
    fn check(&self) -> Result<()> {
        let shown = self.program.display();
        let mut command = Command::new(&self.program);
        for name in SECRET_VARIABLES {
            command.env_remove(name);
        }
        command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("cannot run {shown}"))?;
        let deadline = Instant::now() + VERSION_TIMEOUT;
        loop {
            match child.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("{shown} cannot report its version ({status})"),
                None if deadline < Instant::now() => {
                    child.kill()?;
                    child.wait()?;
                    bail!(
                        "{shown} did not report its version within {} s",
                        VERSION_TIMEOUT.as_secs()
                    );
                }
                None => sleep(Duration::from_millis(5)),
            }
        }
    }
}

fn descriptors(fds: &ServerFds) -> impl Iterator<Item = BorrowedFd<'_>> {
    let tcp = fds.tcp.iter().chain(&fds.compat).chain(&fds.remote).map(AsFd::as_fd);
    [fds.lock.as_fd(), fds.unix.as_fd()].into_iter().chain(tcp)
}
