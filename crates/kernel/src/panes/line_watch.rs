//! Looking out for the first new line that matches.
//!
//! Lines are judged whole, as a person would read them at the moment of the look. New is what was printed after the cursor.
//! Of the line that the cursor is in, something was said before: it counts once it says something else, and also if it has
//! done so meanwhile. That it is written anew is nothing new, nor is a line's end alone.

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use memchr::memchr;
use paned_backend::{Output, OutputGap};
use paned_term::lines::{self, IncrementalLine, TextLine};

use super::charsets::{self, LineCharsets};
use super::last_line::{self, LastLine, LineSnapshot};
use super::pattern::LinePattern;
use super::reading;
use super::text::{LineStart, MAX_DRAWN_CHARS, MAX_MATCHED_CHARS, OutputText, PIECE};

/// How many pieces are looked at in one go.
const PIECES: usize = 16;

/// A line that says more than this, in bytes, is no longer looked at in no time.
const MAX_CHEAP_LINE: usize = 16 << 10;

/// What to look out for.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchPatterns {
    pub(crate) pattern: Option<Arc<LinePattern>>,
    /// Comes first when a line matches both.
    pub(crate) stop: Option<Arc<LinePattern>>,
}

impl WatchPatterns {
    pub(crate) fn is_empty(&self) -> bool {
        self.pattern.is_none() && self.stop.is_none()
    }

    fn match_line(&self, line: &TextLine<'_>) -> Option<MatchedPattern> {
        let matches = |pattern: &Option<Arc<LinePattern>>| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match_within(line, MAX_MATCHED_CHARS))
        };
        if matches(&self.stop) {
            return Some(MatchedPattern::Stop);
        }
        matches(&self.pattern).then_some(MatchedPattern::Pattern)
    }

    fn is_light(&self) -> bool {
        [&self.pattern, &self.stop].into_iter().flatten().all(|pattern| pattern.is_light())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchedPattern {
    Pattern,
    Stop,
}

/// A line that matched.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineMatch {
    pub(crate) matched: MatchedPattern,
    pub(crate) line: reading::OutputLine,
    /// The offset after it and its end, or after what there is of it.
    pub(crate) next: u64,
}

/// What a look brought.
#[derive(Debug)]
pub(crate) enum WatchResult {
    Matched(LineMatch),
    /// There is more to look at.
    More,
    Nothing,
}

/// Somebody who looks out.
#[derive(Debug)]
pub(crate) struct LineWatch {
    output: Arc<dyn Output>,
    last_line: Arc<LastLine>,
    patterns: WatchPatterns,
    /// The line that is looked at next.
    line: OpenLine,
    /// Everything before this was looked at.
    at: u64,
    /// Whether it is known what that line said before.
    has_begun: bool,
    /// Whether there is a lot to read in it.
    is_wide: bool,
}

/// A line whose end was not seen yet.
#[derive(Debug)]
struct OpenLine {
    start: u64,
    n: u64,
    truncated_start: bool,
    /// What it said at the cursor, and where that is, if that is in it.
    before: Option<(Arc<TextLine<'static>>, u64)>,
    /// What it has said since, once that has to be known.
    since: Option<LineSinceCursor>,
}

/// What a line has said since a cursor in it.
#[derive(Debug)]
struct LineSinceCursor {
    cursor: u64,
    drawing: IncrementalLine,
    /// Where it was read up to.
    at: u64,
    /// Whether it has said something else than at the cursor, and not only a part of that.
    has_changed: bool,
}

impl LineSinceCursor {
    /// From a cursor in a line that begins here.
    fn new(output: &dyn Output, start: u64, cursor: u64) -> io::Result<Self> {
        let drawing = IncrementalLine::with_charsets(
            charsets::at(output, start, charsets::BLOCK)?,
            MAX_DRAWN_CHARS,
        );
        Ok(Self { cursor, drawing, at: start, has_changed: false })
    }

    /// Reads on up to an offset. What is too much to read for this, or is no longer kept, has not changed.
    fn advance(&mut self, output: &dyn Output, until: u64, before: &str) -> io::Result<bool> {
        let length = usize::try_from(until - self.at).unwrap_or(usize::MAX);
        if self.has_changed || PIECE < length {
            return Ok(self.has_changed);
        }
        let mut bytes = vec![0; length];
        if output.read(self.at, &mut bytes)? != Ok(length) {
            return Ok(false);
        }
        let old = usize::try_from(self.cursor.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let (old, new) = bytes.split_at(old.min(length));
        self.drawing.feed(old);
        self.drawing.feed_watched(new, |drawing| {
            self.has_changed = self.has_changed || !before.starts_with(&*drawing.line().text);
        });
        self.at = until;
        Ok(self.has_changed)
    }
}

impl OpenLine {
    fn at(place: LineStart) -> Self {
        let LineStart { offset, n, truncated_start } = place;
        Self { start: offset, n, truncated_start, before: None, since: None }
    }
}

impl LineWatch {
    /// From a cursor on.
    pub(crate) fn new(
        output: Arc<dyn Output>,
        tail: Arc<LastLine>,
        wanted: WatchPatterns,
        cursor: u64,
    ) -> io::Result<Self> {
        let at = cursor.min(output.end());
        let line = OpenLine::at(OutputText::new(output.as_ref()).line_at(at)?);
        let (at, has_begun) = (at.max(line.start), at <= line.start);
        Ok(Self { output, last_line: tail, patterns: wanted, line, at, has_begun, is_wide: false })
    }

    /// Learns what the line says that the cursor is in.
    fn begin(&mut self) -> io::Result<()> {
        let (output, start) = (self.output.as_ref(), self.line.start);
        let told = self.last_line.line(output, start, self.at)?;
        let told = match told.filter(|told| told.at == self.at) {
            Some(told) => Some(told),
            // Somebody else has read on already.
            None => last_line::render_line(output, start, self.at)?,
        };
        self.line.before = told.map(|told| (told.line, self.at));
        self.has_begun = true;
        Ok(())
    }

    /// Everything before this was looked at.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Whether the next look takes no time to speak of.
    pub(crate) fn is_cheap(&self) -> bool {
        let from = if self.has_begun { self.at } else { self.line.start };
        let is_easy = self.patterns.is_light() && !self.is_wide;
        is_easy && self.output.end().saturating_sub(from) <= PIECE as u64
    }

    /// Looks at what is new. A character that is not whole yet is looked at later, unless the output was over before.
    pub(crate) fn look(&mut self, is_over: bool) -> io::Result<WatchResult> {
        if !self.has_begun {
            self.begin()?;
        }
        for _ in 0..PIECES {
            let end = OutputText::new(self.output.as_ref()).end(is_over)?;
            if end <= self.at {
                return Ok(WatchResult::Nothing);
            }
            let wanted = usize::try_from(end - self.at).unwrap_or(PIECE).min(PIECE);
            let mut piece = vec![0; wanted];
            let read = match self.output.read(self.at, &mut piece)? {
                Ok(read) => read,
                Err(gap) => {
                    self.restart_after_gap(gap)?;
                    continue;
                }
            };
            let sighting = self.scan_piece(&piece[..read], end)?;
            if let Some(sighting) = sighting {
                self.at = sighting.next;
                return Ok(WatchResult::Matched(sighting));
            }
        }
        Ok(WatchResult::More)
    }

    /// The ring was faster, or the file is cut.
    fn restart_after_gap(&mut self, gap: OutputGap) -> io::Result<()> {
        self.line = OpenLine::at(OutputText::new(self.output.as_ref()).after_gap(self.at, gap)?);
        self.at = self.line.start;
        Ok(())
    }

    /// Looks at the next piece, and at the line that it leaves open if the output ends with it.
    fn scan_piece(&mut self, piece: &[u8], end: u64) -> io::Result<Option<LineMatch>> {
        let (mut rest, mut at) = (piece, self.at);
        let (output, mut sets) = (self.output.clone(), None);
        let output = output.as_ref();
        while let Some(length) = memchr(b'\n', rest) {
            let line_end = at + length as u64;
            let sighting = match self.line.start == at {
                true => {
                    let sets = match &mut sets {
                        Some(sets) => sets,
                        None => sets.insert(LineCharsets::of_piece(output, piece, self.at)?),
                    };
                    let line =
                        lines::clean_with_charsets(sets.at(at), &rest[..length], MAX_DRAWN_CHARS);
                    self.check_line(&line, Some(line_end))?
                }
                false => match self.ended(line_end)? {
                    Some(told) => self.check_line(&told.line, Some(line_end))?,
                    None => None,
                },
            };
            if sighting.is_some() {
                return Ok(sighting);
            }
            (rest, at) = (&rest[length + 1..], line_end + 1);
            self.line =
                OpenLine::at(LineStart { offset: at, n: self.line.n + 1, truncated_start: false });
        }
        self.at = at + rest.len() as u64;
        if rest.is_empty() || self.at < end {
            return Ok(None);
        }
        // Where it is no longer kept, the next look notices.
        let Some(told) = self.last_line.line(self.output.as_ref(), self.line.start, end)? else {
            return Ok(None);
        };
        self.at = told.at;
        self.is_wide = MAX_CHEAP_LINE < told.line.text.len();
        self.check_line(&told.line, None)
    }

    /// A line that began before this look and has ended.
    fn ended(&self, end: u64) -> io::Result<Option<LineSnapshot>> {
        let (output, start) = (self.output.as_ref(), self.line.start);
        if end - start <= PIECE as u64 {
            return last_line::render_line(output, start, end);
        }
        self.last_line.line(output, start, end)
    }

    /// Judges the line, which has its end where it has one.
    fn check_line(
        &mut self,
        line: &TextLine<'_>,
        end: Option<u64>,
    ) -> io::Result<Option<LineMatch>> {
        let OpenLine { start, n, truncated_start, before, since } = &mut self.line;
        let Some(sign) = self.patterns.match_line(line) else { return Ok(None) };
        if let Some((before, cursor)) =
            before.as_ref().filter(|(before, _)| before.text == line.text)
        {
            let output = self.output.as_ref();
            let since = match since {
                Some(since) => since,
                None => since.insert(LineSinceCursor::new(output, *start, *cursor)?),
            };
            if !since.advance(output, end.unwrap_or(self.at), &before.text)? {
                return Ok(None);
            }
        }
        let line = reading::OutputLine {
            continued: before.is_some(),
            open: end.is_none(),
            truncated_start: *truncated_start,
            ..reading::OutputLine::of(*n, line.clone())
        };
        Ok(Some(LineMatch { matched: sign, line, next: end.map_or(self.at, |end| end + 1) }))
    }
}
