//! Which size the terminal had where in the output: a small ring in the tape's first page.
//!
//! What was printed for one size is wrong on another, so a screen that is drawn later takes each size where the
//! terminal took it. A mark is written before the bytes that follow it, so a reader that looks at the end of the output first
//! and at the marks then has every mark before that end.

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
/// No pane ever has so many sizes: a larger count is damage.
pub(super) const MAX_COUNT: u64 = 1 << 48;

/// From an offset on, the terminal has this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeMark {
    /// How many sizes there were up to this one, which counts.
    pub n: u64,
    /// What is printed from here on is for this size.
    pub offset: u64,
    /// The size.
    pub size: Size,
}

/// Notes the size that the terminal has from this offset on. The mark is in the file before it is counted.
///
/// # Errors
/// When the disk refuses; the mark is counted all the same, and in the file with the next page that it takes.
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

/// The marks after the first so many, of those that were there with these counters, oldest first. Those that the ring has lost are not among them, nor
/// those that make no sense: a mark never goes back.
///
/// # Errors
/// When the disk refuses, or the file is cut.
pub(super) fn read(file: &File, after: u64, now: &Counters) -> io::Result<Vec<SizeMark>> {
    let end = now.get(HeaderWord::End);
    let made = match now.get(HeaderWord::Checksum) {
        0 => count(file)?,
        _ => now.get(HeaderWord::Sizes),
    };
    if made <= after {
        return Ok(Vec::new());
    }
    let mut ring = [0; SLOTS as usize * 16];
    file.read_exact_at(&mut ring, RING as u64 * 8)?;
    let mut at = 0;
    let mut marks = Vec::new();
    for before in after.max(made.saturating_sub(SLOTS))..made {
        let place = slot(before) - RING;
        let offset = word_at(&ring, place);
        if (at..=end).contains(&offset) {
            at = offset;
            marks.push(SizeMark { n: before + 1, offset, size: unpack(word_at(&ring, place + 1)) });
        }
    }
    // The writer may have come round while we read; the slot it writes next is in its hands already.
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

/// The size in a word, made to fit what a screen can have: a screen of the largest that a word holds has gigabytes.
pub(super) fn unpack(packed: u64) -> Size {
    let [_, _, _, _, cols_high, cols, rows_high, rows] = packed.to_be_bytes();
    Size {
        cols: u16::from_be_bytes([cols_high, cols]).clamp(1, Size::MAX),
        rows: u16::from_be_bytes([rows_high, rows]).clamp(1, Size::MAX),
    }
}
