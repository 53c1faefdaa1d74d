//! Tests of `replayed_screen`.

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

    /// Only the revision number shows that an update was drawn half, and it never goes back.
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
