//! Reading lines: from a place on, up to a limit, picked by a pattern with some context.
//!
//! Lines are read whole. A cursor in the middle of one leads to that line once more, from its beginning, when
//! more of it was printed: only so nothing is lost of it, and nothing is half a character or half a sequence.

#[cfg(test)]
mod tests;

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use paned_model::Offset;
use paned_substrate::Output;
use paned_term::lines;
use schemars::JsonSchema;
use serde::Serialize;

use super::pattern::Pattern;
use super::picked::Picked;
use super::text::{DRAWN, Place, RawLine, Text, WHOLE};

/// Characters of a line that are shown; the rest is cut, and said to be.
pub(crate) const LINE: usize = 2000;
/// What is read within a moment, in bytes.
const LITTLE: u64 = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Line {
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
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) beheaded: bool,
    /// Whether it is here because the pattern matches, and not as context of a match.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<bool>,
}

impl Line {
    /// A line that was cleaned, cut at what is shown of one.
    pub(crate) fn of(n: u64, line: lines::Line<'_>) -> Self {
        let line = line.cut_at(LINE);
        Self { n, text: line.text.into_owned(), cut: line.cut, ..Self::default() }
    }

    /// A line that was cleaned, with all that is known of it.
    pub(crate) fn shown(raw: RawLine<'_>, line: lines::Line<'_>) -> Self {
        Self { open: !raw.whole, beheaded: raw.beheaded, ..Self::of(raw.n, line) }
    }
}

/// A line as a person would read it, all of it, for patterns to match; [`Line::of`] cuts it at what is shown.
/// Borrowed where it was printed like that: most lines are looked at and not picked.
pub(crate) fn whole(raw: RawLine<'_>) -> lines::Line<'_> {
    raw.clean(DRAWN)
}

/// What to read.
pub(crate) struct Ask {
    pub(crate) start: Start,
    /// How many lines, or matches, at most.
    pub(crate) limit: usize,
    pub(crate) pattern: Option<Arc<Pattern>>,
    pub(crate) before: usize,
    pub(crate) after: usize,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At a line's number.
    Line(u64),
    /// With what was printed after an offset.
    Since(u64),
    /// So many lines, or matches, before the end.
    Tail(usize),
}

/// Output that nobody can read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Lost {
    /// Where it began.
    pub(crate) from: Offset,
    /// Where it ended, and what is kept begins.
    pub(crate) to: Offset,
}

impl Lost {
    /// What was lost between two offsets, if anything was.
    pub(crate) fn between(from: u64, to: u64) -> Option<Self> {
        (from < to).then_some(Self { from: Offset(from), to: Offset(to) })
    }
}

/// What was read.
pub(crate) struct Lines {
    pub(crate) lines: Vec<Line>,
    /// Where the next reading goes on.
    pub(crate) next: Offset,
    /// Lines printed so far.
    pub(crate) total: u64,
    /// How many of them are no longer kept.
    pub(crate) dropped: u64,
    /// Whether there was more than the limit lets through.
    pub(crate) truncated: bool,
    /// What was lost since the cursor.
    pub(crate) gap: Option<Lost>,
}

/// Reads lines, as if the output ended here.
pub(crate) fn read(output: &dyn Output, end: u64, ask: &Ask) -> io::Result<Lines> {
    Reading::new(output, end, ask)?.run()
}

/// The last lines of an output that ends here.
pub(crate) fn last(output: &dyn Output, end: u64, limit: usize) -> io::Result<Lines> {
    let start = Start::Tail(usize::MAX);
    read(output, end, &Ask { start, limit, pattern: None, before: 0, after: 0 })
}

/// A reading that is about to begin. Where the output ends is settled, however much is printed meanwhile; a cursor may be
/// behind that, within a character that is not whole yet.
pub(crate) struct Reading<'a> {
    output: &'a dyn Output,
    ask: &'a Ask,
    end: u64,
    total: u64,
    /// Where the first line is that is looked at.
    from: Place,
    /// Where what was not given before begins; what is before it is at most context.
    new: u64,
    /// Where the lines that have nothing new end.
    given: u64,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(output: &'a dyn Output, end: u64, ask: &'a Ask) -> io::Result<Self> {
        let text = Text::new(output);
        let total = text.total_until(end)?;
        let from = match ask.start {
            Start::Since(since) => text.line_at(since)?,
            Start::Line(n) => text.line(n)?,
            // The last matches are found by looking at all of them.
            Start::Tail(_) if ask.pattern.is_some() => text.first()?,
            Start::Tail(count) => {
                let place = text.line(total.saturating_sub(count.min(ask.limit) as u64))?;
                // The last lines are lost: those before them are the last that can be read.
                if place.beheaded && end <= place.offset { text.first()? } else { place }
            }
        };
        let new = from.offset.min(end);
        let mut reading = Self { output, ask, end, total, from, new, given: 0 };
        if let Start::Since(since) = ask.start {
            reading.go_back(since.min(output.end()))?;
        }
        Ok(reading)
    }

    /// Begins as far before a cursor as there can be context of what comes after it.
    fn go_back(&mut self, since: u64) -> io::Result<()> {
        self.new = since;
        self.given = match self.from.offset < since {
            true => self.after_line_end(since)?,
            false => since,
        };
        let context = (self.ask.before + self.ask.after) as u64;
        if self.ask.pattern.is_some() && 0 < context {
            self.from = Text::new(self.output).line(self.from.n.saturating_sub(context))?;
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
        if self.ask.pattern.as_ref().is_some_and(|pattern| !pattern.is_light()) {
            return Ok(false);
        }
        let reach = self.from.offset + LITTLE;
        if self.end <= reach {
            return Ok(true);
        }
        if self.ask.pattern.is_some() {
            return Ok(false);
        }
        let mark = self.output.mark(reach)?;
        Ok(mark.is_ok_and(|mark| self.ask.limit as u64 <= mark.lines.saturating_sub(self.from.n)))
    }

    /// Reads.
    pub(crate) fn run(self) -> io::Result<Lines> {
        let text = Text::new(self.output);
        let mut picked = Picked::new(self.ask, self.new);
        let (mut expected, mut gap) = (None, None);
        text.each_until(self.from, self.end, |raw| {
            match expected.replace(raw.next) {
                None if matches!(self.ask.start, Start::Since(_)) => {
                    gap = Lost::between(self.new, raw.offset);
                }
                // Nothing new was given before it: this reading reports what is missing.
                Some(expected) if expected < raw.offset && self.reports_gap(&picked) => {
                    gap = Lost::between(self.new, raw.offset);
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
                    gap = gap.or(Lost::between(self.new, self.end));
                    picked.next = self.end;
                }
                false => truncated = true,
            }
        }
        let (next, dropped) = (Offset(picked.next), text.first()?.n);
        let truncated = truncated || self.hides_more(&picked, dropped);
        let (lines, total) = (picked.lines.into(), self.total);
        Ok(Lines { lines, next, total, dropped, truncated, gap })
    }

    fn look(&self, raw: RawLine<'_>, picked: &mut Picked) -> ControlFlow<()> {
        let line = whole(raw);
        let pattern = self.ask.pattern.as_ref();
        let matches = pattern.map(|pattern| pattern.is_match_within(&line, WHOLE));
        let is_new = self.given < raw.next;
        if matches == Some(false) && is_new && picked.has_no_use_for_context() {
            return picked.pass(raw.next);
        }
        let continued = is_new && raw.offset < self.new;
        let line = Line { matches, continued, ..Line::shown(raw, line) };
        if is_new { picked.add(line, raw.next) } else { picked.recall(line, raw.next) }
    }

    /// Whether a gap belongs to this reading: it has a cursor, and nothing that came after that was given.
    fn reports_gap(&self, picked: &Picked) -> bool {
        matches!(self.ask.start, Start::Since(_)) && picked.next <= self.new
    }

    fn is_tail(&self) -> bool {
        matches!(self.ask.start, Start::Tail(_))
    }

    /// Whether more of the last lines, or matches, were asked for than the limit lets through, and are there.
    fn hides_more(&self, picked: &Picked, dropped: u64) -> bool {
        let are_there = match self.ask.pattern {
            Some(_) => picked.has_forgotten,
            None => dropped < self.from.n,
        };
        are_there && matches!(self.ask.start, Start::Tail(count) if self.ask.limit < count)
    }
}
