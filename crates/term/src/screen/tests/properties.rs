//! What holds for every output.

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, Processor, StdSyncHandler};
use proptest::prelude::*;

use super::super::dump_writer::same_style;
use super::generators::{ScreenInput, print, run, setting, step, sync};
use super::revision::shown;
use super::*;

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

/// The scrollback of the primary screen, oldest row first.
fn primary_history(screen: &Screen) -> Vec<Vec<Cell>> {
    let grid = screen.handler.primary.as_ref().unwrap_or(screen.handler.term.grid());
    let rows = i32::try_from(grid.history_size()).unwrap();
    (-rows..0).map(|line| grid[alacritty_terminal::index::Line(line)][..].to_vec()).collect()
}

/// Whether a row has half a wide character, which no output alone produces.
fn has_halves(cells: &[Cell]) -> bool {
    use super::super::cell_groups::{CellGroup, CellGroupKind};
    let is_half = |group: &CellGroup| {
        matches!(group.kind, CellGroupKind::LoneWide | CellGroupKind::LoneSpacer)
    };
    CellGroup::all(cells).iter().any(is_half)
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

    /// What a terminal gets that attaches later: the scrollback, and the screen after it.
    #[test]
    fn a_dump_with_history_gives_the_same_history_and_the_same_screen(
        size in size(),
        steps in proptest::collection::vec(step(), 0..60),
        rows in 0..40_usize,
    ) {
        let mut screen = Screen::with_history(size, 1000);
        run(&mut screen, &steps);
        prop_assume!(screen.loss().is_none());
        screen.flush_update();
        let history = primary_history(&screen);
        prop_assume!(history.iter().all(|cells| !has_halves(cells)));
        let mut again = Screen::with_history(screen.view().size, 1000);
        again.feed(&screen.dump_history(rows, usize::MAX));
        again.feed(&screen.dump());
        assert_same(&screen, &again);
        let text = |cells: &Vec<Cell>| -> String {
            super::super::view::text_cells(cells).map(|(_, cell)| if cell.c == '\t' { ' ' } else { cell.c }).collect()
        };
        let expect: Vec<_> = history.iter().map(text).collect();
        let found: Vec<_> = primary_history(&again).iter().map(text).collect();
        prop_assert_eq!(&found[..], &expect[expect.len() - rows.min(expect.len())..]);
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
