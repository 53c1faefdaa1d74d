//! Collects the lines of one answer, up to its limit.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::reading::{OutputLine, ReadRequest, ReadStart};

/// Bytes of text after which an answer is full.
const FULL: usize = 1 << 20;

/// The lines selected so far, up to the limit.
pub(in crate::panes) struct LinePage {
    pub(in crate::panes) lines: VecDeque<OutputLine>,
    /// Where the next read continues.
    pub(in crate::panes) next: u64,
    /// Whether there was more than fits.
    pub(in crate::panes) is_full: bool,
    /// Whether older matches were evicted for newer ones.
    pub(in crate::panes) has_evicted: bool,
    /// Lines that become context if the next one matches.
    recent: VecDeque<OutputLine>,
    before: usize,
    after: usize,
    /// How many lines of context the last match still gets.
    context_left: usize,
    matches: usize,
    limit: usize,
    retention: PageRetention,
    size: usize,
}

/// Which lines stay when there are more than fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageRetention {
    First,
    Last,
}

impl LinePage {
    /// An empty page that starts at an offset.
    pub(in crate::panes) fn new(request: &ReadRequest, from: u64) -> Self {
        let (limit, retention) = match request.start {
            ReadStart::Tail(count) => (count.min(request.limit), PageRetention::Last),
            ReadStart::Line(_) | ReadStart::Since(_) => (request.limit, PageRetention::First),
        };
        Self {
            lines: VecDeque::new(),
            next: from,
            is_full: false,
            has_evicted: false,
            recent: VecDeque::new(),
            before: request.before,
            after: request.after,
            context_left: 0,
            matches: 0,
            limit,
            retention,
            size: 0,
        }
    }

    /// Whether a line that does not match is of no use, not even as context.
    pub(in crate::panes) fn needs_no_context(&self) -> bool {
        self.context_left == 0 && self.before == 0
    }

    /// Skips a line.
    pub(in crate::panes) fn skip(&mut self, next: u64) -> ControlFlow<()> {
        self.next = self.next.max(next);
        ControlFlow::Continue(())
    }

    /// Stops here, although there is more.
    pub(in crate::panes) fn stop(&mut self) -> ControlFlow<()> {
        self.is_full = true;
        ControlFlow::Break(())
    }

    /// Skips a line that an earlier answer has covered. It may be context of a new match, or a
    /// match whose context is new.
    pub(in crate::panes) fn skip_seen(&mut self, line: OutputLine, next: u64) -> ControlFlow<()> {
        match line.matches {
            Some(true) => {
                self.recent.clear();
                self.context_left = self.after;
            }
            Some(false) if 0 < self.context_left => self.context_left -= 1,
            Some(false) => self.remember(line),
            None => {}
        }
        self.skip(next)
    }

    pub(in crate::panes) fn add(&mut self, line: OutputLine, next: u64) -> ControlFlow<()> {
        let counts = line.matches != Some(false);
        let is_over = counts && self.limit <= self.matches || FULL < self.size;
        if is_over && self.retention == PageRetention::First {
            return self.stop();
        }
        match line.matches {
            Some(false) if 0 < self.context_left => {
                self.context_left -= 1;
                self.push(line);
            }
            Some(false) => self.remember(line),
            Some(true) | None => self.pick(line),
        }
        self.skip(next)
    }

    fn pick(&mut self, line: OutputLine) {
        self.matches += 1;
        let context: Vec<OutputLine> = self.recent.drain(..).collect();
        context.into_iter().for_each(|line| self.push(line));
        self.push(line);
        self.context_left = self.after;
        if self.limit < self.matches {
            self.evict_oldest();
        }
    }

    fn push(&mut self, line: OutputLine) {
        self.size += size(&line);
        self.lines.push_back(line);
        while self.retention == PageRetention::Last && FULL < self.size && 1 < self.lines.len() {
            self.is_full = true;
            let oldest = self.lines.pop_front();
            self.matches -= usize::from(oldest.as_ref().is_some_and(is_requested));
            self.size -= oldest.as_ref().map_or(0, size);
        }
    }

    fn remember(&mut self, line: OutputLine) {
        self.recent.push_back(line);
        if self.before < self.recent.len() {
            self.recent.pop_front();
        }
    }

    /// Evicts the oldest match, with all lines that are not context of the next one. The evicted
    /// match may stay as such context.
    fn evict_oldest(&mut self) {
        self.matches -= 1;
        self.has_evicted = true;
        let next = self.lines.iter().filter(|line| is_requested(line)).nth(1).map(|line| line.n);
        let first = next.map(|next| next.saturating_sub(self.before as u64));
        while let Some(oldest) = self.lines.front()
            && first.is_none_or(|first| oldest.n < first)
        {
            self.size -= size(oldest);
            self.lines.pop_front();
        }
        let is_before = |line: &&mut OutputLine| next.is_some_and(|next| line.n < next);
        for line in self.lines.iter_mut().take_while(is_before) {
            line.matches = Some(false);
        }
        if next.is_none() {
            self.context_left = 0;
        }
    }
}

/// Whether a line is one that was asked for, and not context.
fn is_requested(line: &OutputLine) -> bool {
    line.matches != Some(false)
}

fn size(line: &OutputLine) -> usize {
    line.text.len() + 24
}
