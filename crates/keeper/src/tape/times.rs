//! When bytes were printed: marks of offset and time, in a ring of their own behind the data.
//!
//! A mark is made with the first bytes after [`INTERVAL`] without one, so that a pane that prints
//! now and then has one for each time it did, and a flood costs no more than ten a second. The
//! marks are where a tape without them ends: a version that does not know them reads all the rest,
//! and a tape that has none has the times of its blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use paned_model::Time;

use super::counters::read_until_end;
use super::header::{HeaderWord, TapeHeader, word_at};
use super::{Geometry, OutputGap, TapeReader};

/// How long one mark covers all output, in milliseconds.
pub(super) const INTERVAL: u64 = 100;
/// How many marks fit, per block of the ring: a pane rarely prints so slowly that it needs more.
const PER_BLOCK: u64 = 16;
/// Bytes of one mark: the offset, then the time.
pub(super) const MARK_LEN: u64 = 16;

/// When a byte was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputTime {
    /// The time, or a tenth of a second before it. For the oldest output of a pane that prints
    /// little for weeks it may be the time of the 4 KiB block around it.
    pub time: Time,
    /// The next offset that may have another time.
    pub until: u64,
}

#[derive(Clone, Copy)]
struct TimeMark {
    offset: u64,
    time: Time,
}

/// The writer's side.
#[derive(Debug)]
pub(super) struct TimeMarks {
    room: u64,
    count: u64,
    last: Option<Time>,
}

impl TimeMarks {
    /// The marks of a new tape.
    pub(super) fn create(header: &mut TapeHeader, geometry: Geometry) -> Self {
        let room = room(geometry);
        header.set(HeaderWord::TimesRoom, room);
        Self { room, count: 0, last: None }
    }

    /// The file was cut, and its marks with it: from now on there are the times of the blocks.
    pub(super) fn discard(&mut self, header: &mut TapeHeader) {
        self.room = 0;
        header.set(HeaderWord::TimesRoom, 0);
    }

    /// Makes a mark, if one is due, for bytes that are about to be announced from this offset on.
    /// When the disk refuses, nothing has happened.
    pub(super) fn record(
        &mut self,
        file: &File,
        header: &mut TapeHeader,
        geometry: Geometry,
        offset: u64,
        now: Time,
    ) -> io::Result<()> {
        // After the clock was set back, marks begin anew.
        let is_due = |last: Time| now < last || last.0 + INTERVAL <= now.0;
        if self.room == 0 || !self.last.is_none_or(is_due) {
            return Ok(());
        }
        let mut bytes = [0; MARK_LEN as usize];
        bytes[..8].copy_from_slice(&offset.to_le_bytes());
        bytes[8..].copy_from_slice(&now.0.to_le_bytes());
        file.write_all_at(&bytes, mark_at(geometry, self.room, self.count))?;
        self.count += 1;
        self.last = Some(now);
        header.set(HeaderWord::Times, self.count);
        Ok(())
    }
}

/// How many marks fit on a tape.
pub(super) fn room(geometry: Geometry) -> u64 {
    geometry.blocks * PER_BLOCK
}

fn mark_at(geometry: Geometry, room: u64, number: u64) -> u64 {
    geometry.file_len() + number % room * MARK_LEN
}

impl TapeReader {
    /// When the byte at an offset was printed.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        if let Some(stamp) = self.time_from_mark(offset)? {
            let first = self.first();
            return Ok(if offset < first { Err(OutputGap { first }) } else { Ok(stamp) });
        }
        let until = Geometry::next_block(offset);
        Ok(self.line_mark(offset)?.map(|(_, _, time)| OutputTime { time, until }))
    }

    /// The time by the last mark up to an offset, if that mark is still there.
    fn time_from_mark(&self, offset: u64) -> io::Result<Option<OutputTime>> {
        let now = self.read_counters();
        let marks = now.get(HeaderWord::TimesRoom);
        let count = now.get(HeaderWord::Times);
        if !(1..=room(self.geometry)).contains(&marks) || count == 0 {
            return Ok(None);
        }
        // The writer may be writing the next one, which replaces the oldest.
        let oldest = |count: u64| count.saturating_add(1).saturating_sub(marks);
        let mut low = oldest(count);
        let mut high = count;
        let mut found = None;
        let mut until = u64::MAX;
        while low < high {
            let middle = low + (high - low) / 2;
            let Some(mark) = self.read_mark(marks, middle)? else { return Ok(None) };
            if mark.offset <= offset {
                found = Some((middle, mark.time));
                low = middle + 1;
            } else {
                until = mark.offset;
                high = middle;
            }
        }
        let is_there = |(number, _): &(u64, Time)| {
            oldest(self.read_counters().get(HeaderWord::Times)) <= *number
        };
        Ok(found.filter(is_there).map(|(_, time)| OutputTime { time, until }))
    }

    /// Nothing where the file was cut, or where it was cut and has grown since: there is a hole.
    fn read_mark(&self, room: u64, number: u64) -> io::Result<Option<TimeMark>> {
        let mut bytes = [0; MARK_LEN as usize];
        let got = read_until_end(&self.file, &mut bytes, mark_at(self.geometry, room, number))?;
        let is_hole = number != 0 && bytes == [0; MARK_LEN as usize];
        if got < bytes.len() || is_hole {
            return Ok(None);
        }
        Ok(Some(TimeMark { offset: word_at(&bytes, 0), time: Time(word_at(&bytes, 1)) }))
    }
}

#[cfg(test)]
mod tests;
