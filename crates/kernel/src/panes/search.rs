//! Searching what a pane printed for lines that match, the newest first.
//!
//! Where lines are plain, as most are, the bytes are searched as they are; elsewhere each line is cleaned
//! first. Both ways find the same.

#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use paned_model::Time;
use paned_substrate::Output;
use paned_term::lines;

use super::pattern::Pattern;
use super::plain::Plain;
use super::reading::LINE;
use super::text::{PIECE, Text};

/// One line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Its number.
    pub(crate) n: u64,
    /// Where it begins.
    pub(crate) offset: u64,
    /// When the output around it was printed.
    pub(crate) time: Time,
    pub(crate) text: String,
}

/// How the output is cut up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Bytes that are searched in one go, counted from the output's very beginning.
    pub(crate) part: usize,
    /// The most bytes of one line that are looked at.
    pub(crate) shown: usize,
    /// The most characters of one line that are left of them.
    pub(crate) chars: usize,
}

impl Sizes {
    /// A part fits into the caches of a processor, and is soon done with.
    pub(crate) const USUAL: Self = Self { part: 64 << 10, shown: PIECE, chars: LINE };
}

/// A search of one output.
pub(crate) struct Search<'a> {
    pub(crate) output: &'a dyn Output,
    pub(crate) pattern: &'a Pattern,
    pub(crate) plain: &'a Plain,
    pub(crate) sizes: Sizes,
}

/// Lines, read from the output, that nobody has searched yet.
struct Part<'a> {
    /// Where the bytes are in the output.
    offset: u64,
    bytes: &'a [u8],
    /// Where the first line begins in them.
    first: usize,
}

impl Search<'_> {
    /// The newest hits, up to so many, the newest first. Before each part is asked whether to go on.
    pub(crate) fn newest(
        &self,
        count: usize,
        mut goes_on: impl FnMut() -> bool,
    ) -> io::Result<Vec<Hit>> {
        let Sizes { part: size, shown, .. } = self.sizes;
        let (mut hits, mut buffer) = (Vec::new(), vec![0; size + shown]);
        // What is left to search: the parts below this one, and the line that leads into it up to there.
        let mut end = self.output.end();
        let mut below = end.next_multiple_of(size as u64);
        while hits.len() < count && goes_on() {
            let oldest = self.output.first();
            let begin = below.saturating_sub(size as u64).max(oldest);
            if end <= begin {
                break;
            }
            let bytes = &mut buffer[..(end - begin) as usize];
            // Overwritten meanwhile: what is still there is tried again.
            let Ok(read) = self.output.read(begin, bytes)? else { continue };
            let bytes = &bytes[..read];
            // A line that began earlier is searched with those before it.
            let first =
                if begin == oldest { 0 } else { memchr(b'\n', bytes).map_or(read, |at| at + 1) };
            let part = Part { offset: begin, bytes, first };
            hits.extend(self.newest_of(&part, count - hits.len())?);
            if begin == oldest {
                break;
            }
            below = begin;
            end = begin + first.min(shown) as u64;
        }
        Ok(hits)
    }

    fn newest_of(&self, part: &Part<'_>, count: usize) -> io::Result<Vec<Hit>> {
        let found = if self.is_plain(part) { self.in_place(part) } else { self.one_by_one(part) };
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let Some(mut n) = Text::new(self.output).ends_before(part.offset)? else {
            return Ok(Vec::new());
        };
        let (mut hits, mut counted) = (Vec::new(), 0);
        for line in found.into_iter().rev().take(count).rev() {
            n += memchr_iter(b'\n', &part.bytes[counted..line.start]).count() as u64;
            counted = line.start;
            let offset = part.offset + line.start as u64;
            let time = self.output.mark(offset)?.map_or(Time(0), |mark| mark.time);
            let text = self.clean(&part.bytes[line]).text.into_owned();
            hits.push(Hit { n, offset, time, text });
        }
        hits.reverse();
        Ok(hits)
    }

    fn clean<'a>(&self, line: &'a [u8]) -> lines::Line<'a> {
        lines::clean(&line[..line.len().min(self.sizes.shown)], self.sizes.chars)
    }

    /// Whether cleaning would change nothing in any of its lines.
    fn is_plain(&self, part: &Part<'_>) -> bool {
        let (size, lines) = (self.sizes.part as u64, &part.bytes[part.first..]);
        let number = part.offset / size;
        let rest = ((number + 1) * size - part.offset) as usize;
        if self.plain.contains(number) {
            let rest = part.bytes.get(rest..).unwrap_or_default();
            return lines::are_ascii(rest) && lines::are_short(lines, self.sizes.chars);
        }
        if !lines::are_ascii(part.bytes) {
            return lines::are_plain(lines, self.sizes.chars);
        }
        if part.offset.is_multiple_of(size) && rest <= part.bytes.len() {
            self.plain.insert(number);
        }
        lines::are_short(lines, self.sizes.chars)
    }

    /// The lines that match, in plain bytes.
    fn in_place(&self, part: &Part<'_>) -> Vec<Range<usize>> {
        let lines = &part.bytes[part.first..];
        let (mut found, mut from) = (Vec::new(), 0);
        while from < lines.len()
            && let Some(at) = self.pattern.find(lines, from)
        {
            let start = memrchr(b'\n', &lines[from..at]).map_or(from, |end| from + end + 1);
            let end = memchr(b'\n', &lines[at..]).map_or(lines.len(), |end| at + end);
            if start < lines.len() && self.pattern.is_match(&self.clean(&lines[start..end]).text) {
                found.push(part.first + start..part.first + end);
            }
            from = end + 1;
        }
        found
    }

    /// The lines that match once they are clean.
    fn one_by_one(&self, part: &Part<'_>) -> Vec<Range<usize>> {
        let (mut found, mut start) = (Vec::new(), part.first);
        for line in lines::split(&part.bytes[part.first..]) {
            let end = start + line.len();
            if self.pattern.is_match(&self.clean(line).text) {
                found.push(start..end);
            }
            start = end + 1;
        }
        found
    }
}
