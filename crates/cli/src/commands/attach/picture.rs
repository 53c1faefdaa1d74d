//! What a pane shows now, drawn from its tape for somebody who joins late.

use std::io;

use paned_keeper::tape::{Gap, Reader};
use paned_term::{Screen, Signals};

/// How much is read in one go.
const PIECE: usize = 64 << 10;
/// How far back to begin when everything kept was too much: the program prints faster than we read.
const LESS: [u64; 4] = [u64::MAX, 1 << 20, 256 << 10, 32 << 10];

/// A pane's screen, and how far the tape was read for it.
pub(super) struct Picture {
    pub(super) screen: Screen,
    /// Everything before this was read.
    pub(super) read: u64,
    /// The last of the bytes read that are not drawn, because their rest has not come.
    undrawn: u64,
}

impl Picture {
    /// Draws what the tape shows.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn of(tape: &Reader) -> io::Result<Self> {
        for back in LESS {
            let from = tape.end().saturating_sub(back).max(tape.first());
            if let Ok(picture) = draw(tape, from)? {
                return Ok(picture);
            }
        }
        Ok(Self { screen: Screen::new(tape.size()), read: tape.end(), undrawn: 0 })
    }

    /// What makes a fresh terminal of the pane's size show the same.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.screen.dump()
    }

    /// The offset from which such a terminal goes on: what is not drawn yet is told again.
    pub(super) fn next(&self) -> u64 {
        self.read.saturating_sub(self.undrawn)
    }
}

/// Draws the tape from an offset on; the ring may be faster.
fn draw(tape: &Reader, from: u64) -> io::Result<Result<Picture, Gap>> {
    let (mut screen, mut signals) = (Screen::new(tape.size()), Signals::new());
    let (mut at, end) = (from, tape.end());
    let mut buffer = vec![0; PIECE];
    while at < end {
        match tape.read(at, &mut buffer)? {
            Ok(0) => break,
            Ok(read) => {
                screen.feed(&buffer[..read]);
                signals.feed(&buffer[..read], |_| {});
                at += read as u64;
            }
            Err(gap) => return Ok(Err(gap)),
        }
    }
    screen.settle();
    let undrawn = screen.undrawn().max(signals.pending()) as u64;
    Ok(Ok(Picture { screen, read: at, undrawn }))
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::Writer;
    use paned_model::{Size, Time};

    use super::*;

    /// Whoever joins late and hears the rest sees what somebody sees who was there all the time.
    #[track_caller]
    fn check(before: &[u8], after: &[u8]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tape");
        let mut tape = Writer::create(&path, 1 << 20, Time(0)).unwrap();
        tape.set_size(Size::default());
        tape.append(before, Time(0)).unwrap();
        let picture = Picture::of(&Reader::open(&path).unwrap()).unwrap();
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
    fn joining_inside_a_sequence_or_a_character_loses_nothing() {
        check(b"a\x1b[3", b"1mb");
        check(b"a\x1b]0;tit", b"le\x07b");
        check(b"caf\xc3", b"\xa9");
    }
}
