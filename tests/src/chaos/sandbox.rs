//! The sandbox of a run: a folder of its own, a disk of its own where root allows it, and an end to
//! everything in it.
//!
//! The process that the user starts makes the folder and starts this binary once more, with the
//! folder as its temporary one. As root that happens in a private mount namespace with a small file
//! system in memory, which can be made full. When the outer process ends, for whatever reason, the
//! inner one sees the end of its standard input and ends all it started.

use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use super::options::Options;
use super::processes;
use super::report;
use crate::{WAIT_TIMEOUT, gone, kill9};

/// The folder of the run, for the inner process.
const FOLDER: &str = "PANED_CHAOS_FOLDER";
/// Set for the inner process when the disk can be made full.
const DISK: &str = "PANED_CHAOS_DISK";
/// The space on the disk of a run when it is not full.
pub(super) const ROOM: &str = "4g";

static IS_ORPHANED: AtomicBool = AtomicBool::new(false);

/// What the inner process was given.
pub(super) struct Sandbox {
    /// For the log, and for what is kept of a failure.
    pub(super) folder: PathBuf,
    /// The file system that can be made full.
    pub(super) disk: Option<PathBuf>,
}

impl Sandbox {
    /// The sandbox of this process; none in the outer one.
    pub(super) fn find() -> Option<Self> {
        let folder = PathBuf::from(std::env::var_os(FOLDER)?);
        let disk = std::env::var_os(DISK).map(PathBuf::from);
        std::thread::spawn(|| {
            let _ = io::stdin().read_to_end(&mut Vec::new());
            IS_ORPHANED.store(true, Ordering::SeqCst);
        });
        Some(Self { folder, disk })
    }
}

/// Whether the process that a person started is gone.
pub(super) fn is_orphaned() -> bool {
    IS_ORPHANED.load(Ordering::SeqCst)
}

/// Starts the inner process and waits for it; whether it went well.
pub(super) fn run_inside(options: &Options) -> io::Result<bool> {
    let folder = tempfile::Builder::new().prefix("paned-chaos-").tempdir()?;
    let files = folder.path().join("t");
    fs::create_dir(&files)?;
    let mut command = inner(&files, options)?;
    command.env(FOLDER, folder.path()).env("TMPDIR", &files);
    // Not in our process group: a Ctrl+C ends this process, and the inner one then cleans up.
    let mut child = command.stdin(Stdio::piped()).process_group(0).spawn()?;
    // Held here: waiting for a child closes its standard input.
    let lifeline = child.stdin.take();
    let status = child.wait()?;
    drop(lifeline);
    clean_up(folder.path());
    if status.success() && !options.keep {
        return Ok(true);
    }
    report::kept(&folder.keep());
    Ok(status.success())
}

fn inner(files: &Path, options: &Options) -> io::Result<Command> {
    let own = std::env::current_exe()?;
    let mut command = match can_mount() {
        true => {
            let mut command = Command::new("unshare");
            let script =
                format!("mount -t tmpfs -o mode=0700,size={ROOM} chaos \"$0\" && exec \"$@\"");
            command.args(["--mount", "--propagation", "private", "sh", "-c", &script]);
            command.arg(files).arg(own).env(DISK, files);
            command
        }
        false => {
            report::skipped("a full disk, which needs root and a mount namespace");
            Command::new(own)
        }
    };
    command.args(options.words());
    Ok(command)
}

fn can_mount() -> bool {
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    let mut command = Command::new("unshare");
    let tried = command.args(["--mount", "--propagation", "private", "true"]).output();
    tried.is_ok_and(|output| output.status.success())
}

/// Ends every process whose environment names this folder, by its number.
pub(super) fn clean_up(folder: &Path) {
    let name = folder.to_string_lossy().into_owned();
    // Again while there are some: a process may have made another meanwhile.
    for _ in 0..20 {
        let left = processes::with(&name);
        if left.is_empty() {
            return;
        }
        for pid in left {
            kill9(pid);
            let _ = gone(pid, WAIT_TIMEOUT);
        }
    }
}
