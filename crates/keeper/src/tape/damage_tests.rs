//! Tapes that another process has cut or overwritten.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use paned_model::{Size, Time};
use proptest::prelude::*;
use tempfile::TempDir;

use super::header::{COUNTERS, HeaderWord, checksum};
use super::*;

struct DamagedTape {
    _dir: TempDir,
    path: PathBuf,
    writer: TapeWriter,
    now: u64,
}

impl DamagedTape {
    /// A tape on which so many lines of ten bytes were printed.
    fn new(lines: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tape");
        let mut writer = TapeWriter::create(&path, MIN_CAPACITY, Time(1)).unwrap();
        writer.set_size(Size { cols: 80, rows: 24 });
        let mut case = Self { _dir: dir, path, writer, now: 1 };
        let text: String = (0..lines).map(|n| format!("{n:09}\n")).collect();
        text.as_bytes().chunks(7777).for_each(|piece| case.print_bytes(piece));
        case
    }

    fn print(&mut self, text: &str) {
        self.print_bytes(text.as_bytes());
    }

    fn print_bytes(&mut self, bytes: &[u8]) {
        self.now += 1000;
        assert_eq!(self.writer.append(bytes, Time(self.now)).unwrap(), bytes.len());
    }

    fn reader(&self) -> TapeReader {
        TapeReader::open(&self.path).unwrap()
    }

    fn file(&self) -> File {
        OpenOptions::new().write(true).open(&self.path).unwrap()
    }
}

/// All that can be read from an offset on, and the gaps in it.
fn read_all(reader: &TapeReader, mut offset: u64) -> (Vec<u8>, Vec<(u64, u64)>) {
    let mut buffer = vec![0; 5000];
    let mut bytes = Vec::new();
    let mut gaps = Vec::new();
    loop {
        match reader.read(offset, &mut buffer).unwrap() {
            Ok(0) => return (bytes, gaps),
            Ok(read) => {
                bytes.extend_from_slice(&buffer[..read]);
                offset += read as u64;
            }
            Err(gap) => {
                assert!(offset < gap.first, "a gap from {offset} to {}", gap.first);
                gaps.push((offset, gap.first));
                offset = gap.first;
            }
        }
    }
}

fn geometry() -> Geometry {
    Geometry::keeping(MIN_CAPACITY)
}

#[test]
fn a_reader_of_a_tape_that_was_emptied_says_so_and_lives() {
    let case = DamagedTape::new(100);
    let reader = case.reader();
    case.file().set_len(0).unwrap();
    assert_eq!((reader.first(), reader.end(), reader.lines()), (0, 1000, 100));
    assert_eq!(reader.damage(), Some(Damage::Cut(0)));
    assert_eq!(read_all(&reader, 0), (vec![], vec![(0, 1000)]));
    assert!(reader.line_mark(0).is_err());
    assert_eq!(reader.sizes(0), []);
    assert_eq!(reader.keeper(), std::process::id());
}

#[test]
fn the_writer_restores_a_tape_that_was_emptied_and_goes_on() {
    let mut case = DamagedTape::new(100);
    let before = case.reader();
    case.file().set_len(0).unwrap();
    case.print("more\n");
    for reader in [before, case.reader()] {
        assert_eq!((reader.first(), reader.end(), reader.lines()), (1000, 1005, 101));
        assert_eq!(reader.damage(), Some(Damage::Lost(1000)));
        assert_eq!(read_all(&reader, 0), (b"more\n".to_vec(), vec![(0, 1000)]));
        // Lines are counted on from where it was cut.
        assert_eq!(reader.line_mark(1002).unwrap().unwrap().0, 1000);
        assert_eq!(reader.line_mark(1002).unwrap().unwrap().1, 100);
        assert_eq!(reader.time(1002).unwrap().unwrap().until, BLOCK);
        assert_eq!(reader.size(), Size { cols: 80, rows: 24 });
        assert_eq!(reader.sizes(0).len(), 1);
    }
    assert_eq!(case.file().metadata().unwrap().len(), geometry().full_len());
}

#[test]
fn every_change_restores_a_tape_that_was_emptied() {
    let size = Size { cols: 81, rows: 24 };
    let changes: [&dyn Fn(&mut TapeWriter); 5] = [
        &|tape| tape.set_size(size),
        &|tape| tape.set_acked(7),
        &|tape| tape.set_stalled(),
        &|tape| tape.set_pid(9),
        &|tape| tape.refresh().unwrap(),
    ];
    for change in changes {
        let mut case = DamagedTape::new(100);
        case.file().set_len(0).unwrap();
        change(&mut case.writer);
        assert_eq!((case.reader().first(), case.reader().end()), (1000, 1000));
    }
}

#[test]
fn a_cut_that_falls_into_a_flood_is_noticed_when_the_file_has_grown_again() {
    let mut case = DamagedTape::new(100);
    case.file().set_len(0).unwrap();
    // In the same moment: the file's length is not checked for each piece of a flood.
    let now = Time(case.now);
    case.writer.append(b"unknown\n", now).unwrap();
    assert_eq!(case.reader().damage(), Some(Damage::Cut(geometry().data_at(1007) + 1)));
    case.print("more\n");
    let reader = case.reader();
    assert_eq!((reader.first(), reader.damage()), (1008, Some(Damage::Lost(1008))));
    assert_eq!(read_all(&reader, 0).0, b"more\n");
}

#[test]
fn what_a_shortened_tape_has_lost_is_a_gap_and_the_rest_is_there() {
    // No lap yet: the end of the output is at the end of what was there.
    let case = DamagedTape::new(1000);
    case.file().set_len(geometry().data_from() + 4000).unwrap();
    let (bytes, gaps) = read_all(&case.reader(), 0);
    assert_eq!((bytes.len(), gaps), (4000, vec![(4000, 10_000)]));
    assert_eq!(case.reader().damage(), Some(Damage::Cut(geometry().data_from() + 4000)));
    // In the second lap: some of the oldest is missing.
    let mut case = DamagedTape::new(20_000);
    let capacity = geometry().capacity();
    case.file().set_len(geometry().data_from() + 132_000).unwrap();
    let first = case.reader().first();
    let (bytes, gaps) = read_all(&case.reader(), first);
    let missing = vec![(132_000, capacity)];
    assert_eq!((bytes.len() as u64, gaps), (200_000 - capacity + 132_000 - first, missing));
    // The writer keeps what is after it.
    case.print("more\n");
    let reader = case.reader();
    assert_eq!((reader.first(), reader.damage()), (capacity, Some(Damage::Lost(capacity))));
    assert_eq!(read_all(&reader, capacity).0.len() as u64, 200_005 - capacity);
}

#[test]
fn a_header_that_was_overwritten_is_noticed_and_restored_with_the_next_change() {
    for garbage in [[0xFF; header::LEN as usize], [0; header::LEN as usize]] {
        let mut case = DamagedTape::new(100);
        let reader = case.reader();
        case.file().write_all_at(&garbage, 0).unwrap();
        assert!(matches!(reader.damage(), Some(Damage::Header(_))), "{:?}", reader.damage());
        assert_eq!((reader.first(), reader.end()), (0, 1000));
        assert_eq!(reader.size(), Size { cols: 80, rows: 24 });
        assert!(reader.sizes(0).len() < 2);
        assert!(TapeReader::open(&case.path).is_err());
        case.print("more\n");
        assert_eq!((reader.damage(), reader.end()), (None, 1005));
        assert_eq!(case.reader().sizes(0).len(), 1);
    }
}

#[test]
fn another_tape_in_its_place_is_not_read_as_its_own() {
    let case = DamagedTape::new(100);
    let reader = case.reader();
    let other = std::fs::read(&DamagedTape::new(10).path).unwrap();
    case.file().write_all_at(&other, 0).unwrap();
    assert_eq!(reader.end(), 1000);
    assert!(reader.damage().unwrap().to_string().contains("another tape"));
}

/// Everything that a reader can be asked. None of it may panic, hang, or answer without a bound.
fn ask_everything(reader: &TapeReader) {
    let first = reader.first();
    let end = reader.end();
    assert!(first <= end && end - first <= reader.geometry.capacity());
    assert!(reader.lines() <= end && reader.taken() <= end);
    assert!(reader.size().cols <= Size::MAX && reader.size().rows <= Size::MAX);
    let mut buffer = [0; 3000];
    for offset in [0, first, first + (end - first) / 2, end, end + 1, u64::MAX] {
        match reader.read(offset, &mut buffer).unwrap() {
            Ok(read) => assert!(read as u64 <= end.saturating_sub(offset)),
            Err(gap) => assert!(offset < gap.first && gap.first <= end),
        }
        if let Ok(Ok((start, lines, _))) = reader.line_mark(offset) {
            assert!(start <= offset);
            assert!(end <= start || lines <= reader.lines());
        }
        if let Ok(Ok(stamp)) = reader.time(offset) {
            assert!(offset < stamp.until || offset == u64::MAX);
        }
    }
    let sizes = reader.sizes(0);
    assert!(sizes.len() < 128 && sizes.is_sorted_by_key(|mark| mark.offset));
    assert!(sizes.iter().all(|mark| mark.size.cols <= Size::MAX && mark.size.rows <= Size::MAX));
    let _ = (
        reader.ending(),
        reader.pid(),
        reader.started(),
        reader.has_live_keeper(),
        reader.damage(),
    );
}

/// Values that break sums, products and comparisons.
fn value() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..100_000_u64,
        (0..64_u32).prop_map(|bit| 1 << bit),
        (0..64_u32).prop_map(|bit| u64::MAX >> bit),
    ]
}

#[derive(Clone, Debug)]
enum Corruption {
    Word { place: usize, value: u64 },
    Length(u64),
    Fill(u64, u8),
}

fn harm() -> impl Strategy<Value = Corruption> {
    let lengths = prop_oneof![0..150_000_u64, Just(0), Just(4095), Just(4096)];
    prop_oneof![
        6 => (0..512_usize, value()).prop_map(|(place, value)| Corruption::Word { place, value }),
        6 => (0..COUNTERS, value()).prop_map(|(place, value)| Corruption::Word { place, value }),
        2 => lengths.prop_map(Corruption::Length),
        1 => (0..200_000_u64, any::<u8>()).prop_map(|(at, byte)| Corruption::Fill(at, byte)),
    ]
}

impl Corruption {
    /// Does it; with a checksum that fits, as an attacker would.
    fn apply(&self, file: &File) {
        match *self {
            Self::Length(length) => file.set_len(length).unwrap(),
            Self::Fill(at, byte) => file.write_all_at(&[byte; 5000], at).unwrap(),
            Self::Word { place, value } => {
                file.write_all_at(&value.to_le_bytes(), place as u64 * 8).unwrap();
                let mut page = [0; COUNTERS * 8];
                if place != HeaderWord::Checksum as usize
                    && file.read_exact_at(&mut page, 0).is_ok()
                {
                    let check = checksum(&page).to_le_bytes();
                    file.write_all_at(&check, HeaderWord::Checksum as u64 * 8).unwrap();
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_file_says_a_reader_neither_panics_nor_hangs(
        lines in 0..30_000_u64,
        harms in prop::collection::vec(harm(), 1..6),
        text in "[a-z\n]{1,300}",
    ) {
        let mut case = DamagedTape::new(lines);
        let open = case.reader();
        let file = OpenOptions::new().read(true).write(true).open(&case.path).unwrap();
        for harm in harms {
            harm.apply(&file);
            ask_everything(&open);
            if let Ok(reader) = TapeReader::open(&case.path) {
                ask_everything(&reader);
                let _ = read_all(&reader, 0);
            }
        }
        // The writer goes on, and what it writes from now on is there for readers that come now.
        let end = case.writer.end();
        case.print(&text);
        let reader = case.reader();
        ask_everything(&reader);
        prop_assert_eq!(reader.end(), end + text.len() as u64);
        prop_assert!(read_all(&reader, end).0 == text.as_bytes());
    }
}
