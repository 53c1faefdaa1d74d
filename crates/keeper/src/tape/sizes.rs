//! Which size the terminal had where in the output: a small ring in the tape's first page.
//!
//! Output for one size is wrong on another, so a screen that is drawn later takes each size at the
//! offset where the terminal took it. A mark is written before the bytes that follow it, so a
//! reader that reads the end of the output first and the marks then has every mark before that end.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

use paned_model::Size;

use super::counters::Counters;
use super::header::{HeaderWord, TapeHeader, word_at};

/// The word that counts the marks ever made; it is raised after a mark is written.
const COUNT: usize = 256;
/// The word where the ring begins: an offset, then a size, for each mark.
const RING: usize = 258;
/// How many marks the ring holds.
const SLOTS: u64 = 127;
/// No pane ever has this many sizes: a larger count is damage.
pub(super) const MAX_COUNT: u64 = 1 << 48;

/// From an offset on, the terminal has this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeMark {
    /// The number of this size, counted from 1.
    pub n: u64,
    /// Output from here on is for this size.
    pub offset: u64,
    /// The size.
    pub size: Size,
}

/// Records the size that the terminal has from this offset on. The mark is in the file before it is
/// counted.
///
/// # Errors
/// When the disk refuses. The mark is counted all the same, and gets into the file with the next
/// successful write of the header.
pub(super) fn record(
    header: &mut TapeHeader,
    file: &File,
    offset: u64,
    size: Size,
) -> io::Result<()> {
    let made = header.at(COUNT);
    let slot = slot(made);
    header.put(slot, offset);
    header.put(slot + 1, pack(size));
    let written = header.write(file);
    header.put(COUNT, made + 1);
    header.set(HeaderWord::Sizes, made + 1);
    written
}

/// The marks after the first `after`, of those that were there with these counters, oldest first.
/// Marks that the ring has lost are left out, and so are invalid ones: the offsets of marks never
/// go back.
///
/// # Errors
/// When the disk refuses, or the file is cut.
pub(super) fn read(file: &File, after: u64, now: &Counters) -> io::Result<Vec<SizeMark>> {
    let end = now.get(HeaderWord::End);
    let made = now.get(HeaderWord::Sizes);
    if made <= after {
        return Ok(Vec::new());
    }
    let mut ring = [0; SLOTS as usize * 16];
    file.read_exact_at(&mut ring, RING as u64 * 8)?;
    let mut at = 0;
    let mut marks = Vec::new();
    for before in after.max(made.saturating_sub(SLOTS))..made {
        let index = slot(before) - RING;
        let offset = word_at(&ring, index);
        if (at..=end).contains(&offset) {
            at = offset;
            marks.push(SizeMark { n: before + 1, offset, size: unpack(word_at(&ring, index + 1)) });
        }
    }
    // The writer may have lapped us while we read; it may be writing its next slot already.
    let made = count(file)?;
    marks.retain(|mark| made < (mark.n - 1).saturating_add(SLOTS));
    Ok(marks)
}

fn count(file: &File) -> io::Result<u64> {
    let mut word = [0; 8];
    file.read_exact_at(&mut word, COUNT as u64 * 8)?;
    let count = u64::from_le_bytes(word);
    match count {
        0..MAX_COUNT => Ok(count),
        MAX_COUNT.. => {
            Err(io::Error::new(ErrorKind::InvalidData, "the marks of sizes are damaged"))
        }
    }
}

fn slot(before: u64) -> usize {
    RING + (before % SLOTS) as usize * 2
}

pub(super) fn pack(size: Size) -> u64 {
    u64::from(size.cols) << 16 | u64::from(size.rows)
}

/// The size in a word, clamped to what a screen can have: a screen of the largest size that fits a
/// word would take gigabytes.
pub(super) fn unpack(packed: u64) -> Size {
    let [_, _, _, _, cols_high, cols, rows_high, rows] = packed.to_be_bytes();
    Size {
        cols: u16::from_be_bytes([cols_high, cols]).clamp(1, Size::MAX),
        rows: u16::from_be_bytes([rows_high, rows]).clamp(1, Size::MAX),
    }
}
