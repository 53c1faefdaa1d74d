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

/// Records an echo, which gets into the file with the next write of the header. One that begins in
/// or directly behind the last one changes the end of that: it was read in part, or continues in
/// the next line. An empty one takes back what was recorded from its beginning on.
pub(super) fn record(header: &mut TapeHeader, echo: &Range<u64>) {
    let made = header.get(HeaderWord::Echoes);
    let last = slot(made.saturating_sub(1));
    let start = header.at(last);
    if made != 0 && (start..=header.at(last + 1) + 1).contains(&echo.start) {
        let is_taken_back = echo.is_empty() && start < echo.start;
        header.put(last + 1, if is_taken_back { echo.start - 1 } else { echo.end });
        return;
    }
    header.put(slot(made), echo.start);
    header.put(slot(made) + 1, echo.end);
    header.set(HeaderWord::Echoes, made + 1);
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

#[cfg(test)]
mod tests {
    use paned_model::Time;

    use super::*;
    use crate::tape::{MIN_CAPACITY, TapeWriter};

    #[test]
    fn the_last_input_and_its_echoes_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let mut tape = TapeWriter::create(&path, MIN_CAPACITY, Time(1)).unwrap();
        let reader = TapeReader::open(&path).unwrap();
        tape.append(&[b'x'; 100], Time(1)).unwrap();
        assert_eq!((reader.last_input(), reader.last_echo_in(0..100)), (0, None));
        tape.set_input();
        for (start, end) in [(100, 105), (100, 110), (111, 120), (121, 125), (121, 121), (150, 160)]
        {
            tape.add_echo(&(start..end));
        }
        tape.append(&[b'x'; 100], Time(1)).unwrap();
        assert_eq!(reader.last_input(), 100);
        assert_eq!(reader.last_echo_in(100..130), Some(100..120));
        assert_eq!(reader.last_echo_in(112..113), Some(100..120));
        assert_eq!(reader.last_echo_in(121..150), None);
        assert_eq!(reader.last_echo_in(0..200), Some(150..160));
        for n in 0..SLOTS {
            tape.add_echo(&(200 + 10 * n..205 + 10 * n));
        }
        tape.append(&[b'x'; 1000], Time(1)).unwrap();
        assert_eq!(reader.last_echo_in(0..200), None, "it is overwritten");
        assert_eq!(reader.last_echo_in(0..2000), Some(830..835));
    }
}
