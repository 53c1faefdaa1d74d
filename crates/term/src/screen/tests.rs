//! Output in, views and dumps out; and the properties that hold for every output.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, Processor, StdSyncHandler};
use proptest::prelude::*;
use proptest::sample::select;

use super::dump_writer::same_style;
use super::*;

const SMALL: Size = Size { cols: 10, rows: 4 };

fn screen(output: &str) -> Screen {
    let mut screen = Screen::new(SMALL);
    screen.feed(output.as_bytes());
    screen
}

/// The rows of a screen of ten columns and four rows, joined by `|`, without empty ones at the end.
#[track_caller]
fn check(output: &str, expect: &str) {
    let rows = screen(output).view().rows.join("|");
    assert_eq!(rows.trim_end_matches('|'), expect, "{output:?}");
}

/// The screen's replies, with `^` for ESC.
#[track_caller]
fn check_replies(output: &str, expect: &str) {
    let mut screen = screen(output);
    let replies = String::from_utf8(screen.take_replies()).unwrap();
    assert_eq!(replies.replace('\x1b', "^"), expect, "{output:?}");
    assert_eq!(screen.take_replies(), b"");
}

#[test]
fn a_title_as_screen_and_tmux_have_it_is_not_drawn_however_it_is_cut() {
    let output = b"a\x1bkti\xc3\xa9le\x1b\\b\x1b[1mk";
    for cut in 0..output.len() {
        let mut screen = Screen::new(SMALL);
        screen.feed(&output[..cut]);
        screen.feed(&output[cut..]);
        assert_eq!(screen.view().rows[0], "abk", "cut at {cut}");
    }
}

#[test]
fn rows_are_text_without_blanks_at_the_end() {
    check("a  b  \r\n\r\n  c", "a  b||  c");
    check("a\tb\x1b[41m   ", "a       b");
    check("a\t", "a");
    // Blanks that are a link are blanks; one that carries a mark is not.
    check("a\x1b]8;;http://x\x07  \x1b]8;;\x07", "a");
    check("a \u{301}  ", "a \u{301}");
}

#[test]
fn each_character_of_a_row_is_drawn_somehow() {
    let screen = screen("a\x1b[2mb\x1b[0m日e\u{301}\t\x1b[1mx  \r\n\r\n本");
    let drawn = screen.char_styles(|look| (look.dim, look.bold));
    let counts: Vec<_> = screen.view().rows.iter().map(|row| row.chars().count()).collect();
    assert_eq!(drawn.iter().map(Vec::len).collect::<Vec<_>>(), counts);
    let first: Vec<_> = drawn[0].iter().map(|(col, _)| *col).collect();
    assert_eq!(first, [0, 1, 2, 4, 4, 5, 6, 7, 8]);
    let dim: Vec<_> = drawn[0].iter().filter(|(_, (dim, _))| *dim).collect();
    assert_eq!(dim, [&(1, (true, false))]);
    assert_eq!(drawn[0].last(), Some(&(8, (false, true))));
}

#[test]
fn wide_characters_come_once_and_marks_stay() {
    check("日本e\u{301}x", "日本e\u{301}x");
    check("123456789日", "123456789|日");
}

#[test]
fn half_a_wide_character_is_a_blank_and_no_column_is_lost() {
    check("日本wx\r\x1b[X", "  本wx");
    check("日本wx\x1b[1;2H\x1b[X", "  本wx");
    check("日本wx\x1b[1;2H\x1b[2X", "    wx");
    check("日本wx\x1b[1;2H\x1b[K", "");
    check("日本wx\x1b[1;3H\x1b[1K", "    wx");
    check("日本wx\x1b[1;2H\x1b[P", " 本wx");
    check("日本wx\x1b[1;2H\x1b[2P", "  wx");
    check("日本wx\x1b[1;2H\x1b[@", "   本wx");
    check("日本wx\x1b[1;2H\x1b[4hz", " z 本wx");
    check("日本1234日\r\x1b[@", " 日本1234");
    check("日本1234日\r\x1b[4hz", "z日本1234");
    check("日本wx\x1b[1;2H\x1b[J", "");
    check("日本wx\r\n\x1b[1;3H\x1b[1J", "    wx");
    // A cell that was left free for a wide character is a column like others.
    check("123456789日\x1b[1;1H\x1b[2P", "3456789|日");
    check("123456789日\x1b[1;1H\x1b[2P\x1b[1;9Hx", "3456789 x|日");
}

#[test]
fn what_the_emulator_has_otherwise_than_terminals_is_put_right() {
    check("one\r\ntwo\x1b[1Jx", "|   x");
    check("0123456789\x1b[2P", "012345678");
    check("ab\x1b[?6lx", "xb");
}

#[test]
fn the_view_tells_cursor_title_and_modes() {
    let view = screen(
        "\x1b]0;hi\x07\x1b[?25l\x1b[2;3H\x1b[5 q\x1b[?5;1049;2004;1;1004;1003;1006h\x1b=\x1b[>5u",
    )
    .view();
    assert_eq!(
        view.cursor,
        view::Cursor { row: 1, col: 2, visible: false, shape: view::ScreenCursorShape::Bar }
    );
    assert_eq!(view.title, "hi");
    let modes = view::ScreenModes {
        alternate_screen: true,
        bracketed_paste: true,
        application_cursor: true,
        application_keypad: true,
        focus_events: true,
        mouse: view::MouseTracking::Motion,
        mouse_encoding: view::MouseEncoding::Sgr,
        kitty_keyboard: 5,
        reverse_video: true,
    };
    assert_eq!(view.modes, modes);
}

#[test]
fn questions_are_answered() {
    check_replies("\x1b[c", "^[?6c");
    check_replies("ab\x1b[6n\x1b[5n", "^[1;3R^[0n");
    check_replies("\x1b[?u\x1b[?2004$p", "^[?0u^[?2004;2$y");
    check_replies("\x1b[?5$p\x1b[?5h\x1b[?5$p", "^[?5;2$y^[?5;1$y");
    check_replies("\x1b[14t\x1b[18t", "^[4;64;80t^[8;4;10t");
}

#[test]
fn colours_are_answered_as_they_are_at_the_question() {
    check_replies("\x1b]11;?\x07", "^]11;rgb:1414/1616/1b1b\x07");
    check_replies(
        "\x1b]4;1;#123456\x07\x1b]4;1;?\x1b\\\x1b]104\x07",
        "^]4;1;rgb:1212/3434/5656^\\",
    );
}

#[test]
fn clipboard_and_title_are_never_told() {
    check_replies("\x1b]52;c;aGk=\x07\x1b]52;c;?\x07\x1b]2;x\x07\x1b[21t\x1b[20t", "");
}

#[test]
fn the_program_status_protocol_is_announced_in_order() {
    check_replies("a\x1b]7501;?\x1b\\\x1b[5n", "^]7501;?^\\^[0n");
    check_replies("\x1b[5n\x1b[?2026h\x1b]7501;?\x07\x1b[?2026l", "^[0n^]7501;?\x07");
    for other in ["7501;state=idle", "7501;?x", "750;?", "7501", "7501;??", "17501;?"] {
        check_replies(&format!("\x1b]{other}\x1b\\\x1b]{other}\x07"), "");
    }
    check_replies("\x1b]7501;?\x18\x1b]2;7501;?\x07\x1bP7501;?\x1b\\", "");
    let output = b"\x1b]7501;?\x1b\\";
    for cut in 0..output.len() {
        let mut screen = Screen::new(SMALL);
        screen.feed(&output[..cut]);
        screen.feed(&output[cut..]);
        assert_eq!(screen.take_replies(), output, "cut at {cut}");
    }
}

#[test]
fn replies_nobody_takes_are_bounded() {
    let mut screen = screen(&"\x1b[c".repeat(50_000));
    assert!(screen.take_replies().len() <= 64 << 10);
}

#[test]
fn a_synchronized_update_is_held_until_it_ends_or_is_settled() {
    let mut screen = screen("a\x1b[?2026h");
    let before = screen.revision();
    screen.feed(b"\rb");
    assert_eq!((screen.view().rows[0].as_str(), screen.revision()), ("a", before));
    assert!(screen.is_update_held());
    screen.flush_update();
    assert_eq!(screen.view().rows[0], "b");
    assert!(!screen.is_update_held() && before < screen.revision());
}

#[test]
fn a_synchronized_update_ends_when_the_size_changes() {
    let mut screen = screen("a\x1b[?2026h\rb");
    screen.resize(Size { cols: 11, ..SMALL });
    assert!(!screen.is_update_held());
    screen.feed(b"c");
    assert_eq!(screen.view().rows[0], "bc");
}

#[test]
fn an_endless_update_is_drawn_before_it_ends() {
    let mut screen = screen("\x1b[?2026h");
    for _ in 0..40 {
        screen.feed(&[b'x'; 1 << 16]);
        assert!(screen.pending_bytes() <= 2 << 20);
    }
    assert!(!screen.is_update_held());
    assert_eq!(screen.view().rows[3], "xxxxxxxxxx");
}

/// The visible state of a screen, with the colours that its revision covers, too.
fn shown(screen: &Screen) -> (ScreenView, StyledScreen) {
    (ScreenView { revision: 0, ..screen.view() }, screen.styled())
}

/// Whether the output, after an `a`, gives the screen another revision.
#[track_caller]
fn check_revision(output: &str, changes: bool) {
    let mut screen = screen("a");
    let before = screen.revision();
    screen.feed(output.as_bytes());
    assert_eq!(before < screen.revision(), changes, "{output:?}");
    assert!(before <= screen.revision());
}

#[test]
fn what_cannot_be_seen_is_no_revision() {
    for output in ["\x07", "\x1b[0m", "\x1b[1;31m", "\x1b[?2026h", "\x1b[c", "\x1b[6n", "\x1b7"] {
        check_revision(output, false);
    }
    for output in ["\x1b[1;2H", "\x1b[?25h", "\x1b]2;", "\x1b[?2026hb", "\x1b(0", "\x1b[>0u"] {
        check_revision(output, false);
    }
}

#[test]
fn what_can_be_seen_is_a_revision() {
    for output in
        ["b", "\n", "\r", "\x1b[H", "\x1b[?25l", "\x1b[?5h", "\x1b]2;t\x07", "\x1b[4 q", "\x1b[>1u"]
    {
        check_revision(output, true);
    }
    for output in ["\x1b]4;1;#123456\x07", "\x1b[?1049h", "\x1b[?2004h", "\x1b=", "\x1bc", "\x1b#8"]
    {
        check_revision(output, true);
    }
    check_revision("\x1b[?2026hb\x1b[?2026l", true);
}

#[test]
fn what_is_taken_back_is_a_revision_too() {
    for (on, off) in [
        ("\x1b[>1u", "\x1b[<u"),
        ("\x1b[?25l", "\x1b[?25h"),
        ("\x1b[?2004h", "\x1b[?2004l"),
        ("\x1b[?5h", "\x1b[?5l"),
        ("\x1b[?1049h", "\x1b[?1049l"),
        ("\x1b=", "\x1b>"),
    ] {
        let mut screen = screen(on);
        let before = screen.revision();
        screen.feed(off.as_bytes());
        assert!(before < screen.revision(), "{off:?}");
    }
}

#[test]
fn a_revision_is_a_position() {
    let mut screen = Screen::new(SMALL);
    screen.set_position(1000);
    screen.feed(b"abc\x1b[0m");
    assert_eq!(screen.revision(), 1003);
    screen.resize(SMALL);
    assert_eq!(screen.revision(), 1003, "it had that size");
    screen.resize(Size { cols: 11, ..SMALL });
    assert_eq!(screen.revision(), 1009);
}

#[test]
fn the_smallest_screens_do_not_hang() {
    let mut screen = screen("日本日本日本");
    screen.resize(Size { cols: 1, rows: 0 });
    assert_eq!(screen.view().size, Size { cols: 2, rows: 1 });
}

#[test]
fn a_flood_of_pushes_does_no_harm() {
    let mut screen = screen(&"\x1b[>1u\x1b[22t".repeat(5000));
    screen.feed(b"\x1b[>3u");
    assert_eq!(screen.view().modes.kitty_keyboard, 3);
}

#[test]
fn an_endless_string_is_given_up() {
    let mut screen = screen("\x1b]2;");
    for _ in 0..40 {
        screen.feed(&[b'x'; 1 << 15]);
    }
    screen.feed(b"\r\nhello");
    assert_eq!(screen.view().rows[3], "hello");
}

#[test]
fn a_title_pushed_before_comes_back_after_a_dump() {
    let mut again = Screen::new(SMALL);
    again.feed(&screen("\x1b]2;a\x07\x1b[22t\x1b]2;b\x07").dump());
    again.feed(b"\x1b[23t");
    assert_eq!(again.view().title, "a");
}

/// One operation on a screen.
#[derive(Clone, Debug)]
enum ScreenInput {
    Print(String),
    Resize(Size),
}

fn step() -> impl Strategy<Value = ScreenInput> {
    prop_oneof![18 => print(), 1 => size().prop_map(ScreenInput::Resize)]
}

fn print() -> impl Strategy<Value = ScreenInput> {
    prop_oneof![text(), sequence()].prop_map(ScreenInput::Print)
}

pub(super) fn size() -> impl Strategy<Value = Size> {
    (2..13u16, 1..7u16).prop_map(|(cols, rows)| Size { cols, rows })
}

pub(super) fn text() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a", "bc", "défgh", "日", "本語", "🦀", "e\u{301}", "\u{308}", " ", "\t", "q", "~",
    ]);
    let control =
        select(vec!["\r\n", "\n", "\r", "\x08", "\x0e", "\x0f", "\x1bM", "\x1bD", "\x1bE"]);
    let piece = prop_oneof![4 => piece, 1 => control];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

pub(super) fn sequence() -> impl Strategy<Value = String> {
    let number = prop_oneof![6 => 0..9u16, 1 => Just(99u16)];
    let pair = (number.clone(), number.clone(), select(vec!['H', 'r']));
    let single = (number, select("ABCDEFGIJKLMPSTXZ@dg`".chars().collect::<Vec<_>>()));
    let modes =
        vec![1, 3, 5, 6, 7, 12, 25, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1042, 1049, 2004];
    let private = (select(modes), select(vec!['h', 'l']));
    prop_oneof![
        4 => pair.prop_map(|(a, b, last)| format!("\x1b[{a};{b}{last}")),
        8 => single.prop_map(|(count, last)| format!("\x1b[{count}{last}")),
        3 => private.prop_map(|(mode, last)| format!("\x1b[?{mode}{last}")),
        4 => select(LOOKS.to_vec()).prop_map(str::to_owned),
        2 => select(OTHERS.to_vec()).prop_map(str::to_owned),
    ]
}

const LOOKS: [&str; 12] = [
    "\x1b[m",
    "\x1b[1;31m",
    "\x1b[2;3;4m",
    "\x1b[4:3;58;5;9m",
    "\x1b[7;92;103m",
    "\x1b[38;5;200;48;5;17m",
    "\x1b[38;2;1;2;3m",
    "\x1b[48;2;9;8;7m",
    "\x1b[8;9m",
    "\x1b[22;24m",
    "\x1b]8;;http://a/;b\x07",
    "\x1b]8;;\x07",
];

const OTHERS: [&str; 22] = [
    "\x1b7",
    "\x1b8",
    "\x1b[s",
    "\x1b[u",
    "\x1bc",
    "\x1b#8",
    "\x1b(0",
    "\x1b(B",
    "\x1b)0",
    "\x1b=",
    "\x1b>",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[20h",
    "\x1bH",
    "\x1b[>5u",
    "\x1b[<u",
    "\x1b[=3;2u",
    "\x1b[3 q",
    "\x1b]2;né\x1b\\",
    "\x1b[22t",
    "\x1b]4;5;#010203\x07",
];

fn run(screen: &mut Screen, steps: &[ScreenInput]) {
    for step in steps {
        match step {
            ScreenInput::Print(text) => screen.feed(text.as_bytes()),
            ScreenInput::Resize(size) => screen.resize(*size),
        }
    }
}

/// Everything of a cell that is visible or matters later.
#[derive(Debug, PartialEq)]
struct VisibleCell {
    c: char,
    flags: Flags,
    colours: (Color, Color, Option<Color>),
    link: Option<String>,
    marks: Vec<char>,
}

/// The cells that the property covers. Marks on spacers and a leading spacer that lost its wrap
/// flag in a resize are left out, because no output can produce them.
fn visible_cell(cell: &Cell) -> VisibleCell {
    let spacers = Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER;
    let is_spacer = cell.flags.intersects(spacers);
    let mut flags = cell.flags;
    if flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
        flags.insert(Flags::WRAPLINE);
    }
    let marks = cell.zerowidth().filter(|_| !is_spacer).unwrap_or_default().to_vec();
    let colours = (cell.fg, cell.bg, cell.underline_color());
    VisibleCell {
        c: cell.c,
        flags,
        colours,
        link: cell.hyperlink().map(|link| link.uri().to_owned()),
        marks,
    }
}

fn cells(screen: &Screen) -> Vec<Vec<VisibleCell>> {
    let grid = screen.handler.term.grid();
    (0..grid.screen_lines())
        .map(|row| rows::cells(grid, row).iter().map(visible_cell).collect())
        .collect()
}

fn text_of(dump: &[u8]) -> String {
    String::from_utf8(dump.to_vec()).unwrap()
}

/// A dump does not contain the saved cursor of the hidden screen, so the operations do not use it.
fn goes_to_the_other_screen(step: &ScreenInput) -> bool {
    matches!(step, ScreenInput::Print(text) if text.contains("1049"))
}

#[track_caller]
fn assert_same(a: &Screen, b: &Screen) {
    assert_eq!(ScreenView { revision: 0, ..a.view() }, ScreenView { revision: 0, ..b.view() });
    for (row, (a, b)) in cells(a).into_iter().zip(cells(b)).enumerate() {
        assert_eq!(a, b, "row {row}");
    }
    assert_eq!(a.handler.term.mode(), b.handler.term.mode());
    assert_eq!((&a.handler.region, &a.handler.tabs), (&b.handler.region, &b.handler.tabs));
}

/// A wide character that does not fit leaves the last cell free; the cursor may return and wait
/// there.
#[test]
fn a_mark_on_a_cell_that_was_left_free_is_in_a_dump() {
    let mut screen = Screen::new(Size { cols: 4, rows: 1 });
    screen.feed(b"\x1b[4h");
    screen.resize(Size { cols: 3, rows: 5 });
    screen.feed("bcdéfgha本語\x1b[0;0Haa日 \x1bM\u{308}".as_bytes());
    assert_eq!(screen.loss(), None);
    let mut again = Screen::new(screen.view().size);
    again.feed(&screen.dump());
    assert_same(&screen, &again);
}

/// A wide character that lost its other half is a blank, and keeps the allocation for its marks.
#[test]
fn a_blank_that_had_marks_is_a_blank_in_a_dump() {
    let mut screen = Screen::new(SMALL);
    screen.feed("\u{1f469}\u{200d}\x1b[1;2H \x1b[H".as_bytes());
    assert_eq!(text_of(&screen.dump()), text_of(&Screen::new(SMALL).dump()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_dump_fed_to_a_new_screen_gives_the_same_screen(
        size in size(),
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let mut screen = Screen::new(size);
        run(&mut screen, &steps);
        prop_assume!(screen.loss().is_none());
        let mut again = Screen::new(screen.view().size);
        again.feed(&screen.dump());
        assert_same(&screen, &again);
        prop_assert_eq!(text_of(&screen.dump()), text_of(&again.dump()));
        prop_assert_eq!(again.take_replies(), b"");
        screen.feed(b"\x1b[?1049l");
        again.feed(b"\x1b[?1049l");
        assert_same(&screen, &again);
    }

    /// Without resizes: a row records how far it was used, and the emulator loses that when the row
    /// grows.
    #[test]
    fn what_comes_after_a_dump_is_the_same_too(
        size in size(),
        before in proptest::collection::vec(print(), 0..30),
        after in proptest::collection::vec(print(), 0..10),
    ) {
        let mut screen = Screen::new(size);
        run(&mut screen, &before);
        prop_assume!(screen.loss().is_none());
        let mut again = Screen::new(size);
        again.feed(&screen.dump());
        let after: Vec<_> = after.into_iter().filter(|step| !goes_to_the_other_screen(step)).collect();
        run(&mut screen, &after);
        run(&mut again, &after);
        assert_same(&screen, &again);
    }

    #[test]
    fn cutting_differently_changes_nothing(
        size in size(),
        pieces in proptest::collection::vec(prop_oneof![4 => text(), 4 => sequence(), 1 => sync()], 0..30),
        noise in proptest::collection::vec(any::<u8>(), 0..8),
        cuts in proptest::collection::vec(1..20usize, 1..6),
    ) {
        let output = [pieces.concat().as_bytes(), &noise, pieces.concat().as_bytes()].concat();
        let (mut whole, mut cut) = (Screen::new(size), Screen::new(size));
        whole.feed(&output);
        let (mut rest, mut cuts) = (&output[..], cuts.into_iter().cycle());
        while let Some((head, tail)) = rest.split_at_checked(rest.len().min(cuts.next().unwrap())) {
            cut.feed(head);
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        assert_same(&whole, &cut);
        prop_assert_eq!(whole.revision(), cut.revision());
        prop_assert_eq!(whole.take_replies(), cut.take_replies());
    }

    #[test]
    fn a_fresh_screen_that_is_set_up_goes_on_as_the_one_that_was_there(
        size in size().prop_filter("all rows are a region", |size| 1 < size.rows),
        pieces in proptest::collection::vec(prop_oneof![text(), sequence(), setting()], 0..30),
    ) {
        let (mut screen, mut scanner) = (Screen::new(size), crate::OutputScanner::new());
        // Whether a region that ends at the last row is a region depends on the screen's size.
        for piece in pieces.iter().filter(|piece| !piece.ends_with(";0r")) {
            screen.feed(piece.as_bytes());
            scanner.feed(piece.as_bytes(), |_| {});
        }
        let mut fresh = Screen::new(size);
        fresh.feed(&scanner.setup());
        let (a, b) = (&screen.handler, &fresh.handler);
        prop_assert_eq!((&a.title, &a.titles), (&b.title, &b.titles));
        prop_assert_eq!((&a.region, kept(a)), (&b.region, kept(b)));
        prop_assert_eq!(a.term.cursor_style().shape, b.term.cursor_style().shape);
        let (a, b) = (&a.term.grid().cursor, &b.term.grid().cursor);
        prop_assert!(same_style(&without_link(&a.template), &b.template));
        prop_assert_eq!(a.charsets, b.charsets);
    }

    #[test]
    fn no_half_of_a_wide_character_is_ever_alone(
        size in size(),
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let mut screen = Screen::new(size);
        run(&mut screen, &steps);
        let grids = [Some(screen.handler.term.grid()), screen.handler.primary.as_ref()];
        for grid in grids.into_iter().flatten() {
            for cells in (0..grid.screen_lines()).map(|row| rows::cells(grid, row)) {
                prop_assert!(!(0..cells.len()).any(|col| wide_chars::is_lone_half(cells, col)), "{cells:?}");
            }
        }
    }

    #[test]
    fn another_screen_has_another_revision(
        size in size(),
        steps in proptest::collection::vec(step(), 0..40),
    ) {
        let mut screen = Screen::new(size);
        let (mut before, mut revision) = (shown(&screen), screen.revision());
        for step in steps {
            run(&mut screen, &[step]);
            let now = shown(&screen);
            prop_assert!(revision <= screen.revision());
            prop_assert!(now == before || revision < screen.revision());
            (before, revision) = (now, screen.revision());
        }
    }

    #[test]
    fn the_tap_changes_nothing_that_is_drawn(
        size in size(),
        pieces in proptest::collection::vec(prop_oneof![text(), sequence()], 0..30),
    ) {
        let (mut screen, mut bare) = (Screen::new(size), TermHandler::new(size, 0));
        let mut parser = Processor::<StdSyncHandler>::new();
        // The handler changes backward tabs, links without ids, some deviations of the emulator,
        // and wide characters that are cut.
        let mended = ["Z", "P", "1J", "?6l", "8;;", "日", "本", "🦀"];
        for piece in pieces.iter().filter(|piece| !mended.iter().any(|it| piece.contains(it))) {
            screen.feed(piece.as_bytes());
            parser.advance(&mut bare.term, piece.as_bytes());
            prop_assert_eq!(screen.handler.term.mode(), bare.term.mode());
        }
        for row in 0..bare.term.screen_lines() {
            let (a, b) = (rows::cells(screen.handler.term.grid(), row), rows::cells(bare.term.grid(), row));
            prop_assert_eq!(a, b);
        }
    }
}

/// Sequences that set the state of a screen besides its content.
fn setting() -> impl Strategy<Value = String> {
    select(vec![
        "\x1b)0",
        "\x1b(0",
        "\x1b(B",
        "\x1b)B",
        "\x1b7",
        "\x1b8",
        "\x1b[s",
        "\x1b[u",
        "\x1b[4 q",
        "\x1b[0 q",
        "\x1b[22t",
        "\x1b[23t",
        "\x1b]2;x\x07",
        "\x1b]0;y\x1b\\",
        "\x1bc",
        "\x1b[r",
        "\x1b[2;3r",
        "\x1b[0;7m",
    ])
    .prop_map(str::to_owned)
}

/// The modes that decide where and how something is drawn.
fn kept(handler: &TermHandler) -> TermMode {
    let shown = TermMode::ALT_SCREEN | TermMode::SHOW_CURSOR | TermMode::LINE_WRAP;
    *handler.term.mode() & (shown | TermMode::ORIGIN | TermMode::INSERT)
}

fn without_link(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    cell.set_hyperlink(None);
    cell
}

fn sync() -> impl Strategy<Value = String> {
    select(vec!["\x1b[?2026h", "\x1b[?25;2026h", "\x1b[?2026l", "\x1b[6n"]).prop_map(str::to_owned)
}

/// A screen is shared between tasks behind a lock.
#[test]
fn a_screen_can_be_sent_and_shared() {
    fn check<T: Send + Sync>() {}
    check::<Screen>();
}

#[test]
fn rows_that_scroll_off_are_kept_where_that_is_asked_for() {
    let size = Size { cols: 20, rows: 3 };
    let lines: String = (1..=8).map(|n| format!("line {n}\r\n")).collect();
    let mut screen = Screen::with_history(size, 4);
    screen.feed(lines.as_bytes());
    assert_eq!(screen.history(), ["line 3", "line 4", "line 5", "line 6"]);
    assert_eq!(screen.view().rows, ["line 7", "line 8", ""]);
    let mut usual = Screen::new(size);
    usual.feed(lines.as_bytes());
    assert_eq!((usual.history(), usual.view().rows), (Vec::new(), screen.view().rows));
    screen.feed(b"\x1b[?1049hmenu");
    assert_eq!(screen.history(), Vec::<String>::new(), "the other screen has none");
}

/// A screen of 3 rows that keeps 4 rows of scrollback reports how many were before those.
#[track_caller]
fn check_gone(steps: &[(&str, usize)], resize: Option<Size>, expect: Option<u64>) {
    let mut screen = Screen::with_history(Size { cols: 20, rows: 3 }, 4);
    for (text, count) in steps {
        screen.feed(text.repeat(*count).as_bytes());
    }
    if let Some(size) = resize {
        screen.resize(size);
    }
    assert_eq!(screen.history_dropped(), expect, "{steps:?}");
}

#[test]
fn rows_that_are_no_longer_kept_are_counted() {
    let line = ("line\r\n", 8);
    check_gone(&[("line\r\n", 6)], None, Some(0));
    check_gone(&[line], None, Some(2));
    check_gone(&[("line\r\n", 50_000)], None, Some(50_000 - 6));
    check_gone(&[("x", 20 * 3000)], None, Some(3000 - 3 - 4));
    check_gone(&[("1\r\n2\r\n3\x1b[2J\x1b[H", 2000)], None, Some(3 * 2000 - 4));
    check_gone(&[("\x1b[3S", 9000)], None, Some(3 * 9000 - 4));
    check_gone(&[line, ("\x1b[3J", 1)], None, Some(6));
    check_gone(&[line, ("\x1bc", 1), line], None, Some(6 + 2));
    check_gone(&[line, ("\x1b[?1049h", 1), ("line\r\n", 9), ("\x1b[?1049l", 1)], None, Some(2));
    check_gone(&[line, ("\x1b[2;3r\x1b[3H", 1), ("line\r\n", 9)], None, Some(2));
}

#[test]
fn rows_that_nobody_could_count_are_not_counted() {
    let size = |cols, rows| Some(Size { cols, rows });
    let many = [("line\r\n", 5000)];
    check_gone(&many, size(20, 2), Some(5000 - 5));
    check_gone(&many, size(9, 3), None);
    check_gone(&[("x\x1b[65535b", 3)], None, None);
}
