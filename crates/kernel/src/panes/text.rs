//! A pane's output as numbered lines: found by number through the tape's index, read in pieces.

use std::io;
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter};
use paned_substrate::{Gap, Mark, Output};

/// How much is read in one go, and the most of one line that is looked at.
pub(crate) const PIECE: usize = 64 << 10;

/// The beginning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    /// The line's number, counted from 0 at the pane's first line ever.
    pub(crate) n: u64,
}

/// One line as it was printed, without its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawLine<'a> {
    pub(crate) n: u64,
    pub(crate) bytes: &'a [u8],
    /// The offset after it and its end.
    pub(crate) next: u64,
    /// Whether its end was printed too.
    pub(crate) whole: bool,
}

/// The lines of one output.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    output: &'a dyn Output,
}

impl<'a> Text<'a> {
    pub(crate) fn new(output: &'a dyn Output) -> Self {
        Self { output }
    }

    /// The first line of which anything is kept.
    pub(crate) fn first(&self) -> io::Result<Place> {
        let mark = self.mark(self.output.first())?;
        Ok(Place { offset: mark.offset, n: mark.lines })
    }

    /// How many lines there are, a last one without its end included.
    pub(crate) fn total(&self) -> io::Result<u64> {
        let (lines, end) = (self.output.lines(), self.output.end());
        let mut last = [0];
        let open =
            end != 0 && matches!(self.output.read(end - 1, &mut last)?, Ok(1) if last[0] != b'\n');
        Ok(lines + u64::from(open))
    }

    /// Line ends before an offset; nothing if that is no longer kept.
    pub(crate) fn ends_before(&self, offset: u64) -> io::Result<Option<u64>> {
        let Ok(mark) = self.output.mark(offset)? else { return Ok(None) };
        let mut bytes = vec![0; usize::try_from(offset - mark.offset).unwrap_or(0)];
        let read = self.output.read(mark.offset, &mut bytes)?.ok();
        let count = |read| memchr_iter(b'\n', &bytes[..read]).count() as u64;
        Ok(read.map(|read| mark.lines + count(read)))
    }

    /// The beginning of a line by its number; of the first one kept when it is older than that, and the
    /// end of the output when it is not there yet.
    pub(crate) fn line(&self, n: u64) -> io::Result<Place> {
        let first = self.first()?;
        if n <= first.n {
            return Ok(first);
        }
        let near = self.mark_before(first.offset, n)?;
        self.skip(Place { offset: near.offset, n: near.lines }, n)
    }

    /// The line that an offset is in, and the offset itself as its beginning.
    pub(crate) fn at(&self, offset: u64) -> io::Result<Place> {
        let first = self.first()?;
        if offset <= first.offset {
            return Ok(first);
        }
        let mark = self.mark(offset)?;
        let mut n = mark.lines;
        let flow = self.each(Place { offset: mark.offset, n }, |line| {
            n = line.n;
            if offset < line.next { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        flow?;
        let ended = offset == self.output.end() && self.output.lines() == n + 1;
        Ok(Place { offset, n: if ended { n + 1 } else { n } })
    }

    /// The last mark with fewer lines before it than `n`, found by halving.
    fn mark_before(&self, first: u64, n: u64) -> io::Result<Mark> {
        let (mut low, mut high) = (self.mark(first)?, self.output.end());
        while low.offset + 4096 < high {
            let middle = self.mark(low.offset + (high - low.offset) / 2)?;
            if middle.offset <= low.offset {
                break;
            }
            if middle.lines < n {
                low = middle;
            } else {
                high = middle.offset;
            }
        }
        Ok(low)
    }

    fn skip(&self, from: Place, n: u64) -> io::Result<Place> {
        let mut place = from;
        self.each(from, |line| {
            if n <= line.n {
                return ControlFlow::Break(());
            }
            place = Place { offset: line.next, n: line.n + u64::from(line.whole) };
            ControlFlow::Continue(())
        })?;
        Ok(place)
    }

    /// A mark, of the first byte kept when the ring was faster.
    fn mark(&self, offset: u64) -> io::Result<Mark> {
        let mut offset = offset;
        loop {
            match self.output.mark(offset)? {
                Ok(mark) => return Ok(mark),
                Err(Gap { first }) => offset = first,
            }
        }
    }

    /// Visits lines in order, from the beginning of one to the end of the output as it is now. Of a line
    /// longer than a piece, only the first piece is shown.
    pub(crate) fn each(
        &self,
        from: Place,
        mut visit: impl FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let end = self.output.end();
        let mut buffer = vec![0; PIECE];
        let mut place = from;
        while place.offset < end {
            let read = match self.output.read(place.offset, &mut buffer)? {
                Ok(read) => read.min(usize::try_from(end - place.offset).unwrap_or(PIECE)),
                Err(_) => {
                    place = self.first()?;
                    continue;
                }
            };
            let at_end = place.offset + read as u64 == end;
            match visit_piece(place, &buffer[..read], at_end, &mut visit) {
                ControlFlow::Break(()) => return Ok(()),
                ControlFlow::Continue(next) if next.offset == place.offset => {
                    place = self.after_long_line(place, &buffer[..read], &mut visit)?;
                }
                ControlFlow::Continue(next) => place = next,
            }
        }
        Ok(())
    }

    /// A line that fills the piece: shows what is there of it and finds its end.
    fn after_long_line(
        &self,
        place: Place,
        shown: &[u8],
        visit: &mut impl FnMut(RawLine<'_>) -> ControlFlow<()>,
    ) -> io::Result<Place> {
        let mut offset = place.offset + shown.len() as u64;
        let mut buffer = vec![0; PIECE];
        let mut whole = false;
        while !whole {
            match self.output.read(offset, &mut buffer)? {
                Ok(0) => break,
                Ok(read) => {
                    let end = memchr(b'\n', &buffer[..read]);
                    whole = end.is_some();
                    offset += end.map_or(read, |end| end + 1) as u64;
                }
                Err(_) => return self.first(),
            }
        }
        let line = RawLine { n: place.n, bytes: shown, next: offset, whole };
        let over = visit(line).is_break();
        let end = if over { u64::MAX } else { offset };
        Ok(Place { offset: end, n: place.n + 1 })
    }
}

/// Visits the lines that are whole in this piece, and the last one where the output ends. Answers where
/// to go on.
fn visit_piece(
    mut place: Place,
    mut bytes: &[u8],
    at_end: bool,
    visit: &mut impl FnMut(RawLine<'_>) -> ControlFlow<()>,
) -> ControlFlow<(), Place> {
    while !bytes.is_empty() {
        let (line, rest, whole) = match memchr(b'\n', bytes) {
            Some(end) => (&bytes[..end], &bytes[end + 1..], true),
            None if at_end => (bytes, &[][..], false),
            None => break,
        };
        let next = place.offset + (bytes.len() - rest.len()) as u64;
        visit(RawLine { n: place.n, bytes: line, next, whole })?;
        place = Place { offset: next, n: place.n + u64::from(whole) };
        bytes = rest;
    }
    ControlFlow::Continue(place)
}
