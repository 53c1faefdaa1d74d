//! The environment of a process, and the open files of it and its descendants, from `/proc`. Empty
//! on other systems.

use std::fs;
use std::path::PathBuf;

/// How many processes are searched.
const MOST: usize = 64;

/// A variable of the environment that a process was started with.
pub(super) fn environment_variable(pid: u32, name: &str) -> Option<String> {
    let all = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut pairs = all.split(|byte| *byte == 0).filter_map(|pair| std::str::from_utf8(pair).ok());
    pairs.find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=').map(str::to_owned))
}

/// The open files of a process and its descendants.
pub(super) fn open_files(pid: u32) -> Vec<PathBuf> {
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
    fn a_variable_is_found_by_its_whole_name() {
        let home = std::env::var("HOME").ok();
        assert_eq!(super::environment_variable(std::process::id(), "HOME"), home);
        assert_eq!(super::environment_variable(std::process::id(), "HOM"), None);
    }

    #[test]
    fn a_file_that_is_open_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = super::open_files(std::process::id());
        assert!(open.iter().any(|path| path == file.path()));
    }
}
