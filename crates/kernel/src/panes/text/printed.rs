//! When output was printed: the time of each part, and the first line since a time.

use std::io;
use std::ops::Range;

use paned_backend::Output;
use paned_model::{Offset, Time};
use schemars::JsonSchema;
use serde::Serialize;

/// How many times one answer may have.
const MAX_MARKS: usize = 10_000;
/// How far back the start of a line is looked for.
const LONGEST_LINE: u64 = 1 << 20;
/// How much is read at once while looking for it.
const PIECE: u64 = 4 << 10;

/// From this offset on, bytes were printed at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct PrintedAt {
    /// The offset of the first of them.
    pub(crate) offset: Offset,
    /// When they were printed.
    pub(crate) time: Time,
}

/// The times of a range of output.
pub(crate) struct PrintedTimes {
    pub(crate) marks: Vec<PrintedAt>,
    /// The end of the bytes that these are the times of: the end of the range, or less where it
    /// has more times than one answer may have.
    pub(crate) end: u64,
}

/// When the bytes of a range were printed.
///
/// # Errors
/// When the disk refuses.
pub(crate) fn times(output: &dyn Output, range: Range<u64>) -> io::Result<PrintedTimes> {
    let mut marks: Vec<PrintedAt> = Vec::new();
    let mut at = range.start;
    while at < range.end && marks.len() < MAX_MARKS {
        match output.time(at)? {
            Ok(printed) => {
                if marks.last().is_none_or(|last| last.time != printed.time) {
                    marks.push(PrintedAt { offset: Offset(at), time: printed.time });
                }
                at = printed.until.max(at + 1);
            }
            // It was overwritten meanwhile; the caller has read it before.
            Err(gap) => at = gap.first.max(at + 1),
        }
    }
    Ok(PrintedTimes { marks, end: at.min(range.end) })
}

/// The start of the first line of which something was printed at this time or later.
///
/// # Errors
/// When the disk refuses.
pub(crate) fn line_since(output: &dyn Output, time: Time) -> io::Result<u64> {
    let mut low = output.first();
    let mut high = output.end();
    // The first byte at `time` or later lies in `low..=high`.
    while low < high {
        let middle = low + (high - low) / 2;
        match output.time(middle)? {
            Ok(printed) if printed.time < time => low = printed.until.clamp(middle + 1, high),
            Ok(_) => high = middle,
            Err(gap) => low = gap.first.clamp(middle + 1, high),
        }
    }
    line_start(output, low)
}

/// The start of the line that a byte belongs to, as far as it is kept.
fn line_start(output: &dyn Output, at: u64) -> io::Result<u64> {
    let first = output.first().max(at.saturating_sub(LONGEST_LINE));
    let mut end = at;
    while first < end {
        let start = end.saturating_sub(PIECE).max(first);
        let mut bytes = vec![0; usize::try_from(end - start).unwrap_or(0)];
        let Ok(read) = output.read(start, &mut bytes)? else { return Ok(at) };
        if let Some(newline) = bytes[..read].iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(first.min(at))
}
