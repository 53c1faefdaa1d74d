//! A screen that follows a pane's output: every byte, and every size at the offset where the terminal took it.
//!
//! What it shows depends on the output alone, so it does not matter who looked when, or whether it was drawn anew.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use paned_model::Size;
use paned_term::Screen;
use rustix::time::{ClockId, clock_gettime};

use crate::{Output, OutputGap};

/// How much is read in one go, and the most that is drawn in one slice.
const PIECE: usize = 64 << 10;
/// The least that is drawn in one slice. A few bytes can fill a large screen anew, again and again.
const SMALLEST: usize = 64;
/// How long a slice should take.
const SLICE: Duration = Duration::from_millis(5);

/// How long this thread has worked: what drawing costs, however busy the machine is.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_secs(time.tv_sec.unsigned_abs())
        + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// A screen up to some offset.
pub struct ReplayedScreen {
    screen: Screen,
    at: u64,
    /// How many sizes it was given.
    sizes: u64,
    size: Size,
    /// How many bytes are drawn before it is asked whether to go on.
    slice: usize,
}

impl ReplayedScreen {
    /// A blank screen that goes on from an offset, after these bytes.
    #[must_use]
    pub fn new(output: &dyn Output, at: u64, preamble: &[u8]) -> Self {
        Self::with_history(output, at, preamble, 0)
    }

    /// The same with so many rows that scroll off its top.
    #[must_use]
    pub fn with_history(output: &dyn Output, at: u64, preamble: &[u8], rows: usize) -> Self {
        let (sizes, size) = size_at(output, at);
        let mut screen = Screen::with_history(size, rows);
        screen.feed(preamble);
        // A synchronized update is a moment, and no state to begin with.
        screen.flush_update();
        screen.set_position(at + sizes);
        Self { screen, at, sizes, size, slice: SMALLEST }
    }

    /// The screen.
    #[must_use]
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// The screen, for what is no drawing: answers, and updates whose time is over.
    pub fn screen_mut(&mut self) -> &mut Screen {
        &mut self.screen
    }

    /// The screen, which follows nothing any more.
    #[must_use]
    pub fn into_screen(self) -> Screen {
        self.screen
    }

    /// Everything before this offset was read.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// How large the terminal was there.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// Draws the output up to an offset that is known to be written, unless the ring was faster.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn catch_up(&mut self, output: &dyn Output, end: u64) -> io::Result<Result<(), OutputGap>> {
        self.catch_up_while(output, end, 0, &mut || true)
    }

    /// The same where no escape sequence was printed up to an offset, since the very beginning: of plain lines the last
    /// screenful is all that shows, so what came before it is not drawn. Every few milliseconds it is asked whether to go on.
    ///
    /// # Errors
    /// When the disk refuses; [`ErrorKind::TimedOut`] when it is not to go on. The next call goes on from there.
    pub fn catch_up_while(
        &mut self,
        output: &dyn Output,
        end: u64,
        plain_until: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<Result<(), OutputGap>> {
        self.follow_unmarked(output);
        for mark in output.sizes(self.sizes) {
            if end < mark.offset {
                break;
            }
            if let Err(gap) = self.draw(output, mark.offset, plain_until, goes_on)? {
                return Ok(Err(gap));
            }
            // Of sizes that nobody knows any more it is known how many they were.
            if self.sizes + 1 < mark.n {
                self.screen.set_position(self.at + mark.n - 1);
            }
            self.screen.resize(mark.size);
            (self.sizes, self.size) = (mark.n, mark.size);
        }
        self.draw(output, end, plain_until, goes_on)
    }

    /// A tape of an older version knows the size that there is now, and no other.
    fn follow_unmarked(&mut self, output: &dyn Output) {
        let size = output.size();
        if self.sizes == 0 && self.size != size && output.sizes(0).is_empty() {
            self.screen.resize(size);
            self.size = size;
        }
    }

    /// Draws up to an offset, in one size.
    fn draw(
        &mut self,
        output: &dyn Output,
        end: u64,
        plain_until: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<Result<(), OutputGap>> {
        if PIECE as u64 * 2 < end.saturating_sub(self.at) {
            self.skip_plain(output, end.min(plain_until))?;
        }
        // Mostly it is up to date already, or nearly.
        let behind = usize::try_from(end.saturating_sub(self.at)).unwrap_or(PIECE);
        let mut buffer = vec![0; PIECE.min(behind)];
        while self.at < end {
            let wanted = buffer.len().min(usize::try_from(end - self.at).unwrap_or(PIECE));
            match output.read(self.at, &mut buffer[..wanted])? {
                Ok(0) => break,
                Ok(read) => self.feed(&buffer[..read], end, goes_on)?,
                Err(gap) => return Ok(Err(gap)),
            }
        }
        Ok(Ok(()))
    }

    /// Draws bytes on the way to an offset, slice by slice.
    fn feed(
        &mut self,
        bytes: &[u8],
        end: u64,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (slice, later) = rest.split_at(rest.len().min(self.slice));
            let begun = Instant::now();
            self.screen.feed(slice);
            self.at += slice.len() as u64;
            rest = later;
            self.slice = match begun.elapsed() < SLICE {
                true => (self.slice * 2).min(PIECE),
                false => (self.slice / 2).max(SMALLEST),
            };
            if self.at < end && !goes_on() {
                return Err(ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    fn skip_plain(&mut self, output: &dyn Output, plain_until: u64) -> io::Result<()> {
        let mut bytes = vec![0; PIECE];
        let from = plain_until.saturating_sub(PIECE as u64);
        if from <= self.at {
            return Ok(());
        }
        let Ok(read) = output.read(from, &mut bytes)? else { return Ok(()) };
        let plain = read.min(usize::try_from(plain_until - from).unwrap_or(read));
        if let Some(start) = last_screenful(&bytes[..plain], usize::from(self.size.rows)) {
            self.at = from + start as u64;
            self.screen = Screen::new(self.size);
            self.screen.set_position(self.at + self.sizes);
        }
        Ok(())
    }
}

/// How many sizes the terminal was given up to an offset, and the last of them. Where that is no longer known, the
/// oldest that is.
fn size_at(output: &dyn Output, at: u64) -> (u64, Size) {
    let marks = output.sizes(0);
    let last = marks.iter().rev().find(|mark| mark.offset <= at);
    last.or(marks.first()).map_or_else(|| (0, output.size()), |mark| (mark.n, mark.size))
}

/// Where the last screenful of plain lines begins: after a line end that brings the cursor to the left.
fn last_screenful(plain: &[u8], rows: usize) -> Option<usize> {
    let start = memchr::memrchr_iter(b'\n', plain).nth(rows)?;
    plain[..start].ends_with(b"\r").then_some(start + 1)
}

#[cfg(test)]
mod tests {
    use paned_keeper::tape::{TapeReader, TapeWriter};
    use paned_model::Time;
    use paned_term::ScreenView;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use tempfile::TempDir;

    use super::*;

    struct Case {
        _folder: TempDir,
        writer: TapeWriter,
        reader: TapeReader,
    }

    impl Case {
        fn new(size: Size) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("tape");
            let mut writer = TapeWriter::create(&path, 1 << 20, Time(0)).unwrap();
            writer.set_size(size);
            let reader = TapeReader::open(&path).unwrap();
            Self { _folder: folder, writer, reader }
        }

        fn print(&mut self, bytes: &[u8]) {
            assert_eq!(self.writer.append(bytes, Time(0)).unwrap(), bytes.len());
        }

        fn fresh(&self) -> ReplayedScreen {
            self.look(ReplayedScreen::new(&self.reader, self.reader.first(), b""), 0)
        }

        fn look(&self, mut drawn: ReplayedScreen, plain_until: u64) -> ReplayedScreen {
            let end = self.reader.end();
            drawn.catch_up_while(&self.reader, end, plain_until, &mut || true).unwrap().unwrap();
            drawn
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Print(&'static str),
        Resize(Size),
        Look,
    }

    fn step() -> impl Strategy<Value = Step> {
        let printed = select(vec![
            "hello world ",
            "\r\n",
            "日本",
            "\x1b[2;4r",
            "\x1b[3;1H",
            "\x1b[31m",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[2J",
            "\x1b[?2026h",
            "\x1b[?2026l",
            "\x1b]2;title\x07",
            "\x1b",
            "[7",
            "mtorn",
        ]);
        let size = (2..30_u16, 1..9_u16).prop_map(|(cols, rows)| Step::Resize(Size { cols, rows }));
        prop_oneof![6 => printed.prop_map(Step::Print), 2 => size, 2 => Just(Step::Look)]
    }

    fn shown(drawn: &ReplayedScreen) -> (ScreenView, Vec<u8>) {
        (drawn.screen().view(), drawn.screen().dump())
    }

    proptest! {
        #[test]
        fn who_looks_when_changes_nothing(steps in vec(step(), 0..60)) {
            let mut case = Case::new(Size { cols: 20, rows: 6 });
            let mut seen = case.fresh();
            for step in steps {
                match step {
                    Step::Print(text) => case.print(text.as_bytes()),
                    Step::Resize(size) => case.writer.set_size(size),
                    Step::Look => seen = case.look(seen, 0),
                }
            }
            seen = case.look(seen, 0);
            prop_assert_eq!(shown(&seen), shown(&case.fresh()));
            prop_assert_eq!(seen.size(), seen.screen().view().size);
        }

        /// Only the number of a revision tells that it was seen half drawn, and that is never a smaller one.
        #[test]
        fn an_update_that_was_shown_before_its_end_changes_nothing(steps in vec(step(), 0..60)) {
            let mut case = Case::new(Size { cols: 20, rows: 6 });
            let mut seen = case.fresh();
            let mut revision = 0;
            for step in steps {
                match step {
                    Step::Print(text) => case.print(text.as_bytes()),
                    Step::Resize(size) => case.writer.set_size(size),
                    Step::Look => {
                        seen = case.look(seen, 0);
                        seen.screen_mut().flush_update();
                        prop_assert!(revision <= seen.screen().revision());
                        revision = seen.screen().revision();
                    }
                }
            }
            let (mut seen, mut fresh) = (case.look(seen, 0), case.fresh());
            seen.screen_mut().flush_update();
            fresh.screen_mut().flush_update();
            prop_assert!(seen.screen().revision() <= fresh.screen().revision());
            prop_assert_eq!(seen.screen().dump(), fresh.screen().dump());
        }
    }

    #[test]
    fn what_is_costly_to_draw_is_drawn_in_slices_and_goes_on_where_it_stopped() {
        let mut case = Case::new(Size { cols: 300, rows: 300 });
        // Each fills the whole screen.
        case.print("\x1b#8x".repeat(500).as_bytes());
        let mut drawn = ReplayedScreen::new(&case.reader, 0, b"");
        let end = case.reader.end();
        let mut stops = 0;
        while let Err(error) = drawn.catch_up_while(&case.reader, end, 0, &mut || false) {
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            stops += 1;
        }
        // Otherwise all of it is one slice.
        assert!(2 < stops, "{stops} stops");
        assert_eq!(shown(&drawn), shown(&case.fresh()));
    }

    #[test]
    fn plain_lines_that_are_skipped_leave_the_same_screen_in_each_size() {
        let size = |cols, rows| Size { cols, rows };
        let mut case = Case::new(size(80, 24));
        for (from, other) in [(0, size(30, 10)), (5000, size(100, 40)), (10_000, size(11, 3))] {
            let lines =
                (from..from + 5000).map(|n| format!("line {n} of many that are long enough\r\n"));
            case.print(lines.collect::<String>().as_bytes());
            let skipped = case.look(ReplayedScreen::new(&case.reader, 0, b""), case.reader.end());
            assert_eq!(shown(&skipped), shown(&case.fresh()));
            case.writer.set_size(other);
            let skipped = case.look(skipped, case.reader.end());
            assert_eq!(shown(&skipped), shown(&case.fresh()));
        }
    }

    #[test]
    fn where_the_first_sizes_are_lost_the_oldest_that_is_known_is_used() {
        let mut case = Case::new(Size { cols: 9, rows: 9 });
        case.print(b"123456789abc");
        for cols in 20..200 {
            case.writer.set_size(Size { cols, rows: 2 });
        }
        let oldest = case.reader.sizes(0)[0];
        let fresh = ReplayedScreen::new(&case.reader, 0, b"");
        assert_eq!((fresh.size(), fresh.screen().revision()), (oldest.size, oldest.n));
        let fresh = case.look(fresh, 0);
        assert_eq!(fresh.screen().view().rows, ["123456789abc", ""]);
        assert_eq!((fresh.size().cols, fresh.screen().revision()), (199, 12 + 181));
    }
}
