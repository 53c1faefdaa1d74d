//! What is done to files and limits from outside.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::schedule::Damage;

/// How long a tape's header is.
const HEADER: usize = 4096;

/// Damages one file of a pane.
pub(super) fn pane(folder: &Path, damage: Damage) -> io::Result<()> {
    let open = || File::options().write(true).open(folder.join("tape"));
    match damage {
        Damage::EmptyTape => open()?.set_len(0),
        Damage::ShortTape { part } => {
            let tape = open()?;
            let length = tape.metadata()?.len();
            tape.set_len(length * part / 100)
        }
        Damage::GarbledHeader { at, byte } => open()?.write_all_at(&[byte; 8], at),
        Damage::FilledHeader => open()?.write_all_at(&[0xFF; HEADER], 0),
        Damage::NoRecord => fs::remove_file(folder.join("pane.json")),
    }
}

/// Leaves no room on this file system of ours, whatever is written meanwhile.
pub(super) fn fill(disk: &Path) -> io::Result<()> {
    for _ in 0..50 {
        let found = rustix::fs::statvfs(disk)?;
        let used = (found.f_blocks - found.f_bfree) * found.f_frsize;
        if resize(disk, &used.to_string())? {
            return Ok(());
        }
        // Something was written between the two.
    }
    Err(io::Error::other("the disk cannot be made full"))
}

/// Gives the room back.
pub(super) fn empty(disk: &Path, room: &str) -> io::Result<()> {
    match resize(disk, room)? {
        true => Ok(()),
        false => Err(io::Error::other("the disk cannot be made larger")),
    }
}

fn resize(disk: &Path, size: &str) -> io::Result<bool> {
    let mut command = Command::new("mount");
    let output = command.arg("-o").arg(format!("remount,size={size}")).arg(disk).output()?;
    Ok(output.status.success())
}

/// Limits a process to its open descriptors and this many more; returns the limit before.
pub(super) fn few_files(pid: u32, spare: u64) -> io::Result<Rlimit> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"))?.count() as u64;
    let before = prlimit(number(pid), Resource::Nofile, whole())?;
    let few = Rlimit { current: Some(open + spare), maximum: before.maximum };
    prlimit(number(pid), Resource::Nofile, few)?;
    Ok(before)
}

/// Gives a process its limit back.
pub(super) fn many_files(pid: u32, before: Rlimit) -> io::Result<()> {
    prlimit(number(pid), Resource::Nofile, before)?;
    Ok(())
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Our own limit: the server inherited it.
fn whole() -> Rlimit {
    rustix::process::getrlimit(Resource::Nofile)
}
