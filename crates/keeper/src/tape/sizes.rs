//! Which size the terminal had where in the output: a small ring in the tape's first page.
//!
//! What was printed for one size is wrong on another, so a screen that is drawn later takes each size where the
//! terminal took it. A mark is written before the bytes that follow it, so whoever looks at the end of the output first
//! and at the marks then has every mark before that end.

use paned_model::Size;

use super::header::Header;

/// The word that counts the marks ever made; it is raised after a mark is written.
const COUNT: usize = 256;
/// The word where the ring begins: an offset, then a size, for each mark.
const RING: usize = 258;
/// How many marks the ring holds.
const SLOTS: u64 = 127;

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

/// Notes the size that the terminal has from this offset on.
pub(super) fn note(header: &Header, offset: u64, size: Size) {
    let made = header.at(COUNT);
    let slot = slot(made);
    header.put(slot, offset);
    header.put(slot + 1, pack(size));
    header.put(COUNT, made + 1);
}

/// The marks after the first so many, oldest first. Those that the ring has lost are not among them.
pub(super) fn read(header: &Header, after: u64) -> Vec<SizeMark> {
    let made = header.at(COUNT);
    let marks = (after.max(made.saturating_sub(SLOTS))..made).map(|before| {
        let slot = slot(before);
        SizeMark { n: before + 1, offset: header.at(slot), size: unpack(header.at(slot + 1)) }
    });
    let mut marks: Vec<SizeMark> = marks.collect();
    if marks.is_empty() {
        return marks;
    }
    // The writer may have come round while we read; the slot it writes next is in its hands already.
    let made = header.at(COUNT);
    marks.retain(|mark| made < mark.n - 1 + SLOTS);
    marks
}

fn slot(before: u64) -> usize {
    RING + (before % SLOTS) as usize * 2
}

pub(super) fn pack(size: Size) -> u64 {
    u64::from(size.cols) << 16 | u64::from(size.rows)
}

pub(super) fn unpack(packed: u64) -> Size {
    let [_, _, _, _, cols_high, cols, rows_high, rows] = packed.to_be_bytes();
    Size {
        cols: u16::from_be_bytes([cols_high, cols]),
        rows: u16::from_be_bytes([rows_high, rows]),
    }
}
