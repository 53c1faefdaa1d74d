//! How much more the machine can hold: ptys, processes, open files, disk.

use std::fs;
use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How much of something is used, and how much there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headroom {
    pub(crate) used: u64,
    pub(crate) limit: u64,
}

impl Headroom {
    pub(crate) fn left(self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

/// Ptys of the whole machine.
pub(crate) fn ptys() -> Option<Headroom> {
    let used = number("/proc/sys/kernel/pty/nr")?;
    Some(Headroom { used, limit: number("/proc/sys/kernel/pty/max")? })
}

/// Processes of the whole machine.
pub(crate) fn processes() -> Option<Headroom> {
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    Some(Headroom { used: threads(&load)?, limit: number("/proc/sys/kernel/pid_max")? })
}

/// Bytes of the file system that holds a folder, or its nearest existing ancestor.
pub(crate) fn disk(folder: &Path) -> Option<Headroom> {
    let existing = folder.ancestors().find(|folder| folder.is_dir())?;
    let disk = rustix::fs::statvfs(existing).ok()?;
    let free = disk.f_bavail * disk.f_frsize;
    let total = disk.f_blocks * disk.f_frsize;
    Some(Headroom { used: total - free, limit: total })
}

/// The soft and the hard limit of this process for open files.
pub(crate) fn files() -> (Option<u64>, Option<u64>) {
    let limit = getrlimit(Resource::Nofile);
    (limit.current, limit.maximum)
}

/// Raises the soft limit for open files to the hard limit; returns the old soft limit.
pub(crate) fn raise_files() -> Option<u64> {
    let (current, maximum) = files();
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    current
}

fn number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The fourth field of `/proc/loadavg` is `running/all`, in threads, each of which takes a pid.
fn threads(load: &str) -> Option<u64> {
    load.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted_from_the_load() {
        assert_eq!(threads("0.01 0.02 0.00 2/345 6789\n"), Some(345));
        assert_eq!(threads("nonsense"), None);
    }

    #[test]
    fn a_folder_that_is_not_there_lies_on_its_parents_disk() {
        assert_eq!(
            disk(Path::new("/no/such/folder")).unwrap().limit,
            disk(Path::new("/")).unwrap().limit
        );
    }
}
