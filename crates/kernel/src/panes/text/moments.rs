//! When output was printed: offsets by time, and how much was printed when.

use std::io;

use paned_backend::Output;
use paned_model::Time;

/// The shortest span of an [`OutputSpan`], in milliseconds: the tape has times this exact.
const SHORTEST: u64 = 100;

/// Output that was printed within one span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputSpan {
    /// When the span begins.
    pub(crate) time: Time,
    /// Where its output begins.
    pub(crate) offset: u64,
    /// How much was printed in it.
    pub(crate) bytes: u64,
}

/// The offset before which everything between `first` and `end` was printed by a time, by binary
/// search.
pub(crate) fn offset_at(output: &dyn Output, first: u64, end: u64, time: Time) -> io::Result<u64> {
    let mut low = first;
    let mut high = end;
    while low < high {
        let middle = low + (high - low) / 2;
        match output.time(middle)? {
            Ok(printed) if printed.time <= time => {
                low = printed.until.clamp(middle + 1, high);
            }
            Ok(_) => high = middle,
            Err(gap) => low = gap.first.clamp(middle + 1, high),
        }
    }
    Ok(low)
}

/// How much was printed when, in at most about `count` spans of the same length. Spans without
/// output are left out. Also returns their length in milliseconds.
pub(crate) fn output_spans(
    output: &dyn Output,
    first: u64,
    end: u64,
    count: u64,
) -> io::Result<(Vec<OutputSpan>, u64)> {
    let Some(last) = end.checked_sub(1).filter(|last| first <= *last) else {
        return Ok((Vec::new(), SHORTEST));
    };
    let (Ok(begin), Ok(finish)) = (output.time(first)?, output.time(last)?) else {
        return Ok((Vec::new(), SHORTEST));
    };
    let begin = begin.time;
    let length = (finish.time.since(begin) + 1).div_ceil(count).max(SHORTEST);
    let mut spans = Vec::new();
    let mut at = first;
    // A clock that was set back makes no more spans than that.
    while at < end && (spans.len() as u64) < 2 * count {
        let Ok(printed) = output.time(at)? else { break };
        let time = Time(begin.0 + printed.time.since(begin) / length * length);
        let upto = offset_at(output, at, end, Time(time.0 + length - 1))?.max(at + 1);
        spans.push(OutputSpan { time, offset: at, bytes: upto - at });
        at = upto;
    }
    Ok((spans, length))
}
