//! When each byte was printed, against a plain list of times.

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
    // It has lost its last part.
    case.damage(|file| file.set_len(end).unwrap());
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
