//! A line that is longer than what is searched at a time: drawn piece by piece, so that a search
//! can pause in between.

use std::io;

use memchr::memchr;
use paned_backend::Output;
use paned_term::lines::{Charsets, IncrementalLine, TextLine};

/// A long line that is being drawn.
#[derive(Debug)]
pub(super) struct LongLine {
    /// Where it begins.
    pub(super) start: u64,
    /// Where it ends, its `\n` included where it has one.
    end: u64,
    /// Everything before this is drawn.
    at: u64,
    drawing: IncrementalLine,
    max_chars: usize,
}

/// The result of a step.
pub(super) enum LongLineStep {
    /// There is more to draw.
    More(Box<LongLine>),
    Done(RenderedLongLine),
    /// It was overwritten meanwhile.
    Gone,
}

/// A long line that is completely drawn.
pub(super) struct RenderedLongLine {
    pub(super) start: u64,
    /// Where its last byte is.
    pub(super) last: u64,
    pub(super) line: TextLine<'static>,
}

impl LongLine {
    /// One that begins in these character sets.
    pub(super) fn new(sets: Charsets, start: u64, end: u64, max_chars: usize) -> Self {
        Self {
            start,
            end,
            at: start,
            drawing: IncrementalLine::with_charsets(sets, max_chars),
            max_chars,
        }
    }

    /// Draws one more piece, as large as the buffer.
    pub(super) fn step(
        mut self: Box<Self>,
        output: &dyn Output,
        buffer: &mut [u8],
    ) -> io::Result<LongLineStep> {
        let wanted = buffer.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
        let read = match output.read(self.at, &mut buffer[..wanted])? {
            Ok(read) => read,
            Err(gap) if self.end <= gap.first => return Ok(LongLineStep::Gone),
            // Its start is overwritten: what is left of it is searched, as for other lines.
            Err(gap) => {
                let sets = Charsets::default();
                let rest = Self::new(sets, gap.first, self.end, self.max_chars);
                return Ok(LongLineStep::More(Box::new(rest)));
            }
        };
        let line_end = memchr(b'\n', &buffer[..read]);
        let drawn = line_end.unwrap_or(read);
        self.drawing.feed(&buffer[..drawn]);
        self.at += drawn as u64;
        if line_end.is_none() && self.at < self.end && 0 < read {
            return Ok(LongLineStep::More(self));
        }
        let last = self.at.saturating_sub(1).max(self.start);
        Ok(LongLineStep::Done(RenderedLongLine {
            start: self.start,
            last,
            line: self.drawing.finish(),
        }))
    }
}
