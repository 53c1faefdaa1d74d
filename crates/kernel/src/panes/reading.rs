//! Reading lines: from a place on, up to a limit, picked by a pattern with some context.
//!
//! Lines are read whole. A cursor in the middle of one leads to that line once more, from its beginning, when
//! more of it was printed: only so nothing is lost of it, and nothing is half a character or half a sequence.

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

use super::page::LinePage;
use super::pattern::LinePattern;
use super::text::{LineStart, MAX_DRAWN_CHARS, MAX_MATCHED_CHARS, OutputText, RawLine};

/// Characters of a line that are shown; the rest is cut, and said to be.
pub(crate) const MAX_SHOWN_CHARS: usize = 2000;
/// What is read within a moment, in bytes.
const SMALL_READ: u64 = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct OutputLine {
    /// Its number.
    pub(crate) n: u64,
    /// What it says.
    pub(crate) text: String,
    /// Whether it is longer than the 2000 characters that are shown. A pattern looks at up to 262144.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    /// Whether its beginning was printed before `since`, and more of it after: this is all of it, in place of
    /// what an earlier answer had of the line of this number.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) continued: bool,
    /// Whether its end was not printed yet, so that there may be more of it later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) open: bool,
    /// Whether its beginning may be missing, because it is no longer kept.
    #[serde(rename = "truncatedStart", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated_start: bool,
    /// Whether it is here because the pattern matches, and not as context of a match.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<bool>,
}

impl OutputLine {
    /// A line that was cleaned, cut at what is shown of one.
    pub(crate) fn of(n: u64, line: lines::TextLine<'_>) -> Self {
        let line = line.cut_at(MAX_SHOWN_CHARS);
        Self { n, text: line.text.into_owned(), cut: line.cut, ..Self::default() }
    }

    /// A line that was cleaned, with all that is known of it.
    pub(crate) fn from_raw(raw: RawLine<'_>, line: lines::TextLine<'_>) -> Self {
        Self {
            open: !raw.has_newline,
            truncated_start: raw.truncated_start,
            ..Self::of(raw.n, line)
        }
    }
}

/// A line as a person would read it, all of it, for patterns to match; [`Line::of`] cuts it at what is shown.
/// Borrowed where it was printed like that: most lines are looked at and not picked.
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
    /// So many lines, or matches, before the end.
    Tail(usize),
}

/// Output that nobody can read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct LostRange {
    /// Where it began.
    pub(crate) from: Offset,
    /// Where it ended, and what is kept begins.
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
    /// Where the next reading goes on.
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

/// Reads lines, as if the output ended here.
pub(crate) fn read(output: &dyn Output, end: u64, ask: &ReadRequest) -> io::Result<LinesRead> {
    LineReader::new(output, end, ask)?.run()
}

/// The last lines of an output that ends here.
pub(crate) fn last(output: &dyn Output, end: u64, limit: usize) -> io::Result<LinesRead> {
    let start = ReadStart::Tail(usize::MAX);
    read(output, end, &ReadRequest { start, limit, pattern: None, before: 0, after: 0 })
}

/// A reading that is about to begin. Where the output ends is settled, however much is printed meanwhile; a cursor may be
/// behind that, within a character that is not whole yet.
pub(crate) struct LineReader<'a> {
    output: &'a dyn Output,
    request: &'a ReadRequest,
    end: u64,
    total: u64,
    /// Where the first line is that is looked at.
    from: LineStart,
    /// Where what was not given before begins; what is before it is at most context.
    new_from: u64,
    /// Where the lines that have nothing new end.
    given_until: u64,
}

impl<'a> LineReader<'a> {
    pub(crate) fn new(output: &'a dyn Output, end: u64, ask: &'a ReadRequest) -> io::Result<Self> {
        let text = OutputText::new(output);
        let total = text.total_until(end)?;
        let from = match ask.start {
            ReadStart::Since(since) => text.line_at(since)?,
            ReadStart::Line(n) => text.line(n)?,
            // The last matches are found by looking at all of them.
            ReadStart::Tail(_) if ask.pattern.is_some() => text.first()?,
            ReadStart::Tail(count) => {
                let place = text.line(total.saturating_sub(count.min(ask.limit) as u64))?;
                // The last lines are lost: those before them are the last that can be read.
                if place.truncated_start && end <= place.offset { text.first()? } else { place }
            }
        };
        let new = from.offset.min(end);
        let mut reading =
            Self { output, request: ask, end, total, from, new_from: new, given_until: 0 };
        if let ReadStart::Since(since) = ask.start {
            reading.include_context(since.min(output.end()))?;
        }
        Ok(reading)
    }

    /// Begins as far before a cursor as there can be context of what comes after it.
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

    /// The offset after the end of a line, if nothing else of it follows an offset; else that offset.
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

    /// Whether it takes no more than a moment.
    pub(crate) fn is_short(&self) -> io::Result<bool> {
        // A hard one may take a second for a single line.
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

    /// Reads.
    pub(crate) fn run(self) -> io::Result<LinesRead> {
        let text = OutputText::new(self.output);
        let mut picked = LinePage::new(self.request, self.new_from);
        let (mut expected, mut gap) = (None, None);
        text.each_until(self.from, self.end, |raw| {
            match expected.replace(raw.next) {
                None if matches!(self.request.start, ReadStart::Since(_)) => {
                    gap = LostRange::between(self.new_from, raw.offset);
                }
                // Nothing new was given before it: this reading reports what is missing.
                Some(expected) if expected < raw.offset && self.reports_gap(&picked) => {
                    gap = LostRange::between(self.new_from, raw.offset);
                }
                // The ring was faster, or the file is cut. The next reading says what is missing.
                Some(expected) if expected < raw.offset && !self.is_tail() => return picked.stop(),
                None | Some(_) => {}
            }
            self.look(raw, &mut picked)
        })?;
        let mut truncated = picked.is_full;
        // All that is left of the output is lost.
        if !picked.is_full && picked.next < self.end && !self.is_tail() {
            match self.reports_gap(&picked) {
                true => {
                    gap = gap.or(LostRange::between(self.new_from, self.end));
                    picked.next = self.end;
                }
                false => truncated = true,
            }
        }
        let (next, dropped) = (Offset(picked.next), text.first()?.n);
        let truncated = truncated || self.hides_more(&picked, dropped);
        let (lines, total) = (picked.lines.into(), self.total);
        Ok(LinesRead { lines, next, total, dropped, truncated, gap })
    }

    fn look(&self, raw: RawLine<'_>, picked: &mut LinePage) -> ControlFlow<()> {
        let line = clean_line(raw);
        let pattern = self.request.pattern.as_ref();
        let matches = pattern.map(|pattern| pattern.is_match_within(&line, MAX_MATCHED_CHARS));
        let is_new = self.given_until < raw.next;
        if matches == Some(false) && is_new && picked.needs_no_context() {
            return picked.skip(raw.next);
        }
        let continued = is_new && raw.offset < self.new_from;
        let line = OutputLine { matches, continued, ..OutputLine::from_raw(raw, line) };
        if is_new { picked.add(line, raw.next) } else { picked.skip_seen(line, raw.next) }
    }

    /// Whether a gap belongs to this reading: it has a cursor, and nothing that came after that was given.
    fn reports_gap(&self, picked: &LinePage) -> bool {
        matches!(self.request.start, ReadStart::Since(_)) && picked.next <= self.new_from
    }

    fn is_tail(&self) -> bool {
        matches!(self.request.start, ReadStart::Tail(_))
    }

    /// Whether more of the last lines, or matches, were asked for than the limit lets through, and are there.
    fn hides_more(&self, picked: &LinePage, dropped: u64) -> bool {
        let are_there = match self.request.pattern {
            Some(_) => picked.has_evicted,
            None => dropped < self.from.n,
        };
        are_there
            && matches!(self.request.start, ReadStart::Tail(count) if self.request.limit < count)
    }
}
