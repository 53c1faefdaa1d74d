//! The last line of a pane's output, drawn once for all watches of it.
//!
//! A progress bar or a full-screen program may print for hours without a newline. Each read feeds
//! only the new bytes, and a thousand watches share one drawing, which is dropped with the last of
//! them.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use paned_backend::Output;
use paned_term::lines::{self, IncrementalLine, TextLine};

use super::lines::MAX_DRAWN_CHARS;
use super::lines::PIECE;
use crate::panes::search::charsets;

/// The text of a line after so much of it was printed.
#[derive(Clone, Debug)]
pub(crate) struct LineSnapshot {
    start: u64,
    /// Where it was read up to.
    pub(crate) at: u64,
    pub(crate) line: Arc<TextLine<'static>>,
}

/// Where the watches of one pane find its [`LastLine`].
#[derive(Debug, Default)]
pub(crate) struct SharedLastLine(Mutex<Weak<LastLine>>);

/// The shared drawing.
#[derive(Debug, Default)]
pub(crate) struct LastLine {
    drawn: Mutex<Option<LastLineState>>,
}

#[derive(Debug)]
struct LastLineState {
    drawing: IncrementalLine,
    snapshot: LineSnapshot,
    /// The line before, for watches that have not read its end yet.
    before: Option<LineSnapshot>,
}

impl SharedLastLine {
    pub(crate) fn get(&self) -> Arc<LastLine> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let last_line = Arc::default();
            *shared = Arc::downgrade(&last_line);
            last_line
        })
    }
}

impl LastLine {
    /// The line that begins at `start`, up to `end` or as far as another watch has read it. It has
    /// no `\n` before `end`. None if it is no longer kept.
    pub(crate) fn line(
        &self,
        output: &dyn Output,
        start: u64,
        end: u64,
    ) -> io::Result<Option<LineSnapshot>> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(newer) = drawn.as_ref().filter(|drawn| start < drawn.snapshot.start) {
            let known = newer
                .before
                .clone()
                .filter(|snapshot| snapshot.start == start && snapshot.at == end);
            drop(drawn);
            return known.map_or_else(|| render_line(output, start, end), |known| Ok(Some(known)));
        }
        let mut line = match drawn.take() {
            Some(same) if same.snapshot.start == start => same,
            older => LastLineState::new(output, start, older.map(|older| older.snapshot))?,
        };
        let snapshot = line.advance(output, end)?.then(|| line.snapshot.clone());
        *drawn = snapshot.is_some().then_some(line);
        Ok(snapshot)
    }
}

impl LastLineState {
    fn new(output: &dyn Output, start: u64, before: Option<LineSnapshot>) -> io::Result<Self> {
        let drawing = IncrementalLine::with_charsets(
            charsets::at(output, start, charsets::BLOCK)?,
            MAX_DRAWN_CHARS,
        );
        let line = Arc::new(TextLine { text: "".into(), cut: false });
        Ok(Self { drawing, snapshot: LineSnapshot { start, at: start, line }, before })
    }

    /// Reads up to an offset. Returns whether all of it was there.
    fn advance(&mut self, output: &dyn Output, end: u64) -> io::Result<bool> {
        if end <= self.snapshot.at {
            return Ok(true);
        }
        let mut buffer =
            vec![0; PIECE.min(usize::try_from(end - self.snapshot.at).unwrap_or(PIECE))];
        while self.snapshot.at < end {
            let wanted = buffer.len().min(usize::try_from(end - self.snapshot.at).unwrap_or(PIECE));
            match output.read(self.snapshot.at, &mut buffer[..wanted])? {
                Ok(0) | Err(_) => return Ok(false),
                Ok(read) => {
                    self.drawing.feed(&buffer[..read]);
                    self.snapshot.at += read as u64;
                }
            }
        }
        self.snapshot.line = Arc::new(self.drawing.line());
        Ok(true)
    }
}

/// Draws a line, or the start of one, without the shared drawing.
pub(crate) fn render_line(
    output: &dyn Output,
    start: u64,
    end: u64,
) -> io::Result<Option<LineSnapshot>> {
    let length = usize::try_from(end - start).unwrap_or(usize::MAX);
    if PIECE < length {
        let mut line = LastLineState::new(output, start, None)?;
        return Ok(line.advance(output, end)?.then_some(line.snapshot));
    }
    let mut bytes = vec![0; length];
    let sets = charsets::at(output, start, charsets::BLOCK)?;
    let read = output.read(start, &mut bytes)?.ok();
    let snapshot = read.filter(|read| *read == length).map(|_| {
        let TextLine { text, cut } = lines::clean_with_charsets(sets, &bytes, MAX_DRAWN_CHARS);
        let line = Arc::new(TextLine { text: text.into_owned().into(), cut });
        LineSnapshot { start, at: end, line }
    });
    Ok(snapshot)
}
