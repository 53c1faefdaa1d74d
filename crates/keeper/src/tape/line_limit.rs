//! A limit of lines: of everything that is kept, only the last lines can be read.
//!
//! The first of them is found anew with each append, by reading on from the one before: so the work
//! is one more read of every byte, whatever the limit. A line ends with a line feed; how often a
//! terminal wraps it does not matter. A last line without its end counts as one.

use std::io;
use std::num::NonZeroU64;

use memchr::memchr_iter;

/// The beginning of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineStart {
    pub(super) offset: u64,
    /// Line ends before it.
    pub(super) lines: u64,
}

/// The limit, and the first line that it lets through.
#[derive(Debug)]
pub(super) struct LineLimit {
    most: u64,
    pub(super) start: LineStart,
}

impl LineLimit {
    pub(super) fn new(most: NonZeroU64) -> Self {
        Self { most: most.get(), start: LineStart::default() }
    }

    /// Where the first line begins, if that changes with output up to `end`, which is inside a line
    /// if `is_open`. `first` is the first offset that is kept, `read` returns bytes from an offset
    /// on, and `lines_at` the line ends before the block of an offset.
    pub(super) fn start_of(
        &self,
        end: LineStart,
        is_open: bool,
        first: u64,
        read: impl Fn(u64) -> io::Result<Vec<u8>>,
        lines_at: impl Fn(u64) -> io::Result<u64>,
    ) -> Option<LineStart> {
        let wanted = (end.lines + u64::from(is_open)).saturating_sub(self.most);
        let from = match self.start.offset < first {
            false => self.start,
            // The ring has overwritten it, and begins with a block, maybe inside a line.
            true => LineStart { offset: first, lines: lines_at(first).ok()? },
        };
        if wanted <= from.lines {
            return None;
        }
        // What another process has cut cannot be counted: the limit begins anew behind it.
        Some(find(from, wanted, end.offset, read).unwrap_or(end))
    }
}

/// The beginning of the line with this many line ends before it; nothing if it is not there.
fn find(
    from: LineStart,
    wanted: u64,
    end: u64,
    read: impl Fn(u64) -> io::Result<Vec<u8>>,
) -> Option<LineStart> {
    let mut at = from.offset;
    let mut lines = from.lines;
    while at < end {
        let bytes = read(at).ok().filter(|bytes| !bytes.is_empty())?;
        let left = usize::try_from(wanted - lines - 1).ok()?;
        if let Some(last) = memchr_iter(b'\n', &bytes).nth(left) {
            return Some(LineStart { offset: at + last as u64 + 1, lines: wanted });
        }
        lines += memchr_iter(b'\n', &bytes).count() as u64;
        at += bytes.len() as u64;
    }
    None
}
