//! The last line of a pane's output, drawn once for all who wait for it to say something.
//!
//! A progress bar or a full-screen program may print for hours without a line's end. Each look feeds only what is new, and
//! a thousand who wait share one drawing, which goes when the last of them does.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use paned_substrate::Output;
use paned_term::lines::{self, Drawing, Line};

use super::sets;
use super::text::{DRAWN, PIECE};

/// What a line said when so much of it was printed.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    start: u64,
    /// Where it was read up to.
    pub(crate) at: u64,
    pub(crate) line: Arc<Line<'static>>,
}

/// Where those who wait for one pane find its [`Tail`].
#[derive(Debug, Default)]
pub(crate) struct Shared(Mutex<Weak<Tail>>);

/// The drawing.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    drawn: Mutex<Option<Drawn>>,
}

#[derive(Debug)]
struct Drawn {
    drawing: Drawing,
    told: Told,
    /// The line before, for those who have not heard of its end yet.
    before: Option<Told>,
}

impl Shared {
    pub(crate) fn get(&self) -> Arc<Tail> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let tail = Arc::default();
            *shared = Arc::downgrade(&tail);
            tail
        })
    }
}

impl Tail {
    /// The line that begins at `start`, up to `end` or as far as somebody else has read it. No `\n` is before `end`.
    /// Nothing if it is no longer kept.
    pub(crate) fn line(
        &self,
        output: &dyn Output,
        start: u64,
        end: u64,
    ) -> io::Result<Option<Told>> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(newer) = drawn.as_ref().filter(|drawn| start < drawn.told.start) {
            let known = newer.before.clone().filter(|told| told.start == start && told.at == end);
            drop(drawn);
            return known.map_or_else(|| draw(output, start, end), |known| Ok(Some(known)));
        }
        let mut line = match drawn.take() {
            Some(same) if same.told.start == start => same,
            older => Drawn::new(output, start, older.map(|older| older.told))?,
        };
        let told = line.go_on(output, end)?.then(|| line.told.clone());
        *drawn = told.is_some().then_some(line);
        Ok(told)
    }
}

impl Drawn {
    fn new(output: &dyn Output, start: u64, before: Option<Told>) -> io::Result<Self> {
        let drawing = Drawing::in_sets(sets::at(output, start, sets::BLOCK)?, DRAWN);
        let line = Arc::new(Line { text: "".into(), cut: false });
        Ok(Self { drawing, told: Told { start, at: start, line }, before })
    }

    /// Reads up to an offset. Answers whether all of it was there.
    fn go_on(&mut self, output: &dyn Output, end: u64) -> io::Result<bool> {
        if end <= self.told.at {
            return Ok(true);
        }
        let mut buffer = vec![0; PIECE.min(usize::try_from(end - self.told.at).unwrap_or(PIECE))];
        while self.told.at < end {
            let wanted = buffer.len().min(usize::try_from(end - self.told.at).unwrap_or(PIECE));
            match output.read(self.told.at, &mut buffer[..wanted])? {
                Ok(0) | Err(_) => return Ok(false),
                Ok(read) => {
                    self.drawing.feed(&buffer[..read]);
                    self.told.at += read as u64;
                }
            }
        }
        self.told.line = Arc::new(self.drawing.line());
        Ok(true)
    }
}

/// A line, or the beginning of one, that nobody else asks for.
pub(crate) fn draw(output: &dyn Output, start: u64, end: u64) -> io::Result<Option<Told>> {
    let length = usize::try_from(end - start).unwrap_or(usize::MAX);
    if PIECE < length {
        let mut line = Drawn::new(output, start, None)?;
        return Ok(line.go_on(output, end)?.then_some(line.told));
    }
    let mut bytes = vec![0; length];
    let sets = sets::at(output, start, sets::BLOCK)?;
    let read = output.read(start, &mut bytes)?.ok();
    let told = read.filter(|read| *read == length).map(|_| {
        let Line { text, cut } = lines::clean_in(sets, &bytes, DRAWN);
        let line = Arc::new(Line { text: text.into_owned().into(), cut });
        Told { start, at: end, line }
    });
    Ok(told)
}
