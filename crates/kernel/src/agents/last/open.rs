//! The files that a program and all that it started have open, where the system tells.

use std::fs;
use std::path::PathBuf;

/// How many processes are looked at.
const MOST: usize = 64;

/// The files that a process and those below it have open.
pub(super) fn files(pid: u32) -> Vec<PathBuf> {
    let mut pids = vec![pid];
    let mut next = 0;
    while let Some(pid) = pids.get(next).copied().filter(|_| next < MOST) {
        next += 1;
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.unwrap_or_default();
        pids.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    let folders = pids.iter().map(|pid| format!("/proc/{pid}/fd"));
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn a_file_that_is_open_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = super::files(std::process::id());
        assert!(open.iter().any(|path| path == file.path()));
    }
}
