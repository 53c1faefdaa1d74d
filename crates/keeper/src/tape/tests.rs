//! The tape against a plain `Vec<u8>`.

use std::fs::OpenOptions;
use std::num::NonZeroU64;
use std::path::PathBuf;

use paned_model::Exit;
use proptest::prelude::*;
use tempfile::TempDir;

use super::header::checksum;
use super::*;
use paned_model::frame::ExitRecord;
use paned_model::{Size, Time};

struct TapeCase {
    _dir: TempDir,
    path: PathBuf,
    writer: TapeWriter,
    model: Vec<u8>,
}

impl TapeCase {
    fn new(capacity: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tape");
        let writer = TapeWriter::create(&path, capacity, Time(1)).unwrap();
        Self { _dir: dir, path, writer, model: Vec::new() }
    }

    fn append(&mut self, bytes: &[u8]) {
        let now = Time(self.model.len() as u64);
        let mut rest = bytes;
        while !rest.is_empty() {
            let wrote = self.writer.append(rest, now).unwrap();
            rest = &rest[wrote..];
        }
        self.model.extend_from_slice(bytes);
    }

    fn reader(&self) -> TapeReader {
        TapeReader::open(&self.path).unwrap()
    }

    /// Everything that is kept, read in pieces.
    fn kept(&self, piece: usize) -> Vec<u8> {
        let (reader, mut got) = (self.reader(), Vec::new());
        let mut buffer = vec![0; piece];
        let mut offset = reader.first();
        while offset < reader.end() {
            let read = reader.read(offset, &mut buffer).unwrap().unwrap();
            got.extend_from_slice(&buffer[..read]);
            offset += read as u64;
        }
        got
    }

    /// What must hold after any sequence of appends.
    fn check(&self, piece: usize) {
        let reader = self.reader();
        let kept = self.kept(piece);
        assert_eq!(reader.end(), self.model.len() as u64);
        assert_eq!(reader.lines(), count(&self.model));
        assert!(self.model.ends_with(&kept));
        assert_eq!(reader.first() + kept.len() as u64, reader.end());
        let promised = MIN_CAPACITY.min(self.model.len() as u64);
        assert!(promised <= kept.len() as u64, "{} kept of {promised}", kept.len());
        self.check_marks(&reader);
    }

    fn check_marks(&self, reader: &TapeReader) {
        for offset in (reader.first()..reader.end()).step_by(1777) {
            let (start, lines, time) = reader.line_mark(offset).unwrap().unwrap();
            assert!(start <= offset && offset < start + BLOCK);
            assert_eq!(lines, count(&self.model[..start as usize]), "lines before {start}");
            assert!(time.0 <= start);
        }
    }
}

fn count(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Bytes that differ everywhere, with line ends now and then.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state.is_multiple_of(23) { b'\n' } else { state.to_le_bytes()[3] }
    };
    (0..length).map(|_| next()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn it_holds_the_end_of_all_that_was_written(
        sizes in prop::collection::vec(0_usize..30_000, 0..24),
        piece in 1_usize..9_000,
    ) {
        let mut case = TapeCase::new(MIN_CAPACITY);
        for (seed, size) in sizes.into_iter().enumerate() {
            case.append(&noise(size, seed as u64));
        }
        case.check(piece);
    }

    #[test]
    fn cutting_the_input_differently_changes_nothing(cut in 16_usize..12_000) {
        let bytes = noise(200_000, 7);
        let (mut whole, mut cut_up) = (TapeCase::new(MIN_CAPACITY), TapeCase::new(MIN_CAPACITY));
        whole.append(&bytes);
        bytes.chunks(cut).for_each(|piece| cut_up.append(piece));
        prop_assert_eq!(whole.kept(5000), cut_up.kept(5000));
        cut_up.check(777);
    }
}

#[test]
fn an_offset_that_was_overwritten_is_told_as_a_gap() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    case.append(&noise(1_000_000, 3));
    let reader = case.reader();
    let first = reader.first();
    assert!(0 < first);
    assert_eq!(reader.read(first - 1, &mut [0; 10]).unwrap(), Err(OutputGap { first }));
    assert_eq!(reader.line_mark(first - 1).unwrap(), Err(OutputGap { first }));
    assert_eq!(reader.read(first, &mut [0; 10]).unwrap(), Ok(10));
    assert_eq!(reader.read(reader.end(), &mut [0; 10]).unwrap(), Ok(0));
    assert_eq!(reader.read(reader.end() + 99, &mut [0; 10]).unwrap(), Ok(0));
}

#[test]
fn a_reader_beside_a_flood_sees_true_bytes_or_a_gap() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    // Byte `n` is a function of `n`, so that a torn read would show.
    let byte = |n: u64| (n / 251 + n % 251).to_le_bytes()[0];
    let reader = case.reader();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for from in (0..40_000_000_u64).step_by(25_000) {
                let bytes: Vec<u8> = (from..from + 25_000).map(byte).collect();
                case.writer.append(&bytes, Time(0)).unwrap();
            }
        });
        let (mut buffer, mut offset, mut seen) = (vec![0; 20_000], 0, 0_u64);
        while !writing.is_finished() || offset < reader.end() {
            match reader.read(offset, &mut buffer).unwrap() {
                Err(gap) => offset = gap.first,
                Ok(read) => {
                    let right = (offset..).zip(&buffer[..read]).all(|(n, got)| *got == byte(n));
                    assert!(right, "torn bytes near {offset}");
                    offset += read as u64;
                    seen += read as u64;
                }
            }
        }
        assert!(0 < seen);
    });
}

#[test]
fn bytes_that_were_not_announced_before_the_writer_died_are_not_there() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    case.append(b"whole\n");
    let file = OpenOptions::new().write(true).open(&case.path).unwrap();
    let geometry = Geometry::keeping(MIN_CAPACITY);
    std::os::unix::fs::FileExt::write_all_at(&file, b"half", geometry.data_at(6)).unwrap();
    assert_eq!(case.kept(100), b"whole\n");
}

#[test]
fn the_ending_and_the_size_come_back() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    assert_eq!(case.reader().ending(), None);
    for (killed, timed_out) in [(false, false), (true, false), (true, true)] {
        for exit in [Some(Exit::Code(0)), Some(Exit::Code(255)), Some(Exit::Signal(9)), None] {
            let ending = ExitRecord { exit, killed, timed_out, at: Time(99) };
            case.writer.set_ending(ending);
            assert_eq!(case.reader().ending(), Some(ending));
        }
    }
    case.writer.set_size(Size { cols: 1000, rows: 3 });
    assert_eq!(case.reader().size(), Size { cols: 1000, rows: 3 });
}

fn wide(cols: u16) -> Size {
    Size { cols, rows: 24 }
}

#[test]
fn each_size_is_known_with_the_offset_from_which_it_holds() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    assert_eq!(case.reader().sizes(0), [], "a tape of an older version has no marks either");
    case.writer.set_size(wide(80));
    case.append(b"hello");
    case.writer.set_size(wide(100));
    // The same size again is no other size.
    case.writer.set_size(wide(100));
    case.append(b" world");
    case.writer.set_size(wide(80));
    let mark = |n, offset, cols| SizeMark { n, offset, size: wide(cols) };
    let all = [mark(1, 0, 80), mark(2, 5, 100), mark(3, 11, 80)];
    let reader = case.reader();
    assert_eq!(reader.sizes(0), all);
    assert_eq!(reader.sizes(2), all[2..]);
    assert_eq!((reader.sizes(3), reader.sizes(99)), (vec![], vec![]));
}

#[test]
fn of_many_sizes_the_last_ones_are_known() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    for cols in 1..=1000 {
        case.writer.set_size(wide(cols));
        case.append(b"x");
    }
    let sizes = case.reader().sizes(0);
    assert!(120 <= sizes.len(), "{} sizes", sizes.len());
    let first = 1000 - sizes.len() as u64 + 1;
    for (mark, n) in sizes.into_iter().zip(first..) {
        let cols = u16::try_from(n).unwrap();
        assert_eq!(mark, SizeMark { n, offset: n - 1, size: wide(cols) });
    }
}

#[test]
fn a_reader_beside_many_sizes_sees_none_that_never_was() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    let reader = case.reader();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for cols in (1..=Size::MAX).cycle().take(60_000) {
                case.writer.set_size(wide(cols));
                case.writer.append(b"x", Time(0)).ok();
            }
        });
        let mut known = 0;
        while !writing.is_finished() {
            for mark in reader.sizes(known) {
                assert!(known < mark.n, "{mark:?} after {known}");
                known = mark.n;
                assert_eq!(mark.offset, mark.n - 1);
                assert_eq!(u64::from(mark.size.cols), (mark.n - 1) % u64::from(Size::MAX) + 1);
            }
        }
    });
}

#[test]
fn room_counts_up_to_the_byte_that_must_stay() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    case.append(&noise(100_000, 1));
    let from = 60_000;
    let room = case.writer.room_from(from);
    case.append(&noise(room as usize, 2));
    assert!(case.reader().first() <= from);
    case.append(&noise(BLOCK as usize, 2));
    assert!(from < case.reader().first());
}

#[test]
fn what_is_no_tape_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tape");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        TapeReader::open(&path).unwrap_err().to_string()
    };
    assert!(refused(b"").contains("is not a tape"));
    assert!(refused(&[0; 9000]).contains("is not a tape"));
    std::fs::remove_file(&path).unwrap();
    drop(TapeWriter::create(&path, MIN_CAPACITY, Time(0)).unwrap());
    let whole = std::fs::read(&path).unwrap();
    assert!(refused(&whole[..100]).contains("it was truncated to 100 bytes"));
    let mut damaged = whole.clone();
    damaged[8] = 9;
    assert!(refused(&damaged).contains("its checksum is wrong"));
    damaged[31 * 8..32 * 8].fill(0);
    assert!(refused(&damaged).contains("its checksum is wrong"));
    let right = checksum(&damaged).to_le_bytes();
    damaged[31 * 8..32 * 8].copy_from_slice(&right);
    assert!(refused(&damaged).contains("version 9"));
}

#[test]
fn a_file_that_is_there_is_never_overwritten() {
    let case = TapeCase::new(MIN_CAPACITY);
    assert!(TapeWriter::create(&case.path, MIN_CAPACITY, Time(0)).is_err());
}

#[test]
fn a_tape_is_kept_while_its_writer_has_it_and_not_by_whoever_reads_it() {
    let case = TapeCase::new(MIN_CAPACITY);
    let reader = case.reader();
    assert_eq!(reader.keeper(), std::process::id());
    assert!(reader.has_live_keeper());
    let TapeCase { _dir, writer, .. } = case;
    drop(writer);
    assert!(
        !reader.has_live_keeper(),
        "this process has the keeper's number, and is not the keeper"
    );
}

/// A tape that keeps the last lines of a text that is appended in pieces of this size: what can be
/// read of it by a reader that begins now, and how many lines are before that.
fn last_lines(most: u64, bytes: &[u8], piece: usize) -> (Vec<u8>, u64) {
    let mut case = TapeCase::new(MIN_CAPACITY);
    case.writer.limit_lines(NonZeroU64::new(most).unwrap());
    bytes.chunks(piece).for_each(|piece| case.append(piece));
    let reader = case.reader();
    let first = reader.first();
    case.check_marks(&reader);
    assert_eq!(reader.summary().first, first);
    if let Some(hidden) = first.checked_sub(1) {
        assert_eq!(reader.line_mark(hidden).unwrap(), Err(OutputGap { first }));
    }
    let (_, before, _) = reader.line_mark(first).unwrap().unwrap();
    (case.kept(700), before)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_limit_of_lines_leaves_exactly_the_last_ones(
        lengths in prop::collection::vec(0_usize..90, 1..400),
        most in 1_u64..60,
        piece in 1_usize..3000,
        is_open: bool,
    ) {
        let line = |length: &usize| [vec![b'x'; *length], b"\n".to_vec()].concat();
        let mut text: Vec<u8> = lengths.iter().flat_map(line).collect();
        if is_open {
            text.extend(b"open");
        }
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let dropped = lines.len().saturating_sub(most as usize);
        let (kept, before) = last_lines(most, &text, piece);
        prop_assert_eq!(kept, lines[dropped..].concat());
        prop_assert_eq!(before, dropped as u64);
    }
}

#[test]
fn a_limit_of_lines_holds_where_the_ring_wraps_and_beyond_what_it_keeps() {
    let text = noise(1_000_000, 9);
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for most in [1, 10, 500] {
        let (kept, before) = last_lines(most, &text, 30_000);
        assert_eq!(kept, lines[lines.len() - most as usize..].concat(), "{most}");
        assert_eq!(before, lines.len() as u64 - most);
    }
    let mut free = TapeCase::new(MIN_CAPACITY);
    free.append(&text);
    assert_eq!(last_lines(900_000, &text, 30_000).0, free.kept(700), "the ring is smaller");
    // One line that is longer than the ring.
    let long = [b"a\nb\n".to_vec(), vec![b'x'; 300_000]].concat();
    let (kept, before) = last_lines(2, &long, 30_000);
    assert!(kept.len() < 300_000 && kept.iter().all(|byte| *byte == b'x'));
    assert_eq!(before, 2);
}

#[test]
fn a_reader_that_keeps_up_misses_nothing_of_what_the_limit_hides() {
    let mut case = TapeCase::new(MIN_CAPACITY);
    case.writer.limit_lines(NonZeroU64::MIN);
    let reader = case.reader();
    case.append(b"one\ntwo\nthree\n");
    let mut buffer = [0; 99];
    assert_eq!(reader.read(0, &mut buffer).unwrap(), Ok(14));
    assert_eq!((reader.first(), reader.is_line_start(8)), (8, true));
    assert!(!reader.is_line_start(0) && !reader.is_line_start(4));
}
