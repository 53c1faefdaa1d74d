//! The upgrade: this process goes on as the program that is now in its file.
//!
//! The lock and the listeners stay open through `exec`, so that nobody is refused and nobody else gets the
//! folder in between. Their numbers travel in a variable, which is believed only by the process it names.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use paned_backend::SECRET_VARIABLES;
use paned_keeper::fds::{keep_through_exec, take_over};
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use super::lock::Lock;
use super::server_fds::ServerFds;

/// The variable with what is handed over. It is for nobody else's eyes: panes do not get it.
const VARIABLE: &str = "PANED_HANDOVER";

/// How long the new program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// Numbers of descriptors, for the process that has them.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FdHandover {
    pid: u32,
    lock: RawFd,
    tcp: Vec<RawFd>,
    unix: RawFd,
    #[serde(default)]
    doors: Vec<RawFd>,
    files: Option<u64>,
}

/// Takes over what the program before this one kept for us, if there was one.
///
/// # Errors
/// When it is not as it should be.
pub(super) fn take() -> Result<Option<ServerFds>> {
    let Ok(text) = std::env::var(VARIABLE) else { return Ok(None) };
    let said: FdHandover =
        serde_json::from_str(&text).with_context(|| format!("`{VARIABLE}` is not understood"))?;
    // Inherited from a server, as anybody's environment may be: not meant for us.
    if said.pid != std::process::id() {
        return Ok(None);
    }
    let take =
        |number| take_over(number).with_context(|| format!("descriptor {number} was not kept"));
    let all = |numbers: &[RawFd]| {
        numbers.iter().map(|number| Ok(take(*number)?.into())).collect::<Result<Vec<TcpListener>>>()
    };
    Ok(Some(ServerFds {
        lock: Lock::inherited(take(said.lock)?),
        _path_lock: None,
        tcp: all(&said.tcp)?,
        unix: take(said.unix)?.into(),
        compat: all(&said.doors)?,
        files: said.files,
        is_inherited: true,
    }))
}

/// The way to the program that is in our file when it is time.
pub(super) struct Upgrade {
    program: PathBuf,
}

impl Upgrade {
    /// Remembers where our file is, while the system still knows.
    ///
    /// # Errors
    /// When it does not.
    pub(super) fn new() -> Result<Self> {
        let program = std::env::current_exe().context("cannot tell which program this is")?;
        Ok(Self { program })
    }

    /// Becomes the program in our file. Comes back only with the reason why not. Call it when no thread is
    /// left that could start a process, which would get the descriptors too.
    pub(super) fn exec(&self, kept: &ServerFds) -> anyhow::Error {
        match self.check().and_then(|()| self.hand_over(kept)) {
            Ok(error) => anyhow::Error::new(error)
                .context(format!("cannot become {}", self.program.display())),
            Err(error) => error,
        }
    }

    fn hand_over(&self, kept: &ServerFds) -> Result<io::Error> {
        let handover = serde_json::to_string(&FdHandover {
            pid: std::process::id(),
            lock: kept.lock.as_fd().as_raw_fd(),
            tcp: kept.tcp.iter().map(AsRawFd::as_raw_fd).collect(),
            unix: kept.unix.as_raw_fd(),
            doors: kept.compat.iter().map(AsRawFd::as_raw_fd).collect(),
            files: kept.files,
        })?;
        for fd in descriptors(kept) {
            keep_through_exec(fd)?;
        }
        let args = std::env::args_os().skip(1);
        let error = Command::new(&self.program).args(args).env(VARIABLE, handover).exec();
        for fd in descriptors(kept) {
            fcntl_setfd(fd, FdFlags::CLOEXEC)?;
        }
        Ok(error)
    }

    /// Whether the file holds a program that runs here at all. What it says is its own business.
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
                Some(status) => bail!("{shown} cannot say its version ({status})"),
                None if deadline < Instant::now() => {
                    child.kill()?;
                    child.wait()?;
                    bail!("{shown} did not say its version in {} s", VERSION_TIMEOUT.as_secs());
                }
                None => sleep(Duration::from_millis(5)),
            }
        }
    }
}

fn descriptors(kept: &ServerFds) -> impl Iterator<Item = BorrowedFd<'_>> {
    let tcp = kept.tcp.iter().chain(&kept.compat).map(AsFd::as_fd);
    [kept.lock.as_fd(), kept.unix.as_fd()].into_iter().chain(tcp)
}
