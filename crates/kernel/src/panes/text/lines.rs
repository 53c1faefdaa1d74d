//! A pane's output as numbered lines: found by number through the tape's index, read in pieces.
//!
//! A line that is longer than a piece is drawn from all of its pieces, so that it reads as it would
//! in one.

#[cfg(test)]
pub(in crate::panes) mod tests;

use std::io;
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter};
use paned_backend::{LineMark, Output, OutputGap};
use paned_term::lines::{self, Charsets, IncrementalLine};

use crate::panes::search::charsets;
use crate::panes::search::charsets::LineCharsets;

/// How much is read in one go.
pub(crate) const PIECE: usize = 64 << 10;

/// Characters of a line that patterns look at.
pub(crate) const MAX_MATCHED_CHARS: usize = 256 << 10;

/// Characters of a line that are drawn. A longer line is cut and marked so. One more than patterns
/// look at, so that they see what follows.
pub(crate) const MAX_DRAWN_CHARS: usize = MAX_MATCHED_CHARS + 1;

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineStart {
    pub(crate) offset: u64,
    /// The line's number, counted from 0 at the pane's first line ever.
    pub(crate) n: u64,
    /// Whether the line may have begun before this, in output that is no longer kept.
    pub(crate) truncated_start: bool,
}

impl LineStart {
    /// Where a line is known to begin.
    fn new(offset: u64, n: u64) -> Self {
        Self { offset, n, truncated_start: false }
    }
}

/// One line as it was printed, without its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLine<'a> {
    pub(crate) n: u64,
    /// Where it begins.
    pub(crate) offset: u64,
    /// The offset after it and its end.
    pub(crate) next: u64,
    /// Whether its end was printed too.
    pub(crate) has_newline: bool,
    /// Whether its beginning may be missing, because it is no longer kept.
    pub(crate) truncated_start: bool,
    body: LineBody<'a>,
}

#[derive(Clone, Copy, Debug)]
enum LineBody<'a> {
    /// The bytes, of a line that fits into a piece, and the character sets that it begins in.
    Printed(Charsets, &'a [u8]),
    /// The drawn text, of a line that does not.
    Drawn(&'a lines::TextLine<'static>),
}

impl<'a> RawLine<'a> {
    /// What a person would read, cut at this number of characters, up to [`MAX_DRAWN_CHARS`].
    pub(crate) fn clean(self, max_chars: usize) -> lines::TextLine<'a> {
        match self.body {
            LineBody::Printed(sets, bytes) => {
                lines::clean_with_charsets(sets, bytes, max_chars.min(MAX_DRAWN_CHARS))
            }
            LineBody::Drawn(lines::TextLine { text, cut }) => {
                lines::TextLine { text: text.as_ref().into(), cut: *cut }.cut_at(max_chars)
            }
        }
    }
}

/// The lines of one output.
#[derive(Clone, Copy)]
pub(crate) struct OutputText<'a> {
    output: &'a dyn Output,
}

impl<'a> OutputText<'a> {
    pub(crate) fn new(output: &'a dyn Output) -> Self {
        Self { output }
    }

    /// Where the text ends for now: before an incomplete character, unless nothing will follow it.
    /// `is_over` was determined before this call.
    pub(crate) fn end(&self, is_over: bool) -> io::Result<u64> {
        let end = self.output.end();
        if is_over {
            return Ok(end);
        }
        let mut last = [0; 3];
        let from = end.saturating_sub(last.len() as u64).max(self.output.first());
        let wanted = usize::try_from(end - from).unwrap_or(0).min(last.len());
        let read = self.output.read(from, &mut last[..wanted])?.unwrap_or(0);
        Ok(end - if read == wanted { lines::incomplete_suffix(&last[..read]) as u64 } else { 0 })
    }

    /// The first line of which anything is kept.
    pub(crate) fn first(&self) -> io::Result<LineStart> {
        let mark = self.mark(self.output.first())?;
        let truncated_start = 0 < mark.offset && !self.output.is_line_start(mark.offset);
        Ok(LineStart { offset: mark.offset, n: mark.lines, truncated_start })
    }

    /// How many lines there are up to an offset, including a last one without its newline.
    pub(crate) fn total_until(&self, end: u64) -> io::Result<u64> {
        // What was lost was counted when it was printed.
        let Some(lines) = self.ends_before(end)? else { return Ok(self.output.lines()) };
        let mut last = [0];
        let open =
            end != 0 && matches!(self.output.read(end - 1, &mut last)?, Ok(1) if last[0] != b'\n');
        Ok(lines + u64::from(open))
    }

    /// How many newlines precede an offset. None if that is no longer kept.
    pub(crate) fn ends_before(&self, offset: u64) -> io::Result<Option<u64>> {
        // At the very end, a block that is not begun yet has no mark.
        let near = if offset < self.output.end() { offset } else { offset.saturating_sub(1) };
        let Ok(mark) = self.output.line_mark(near)? else { return Ok(None) };
        let mut bytes = vec![0; usize::try_from(offset - mark.offset).unwrap_or(0)];
        let read = self.output.read(mark.offset, &mut bytes)?.ok();
        let count = |read| memchr_iter(b'\n', &bytes[..read]).count() as u64;
        Ok(read.map(|read| mark.lines + count(read)))
    }

    /// The beginning of a line by its number; of the first one kept when it is older than that, and
    /// the end of the output when it is not there yet.
    pub(crate) fn line(&self, n: u64) -> io::Result<LineStart> {
        let first = self.first()?;
        if n <= first.n {
            return Ok(first);
        }
        let near = self.mark_before(first.offset, n)?;
        self.skip(LineStart::new(near.offset, near.lines), n)
    }

    /// The beginning of the line that an offset is in, at the offset or before it; of the first one
    /// kept when the offset is older than that. At the very end, after a line's end, that is where
    /// the next one will begin.
    pub(crate) fn line_at(&self, offset: u64) -> io::Result<LineStart> {
        match self.ends_before(offset.min(self.output.end()))? {
            Some(n) => self.line(n),
            None => self.first(),
        }
    }

    /// The last mark with fewer lines before it than `n`, by binary search.
    fn mark_before(&self, first: u64, n: u64) -> io::Result<LineMark> {
        let mut low = self.mark(first)?;
        let mut high = self.output.end();
        while low.offset + 4096 < high {
            let middle = self.mark(low.offset + (high - low.offset) / 2)?;
            // No progress, or the ring has overwritten the middle: nothing is left to bisect.
            if middle.offset <= low.offset || high <= middle.offset {
                break;
            }
            if middle.lines < n {
                low = middle;
            } else {
                high = middle.offset;
            }
        }
        Ok(low)
    }

    /// Skips newlines up to a line number.
    fn skip(&self, from: LineStart, n: u64) -> io::Result<LineStart> {
        let mut line = from;
        let mut at = from.offset;
        let mut buffer = vec![0; PIECE];
        while line.n < n {
            let read = match self.output.read(at, &mut buffer)? {
                Ok(0) => return Ok(LineStart::new(at, line.n)),
                Ok(read) => read,
                Err(gap) => return self.after_gap(at, gap),
            };
            let ends = memchr_iter(b'\n', &buffer[..read]).zip(line.n + 1..=n);
            if let Some((end, n)) = ends.last() {
                line = LineStart::new(at + end as u64 + 1, n);
            }
            at += read as u64;
        }
        Ok(line)
    }

    /// The mark of an offset, or of the first kept byte if the ring has overwritten that.
    fn mark(&self, offset: u64) -> io::Result<LineMark> {
        let mut offset = offset;
        loop {
            match self.output.line_mark(offset)? {
                Ok(mark) => return Ok(mark),
                Err(OutputGap { first }) if offset < first => offset = first,
                Err(_) => return Err(io::Error::other("the index of the output has a gap")),
            }
        }
    }

    /// Where a read continues that met a gap at an offset: at the first line that is kept if the
    /// ring has overwritten the offset, else after what a truncated file has lost. Always after the
    /// offset, so that every loop over an output ends.
    pub(crate) fn after_gap(&self, at: u64, gap: OutputGap) -> io::Result<LineStart> {
        let first = self.first()?;
        if at < first.offset {
            return Ok(first);
        }
        let end = self.output.end();
        if at < gap.first && gap.first < end {
            let mark = self.mark(gap.first)?;
            return Ok(LineStart {
                offset: mark.offset.max(gap.first),
                n: mark.lines,
                truncated_start: true,
            });
        }
        Ok(LineStart { offset: end.max(at + 1), n: self.output.lines(), truncated_start: true })
    }

    /// Visits lines in order, from the beginning of one to an offset, as if the output ended there.
    pub(crate) fn each_until(
        &self,
        from: LineStart,
        end: u64,
        mut visit: impl FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; PIECE + 2 * charsets::BLOCK as usize];
        let mut line_start = from;
        // Nothing before this can be read.
        let mut lost = 0;
        while line_start.offset < end {
            // The charsets of the first line depend on what precedes it.
            let begin = charsets::context_start(line_start.offset, charsets::BLOCK)
                .max(self.output.first())
                .max(lost);
            let (begin, skip) = match line_start.offset.checked_sub(begin) {
                Some(skip) => (begin, usize::try_from(skip).unwrap_or(0)),
                None => (line_start.offset, 0),
            };
            let read = match self.read(begin, end, &mut buffer[..skip + PIECE])? {
                Ok(read) if skip < read => read,
                // The file is truncated before the line.
                Ok(_) if begin < line_start.offset => {
                    lost = line_start.offset;
                    continue;
                }
                Ok(_) => return Ok(()),
                Err(gap) if begin < line_start.offset && gap.first <= line_start.offset => {
                    lost = gap.first.max(begin + 1);
                    continue;
                }
                Err(gap) => {
                    line_start = self.after_gap(line_start.offset, gap)?;
                    continue;
                }
            };
            let at_end = begin + read as u64 == end;
            let sets = LineCharsets::new(&buffer[..read], begin, charsets::BLOCK);
            match visit_piece(line_start, sets, &buffer[skip..read], at_end, &mut visit) {
                ControlFlow::Break(()) => return Ok(()),
                ControlFlow::Continue(next) if next.offset == line_start.offset => {
                    match self.visit_long(line_start, end, &mut buffer, &mut visit)? {
                        ControlFlow::Break(()) => return Ok(()),
                        ControlFlow::Continue(next) => line_start = next,
                    }
                }
                ControlFlow::Continue(next) => line_start = next,
            }
        }
        Ok(())
    }

    /// Reads a piece, up to an end.
    fn read(&self, from: u64, end: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        let wanted = buffer.len().min(usize::try_from(end - from).unwrap_or(PIECE));
        self.output.read(from, &mut buffer[..wanted])
    }

    /// Draws and visits a line that fills more than a piece. Returns where to continue.
    fn visit_long(
        &self,
        line_start: LineStart,
        end: u64,
        buffer: &mut [u8],
        visit: &mut impl FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> io::Result<ControlFlow<(), LineStart>> {
        let sets = charsets::at(self.output, line_start.offset, charsets::BLOCK)?;
        let mut drawing = IncrementalLine::with_charsets(sets, MAX_DRAWN_CHARS);
        let mut next = line_start.offset;
        let mut whole = false;
        let mut after = None;
        while !whole && next < end {
            let read = match self.read(next, end, buffer)? {
                Ok(0) => break,
                Ok(read) => read,
                Err(gap) => {
                    after = Some(self.after_gap(next, gap)?);
                    break;
                }
            };
            let line_end = memchr(b'\n', &buffer[..read]);
            drawing.feed(&buffer[..line_end.unwrap_or(read)]);
            next += line_end.map_or(read, |at| at + 1) as u64;
            whole = line_end.is_some();
        }
        if let Some(after) = after
            && (next == line_start.offset || line_start.offset < self.output.first())
        {
            return Ok(ControlFlow::Continue(after));
        }
        let line = drawing.finish();
        let LineStart { offset, n, truncated_start } = line_start;
        let body = LineBody::Drawn(&line);
        let flow = visit(RawLine { n, offset, next, has_newline: whole, truncated_start, body });
        let after = after.unwrap_or_else(|| LineStart::new(next, n + u64::from(whole)));
        Ok(flow.map_continue(|()| after))
    }
}

/// Visits the lines that are whole in this piece, and the last one where the output ends. Returns
/// where to continue.
fn visit_piece(
    mut line_start: LineStart,
    mut sets: LineCharsets<'_>,
    mut bytes: &[u8],
    at_end: bool,
    visit: &mut impl FnMut(RawLine<'_>) -> ControlFlow<()>,
) -> ControlFlow<(), LineStart> {
    while !bytes.is_empty() {
        let (line, rest, whole) = match memchr(b'\n', bytes) {
            Some(end) => (&bytes[..end], &bytes[end + 1..], true),
            None if at_end => (bytes, &[][..], false),
            None => break,
        };
        let LineStart { offset, n, truncated_start } = line_start;
        let next = offset + (bytes.len() - rest.len()) as u64;
        let body = LineBody::Printed(sets.at(offset), line);
        visit(RawLine { n, offset, next, has_newline: whole, truncated_start, body })?;
        line_start = LineStart::new(next, n + u64::from(whole));
        bytes = rest;
    }
    ControlFlow::Continue(line_start)
}
