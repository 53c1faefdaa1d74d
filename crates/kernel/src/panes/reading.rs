//! Reading lines: from a place on, up to a limit, picked by a pattern with some context.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;

use paned_model::Offset;
use paned_substrate::Output;
use paned_term::lines;
use schemars::JsonSchema;
use serde::Serialize;

use super::pattern::Pattern;
use super::text::{Place, RawLine, Text, WHOLE};

/// Characters of a line that are shown; the rest is cut, and said to be.
pub(crate) const LINE: usize = 2000;
/// Bytes of text after which an answer is full.
const FULL: usize = 1 << 20;

#[derive(Clone, Serialize, JsonSchema)]
pub(crate) struct Line {
    /// Its number.
    pub(crate) n: u64,
    /// What it says.
    pub(crate) text: String,
    /// Whether it is longer than the 2000 characters that are shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    /// Whether it is here because the pattern matches, and not as context of a match.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<bool>,
}

impl Line {
    /// A line that was cleaned, cut at what is shown of one.
    pub(crate) fn of(n: u64, line: lines::Line<'_>) -> Self {
        let line = line.cut_at(LINE);
        Self { n, text: line.text.into_owned(), cut: line.cut, matches: None }
    }
}

/// A line as a person would read it, all of it, for patterns to match; [`Line::of`] cuts it at what is shown.
/// Borrowed where it was printed like that: most lines are looked at and not picked.
pub(crate) fn whole(raw: RawLine<'_>) -> lines::Line<'_> {
    raw.clean(WHOLE)
}

/// What is shown of a line.
pub(crate) fn clean(raw: RawLine<'_>) -> lines::Line<'_> {
    raw.clean(LINE)
}

/// What to read.
pub(crate) struct Ask {
    pub(crate) start: Start,
    /// How many lines, or matches, at most.
    pub(crate) limit: usize,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) before: usize,
    pub(crate) after: usize,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At a line's number.
    Line(u64),
    /// At an offset, in the middle of a line if it is.
    Offset(u64),
    /// So many lines, or matches, before the end.
    Tail(usize),
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
}

/// Reads lines.
pub(crate) fn read(output: &dyn Output, ask: &Ask) -> io::Result<Lines> {
    let text = Text::new(output);
    let total = text.total()?;
    let from = start(&text, ask, total, output.end())?;
    let mut picked = Picked::new(ask, from.offset);
    text.each(from, |raw| {
        let line = whole(raw);
        let matches = ask.pattern.as_ref().map(|pattern| pattern.is_match(&line.text));
        if matches == Some(false) && picked.has_no_use_for_context() {
            return picked.pass(raw.next);
        }
        picked.add(Line { matches, ..Line::of(raw.n, line) }, raw.next)
    })?;
    let (next, truncated) = (Offset(picked.next), picked.full);
    Ok(Lines { lines: picked.lines, next, total, dropped: text.first()?.n, truncated })
}

/// The last lines of an output.
pub(crate) fn last(output: &dyn Output, limit: usize) -> io::Result<Lines> {
    let ask = Ask { start: Start::Tail(limit), limit, pattern: None, before: 0, after: 0 };
    read(output, &ask)
}

fn start(text: &Text<'_>, ask: &Ask, total: u64, end: u64) -> io::Result<Place> {
    match ask.start {
        Start::Offset(offset) => text.at(offset.min(end)),
        Start::Line(n) => text.line(n),
        // The last matches are found by looking at all of them.
        Start::Tail(_) if ask.pattern.is_some() => text.first(),
        Start::Tail(count) => text.line(total.saturating_sub(count as u64)),
    }
}

/// The lines that were picked, up to the limit.
struct Picked {
    lines: Vec<Line>,
    /// Lines that become context should the next one match.
    recent: VecDeque<Line>,
    context: (usize, usize),
    /// How many lines of context are still owed to the last match.
    owed: usize,
    matches: usize,
    limit: usize,
    /// Keep only the last so many matches.
    tail: Option<usize>,
    size: usize,
    next: u64,
    full: bool,
}

impl Picked {
    fn new(ask: &Ask, from: u64) -> Self {
        let tail = match ask.start {
            Start::Tail(count) if ask.pattern.is_some() => Some(count.clamp(1, ask.limit)),
            Start::Tail(_) | Start::Line(_) | Start::Offset(_) => None,
        };
        Self {
            lines: Vec::new(),
            recent: VecDeque::new(),
            context: (ask.before, ask.after),
            owed: 0,
            matches: 0,
            limit: ask.limit,
            tail,
            size: 0,
            next: from,
            full: false,
        }
    }

    /// Whether a line that does not match is of no use, not even beside one that does.
    fn has_no_use_for_context(&self) -> bool {
        self.owed == 0 && self.context.0 == 0
    }

    /// Goes past a line.
    fn pass(&mut self, next: u64) -> ControlFlow<()> {
        self.next = next;
        ControlFlow::Continue(())
    }

    fn add(&mut self, line: Line, next: u64) -> ControlFlow<()> {
        let counts = line.matches != Some(false);
        let over = counts && self.tail.is_none() && self.limit <= self.matches;
        if over || FULL < self.size {
            self.full = true;
            return ControlFlow::Break(());
        }
        self.next = next;
        match line.matches {
            Some(false) if 0 < self.owed => {
                self.owed -= 1;
                self.push(line);
            }
            Some(false) => self.remember(line),
            Some(true) | None => self.pick(line),
        }
        ControlFlow::Continue(())
    }

    fn pick(&mut self, line: Line) {
        self.matches += 1;
        let context: Vec<Line> = self.recent.drain(..).collect();
        context.into_iter().for_each(|line| self.push(line));
        self.push(line);
        self.owed = self.context.1;
        if self.tail.is_some_and(|tail| tail < self.matches) {
            self.forget_oldest();
        }
    }

    fn push(&mut self, line: Line) {
        self.size += line.text.len() + 24;
        self.lines.push(line);
    }

    fn remember(&mut self, line: Line) {
        self.recent.push_back(line);
        if self.context.0 < self.recent.len() {
            self.recent.pop_front();
        }
    }

    /// The oldest match goes, with its context.
    fn forget_oldest(&mut self) {
        self.matches -= 1;
        let is_match = |line: &Line| line.matches == Some(true);
        let first = self.lines.iter().position(is_match).unwrap_or(0);
        let after = self.lines[first + 1..].iter().position(is_match).map(|at| first + 1 + at);
        let keep =
            after.map_or(self.lines.len(), |at| at.saturating_sub(self.context.0).max(first + 1));
        self.lines.drain(..keep).for_each(|line| self.size -= line.text.len() + 24);
    }
}
