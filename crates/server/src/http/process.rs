//! Figures of our own process, where they are cheap to get: on Linux, from `/proc`.

use std::fs;

/// Bytes of resident memory.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    read_resident(&fs::read_to_string("/proc/self/status").ok()?)
}

/// Open file descriptors.
pub(crate) fn open_descriptors() -> Option<u64> {
    let open = fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    // One of them is the open directory itself.
    open.checked_sub(1)
}

fn read_resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_and_never_guessed() {
        assert_eq!(read_resident("Name:\tx\nVmRSS:\t  12 kB\nThreads:\t1\n"), Some(12 << 10));
        assert_eq!(read_resident("Name:\tx\n"), None);
        assert_eq!(read_resident("VmRSS:\tmany kB\n"), None);
    }
}
