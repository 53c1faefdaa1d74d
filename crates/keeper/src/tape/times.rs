//! When bytes were printed: marks of offset and time, in a ring of their own behind the data.
//!
//! A mark is made with the first bytes after [`INTERVAL`] without one, so that a pane that prints now and then has one
//! for each time it did, and a flood costs no more than ten a second. They stand where a tape without them ends: a version
//! that does not know them reads all the rest, and a tape that has none has the times of its blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use paned_model::Time;

use super::counters::read_until_end;
use super::header::{HeaderWord, TapeHeader, word_at};
use super::{Geometry, OutputGap, TapeReader};

/// How long one mark stands for all that is printed, in milliseconds.
pub(super) const INTERVAL: u64 = 100;
/// How many marks there is room for, per block of the ring: what is printed slowly enough to need more is rare.
const PER_BLOCK: u64 = 16;
/// Bytes of one mark: the offset, then the time.
pub(super) const MARK_LEN: u64 = 16;

/// When a byte was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputTime {
    /// The time, or a tenth of a second before it. For the oldest output of a pane that prints little for weeks it
    /// may be the time of the 4 KiB block around it.
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
    /// Of a tape that is new.
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

    /// Bytes are about to be announced from this offset on. When the disk refuses, nothing has happened.
    pub(super) fn record(
        &mut self,
        (file, header): (&File, &mut TapeHeader),
        geometry: Geometry,
        mark: (u64, Time),
    ) -> io::Result<()> {
        let (offset, now) = mark;
        // A clock that was set back begins anew.
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

/// How many marks a tape has room for.
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

    /// By the last mark up to an offset, if that is there.
    fn time_from_mark(&self, offset: u64) -> io::Result<Option<OutputTime>> {
        let now = self.read_counters();
        let marks = now.get(HeaderWord::TimesRoom);
        let count = now.get(HeaderWord::Times);
        if !(1..=room(self.geometry)).contains(&marks) || count == 0 {
            return Ok(None);
        }
        // The writer may be at the next one, which takes the place of the oldest.
        let oldest = |count: u64| count.saturating_add(1).saturating_sub(marks);
        let (mut low, mut high) = (oldest(count), count);
        let (mut found, mut until) = (None, u64::MAX);
        while low < high {
            let middle = low + (high - low) / 2;
            let Some(mark) = self.read_mark(marks, middle)? else { return Ok(None) };
            if mark.offset <= offset {
                (found, low) = (Some((middle, mark.time)), middle + 1);
            } else {
                (until, high) = (mark.offset, middle);
            }
        }
        let is_there = |(number, _): &(u64, Time)| {
            oldest(self.read_counters().get(HeaderWord::Times)) <= *number
        };
        Ok(found.filter(is_there).map(|(_, time)| OutputTime { time, until }))
    }

    /// Nothing where the file was cut, or where it was cut and has grown since: a hole.
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
mod tests {
    use std::fs::OpenOptions;
    use std::path::PathBuf;

    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::super::{BLOCK, MIN_CAPACITY, TapeWriter};
    use super::*;

    /// A tape, and when each byte of it was printed.
    struct Case {
        _dir: TempDir,
        path: PathBuf,
        writer: TapeWriter,
        truth: Vec<u64>,
    }

    impl Case {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("tape");
            let writer = TapeWriter::create(&path, MIN_CAPACITY, Time(1)).unwrap();
            Self { _dir: dir, path, writer, truth: Vec::new() }
        }

        /// Prints so many bytes at a time.
        fn print(&mut self, size: usize, now: u64) {
            let (bytes, mut wrote) = (vec![b'x'; size], 0);
            while wrote < size {
                wrote += self.writer.append(&bytes[wrote..], Time(now)).unwrap();
            }
            self.truth.extend(std::iter::repeat_n(now, size));
        }

        fn reader(&self) -> TapeReader {
            TapeReader::open(&self.path).unwrap()
        }

        fn times(&self, offsets: &[u64]) -> Vec<u64> {
            let reader = self.reader();
            offsets.iter().map(|offset| reader.time(*offset).unwrap().unwrap().time.0).collect()
        }

        /// Something happens to the file.
        fn damage(&self, how: impl FnOnce(&File)) {
            how(&OpenOptions::new().write(true).open(&self.path).unwrap());
        }
    }

    #[test]
    fn each_time_that_it_printed_is_known() {
        let mut case = Case::new();
        case.print(10, 5000);
        case.print(10, 5000 + INTERVAL - 1);
        case.print(10, 9000);
        case.print(10, 3_600_000);
        assert_eq!(
            case.times(&[0, 9, 10, 20, 29, 30, 39]),
            [5000, 5000, 5000, 9000, 9000, 3_600_000, 3_600_000]
        );
        let stamp = case.reader().time(20).unwrap().unwrap();
        assert_eq!(stamp, OutputTime { time: Time(9000), until: 30 });
        // Before a clock that was set back and after it.
        case.print(10, 1000);
        assert_eq!(case.times(&[39, 40]), [3_600_000, 1000]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn no_byte_is_younger_than_it_is_nor_older_by_more_than_an_interval(
            prints in prop::collection::vec((1_usize..3000, 0_u64..300), 1..400),
        ) {
            let (mut case, mut now) = (Case::new(), 1000);
            for (size, after) in prints {
                now += after;
                case.print(size, now);
            }
            let reader = case.reader();
            prop_assert_ne!(reader.read_counters().get(HeaderWord::Times), 0);
            for offset in (reader.first()..reader.end()).step_by(777) {
                let stamp = reader.time(offset).unwrap().unwrap();
                let truth = case.truth[offset as usize];
                prop_assert!(stamp.time.0 <= truth && truth - stamp.time.0 < INTERVAL);
                prop_assert!(offset < stamp.until);
                let last = stamp.until.min(reader.end()) - 1;
                prop_assert_eq!(reader.time(last).unwrap().unwrap().time, stamp.time);
            }
        }
    }

    #[test]
    fn what_the_ring_has_lost_has_the_time_of_its_block() {
        let mut case = Case::new();
        // A byte at a time: more marks than there is room for, and all bytes are still kept.
        let room = case.reader().read_counters().get(HeaderWord::TimesRoom);
        (0..room + 100).for_each(|n| case.print(1, n * INTERVAL));
        let lost = 101;
        assert_eq!(
            case.times(&[0, lost - 1, lost, room + 99]),
            [0, 0, lost * INTERVAL, (room + 99) * INTERVAL]
        );
        let stamp = case.reader().time(5).unwrap().unwrap();
        assert_eq!(stamp, OutputTime { time: Time(0), until: BLOCK });
    }

    #[test]
    fn a_tape_without_marks_has_the_times_of_its_blocks() {
        let mut case = Case::new();
        case.print(4000, 1000);
        case.print(1000, 2000);
        assert_eq!(case.times(&[4000, 4096]), [2000, 2000]);
        let end = Geometry::keeping(MIN_CAPACITY).file_len();
        // As one that lost its last part, and as one of an older version.
        case.damage(|file| file.set_len(end).unwrap());
        assert_eq!(case.times(&[4000, 4096]), [1000, 2000]);
        case.damage(|file| file.write_all_at(&[0; 64], 24 * 8).unwrap());
        assert_eq!(case.times(&[4000, 4096]), [1000, 2000]);
    }

    #[test]
    fn a_mark_that_was_not_announced_before_the_writer_died_is_not_there() {
        let mut case = Case::new();
        case.print(10, 1000);
        let end = Geometry::keeping(MIN_CAPACITY).file_len();
        case.damage(|file| file.write_all_at(&[1; 9], end + MARK_LEN).unwrap());
        assert_eq!(case.times(&[0, 9]), [1000, 1000]);
    }

    #[test]
    fn what_was_overwritten_is_told_as_a_gap() {
        let mut case = Case::new();
        (0..100).for_each(|n| case.print(5000, n * 1000));
        let (reader, first) = (case.reader(), case.reader().first());
        assert_eq!(reader.time(first - 1).unwrap(), Err(OutputGap { first }));
        assert!(reader.time(first).unwrap().is_ok());
    }

    #[test]
    fn a_reader_beside_the_writer_sees_true_times() {
        // Of the oldest bytes that are kept, the marks are those that are overwritten next.
        const SIZE: u64 = 250;
        let mut case = Case::new();
        let reader = case.reader();
        let truth = |offset: u64| offset / SIZE * INTERVAL;
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| {
                for n in 0..60_000 {
                    case.writer.append(&[b'x'; SIZE as usize], Time(n * INTERVAL)).unwrap();
                }
            });
            let mut seen = 0_u64;
            while !writing.is_finished() || seen < 1000 {
                let offset = reader.first() + seen % (2 * BLOCK);
                if offset < reader.end()
                    && let Ok(stamp) = reader.time(offset).unwrap()
                {
                    let of_block = truth(offset / BLOCK * BLOCK);
                    let right = [truth(offset), of_block].contains(&stamp.time.0);
                    assert!(right, "{stamp:?} at {offset}");
                }
                seen += 1;
            }
        });
    }
}
