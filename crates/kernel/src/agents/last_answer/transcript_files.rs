//! Finds transcript files: those that match a path with `*` and `**`, newest first; and what the
//! processes of a program have open, from `/proc` (nothing on other systems).

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many directory entries are read; a home may hold years of sessions.
const MOST: usize = 50_000;
/// How deep `**` goes.
const DEEP: usize = 8;
/// How many bytes of the start and of the end of a file are read.
const HEAD: u64 = 64 << 10;
const TAIL: u64 = 4 << 20;
/// How many processes are searched.
const MAX_PROCESSES: usize = 64;

/// A file that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TranscriptFile {
    pub(super) path: PathBuf,
    pub(super) changed: SystemTime,
}

/// The files that match a path and were changed since, newest first.
pub(super) fn find(pattern: &str, since: SystemTime) -> Vec<TranscriptFile> {
    let mut left = MOST;
    let mut found = Vec::new();
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    walk(Path::new("/"), &parts, DEEP, &mut left, &mut |path| {
        let changed = path.metadata().ok().filter(fs::Metadata::is_file);
        let changed = changed.and_then(|found| found.modified().ok());
        if let Some(changed) = changed.filter(|changed| since <= *changed) {
            found.push(TranscriptFile { path: path.to_owned(), changed });
        }
    });
    found.sort_by(|one, other| (other.changed, &other.path).cmp(&(one.changed, &one.path)));
    found.dedup();
    found
}

fn walk(folder: &Path, parts: &[&str], deep: usize, left: &mut usize, take: &mut dyn FnMut(&Path)) {
    let Some((part, rest)) = parts.split_first() else { return take(folder) };
    if !part.contains('*') {
        return walk(&folder.join(part), rest, deep, left, take);
    }
    if *part == "**" {
        walk(folder, rest, deep, left, take);
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let name = entry.file_name();
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if *part == "**" && is_folder && 0 < deep {
            walk(&path, parts, deep - 1, left, take);
        } else if *part != "**" && fits(part, &name.to_string_lossy()) {
            walk(&path, rest, deep, left, take);
        }
    }
}

/// Whether a name matches a pattern whose `*` match any text.
fn fits(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// The start and the end of a file, as text; lines at the cut may be incomplete.
pub(super) fn read(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= HEAD + TAIL {
        file.take(HEAD + TAIL).read_to_end(&mut bytes)?;
    } else {
        file.by_ref().take(HEAD).read_to_end(&mut bytes)?;
        bytes.push(b'\n');
        file.seek(SeekFrom::Start(length - TAIL))?;
        file.take(TAIL).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

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
    while let Some(pid) = pids.get(next).copied().filter(|_| next < MAX_PROCESSES) {
        next += 1;
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.unwrap_or_default();
        pids.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    let folders = pids.iter().map(|pid| format!("/proc/{pid}/fd"));
    let entries = folders.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_as_in_a_shell() {
        assert!(fits("*.jsonl", "a.jsonl") && fits("session-*.json", "session-1.json"));
        assert!(fits("*", "anything") && fits("a*b*c", "a--b--c") && fits("plain", "plain"));
        assert!(!fits("*.jsonl", "a.json") && !fits("a*b*c", "acb") && !fits("plain", "plainer"));
    }

    #[test]
    fn files_are_found_newest_first_in_any_depth() {
        let home = tempfile::tempdir().unwrap();
        let old = SystemTime::UNIX_EPOCH;
        for (name, day) in [("a/b/one.jsonl", 2), ("two.jsonl", 3), ("a/three.txt", 4)] {
            let path = home.path().join("s").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = File::create(&path).unwrap();
            file.set_modified(old + std::time::Duration::from_secs(day * 86400)).unwrap();
        }
        let pattern = format!("{}/s/**/*.jsonl", home.path().display());
        let found = find(&pattern, old);
        let names: Vec<_> = found.iter().map(|found| found.path.file_name().unwrap()).collect();
        assert_eq!(names, ["two.jsonl", "one.jsonl"]);
        let later = old + std::time::Duration::from_secs(86400 * 5 / 2);
        assert_eq!(find(&pattern, later).len(), 1);
    }

    #[test]
    fn the_end_of_a_large_file_is_read_with_its_beginning() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("large");
        let middle = "x".repeat(6 << 20);
        fs::write(&path, format!("first\n{middle}\nlast\n")).unwrap();
        let text = read(&path).unwrap();
        assert!(text.starts_with("first\n") && text.ends_with("\nlast\n"));
        assert!(text.len() < 5 << 20);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let home = std::env::var("HOME").ok();
        assert_eq!(environment_variable(std::process::id(), "HOME"), home);
        assert_eq!(environment_variable(std::process::id(), "HOM"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_is_open_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = open_files(std::process::id());
        assert!(open.iter().any(|path| path == file.path()));
    }
}
