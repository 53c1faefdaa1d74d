//! A tape of version 0.1.0. Tapes outlive the program that wrote them, so every later version must
//! read it. The file is never changed; a version that changes the format adds one of its own.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use paned_keeper::tape::{MIN_CAPACITY, SizeMark, TapeReader, TapeWriter};
use paned_model::frame::ExitRecord;
use paned_model::{Exit, Size, Time};

/// The length of the file, then each run of bytes that are not zero, behind its offset.
const RECORDED: &str = include_str!("tape-0.1.0.hex");

const STARTED: Time = Time(1_795_000_000_000);
const LATER: Time = Time(1_795_000_060_000);
const WIDE: Size = Size { cols: 120, rows: 40 };
const NARROW: Size = Size { cols: 50, rows: 20 };
const EXIT: ExitRecord =
    ExitRecord { exit: Some(Exit::Code(3)), killed: false, timed_out: true, at: LATER };

fn make(path: &std::path::Path) {
    let mut tape = TapeWriter::create(path, MIN_CAPACITY, STARTED).unwrap();
    tape.set_pid(4321);
    tape.set_size(WIDE);
    tape.append(b"one\r\ntwo\r\n", STARTED).unwrap();
    tape.set_size(NARROW);
    tape.append(b"three\r\n", LATER).unwrap();
    tape.set_acked(10);
    tape.set_ending(EXIT);
}

fn unpack(path: &std::path::Path) {
    let mut lines = RECORDED.lines();
    let file = File::create(path).unwrap();
    file.set_len(lines.next().unwrap().parse().unwrap()).unwrap();
    for line in lines {
        let (offset, hex) = line.split_once(' ').unwrap();
        let pairs = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        let bytes: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
        file.write_all_at(&bytes, offset.parse().unwrap()).unwrap();
    }
}

#[test]
fn everything_on_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape");
    unpack(&path);
    let tape = TapeReader::open(&path).unwrap();
    let mut output = [0; 64];
    assert_eq!(tape.read(0, &mut output).unwrap(), Ok(17));
    assert_eq!(&output[..17], b"one\r\ntwo\r\nthree\r\n");
    assert_eq!((tape.first(), tape.end(), tape.lines(), tape.taken()), (0, 17, 3, 10));
    assert_eq!((tape.pid(), tape.started(), tape.size()), (Some(4321), STARTED, NARROW));
    assert_eq!(tape.ending(), Some(EXIT));
    let sizes =
        [SizeMark { n: 1, offset: 0, size: WIDE }, SizeMark { n: 2, offset: 10, size: NARROW }];
    assert_eq!(tape.sizes(0), sizes);
    let time = |offset| tape.time(offset).unwrap().unwrap().time;
    assert_eq!((time(9), time(10)), (STARTED, LATER));
    assert!(tape.damage().is_none() && !tape.has_live_keeper());
}

/// Writes such a file into the target folder, for a version that changes the format: `cargo test -p
/// paned-keeper --test tape_of_0_1_0 -- --ignored`.
#[test]
#[ignore = "makes the file for a new version"]
fn make_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape");
    make(&path);
    let bytes = fs::read(&path).unwrap();
    let mut text = format!("{}\n", bytes.len());
    // Of the header's words, as of everything else: eight bytes together.
    for (number, word) in bytes.chunks(8).enumerate().filter(|(_, word)| *word != [0; 8]) {
        let hex: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("{} {hex}\n", number * 8);
    }
    fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/tape.hex"), text).unwrap();
}
