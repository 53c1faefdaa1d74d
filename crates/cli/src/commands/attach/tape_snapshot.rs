//! A snapshot of a pane's screen, replayed from its tape for a client that attaches late.

use std::io;

use paned_backend::ReplayedScreen;
use paned_keeper::tape::{OutputGap, TapeReader};
use paned_term::OutputScanner;

/// How much is read at once.
const CHUNK: u64 = 64 << 10;
/// How far back to start, all of the tape first. Less is tried when the program prints faster than
/// we read.
const REPLAY_LENGTHS: [u64; 4] = [u64::MAX, 1 << 20, 256 << 10, 32 << 10];

/// A pane's screen, and how far the tape was read for it.
pub(super) struct TapeSnapshot {
    pub(super) screen: ReplayedScreen,
    /// How many of the last bytes read are not drawn, because they belong to an incomplete
    /// sequence.
    undrawn: u64,
}

impl TapeSnapshot {
    /// Replays the tape.
    ///
    /// # Errors
    /// When the tape cannot be read.
    pub(super) fn of(tape: &TapeReader) -> io::Result<Self> {
        for back in REPLAY_LENGTHS {
            let from = tape.end().saturating_sub(back).max(tape.first());
            if let Ok(snapshot) = draw(tape, from)? {
                return Ok(snapshot);
            }
        }
        Ok(Self { screen: ReplayedScreen::new(tape, tape.end(), b""), undrawn: 0 })
    }

    /// The bytes that make a fresh terminal of the pane's size show the same.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.screen.screen().dump()
    }

    /// The same for the screen that is shown alone, without a switch to the alternate screen.
    pub(super) fn shown_bytes(&self) -> Vec<u8> {
        self.screen.screen().dump_shown()
    }

    /// The offset from which such a terminal continues: bytes that are not drawn yet are sent
    /// again.
    pub(super) fn next(&self) -> u64 {
        self.screen.at().saturating_sub(self.undrawn)
    }
}

/// Replays the tape from an offset; the ring buffer may overwrite it meanwhile.
fn draw(tape: &TapeReader, from: u64) -> io::Result<Result<TapeSnapshot, OutputGap>> {
    let mut screen = ReplayedScreen::new(tape, from, b"");
    let end = tape.end();
    if let Err(gap) = screen.catch_up(tape, end)? {
        return Ok(Err(gap));
    }
    screen.screen_mut().flush_update();
    let undrawn = screen.screen().pending_bytes().max(pending(tape, from, end)?) as u64;
    Ok(Ok(TapeSnapshot { screen, undrawn }))
}

/// How many bytes before `end` belong to an incomplete sequence.
fn pending(tape: &TapeReader, from: u64, end: u64) -> io::Result<usize> {
    let mut scanner = OutputScanner::new();
    let mut at = from;
    let mut buffer = vec![0; usize::try_from(end.saturating_sub(from).min(CHUNK)).unwrap_or(0)];
    while at < end {
        let wanted = usize::try_from((end - at).min(CHUNK)).unwrap_or(0);
        match tape.read(at, &mut buffer[..wanted])? {
            Ok(0) | Err(_) => break,
            Ok(read) => {
                scanner.feed(&buffer[..read], |_| {});
                at += read as u64;
            }
        }
    }
    Ok(scanner.pending())
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::TapeWriter;
    use paned_model::{Size, Time};
    use paned_term::Screen;
    use paned_term::screen::view::ScreenModes;

    use super::*;

    /// A client that attaches late and reads the rest sees the same as one that was attached all
    /// the time.
    #[track_caller]
    fn check(before: &[u8], after: &[u8]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let mut tape = TapeWriter::create(&path, 1 << 20, Time(0)).unwrap();
        tape.set_size(Size::default());
        tape.append(before, Time(0)).unwrap();
        let picture = TapeSnapshot::of(&TapeReader::open(&path).unwrap()).unwrap();
        let whole = [before, after].concat();
        let mut late = Screen::new(Size::default());
        late.feed(&picture.bytes());
        late.feed(&whole[usize::try_from(picture.next()).unwrap()..]);
        let mut there = Screen::new(Size::default());
        there.feed(&whole);
        let seen = |screen: &Screen| (screen.view().rows, screen.view().modes);
        assert_eq!(seen(&late), seen(&there));
    }

    #[test]
    fn whoever_joins_late_sees_the_same() {
        check(b"", b"hello");
        check(b"one\r\ntwo", b" three");
        check(b"\x1b[?1049h\x1b[2J\x1b[5;5Hmenu", b"\x1b[?1049lback");
    }

    #[test]
    fn the_screen_that_is_shown_is_drawn_without_a_switch() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let mut tape = TapeWriter::create(&path, 1 << 20, Time(0)).unwrap();
        tape.set_size(Size::default());
        tape.append(b"shell\x1b[?1049h\x1b[2J\x1b[5;5Hmenu\x1b[?1h", Time(0)).unwrap();
        let snapshot = TapeSnapshot::of(&TapeReader::open(&path).unwrap()).unwrap();
        let shown = snapshot.shown_bytes();
        assert!(!String::from_utf8_lossy(&shown).contains("1049"));
        let mut drawn = Screen::new(Size::default());
        drawn.feed(&shown);
        let there = snapshot.screen.screen().view();
        let modes = ScreenModes { alternate_screen: false, ..there.modes };
        assert_eq!((drawn.view().rows, drawn.view().modes), (there.rows, modes));
    }

    /// What was printed for a smaller terminal is not drawn as if it had been printed for this one.
    #[test]
    fn whoever_joins_after_a_resize_sees_what_there_was_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let mut tape = TapeWriter::create(&path, 1 << 20, Time(0)).unwrap();
        let (small, large) = (Size { cols: 20, rows: 4 }, Size { cols: 30, rows: 6 });
        let printed = b"\x1b[?1049h\x1b[1;4r\x1b[H1\r\n2\r\n3\r\n4\x1b[4;15Hfar end";
        tape.set_size(small);
        tape.append(printed, Time(0)).unwrap();
        tape.set_size(large);
        tape.append(b"\x1b[6;1H\n5", Time(0)).unwrap();
        let mut late = Screen::new(large);
        late.feed(&TapeSnapshot::of(&TapeReader::open(&path).unwrap()).unwrap().bytes());
        let mut there = Screen::new(small);
        there.feed(printed);
        there.resize(large);
        there.feed(b"\x1b[6;1H\n5");
        assert_eq!(late.view().rows, there.view().rows);
        assert_eq!(late.view().rows, ["3", "4             far en", "d", "", "", "5"]);
    }

    #[test]
    fn joining_inside_a_sequence_or_a_character_loses_nothing() {
        check(b"a\x1b[3", b"1mb");
        check(b"a\x1b]0;tit", b"le\x07b");
        check(b"caf\xc3", b"\xa9");
    }
}
