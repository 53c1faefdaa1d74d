//! Watches the output for the first new line that matches.
//!
//! Lines are matched whole, as a person would read them at that moment. New is what was printed
//! after the cursor. The line that contains the cursor already has a text: it counts once its text
//! differs from that, even if it has changed back meanwhile. Printing the same text again is not
//! new, and neither is a newline alone. Where the echo of typed text does not count, its end is
//! such a cursor, too.

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;

use memchr::memchr;
use paned_backend::{Output, OutputGap};
use paned_term::lines::{self, IncrementalLine, TextLine};

use super::last_line::{self, LastLine, LineSnapshot};
use super::lines::LineStart;
use super::lines::MAX_DRAWN_CHARS;
use super::lines::MAX_MATCHED_CHARS;
use super::lines::OutputText;
use super::lines::PIECE;
use super::reading;
use crate::panes::search::charsets;
use crate::panes::search::charsets::LineCharsets;
use crate::panes::search::pattern::LinePattern;

/// How many pieces one call reads at most.
const PIECES: usize = 16;

/// An open line with more text than this, in bytes, is too expensive to match inline.
const MAX_CHEAP_LINE: usize = 16 << 10;

/// The patterns to watch for.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchPatterns {
    pub(crate) pattern: Option<Arc<LinePattern>>,
    /// Takes precedence when a line matches both.
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
    /// The offset after its newline, or after what was printed of it so far.
    pub(crate) next: u64,
}

/// The result of one call of [`LineWatch::look`].
#[derive(Debug)]
pub(crate) enum WatchResult {
    Matched(LineMatch),
    /// There is more to read.
    More,
    Nothing,
}

/// One watch on the output of a pane.
#[derive(Debug)]
pub(crate) struct LineWatch {
    output: Arc<dyn Output>,
    last_line: Arc<LastLine>,
    patterns: WatchPatterns,
    /// The line to match next.
    line: OpenLine,
    /// Everything before this offset was matched.
    at: u64,
    /// Whether the text of that line at the cursor is known.
    has_begun: bool,
    /// Whether its text is longer than [`MAX_CHEAP_LINE`].
    is_wide: bool,
    /// Whether the echo of typed text does not count.
    ignores_echo: bool,
}

/// A line whose newline was not read yet.
#[derive(Debug)]
struct OpenLine {
    start: u64,
    n: u64,
    truncated_start: bool,
    /// Its text at the cursor, and the cursor, if that is within the line.
    before: Option<(Arc<TextLine<'static>>, u64)>,
    /// How its text has changed since, once that has to be known.
    since: Option<LineSinceCursor>,
}

/// How a line has changed since a cursor in it.
#[derive(Debug)]
struct LineSinceCursor {
    cursor: u64,
    drawing: IncrementalLine,
    /// Where it was read up to.
    at: u64,
    /// Whether its text has differed from that at the cursor, other than by being a prefix of it.
    has_changed: bool,
}

impl LineSinceCursor {
    /// For a cursor in a line that begins at `start`.
    fn new(output: &dyn Output, start: u64, cursor: u64) -> io::Result<Self> {
        let drawing = IncrementalLine::with_charsets(
            charsets::at(output, start, charsets::BLOCK)?,
            MAX_DRAWN_CHARS,
        );
        Ok(Self { cursor, drawing, at: start, has_changed: false })
    }

    /// Reads on up to an offset. Returns whether the text has changed. A stretch that is too long
    /// to read here, or no longer kept, counts as unchanged.
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
    fn at(line: LineStart) -> Self {
        let LineStart { offset, n, truncated_start } = line;
        Self { start: offset, n, truncated_start, before: None, since: None }
    }
}

impl LineWatch {
    /// Watches from a cursor on.
    pub(crate) fn new(
        output: Arc<dyn Output>,
        last_line: Arc<LastLine>,
        patterns: WatchPatterns,
        cursor: u64,
    ) -> io::Result<Self> {
        let at = cursor.min(output.end());
        let line = OpenLine::at(OutputText::new(output.as_ref()).line_at(at)?);
        let has_begun = at <= line.start;
        let at = at.max(line.start);
        let is_wide = false;
        Ok(Self { output, last_line, patterns, line, at, has_begun, is_wide, ignores_echo: false })
    }

    /// The echo of typed text does not count.
    pub(crate) fn ignoring_echo(self) -> Self {
        Self { ignores_echo: true, ..self }
    }

    /// Reads the text that the cursor's line has at the cursor.
    fn begin(&mut self) -> io::Result<()> {
        let output = self.output.as_ref();
        let start = self.line.start;
        let snapshot = self.last_line.line(output, start, self.at)?;
        let snapshot = match snapshot.filter(|snapshot| snapshot.at == self.at) {
            Some(snapshot) => Some(snapshot),
            // Another watch has read on already.
            None => last_line::render_line(output, start, self.at)?,
        };
        self.line.before = snapshot.map(|snapshot| (snapshot.line, self.at));
        self.has_begun = true;
        Ok(())
    }

    /// Everything before this offset was matched.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// Whether the next call is cheap enough to run inline.
    pub(crate) fn is_cheap(&self) -> bool {
        let from = if self.has_begun { self.at } else { self.line.start };
        let is_easy = self.patterns.is_light() && !self.is_wide;
        is_easy && self.output.end().saturating_sub(from) <= PIECE as u64
    }

    /// Matches what is new. An incomplete character at the end waits for its rest, unless the
    /// output had ended before the call.
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
            let found = self.scan_piece(&piece[..read], end)?;
            if let Some(found) = found {
                self.at = found.next;
                return Ok(WatchResult::Matched(found));
            }
        }
        Ok(WatchResult::More)
    }

    /// The ring has overwritten what was to be read next, or the file is truncated.
    fn restart_after_gap(&mut self, gap: OutputGap) -> io::Result<()> {
        self.line = OpenLine::at(OutputText::new(self.output.as_ref()).after_gap(self.at, gap)?);
        self.at = self.line.start;
        Ok(())
    }

    /// Matches the lines of the next piece, and the open line after them if the output ends with
    /// it.
    fn scan_piece(&mut self, piece: &[u8], end: u64) -> io::Result<Option<LineMatch>> {
        let mut rest = piece;
        let mut at = self.at;
        let mut sets = None;
        let output = self.output.clone();
        let output = output.as_ref();
        while let Some(length) = memchr(b'\n', rest) {
            let line_end = at + length as u64;
            let found = match self.line.start == at {
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
                    Some(snapshot) => self.check_line(&snapshot.line, Some(line_end))?,
                    None => None,
                },
            };
            if found.is_some() {
                return Ok(found);
            }
            rest = &rest[length + 1..];
            at = line_end + 1;
            self.line =
                OpenLine::at(LineStart { offset: at, n: self.line.n + 1, truncated_start: false });
        }
        self.at = at + rest.len() as u64;
        if rest.is_empty() || self.at < end {
            return Ok(None);
        }
        // If it is no longer kept, the next read reports the gap.
        let Some(snapshot) = self.last_line.line(self.output.as_ref(), self.line.start, end)?
        else {
            return Ok(None);
        };
        self.at = snapshot.at;
        self.is_wide = MAX_CHEAP_LINE < snapshot.line.text.len();
        self.check_line(&snapshot.line, None)
    }

    /// Draws a line that began before this piece and ends at `end`.
    fn ended(&self, end: u64) -> io::Result<Option<LineSnapshot>> {
        let output = self.output.as_ref();
        let start = self.line.start;
        if end - start <= PIECE as u64 {
            return last_line::render_line(output, start, end);
        }
        self.last_line.line(output, start, end)
    }

    /// Matches the line. `end` is the offset of its newline, if it has one.
    fn check_line(
        &mut self,
        line: &TextLine<'_>,
        end: Option<u64>,
    ) -> io::Result<Option<LineMatch>> {
        let Some(matched) = self.patterns.match_line(line) else { return Ok(None) };
        if self.ignores_echo {
            self.skip_echo(end.unwrap_or(self.at))?;
        }
        let OpenLine { start, n, truncated_start, before, since } = &mut self.line;
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
        Ok(Some(LineMatch { matched, line, next: end.map_or(self.at, |end| end + 1) }))
    }

    /// If typed text was echoed in the line up to `end`, moves its cursor behind that.
    fn skip_echo(&mut self, end: u64) -> io::Result<()> {
        let output = self.output.as_ref();
        let start = self.line.start;
        let Some(echo) = output.last_echo_in(start..end) else { return Ok(()) };
        let cursor = echo.end.min(end);
        if self.line.before.as_ref().is_some_and(|(_, known)| cursor <= *known) {
            return Ok(());
        }
        let snapshot = last_line::render_line(output, start, cursor)?;
        self.line.before = snapshot.map(|snapshot| (snapshot.line, cursor));
        self.line.since = None;
        Ok(())
    }
}
