//! Reading the log of an extension, which is one file and the file before it.
//!
//! A position is the inode of a file and an offset in it, so that a reader finds its place again
//! when the file was rotated or the server restarted.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::str::FromStr;

/// The most text in one answer.
const LONGEST_TEXT: usize = 256 << 10;

/// Where to read on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    inode: u64,
    offset: u64,
}

/// A part of a log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LogPart {
    /// Whole lines.
    pub(crate) text: String,
    pub(crate) next: LogPosition,
}

/// The last lines of a log, which may not exist yet.
pub(crate) fn tail(log: &Path, old_log: &Path, lines: usize) -> io::Result<LogPart> {
    let (current, next) = read(log, 0)?;
    let end = whole_lines(&current);
    let mut bytes = current[..end].to_vec();
    if count_lines(&bytes) < lines && bytes.len() < LONGEST_TEXT {
        let (old, _) = read(old_log, 0)?;
        bytes.splice(0..0, old);
    }
    let mut from = bytes.len().saturating_sub(LONGEST_TEXT);
    if 0 < from {
        // The first line is not whole.
        from += bytes[from..].iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    }
    let text = String::from_utf8_lossy(&bytes[from..]);
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    let text = all[all.len().saturating_sub(lines)..].concat();
    Ok(LogPart { text, next: LogPosition { offset: end as u64, ..next } })
}

/// The lines from this position on; from the first that is kept, where it is not kept any longer.
pub(crate) fn after(log: &Path, old_log: &Path, position: LogPosition) -> io::Result<LogPart> {
    let (current, at) = read(log, 0)?;
    if position.inode == at.inode && position.offset <= current.len() as u64 {
        return Ok(part(&current, at.inode, position.offset));
    }
    let (old, old_at) = read(old_log, 0)?;
    let is_in_old = position.inode == old_at.inode && position.offset < old.len() as u64;
    let from = if is_in_old { position.offset } else { 0 };
    // What is left of the old file comes alone; the next call continues with this one.
    if !old.is_empty() && (is_in_old || position.inode != old_at.inode) {
        let rest = part(&old, old_at.inode, from);
        if !rest.text.is_empty() {
            return Ok(rest);
        }
    }
    Ok(part(&current, at.inode, 0))
}

/// The next whole lines of a file.
fn part(bytes: &[u8], inode: u64, offset: u64) -> LogPart {
    let rest = &bytes[usize::try_from(offset).unwrap_or(bytes.len()).min(bytes.len())..];
    let rest = &rest[..rest.len().min(LONGEST_TEXT)];
    // A line that is longer than an answer is cut.
    let end = if rest.len() == LONGEST_TEXT && whole_lines(rest) == 0 {
        rest.len()
    } else {
        whole_lines(rest)
    };
    let text = String::from_utf8_lossy(&rest[..end]).into_owned();
    LogPart { text, next: LogPosition { inode, offset: offset + end as u64 } }
}

/// The length of the whole lines at the beginning.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// A file from this offset on, and its inode; empty if it does not exist.
fn read(path: &Path, from: u64) -> io::Result<(Vec<u8>, LogPosition)> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((Vec::new(), LogPosition::default()));
        }
        Err(error) => return Err(error),
    };
    let inode = file.metadata()?.ino();
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    // The writer bounds the file; this bounds one that the user put there.
    file.take(64 << 20).read_to_end(&mut bytes)?;
    Ok((bytes, LogPosition { inode, offset: from }))
}

impl fmt::Display for LogPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.inode, self.offset)
    }
}

impl FromStr for LogPosition {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (inode, offset) = text.split_once('-').ok_or(())?;
        let inode = inode.parse().map_err(|_| ())?;
        let offset = offset.parse().map_err(|_| ())?;
        Ok(Self { inode, offset })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    struct TestLog(tempfile::TempDir);

    impl TestLog {
        fn paths(&self) -> (std::path::PathBuf, std::path::PathBuf) {
            (self.0.path().join("log"), self.0.path().join("log.1"))
        }

        fn append(&self, text: &str) {
            let mut file = File::options().append(true).create(true).open(self.paths().0).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        }

        fn rotate(&self) {
            let (log, old) = self.paths();
            fs::rename(log, old).unwrap();
        }

        fn tail(&self, lines: usize) -> LogPart {
            let (log, old) = self.paths();
            tail(&log, &old, lines).unwrap()
        }

        /// Everything after this position, and the end.
        fn after(&self, mut next: LogPosition) -> (String, LogPosition) {
            let (log, old) = self.paths();
            let mut text = String::new();
            loop {
                let part = after(&log, &old, next).unwrap();
                if part.text.is_empty() {
                    return (text, part.next);
                }
                text += &part.text;
                next = part.next.to_string().parse().unwrap();
            }
        }
    }

    #[test]
    fn the_last_lines_are_shown_and_later_ones_follow() {
        let log = TestLog(tempfile::tempdir().unwrap());
        assert_eq!(log.tail(5).text, "");
        log.append("one\ntwo\nthree\nfo");
        let end = log.tail(2);
        assert_eq!(end.text, "two\nthree\n");
        assert_eq!(log.after(end.next).0, "");
        log.append("ur\n");
        assert_eq!(log.after(end.next).0, "four\n");
    }

    #[test]
    fn a_reader_that_keeps_up_misses_nothing_of_a_rotated_log() {
        let log = TestLog(tempfile::tempdir().unwrap());
        let mut next = log.tail(1).next;
        let mut read = String::new();
        let mut written = String::new();
        for round in 0..30 {
            let lines: String = (0..round * 7).map(|n| format!("{round} {n}\n")).collect();
            log.append(&lines);
            written += &lines;
            if round % 3 == 1 {
                log.rotate();
                log.append("after\n");
                written += "after\n";
            }
            let (text, end) = log.after(next);
            read += &text;
            next = end;
        }
        assert_eq!(read, written);
        assert!(log.tail(1000).text.ends_with("29 202\n"));
        assert!(log.tail(300).text.lines().count() == 300);
    }

    #[test]
    fn an_answer_is_bounded_and_ends_with_a_line() {
        let log = TestLog(tempfile::tempdir().unwrap());
        log.append(&"0123456789\n".repeat(60_000));
        log.append(&"x".repeat(2 * LONGEST_TEXT));
        log.append("\n");
        let (first, old) = log.paths();
        let part = after(&first, &old, LogPosition::default()).unwrap();
        assert!(part.text.len() <= LONGEST_TEXT && part.text.ends_with("9\n"));
        let (all, _) = log.after(LogPosition::default());
        assert_eq!(all.len(), 660_000 + 2 * LONGEST_TEXT + 1);
        assert!(log.tail(100_000).text.len() <= LONGEST_TEXT);
    }
}
