//! A pane's kept output, from an offset to where it ended at the first request.
//!
//! It is read as bytes, so that lines are complete however long they are. A program that prints
//! meanwhile may overwrite what was not read yet; a note reports each gap where it is, and an error
//! reports the sum at the end.

use anyhow::Result;
use paned_model::{Code, Refusal};
use serde_json::json;

use super::output::{PaneReadReply, TimedBytes};
use super::output_range::OutputRange;
use super::output_writer::OutputWriter;
use crate::context::CliContext;
use crate::out::units;

/// As many bytes as the server returns at once.
const PIECE: usize = 1 << 20;
/// How far to skip ahead of a program that overwrites what is about to be read, at first.
const SKIP_AHEAD: u64 = 64 << 10;

/// A part of a pane's output.
pub(crate) struct OutputHistory<'a> {
    context: &'a CliContext,
    pane: &'a str,
    /// The offset of the next byte.
    at: u64,
    /// Where it ends: later output of the program is not followed.
    end: u64,
    /// How many bytes before its start are no longer kept.
    dropped: u64,
    /// Whether the number of the next line is known.
    is_numbered: bool,
    /// Whether to ask when it was printed.
    has_times: bool,
}

/// The next part of it.
struct HistoryChunk {
    /// How many bytes before it were overwritten while we read.
    missed: u64,
    /// The number of its first line, if that does not follow from the part before.
    n: Option<u64>,
    bytes: TimedBytes,
}

impl<'a> OutputHistory<'a> {
    /// A range of it.
    pub(crate) fn new(context: &'a CliContext, pane: &'a str, range: &OutputRange) -> Self {
        let OutputRange { start, end, dropped } = *range;
        // Only then something is missing before what is shown.
        let dropped = if start == dropped { dropped } else { 0 };
        let is_numbered = start == 0;
        Self { context, pane, at: start, end, dropped, is_numbered, has_times: false }
    }

    /// The same with the times of its lines.
    pub(crate) fn with_times(self, has_times: bool) -> Self {
        Self { has_times, ..self }
    }

    /// Prints it.
    ///
    /// # Errors
    /// When the server refuses, and when some of it was lost before it was read.
    pub(crate) fn show(mut self, mut writer: OutputWriter) -> Result<()> {
        if 0 < self.dropped {
            let dropped = units::bytes(self.dropped);
            self.context.out.note(format!("paned: the first {dropped} are no longer retained"))?;
            writer.mark_start_missing();
        }
        let mut lost = 0;
        while let Some(chunk) = self.next(writer.is_numbered())? {
            if 0 < chunk.missed {
                lost += chunk.missed;
                writer.missed(chunk.missed)?;
            }
            if let Some(n) = chunk.n {
                writer.set_line_number(n);
            }
            writer.print_timed(&chunk.bytes)?;
        }
        writer.finish()?;
        if lost == 0 { Ok(()) } else { Err(too_slow(lost).into()) }
    }

    fn next(&mut self, with_numbers: bool) -> Result<Option<HistoryChunk>> {
        if self.end <= self.at {
            return Ok(None);
        }
        let (raw, n) = match with_numbers {
            true => self.numbered()?,
            false => (self.raw(self.at)?, None),
        };
        let missed = raw.first - self.at;
        self.at = raw.first + raw.bytes.len() as u64;
        Ok(Some(HistoryChunk { missed, n, bytes: raw }))
    }

    /// The bytes from an offset, or from the first byte that is kept.
    fn raw(&self, from: u64) -> Result<TimedBytes> {
        let request = json!({
            "paneId": self.pane, "view": "raw", "since": from, "limit": PIECE, "times": self.has_times,
        });
        let answer: PaneReadReply = self.context.call("pane:read", &request)?;
        let mut bytes = answer.bytes()?;
        let first = (answer.next - bytes.len() as u64).min(self.end);
        bytes.truncate(usize::try_from(self.end - first).unwrap_or(usize::MAX));
        Ok(TimedBytes { first, bytes, times: answer.times })
    }

    /// The next bytes, with the number of their first line if that is not known.
    fn numbered(&mut self) -> Result<(TimedBytes, Option<u64>)> {
        let mut from = self.at;
        if self.is_numbered {
            let raw = self.raw(from)?;
            if raw.first == from {
                return Ok((raw, None));
            }
            from = raw.first;
        }
        self.is_numbered = true;
        self.number_from(from)
    }

    /// Requests the number first, since that takes less time. If even that is too slow, later bytes
    /// are tried, which are kept for longer.
    fn number_from(&self, mut from: u64) -> Result<(TimedBytes, Option<u64>)> {
        let mut ahead = SKIP_AHEAD;
        while from < self.end {
            let request = json!({ "paneId": self.pane, "since": from, "limit": 1 });
            let answer: PaneReadReply = self.context.call("pane:read", &request)?;
            let kept = match &answer.gap {
                Some(gap) => gap.to,
                None => {
                    let raw = self.raw(from)?;
                    if raw.first == from {
                        let n = number(&answer, &raw);
                        return Ok((raw, Some(n)));
                    }
                    raw.first
                }
            };
            from = kept + ahead;
            ahead *= 2;
        }
        Ok((TimedBytes { first: self.end, ..TimedBytes::default() }, None))
    }
}

/// The number of the line that `raw` starts with. `answer` has one line from the same offset: that
/// line, or the next one if nothing but the line's end is left.
fn number(answer: &PaneReadReply, raw: &TimedBytes) -> u64 {
    let Some(line) = answer.lines.first() else { return answer.total.saturating_sub(1) };
    let length = usize::try_from(answer.next - raw.first).unwrap_or(usize::MAX);
    let has_end = !line.open && length <= raw.bytes.len();
    let bytes = &raw.bytes[..length.min(raw.bytes.len())];
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    (line.n + u64::from(has_end)).saturating_sub(ends)
}

fn too_slow(lost: u64) -> Refusal {
    let lost = units::bytes(lost);
    let sentence = format!("the output is incomplete: {lost} were overwritten while it was read");
    Refusal::new(Code::Gone, sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` and `next` are of the line that the server answers for the bytes from the offset 100 on.
    #[track_caller]
    fn check(bytes: &str, n: u64, next: u64, is_open: bool, expect: u64) {
        let line = json!({ "n": n, "text": "", "open": is_open });
        let answer = json!({
            "lines": [line], "next": next, "total": 9, "dropped": 0, "truncated": true,
        });
        let raw = TimedBytes { first: 100, bytes: bytes.as_bytes().to_vec(), times: Vec::new() };
        assert_eq!(number(&serde_json::from_value(answer).unwrap(), &raw), expect, "{bytes:?}");
    }

    #[test]
    fn the_first_line_has_the_number_of_the_one_that_is_answered() {
        check("one\r\ntwo\r\n", 7, 105, false, 7);
        check("\r\ntwo\r\n", 7, 102, false, 7);
        check("one", 7, 103, true, 7);
        check("one that is longer than a piece", 7, 1000, false, 7);
    }

    #[test]
    fn a_line_of_which_only_the_end_is_left_comes_before_it() {
        check("\r\ntwo\r\n", 8, 107, false, 7);
        check("\r\ntwo", 8, 105, true, 7);
        check("\r\ntwo that is longer than a piece", 8, 1000, false, 7);
    }
}
