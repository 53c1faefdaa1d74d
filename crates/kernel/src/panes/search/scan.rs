//! Searching what a pane printed for lines that match, the newest first.
//!
//! Where lines are plain, as most are, the bytes are searched as they are; elsewhere each line is
//! cleaned first. Both ways find the same. Parts that cannot contain the required literals are not
//! even read.

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
use super::trigram::{TrigramFilter, TrigramFilterBuilder};
use crate::panes::text::lines::MAX_MATCHED_CHARS;
use crate::panes::text::lines::OutputText;
use crate::panes::text::lines::PIECE;
use crate::panes::text::reading::MAX_SHOWN_CHARS;
use long_line::{LongLine, LongLineStep, RenderedLongLine};

/// How many false hits a part may have before each line is matched in full.
const MAX_FALSE_HITS: usize = 32;

/// The time of output that is no longer kept.
const UNKNOWN: OutputTime = OutputTime { time: Time(0), until: 0 };

/// One line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineHit {
    /// Its number.
    pub(crate) n: u64,
    /// Where it begins.
    pub(crate) offset: u64,
    /// When its last byte was printed: a prompt may wait for hours before the user types.
    pub(crate) time: Time,
    pub(crate) text: String,
    /// Whether there is more of it than the text shows.
    pub(crate) cut: bool,
}

/// How the output is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchSizes {
    /// Bytes that are searched at a time, counted from the very start of the output.
    pub(crate) part: usize,
    /// How far a line may extend beyond its part and still be searched with it. A longer one is
    /// drawn separately, in pieces of this size.
    pub(crate) beyond: usize,
    /// Bytes of a block in which charset switches are looked for. A part consists of whole blocks.
    pub(crate) block: usize,
    /// The most characters of one line that patterns look at.
    pub(crate) whole: usize,
    /// The most that are shown of it.
    pub(crate) shown: usize,
    /// How many parts one search summarizes at most: that takes several times as long as searching
    /// them, and the next search summarizes more.
    pub(crate) summaries: usize,
}

impl SearchSizes {
    /// A part fits into the CPU cache, and takes little time.
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
    /// A long line, to be searched before what is left.
    long: Option<Box<LongLine>>,
    left: Option<SearchRest>,
    /// How many parts may still be summarized.
    summaries_left: usize,
}

/// What is left to search: the parts below this offset, and the line across it up to its end.
#[derive(Clone, Copy, Debug)]
struct SearchRest {
    below: u64,
    line_end: u64,
}

/// Lines, read from the output, to be searched.
struct SearchPart<'a> {
    /// Where the bytes are in the output.
    offset: u64,
    bytes: &'a [u8],
    /// Where the first line begins in them.
    first: usize,
    /// How they are read.
    kind: BlockContent,
    /// The same bytes, after those that determine which character sets they begin in.
    with_context: &'a [u8],
}

impl SearchPart<'_> {
    /// What precedes its first line.
    fn before(&self) -> Self {
        let lines = self.bytes.len() - self.first;
        let with_context = &self.with_context[..self.with_context.len() - lines];
        Self { bytes: &self.bytes[..self.first], with_context, ..*self }
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
    /// A search that is about to begin, as if the output ended at `end`.
    pub(crate) fn begin(&self, end: u64) -> SearchProgress {
        let below = end.next_multiple_of(self.sizes.part as u64);
        let left = Some(SearchRest { below, line_end: end });
        SearchProgress { hits: Vec::new(), long: None, left, summaries_left: self.sizes.summaries }
    }

    /// Searches until it is over. Calls `goes_on` before each part. The buffer can be reused for
    /// any number of searches.
    pub(crate) fn go_on(
        &self,
        progress: &mut SearchProgress,
        buffer: &mut Vec<u8>,
        mut goes_on: impl FnMut() -> bool,
    ) -> io::Result<()> {
        while !progress.is_over() && goes_on() {
            if let Some(long) = progress.long.take() {
                self.step_long_line(long, progress, buffer)?;
            } else if let Some(left) = progress.left {
                progress.left = self.step(left, progress, buffer)?;
            }
            if self.count <= progress.hits.len() {
                progress.long = None;
                progress.left = None;
            }
        }
        Ok(())
    }

    /// Searches one part. Returns what is left then.
    fn step(
        &self,
        left: SearchRest,
        progress: &mut SearchProgress,
        buffer: &mut Vec<u8>,
    ) -> io::Result<Option<SearchRest>> {
        let SearchSizes { part: size, beyond, .. } = self.sizes;
        let oldest = self.output.first();
        let begin = left.below.saturating_sub(size as u64).max(oldest);
        if left.line_end <= begin {
            return Ok(None);
        }
        // The first line that is kept may have lost its start, so the index does not apply to it.
        let is_whole = begin == 0 || begin != oldest;
        let plan = match is_whole {
            true => self.plan(begin, &mut progress.summaries_left),
            false => BlockPlan::Classify,
        };
        if let BlockPlan::Skip(first) = plan {
            return Ok(Some(SearchRest { below: begin, line_end: begin + first as u64 }));
        }
        let is_long = left.below + (beyond as u64) < left.line_end;
        let end = if is_long { left.below.max(begin) } else { left.line_end };
        // Plain lines need no context: no charset switch before them applies to them.
        let back = match plan {
            BlockPlan::Read(BlockContent::Plain) | BlockPlan::Summarize(BlockContent::Plain) => 0,
            BlockPlan::Classify
            | BlockPlan::Read(_)
            | BlockPlan::Summarize(_)
            | BlockPlan::Skip(_) => (begin - oldest).min(self.sizes.block as u64),
        };
        buffer.resize(self.sizes.block + size + beyond, 0);
        let with_context = &mut buffer[..(back + end - begin) as usize];
        let read = match self.output.read(begin - back, with_context)? {
            Ok(read) => read,
            // Overwritten meanwhile: try again with what is left.
            Err(_) if begin - back < self.output.first() => return Ok(Some(left)),
            // The file is truncated: this part is lost.
            Err(_) => {
                let rest = SearchRest { below: begin, line_end: begin };
                return Ok((begin != oldest).then_some(rest));
            }
        };
        let with_context = &with_context[..read];
        let bytes = with_context.get(back as usize..).unwrap_or_default();
        let read = bytes.len();
        // A line that began earlier is searched with the part that it begins in.
        let first =
            if begin == oldest { 0 } else { memchr(b'\n', bytes).map_or(read, |at| at + 1) };
        if is_long && (begin == oldest || memchr(b'\n', bytes).is_some()) {
            // It begins in this part, and is the newest line that does.
            let start = begin + memrchr(b'\n', bytes).map_or(0, |at| at + 1) as u64;
            let sets = charsets::at(self.output, start, self.sizes.block as u64)?;
            let long = LongLine::new(sets, start, left.line_end, self.sizes.whole + 1);
            progress.long = Some(Box::new(long));
            return Ok(Some(SearchRest { line_end: start, ..left }));
        }
        let kind = match plan {
            BlockPlan::Summarize(kind) | BlockPlan::Read(kind) => kind,
            BlockPlan::Classify | BlockPlan::Skip(_) => BlockContent::NeedsCleaning,
        };
        let mut part = SearchPart { offset: begin, bytes, first, kind, with_context };
        if plan == BlockPlan::Classify {
            part.kind = self.content(&part);
        }
        let found = self.search(&part, plan, is_whole);
        self.push_hits(&part, found, &mut progress.hits)?;
        let line_end = if is_long { left.line_end } else { begin + first as u64 };
        Ok((begin != oldest).then_some(SearchRest { below: begin, line_end }))
    }

    /// Draws one more piece of a long line, and matches it once it is complete.
    fn step_long_line(
        &self,
        long: Box<LongLine>,
        progress: &mut SearchProgress,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        buffer.resize(self.sizes.part + self.sizes.beyond, 0);
        let drawn = match long.step(self.output, &mut buffer[..self.sizes.beyond])? {
            LongLineStep::Done(drawn) => drawn,
            LongLineStep::More(long) => {
                progress.long = Some(long);
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
        progress.hits.push(LineHit {
            n,
            offset,
            time,
            text: line.text.into_owned(),
            cut: line.cut,
        });
        Ok(())
    }

    /// What to do with the part that begins here. Summarizes no more parts than `summaries_left`
    /// allows.
    fn plan(&self, begin: u64, summaries_left: &mut usize) -> BlockPlan {
        let plan = self.index.plan(begin / self.sizes.part as u64, self.pattern.literals());
        match (plan, summaries_left.checked_sub(1)) {
            (BlockPlan::Summarize(kind), None) => BlockPlan::Read(kind),
            (BlockPlan::Summarize(_), Some(left)) => {
                *summaries_left = left;
                plan
            }
            (BlockPlan::Classify | BlockPlan::Read(_) | BlockPlan::Skip(_), _) => plan,
        }
    }

    /// The lines that match. What else is learned is added to the index, if these are all the lines
    /// that will ever begin in this part.
    fn search(&self, part: &SearchPart<'_>, plan: BlockPlan, is_whole: bool) -> Vec<Range<usize>> {
        let kind = part.kind;
        let found = match kind {
            BlockContent::Plain => self.in_place(part),
            BlockContent::NeedsCleaning => self.one_by_one(part),
        };
        let trigrams = match plan {
            // A search without hits is often followed by another, and this one has read the part
            // anyway.
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
        self.index
            .insert(number, blocks::IndexedBlock { first: part.first, content: kind, trigrams });
        found
    }

    /// Adds the newest of the lines that match to the hits.
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
        let mut new_hits = Vec::new();
        let mut counted = 0;
        let mut sets = part.sets(self.sizes.block);
        // Most lines have the time of the line before them.
        let mut printed = UNKNOWN;
        for line in found.into_iter().rev().take(self.count - hits.len()).rev() {
            n += memchr_iter(b'\n', &part.bytes[counted..line.start]).count() as u64;
            counted = line.start;
            let offset = part.offset + line.start as u64;
            let last = part.offset + line.end.saturating_sub(1).max(line.start) as u64;
            if printed.until <= last {
                printed = self.output.time(last)?.unwrap_or(UNKNOWN);
            }
            let line = self.clean(sets.at(offset), &part.bytes[line]).cut_at(self.sizes.shown);
            let cut = line.cut;
            let text = line.text.into_owned();
            new_hits.push(LineHit { n, offset, time: printed.time, text, cut });
        }
        hits.extend(new_hits.into_iter().rev());
        Ok(())
    }

    /// The text that patterns match, with one more character, so that they see what follows.
    fn clean<'a>(&self, sets: Charsets, line: &'a [u8]) -> lines::TextLine<'a> {
        lines::clean_with_charsets(sets, line, self.sizes.whole + 1)
    }

    fn is_match(&self, line: &lines::TextLine<'_>) -> bool {
        self.pattern.is_match_within(line, self.sizes.whole)
    }

    fn content(&self, part: &SearchPart<'_>) -> BlockContent {
        // Plain lines switch no charsets. Switches before them are dropped later, and not all at
        // once: a line that is plain after all of them may be line drawing after the rest.
        let is_plain = lines::are_plain(&part.bytes[part.first..], self.sizes.whole)
            && !lines::may_switch_charset(part.before().with_context);
        if is_plain { BlockContent::Plain } else { BlockContent::NeedsCleaning }
    }

    /// Whether no other line will ever begin in the part: the last one extends beyond its end, and
    /// has its newline.
    fn is_complete(&self, part: &SearchPart<'_>) -> bool {
        part.offset.is_multiple_of(self.sizes.part as u64)
            && self.sizes.part < part.bytes.len()
            && part.bytes.last() == Some(&b'\n')
    }

    fn trigrams(&self, part: &SearchPart<'_>) -> TrigramFilter {
        let mut builder = TrigramFilterBuilder::new();
        match part.kind {
            BlockContent::Plain => builder.add(&part.bytes[part.first..]),
            BlockContent::NeedsCleaning => {
                self.each(part, |_, line| builder.add(line.text.as_bytes()))
            }
        }
        builder.build()
    }

    /// The lines that match, searched in plain bytes.
    fn in_place(&self, part: &SearchPart<'_>) -> Vec<Range<usize>> {
        let lines = &part.bytes[part.first..];
        let mut found = Vec::new();
        let mut from = 0;
        let mut false_hits = 0;
        while from < lines.len()
            && let Some(at) = self.pattern.find(lines, from, false_hits < MAX_FALSE_HITS)
        {
            let start = memrchr(b'\n', &lines[from..at]).map_or(from, |end| from + end + 1);
            let end = memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end);
            if start < lines.len()
                && self.is_match(&self.clean(Charsets::default(), &lines[start..end]))
            {
                found.push(part.first + start..part.first + end);
            } else {
                false_hits += 1;
            }
            from = end + 1;
        }
        found
    }

    /// The lines that match after cleaning.
    fn one_by_one(&self, part: &SearchPart<'_>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.each(part, |range, line| {
            if self.is_match(&line) {
                found.push(range);
            }
        });
        found
    }

    /// Visits all lines after cleaning, with their ranges.
    fn each(
        &self,
        part: &SearchPart<'_>,
        mut visit: impl FnMut(Range<usize>, lines::TextLine<'_>),
    ) {
        let mut sets = part.sets(self.sizes.block);
        let mut start = part.first;
        for line in lines::split(&part.bytes[part.first..]) {
            let end = start + line.len();
            let clean = self.clean(sets.at(part.offset + start as u64), line);
            visit(start..end, clean);
            start = end + 1;
        }
    }
}
