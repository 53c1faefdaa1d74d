//! Searching what a pane printed for lines that match, the newest first.
//!
//! Where lines are plain, as most are, the bytes are searched as they are; elsewhere each line is cleaned
//! first. Both ways find the same. What is known not to hold what every hit holds is not even read.

mod long_line;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use paned_backend::{Output, OutputTime};
use paned_model::Time;
use paned_term::lines::{self, Charsets};

use super::blocks::{self, BlockContent, BlockPlan, SearchIndex};
use super::charsets::{self, LineCharsets};
use super::pattern::LinePattern;
use super::reading::MAX_SHOWN_CHARS;
use super::text::{MAX_MATCHED_CHARS, OutputText, PIECE};
use super::trigram::{TrigramFilter, TrigramFilterBuilder};
use long_line::{LongLine, LongLineStep, RenderedLongLine};

/// How many lines of a part may look like a hit and be none before each is tried in full.
const MAX_FALSE_HITS: usize = 32;

/// Of what is no longer there.
const UNKNOWN: OutputTime = OutputTime { time: Time(0), until: 0 };

/// One line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineHit {
    /// Its number.
    pub(crate) n: u64,
    /// Where it begins.
    pub(crate) offset: u64,
    /// When its last byte was printed: a prompt may stand there for hours before somebody types.
    pub(crate) time: Time,
    pub(crate) text: String,
    /// Whether there is more of it than the text shows.
    pub(crate) cut: bool,
}

/// How the output is cut up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchSizes {
    /// Bytes that are searched in one go, counted from the output's very beginning.
    pub(crate) part: usize,
    /// How far a line may lead beyond its part and still be searched with it. A longer one is drawn by itself, in
    /// pieces of this size.
    pub(crate) beyond: usize,
    /// Bytes of a block in which is looked for character sets, of which a part has some number.
    pub(crate) block: usize,
    /// The most characters of one line that patterns look at.
    pub(crate) whole: usize,
    /// The most that are shown of it.
    pub(crate) shown: usize,
    /// How many parts one search sums up at most: that takes several times as long as to search them, and whoever
    /// searches again has the next ones summed up.
    pub(crate) summaries: usize,
}

impl SearchSizes {
    /// A part fits into the caches of a processor, and is soon done with.
    pub(crate) const DEFAULT: Self = Self {
        part: 64 << 10,
        beyond: PIECE,
        block: charsets::BLOCK as usize,
        whole: MAX_MATCHED_CHARS,
        shown: MAX_SHOWN_CHARS,
        summaries: 16,
    };
}

/// A search of one output for the newest hits.
pub(crate) struct OutputSearch<'a> {
    pub(crate) output: &'a dyn Output,
    pub(crate) pattern: &'a LinePattern,
    pub(crate) index: &'a SearchIndex,
    pub(crate) sizes: SearchSizes,
    /// How many hits are enough.
    pub(crate) count: usize,
}

/// How far a search has come.
#[derive(Debug)]
pub(crate) struct SearchProgress {
    /// The hits so far, the newest first.
    pub(crate) hits: Vec<LineHit>,
    /// The line that is searched next, before what is left.
    long: Option<LongLine>,
    left: Option<SearchRest>,
    /// How many parts may still be summed up.
    summaries_left: usize,
}

/// What is left to search: the parts below this place, and the line that leads across it up to its end.
#[derive(Clone, Copy, Debug)]
struct SearchRest {
    below: u64,
    line_end: u64,
}

/// Lines, read from the output, that nobody has searched yet.
struct SearchPart<'a> {
    /// Where the bytes are in the output.
    offset: u64,
    bytes: &'a [u8],
    /// Where the first line begins in them.
    first: usize,
    /// How they are read.
    kind: BlockContent,
    /// The same bytes and those before them that say which character sets they begin in.
    with_context: &'a [u8],
}

impl SearchPart<'_> {
    /// What comes before its first line.
    fn before(&self) -> Self {
        let lines = self.bytes.len() - self.first;
        let known = &self.with_context[..self.with_context.len() - lines];
        Self { bytes: &self.bytes[..self.first], with_context: known, ..*self }
    }

    /// The character sets of its lines.
    fn sets(&self, block: usize) -> LineCharsets<'_> {
        match self.kind {
            BlockContent::Plain => LineCharsets::plain(),
            BlockContent::NeedsCleaning => {
                let before = self.with_context.len() - self.bytes.len();
                LineCharsets::new(self.with_context, self.offset - before as u64, block as u64)
            }
        }
    }
}

impl SearchProgress {
    /// Whether nothing is left to search, or enough was found.
    pub(crate) fn is_over(&self) -> bool {
        self.long.is_none() && self.left.is_none()
    }
}

impl OutputSearch<'_> {
    /// A search that is about to begin, as if the output ended here.
    pub(crate) fn begin(&self, end: u64) -> SearchProgress {
        let below = end.next_multiple_of(self.sizes.part as u64);
        let left = Some(SearchRest { below, line_end: end });
        SearchProgress { hits: Vec::new(), long: None, left, summaries_left: self.sizes.summaries }
    }

    /// Goes on until it is over. Before each part is asked whether to. The buffer is for any number of searches.
    pub(crate) fn go_on(
        &self,
        trail: &mut SearchProgress,
        buffer: &mut Vec<u8>,
        mut goes_on: impl FnMut() -> bool,
    ) -> io::Result<()> {
        while !trail.is_over() && goes_on() {
            if let Some(long) = trail.long.take() {
                self.step_long_line(long, trail, buffer)?;
            } else if let Some(left) = trail.left {
                trail.left = self.step(left, trail, buffer)?;
            }
            if self.count <= trail.hits.len() {
                (trail.long, trail.left) = (None, None);
            }
        }
        Ok(())
    }

    /// Searches one part. Answers what is left then.
    fn step(
        &self,
        left: SearchRest,
        trail: &mut SearchProgress,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Option<SearchRest>> {
        let SearchSizes { part: size, beyond, .. } = self.sizes;
        let oldest = self.output.first();
        let begin = left.below.saturating_sub(size as u64).max(oldest);
        if left.line_end <= begin {
            return Ok(None);
        }
        // The first line that is kept may have lost its beginning, and is not what it was.
        let is_whole = begin == 0 || begin != oldest;
        let advice = match is_whole {
            true => self.plan(begin, &mut trail.summaries_left),
            false => BlockPlan::Classify,
        };
        if let BlockPlan::Skip(first) = advice {
            return Ok(Some(SearchRest { below: begin, line_end: begin + first as u64 }));
        }
        let is_long = left.below + (beyond as u64) < left.line_end;
        let end = if is_long { left.below.max(begin) } else { left.line_end };
        // Of plain lines it is known that nothing before them has them drawn.
        let back = match advice {
            BlockPlan::Read(BlockContent::Plain) | BlockPlan::Summarize(BlockContent::Plain) => 0,
            BlockPlan::Classify
            | BlockPlan::Read(_)
            | BlockPlan::Summarize(_)
            | BlockPlan::Skip(_) => (begin - oldest).min(self.sizes.block as u64),
        };
        buffer.resize(self.sizes.block + size + beyond, 0);
        let known = &mut buffer[..(back + end - begin) as usize];
        let read = match self.output.read(begin - back, known)? {
            Ok(read) => read,
            // Overwritten meanwhile: what is still there is tried again.
            Err(_) if begin - back < self.output.first() => return Ok(Some(left)),
            // The file is cut: this part is lost.
            Err(_) => {
                let rest = SearchRest { below: begin, line_end: begin };
                return Ok((begin != oldest).then_some(rest));
            }
        };
        let known = &known[..read];
        let bytes = known.get(back as usize..).unwrap_or_default();
        let read = bytes.len();
        // A line that began earlier is searched with those before it.
        let first =
            if begin == oldest { 0 } else { memchr(b'\n', bytes).map_or(read, |at| at + 1) };
        if is_long && (begin == oldest || memchr(b'\n', bytes).is_some()) {
            // It begins here, and is newer than all others that do.
            let start = begin + memrchr(b'\n', bytes).map_or(0, |at| at + 1) as u64;
            let sets = charsets::at(self.output, start, self.sizes.block as u64)?;
            trail.long = Some(LongLine::new(sets, start, left.line_end, self.sizes.whole + 1));
            return Ok(Some(SearchRest { line_end: start, ..left }));
        }
        let kind = match advice {
            BlockPlan::Summarize(kind) | BlockPlan::Read(kind) => kind,
            BlockPlan::Classify | BlockPlan::Skip(_) => BlockContent::NeedsCleaning,
        };
        let mut part = SearchPart { offset: begin, bytes, first, kind, with_context: known };
        if advice == BlockPlan::Classify {
            part.kind = self.content(&part);
        }
        let found = self.search(&part, advice, is_whole);
        self.push_hits(&part, found, &mut trail.hits)?;
        let line_end = if is_long { left.line_end } else { begin + first as u64 };
        Ok((begin != oldest).then_some(SearchRest { below: begin, line_end }))
    }

    /// Goes on with a line that is searched by itself.
    fn step_long_line(
        &self,
        long: LongLine,
        trail: &mut SearchProgress,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        buffer.resize(self.sizes.part + self.sizes.beyond, 0);
        let drawn = match long.step(self.output, &mut buffer[..self.sizes.beyond])? {
            LongLineStep::Done(drawn) => drawn,
            LongLineStep::More(long) => {
                trail.long = Some(long);
                return Ok(());
            }
            LongLineStep::Gone => return Ok(()),
        };
        if !self.is_match(&drawn.line) {
            return Ok(());
        }
        let RenderedLongLine { start: offset, last, line } = drawn;
        let Some(n) = OutputText::new(self.output).ends_before(offset)? else { return Ok(()) };
        let time = self.output.time(last)?.unwrap_or(UNKNOWN).time;
        let line = line.cut_at(self.sizes.shown);
        trail.hits.push(LineHit { n, offset, time, text: line.text.into_owned(), cut: line.cut });
        Ok(())
    }

    /// What to do with the part that begins here; of those to be summed up, no more than may be.
    fn plan(&self, begin: u64, sums: &mut usize) -> BlockPlan {
        let advice = self.index.plan(begin / self.sizes.part as u64, self.pattern.literals());
        match (advice, sums.checked_sub(1)) {
            (BlockPlan::Summarize(kind), None) => BlockPlan::Read(kind),
            (BlockPlan::Summarize(_), Some(left)) => {
                *sums = left;
                advice
            }
            (BlockPlan::Classify | BlockPlan::Read(_) | BlockPlan::Skip(_), _) => advice,
        }
    }

    /// The lines that match. What else is found out is remembered, if these are all the lines that ever begin
    /// in this part.
    fn search(
        &self,
        part: &SearchPart<'_>,
        advice: BlockPlan,
        is_whole: bool,
    ) -> Vec<Range<usize>> {
        let kind = part.kind;
        let found = match kind {
            BlockContent::Plain => self.in_place(part),
            BlockContent::NeedsCleaning => self.one_by_one(part),
        };
        let gist = match advice {
            // A search in vain is often followed by another, and this one has read it anyway.
            BlockPlan::Summarize(_) if found.is_empty() && !self.pattern.literals().is_empty() => {
                Some(self.trigrams(part))
            }
            BlockPlan::Classify if is_whole && self.is_complete(part) => None,
            BlockPlan::Classify
            | BlockPlan::Summarize(_)
            | BlockPlan::Read(_)
            | BlockPlan::Skip(_) => return found,
        };
        let number = part.offset / self.sizes.part as u64;
        self.index.insert(
            number,
            blocks::IndexedBlock { first: part.first, content: kind, trigrams: gist },
        );
        found
    }

    /// Shows the newest of the lines that match.
    fn push_hits(
        &self,
        part: &SearchPart<'_>,
        found: Vec<Range<usize>>,
        hits: &mut Vec<LineHit>,
    ) -> io::Result<()> {
        if found.is_empty() {
            return Ok(());
        }
        let Some(mut n) = OutputText::new(self.output).ends_before(part.offset)? else {
            return Ok(());
        };
        let (mut shown, mut counted) = (Vec::new(), 0);
        let mut sets = part.sets(self.sizes.block);
        // Most lines are printed together with the one before them.
        let mut stamp = UNKNOWN;
        for line in found.into_iter().rev().take(self.count - hits.len()).rev() {
            n += memchr_iter(b'\n', &part.bytes[counted..line.start]).count() as u64;
            counted = line.start;
            let offset = part.offset + line.start as u64;
            let last = part.offset + line.end.saturating_sub(1).max(line.start) as u64;
            if stamp.until <= last {
                stamp = self.output.time(last)?.unwrap_or(UNKNOWN);
            }
            let line = self.clean(sets.at(offset), &part.bytes[line]).cut_at(self.sizes.shown);
            let (text, cut, time) = (line.text.into_owned(), line.cut, stamp.time);
            shown.push(LineHit { n, offset, time, text, cut });
        }
        hits.extend(shown.into_iter().rev());
        Ok(())
    }

    /// What patterns are tried on, and what follows that.
    fn clean<'a>(&self, sets: Charsets, line: &'a [u8]) -> lines::TextLine<'a> {
        lines::clean_with_charsets(sets, line, self.sizes.whole + 1)
    }

    fn is_match(&self, line: &lines::TextLine<'_>) -> bool {
        self.pattern.is_match_within(line, self.sizes.whole)
    }

    fn content(&self, part: &SearchPart<'_>) -> BlockContent {
        // Plain lines choose nothing. What was chosen before them is forgotten later, and not all of it at once: what was
        // drawn by none of it may be drawn by the rest.
        let is_plain = lines::are_plain(&part.bytes[part.first..], self.sizes.whole)
            && !lines::may_switch_charset(part.before().with_context);
        if is_plain { BlockContent::Plain } else { BlockContent::NeedsCleaning }
    }

    /// Whether no other line will ever begin in the part: the last one leads across its end, and has its own.
    fn is_complete(&self, part: &SearchPart<'_>) -> bool {
        part.offset.is_multiple_of(self.sizes.part as u64)
            && self.sizes.part < part.bytes.len()
            && part.bytes.last() == Some(&b'\n')
    }

    fn trigrams(&self, part: &SearchPart<'_>) -> TrigramFilter {
        let mut sum = TrigramFilterBuilder::new();
        match part.kind {
            BlockContent::Plain => sum.add(&part.bytes[part.first..]),
            BlockContent::NeedsCleaning => self.each(part, |_, line| sum.add(line.text.as_bytes())),
        }
        sum.build()
    }

    /// The lines that match, in plain bytes.
    fn in_place(&self, part: &SearchPart<'_>) -> Vec<Range<usize>> {
        let lines = &part.bytes[part.first..];
        let (mut found, mut from, mut alarms) = (Vec::new(), 0, 0);
        while from < lines.len()
            && let Some(at) = self.pattern.find(lines, from, alarms < MAX_FALSE_HITS)
        {
            let start = memrchr(b'\n', &lines[from..at]).map_or(from, |end| from + end + 1);
            let end = memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end);
            if start < lines.len()
                && self.is_match(&self.clean(Charsets::default(), &lines[start..end]))
            {
                found.push(part.first + start..part.first + end);
            } else {
                alarms += 1;
            }
            from = end + 1;
        }
        found
    }

    /// The lines that match once they are clean.
    fn one_by_one(&self, part: &SearchPart<'_>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.each(part, |range, line| {
            if self.is_match(&line) {
                found.push(range);
            }
        });
        found
    }

    /// Visits all lines, and where they are, once they are clean.
    fn each(
        &self,
        part: &SearchPart<'_>,
        mut visit: impl FnMut(Range<usize>, lines::TextLine<'_>),
    ) {
        let (mut sets, mut start) = (part.sets(self.sizes.block), part.first);
        for line in lines::split(&part.bytes[part.first..]) {
            let end = start + line.len();
            let clean = self.clean(sets.at(part.offset + start as u64), line);
            visit(start..end, clean);
            start = end + 1;
        }
    }
}
