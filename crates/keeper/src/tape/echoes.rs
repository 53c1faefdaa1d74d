//! Where the last input was typed, and where its echo is in the output: a small ring in the tape's
//! first page, behind the counters.
//!
//! It outlives the server and the pane, and a reader needs no answer of a keeper to wait for output
//! since the last input. An echo gets into the file with the bytes of it, so a reader that has the
//! end of the output finds every echo before that.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::TapeReader;
use super::counters::Counters;
use super::header::{COUNTERS, HeaderWord, TapeHeader, word_at};

/// The word where the ring begins: the first and the last offset of each echo.
const RING: usize = COUNTERS;
/// How many echoes the ring holds.
const SLOTS: u64 = 64;
/// How often the ring is read until no write came between.
const TRIES: usize = 100;

/// Records an echo. One that begins where the last one does replaces it: that was read in part.
/// It is in the file after the next write of the header.
pub(super) fn record(header: &mut TapeHeader, echo: &Range<u64>) {
    let made = header.get(HeaderWord::Echoes);
    let is_last = made != 0 && header.at(slot(made - 1)) == echo.start;
    let index = if is_last { made - 1 } else { made };
    header.put(slot(index), echo.start);
    header.put(slot(index) + 1, echo.end);
    header.set(HeaderWord::Echoes, index + 1);
}

fn slot(index: u64) -> usize {
    RING + (index % SLOTS) as usize * 2
}

impl TapeReader {
    /// Where the output ended when something was last typed; 0 if nothing was.
    #[must_use]
    pub fn last_input(&self) -> u64 {
        let counters = self.read_counters();
        counters.get(HeaderWord::LastInput).min(counters.get(HeaderWord::End))
    }

    /// The last echo of typed text in a range of the output, as far as it is still known: from the
    /// beginning of its line to its end.
    #[must_use]
    pub fn last_echo_in(&self, range: Range<u64>) -> Option<Range<u64>> {
        let counters = self.read_counters();
        let echoes = read(&self.file, &counters).unwrap_or_default();
        let is_in = |echo: &Range<u64>| echo.start < range.end && range.start < echo.end;
        echoes.into_iter().filter(is_in).max_by_key(|echo| echo.end)
    }
}

fn read(file: &File, counters: &Counters) -> io::Result<Vec<Range<u64>>> {
    let made = counters.get(HeaderWord::Echoes);
    if made == 0 {
        return Ok(Vec::new());
    }
    let mut ring = read_ring(file)?;
    for _ in 0..TRIES {
        let again = read_ring(file)?;
        if again == ring {
            break;
        }
        ring = again;
    }
    let count = usize::try_from(made.min(SLOTS)).unwrap_or(0);
    let echoes = (0..count).map(|index| word_at(&ring, index * 2)..word_at(&ring, index * 2 + 1));
    Ok(echoes.filter(|echo| echo.start < echo.end).collect())
}

fn read_ring(file: &File) -> io::Result<[u8; SLOTS as usize * 16]> {
    let mut ring = [0; SLOTS as usize * 16];
    file.read_exact_at(&mut ring, RING as u64 * 8)?;
    Ok(ring)
}
