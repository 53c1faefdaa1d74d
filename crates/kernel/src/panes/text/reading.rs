//! Reading lines: from a position on, up to a limit, filtered by a pattern with some context.
//!
//! Lines are read whole. A cursor in the middle of a line returns that line again from its start
//! when more of it was printed: only then is nothing lost, and no character or escape sequence is
//! cut in half.

#[cfg(test)]
mod tests;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use paned_backend::Output;
use paned_model::Offset;
use paned_term::lines;
use schemars::JsonSchema;
use serde::Serialize;

use super::lines::LineStart;
use super::lines::MAX_DRAWN_CHARS;
use super::lines::MAX_MATCHED_CHARS;
use super::lines::OutputText;
use super::lines::RawLine;
use super::page::LinePage;
use crate::panes::search::pattern::LinePattern;

/// How many characters of a line are shown; a longer one is cut and marked so.
pub(crate) const MAX_SHOWN_CHARS: usize = 2000;
/// How many bytes are read without a noticeable delay.
const SMALL_READ: u64 = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OutputLine {
    /// Its number.
    pub(crate) n: u64,
    /// Its text.
    pub(crate) text: String,
    /// Whether the text is cut at 2000 characters. Patterns are matched against up to 262144.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    /// Whether it began before `since` and continued after it: this is the whole line, which
    /// replaces the line of this number in an earlier answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) continued: bool,
    /// Whether its line end is not printed yet, so that it may still grow.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) open: bool,
    /// Whether its beginning may be missing, because it is no longer retained.
    #[serde(rename = "truncatedStart", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated_start: bool,
    /// Whether the pattern matches it; false for context lines.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<bool>,
}

impl OutputLine {
    /// A cleaned line, cut at what is shown of one.
    pub(crate) fn of(n: u64, line: lines::TextLine<'_>) -> Self {
        let line = line.cut_at(MAX_SHOWN_CHARS);
        Self { n, text: line.text.into_owned(), cut: line.cut, ..Self::default() }
    }

    /// A cleaned line, with the flags of the raw one.
    pub(crate) fn from_raw(raw: RawLine<'_>, line: lines::TextLine<'_>) -> Self {
        Self {
            open: !raw.has_newline,
            truncated_start: raw.truncated_start,
            ..Self::of(raw.n, line)
        }
    }
}

/// A line as a person would read it, all of it, for patterns to match; [`OutputLine::of`] cuts it
/// at what is shown. Borrowed where it was printed like that: most lines are matched and not
/// selected.
pub(crate) fn clean_line(raw: RawLine<'_>) -> lines::TextLine<'_> {
    raw.clean(MAX_DRAWN_CHARS)
}

/// What to read.
pub(crate) struct ReadRequest {
    pub(crate) start: ReadStart,
    /// How many lines, or matches, at most.
    pub(crate) limit: usize,
    pub(crate) pattern: Option<Arc<LinePattern>>,
    pub(crate) before: usize,
    pub(crate) after: usize,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadStart {
    /// At a line's number.
    Line(u64),
    /// With what was printed after an offset.
    Since(u64),
    /// This number of lines, or matches, before the end.
    Tail(usize),
}

/// Output that is no longer retained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LostRange {
    /// The offset where it began.
    pub(crate) from: Offset,
    /// The offset where it ended and retained output begins.
    pub(crate) to: Offset,
}

impl LostRange {
    /// What was lost between two offsets, if anything was.
    pub(crate) fn between(from: u64, to: u64) -> Option<Self> {
        (from < to).then_some(Self { from: Offset(from), to: Offset(to) })
    }
}

/// What was read.
pub(crate) struct LinesRead {
    pub(crate) lines: Vec<OutputLine>,
    /// Where the next read continues.
    pub(crate) next: Offset,
    /// Lines printed so far.
    pub(crate) total: u64,
    /// How many of them are no longer kept.
    pub(crate) dropped: u64,
    /// Whether there was more than the limit lets through.
    pub(crate) truncated: bool,
    /// What was lost since the cursor.
    pub(crate) gap: Option<LostRange>,
}

/// Reads lines, as if the output ended at `end`.
pub(crate) fn read(output: &dyn Output, end: u64, request: &ReadRequest) -> io::Result<LinesRead> {
    LineReader::new(output, end, request)?.run()
}

/// The last lines of an output that ends at `end`.
pub(crate) fn last(output: &dyn Output, end: u64, limit: usize) -> io::Result<LinesRead> {
    let start = ReadStart::Tail(usize::MAX);
    read(output, end, &ReadRequest { start, limit, pattern: None, before: 0, after: 0 })
}

/// One read. Where the output ends is fixed, however much is printed meanwhile; a cursor may be
/// beyond that, within an incomplete character.
pub(crate) struct LineReader<'a> {
    output: &'a dyn Output,
    request: &'a ReadRequest,
    end: u64,
    total: u64,
    /// The first line to read.
    from: LineStart,
    /// Where output begins that no earlier read has returned; what is before it is at most context.
    new_from: u64,
    /// The end of the lines that have nothing new.
    given_until: u64,
}

impl<'a> LineReader<'a> {
    pub(crate) fn new(
        output: &'a dyn Output,
        end: u64,
        request: &'a ReadRequest,
    ) -> io::Result<Self> {
        let text = OutputText::new(output);
        let total = text.total_until(end)?;
        let from = match request.start {
            ReadStart::Since(since) => text.line_at(since)?,
            ReadStart::Line(n) => text.line(n)?,
            // The last matches can only be found by reading everything.
            ReadStart::Tail(_) if request.pattern.is_some() => text.first()?,
            ReadStart::Tail(count) => {
                let line = text.line(total.saturating_sub(count.min(request.limit) as u64))?;
                // The last lines are lost: those before them are the last that can be read.
                if line.truncated_start && end <= line.offset { text.first()? } else { line }
            }
        };
        let new_from = from.offset.min(end);
        let mut reading = Self { output, request, end, total, from, new_from, given_until: 0 };
        if let ReadStart::Since(since) = request.start {
            reading.include_context(since.min(output.end()))?;
        }
        Ok(reading)
    }

    /// Starts as far before a cursor as there can be context of what comes after it.
    fn include_context(&mut self, since: u64) -> io::Result<()> {
        self.new_from = since;
        self.given_until = match self.from.offset < since {
            true => self.after_line_end(since)?,
            false => since,
        };
        let context = (self.request.before + self.request.after) as u64;
        if self.request.pattern.is_some() && 0 < context {
            self.from = OutputText::new(self.output).line(self.from.n.saturating_sub(context))?;
        }
        Ok(())
    }

    /// The offset after the newline, if nothing else of the line follows `offset`; else `offset`.
    fn after_line_end(&self, offset: u64) -> io::Result<u64> {
        let mut bytes = [0; 64];
        let wanted = bytes
            .len()
            .min(usize::try_from(self.end.saturating_sub(offset)).unwrap_or(bytes.len()));
        let Ok(read) = self.output.read(offset, &mut bytes[..wanted])? else { return Ok(offset) };
        let returns = bytes[..read].iter().take_while(|&&byte| byte == b'\r').count() as u64;
        Ok(match bytes[..read].get(returns as usize) {
            Some(b'\n') => offset + returns + 1,
            None if offset + returns == self.end => self.end,
            Some(_) | None => offset,
        })
    }

    /// Whether it is quick enough to run inline.
    pub(crate) fn is_short(&self) -> io::Result<bool> {
        // A pattern that is not light may take a second for a single line.
        if self.request.pattern.as_ref().is_some_and(|pattern| !pattern.is_light()) {
            return Ok(false);
        }
        let reach = self.from.offset + SMALL_READ;
        if self.end <= reach {
            return Ok(true);
        }
        if self.request.pattern.is_some() {
            return Ok(false);
        }
        let mark = self.output.line_mark(reach)?;
        Ok(mark
            .is_ok_and(|mark| self.request.limit as u64 <= mark.lines.saturating_sub(self.from.n)))
    }

    /// Runs the read.
    pub(crate) fn run(self) -> io::Result<LinesRead> {
        let text = OutputText::new(self.output);
        let mut page = LinePage::new(self.request, self.new_from);
        let mut expected = None;
        let mut gap = None;
        text.each_until(self.from, self.end, |raw| {
            match expected.replace(raw.next) {
                None if matches!(self.request.start, ReadStart::Since(_)) => {
                    gap = LostRange::between(self.new_from, raw.offset);
                }
                // Nothing new was returned before it: this read reports what is missing.
                Some(expected) if expected < raw.offset && self.reports_gap(&page) => {
                    gap = LostRange::between(self.new_from, raw.offset);
                }
                // The ring has overwritten it, or the file is truncated. The next read reports what
                // is missing.
                Some(expected) if expected < raw.offset && !self.is_tail() => return page.stop(),
                None | Some(_) => {}
            }
            self.look(raw, &mut page)
        })?;
        let mut truncated = page.is_full;
        // The rest of the output is lost.
        if !page.is_full && page.next < self.end && !self.is_tail() {
            match self.reports_gap(&page) {
                true => {
                    gap = gap.or(LostRange::between(self.new_from, self.end));
                    page.next = self.end;
                }
                false => truncated = true,
            }
        }
        let next = Offset(page.next);
        let dropped = text.first()?.n;
        let truncated = truncated || self.hides_more(&page, dropped);
        let lines = page.lines.into();
        Ok(LinesRead { lines, next, total: self.total, dropped, truncated, gap })
    }

    fn look(&self, raw: RawLine<'_>, page: &mut LinePage) -> ControlFlow<()> {
        let line = clean_line(raw);
        let pattern = self.request.pattern.as_ref();
        let matches = pattern.map(|pattern| pattern.is_match_within(&line, MAX_MATCHED_CHARS));
        let is_new = self.given_until < raw.next;
        if matches == Some(false) && is_new && page.needs_no_context() {
            return page.skip(raw.next);
        }
        let continued = is_new && raw.offset < self.new_from;
        let line = OutputLine { matches, continued, ..OutputLine::from_raw(raw, line) };
        if is_new { page.add(line, raw.next) } else { page.skip_seen(line, raw.next) }
    }

    /// Whether this read reports a gap: it has a cursor, and has returned nothing after that.
    fn reports_gap(&self, page: &LinePage) -> bool {
        matches!(self.request.start, ReadStart::Since(_)) && page.next <= self.new_from
    }

    fn is_tail(&self) -> bool {
        matches!(self.request.start, ReadStart::Tail(_))
    }

    /// Whether more of the last lines, or matches, were requested than the limit allows, and exist.
    fn hides_more(&self, page: &LinePage, dropped: u64) -> bool {
        let has_more = match self.request.pattern {
            Some(_) => page.has_evicted,
            None => dropped < self.from.n,
        };
        has_more
            && matches!(self.request.start, ReadStart::Tail(count) if self.request.limit < count)
    }
}
