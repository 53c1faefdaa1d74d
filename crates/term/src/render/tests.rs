//! Tests of the three output formats, from outside.

use paned_model::Size;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::Screen;
use crate::screen::styled_screen::Rgb;

const SMALL: Size = Size { cols: 10, rows: 3 };

/// A cell of a PNG at scale 1.
const CELL: (usize, usize) = (10, 20);

fn screen(output: &str) -> Screen {
    let mut screen = Screen::new(SMALL);
    screen.feed(output.as_bytes());
    screen
}

mod text {
    use super::*;

    /// The rows with `^` for ESC, joined by `|`, without the empty ones at the end.
    #[track_caller]
    fn check(output: &str, expect: &str) {
        let text = ansi(&screen(output)).replace('\x1b', "^").replace('\n', "|");
        assert_eq!(text.trim_end_matches('|'), expect, "{output:?}");
    }

    #[test]
    fn rows_are_joined_by_line_feeds() {
        check("a\r\n\r\n  b  ", "a||  b");
        assert_eq!(ansi(&screen("")), "\n\n");
    }

    #[test]
    fn a_reversed_screen_is_reversed_to_its_edges() {
        let cols = usize::from(screen("").view().size.cols);
        let text = ansi(&screen("\x1b[?5ha"));
        let rows: Vec<&str> = text.split('\n').collect();
        assert_eq!(rows[0], format!("\x1b[0;7ma{}\x1b[0m", " ".repeat(cols - 1)));
        assert_eq!(rows[1], format!("\x1b[0;7m{}\x1b[0m", " ".repeat(cols)));
    }

    #[test]
    fn looks_are_reset_at_the_end_of_a_line() {
        check("\x1b[1;31ma\r\nb", "^[0;1;31ma^[0m|^[0;1;31mb^[0m");
        check("\x1b[4:3;58;5;9ma\x1b[m b", "^[0;4:3;58;5;9ma^[0m b");
    }

    #[test]
    fn blanks_with_a_background_stay() {
        check("\x1b[44m  \x1b[m  ", "^[0;44m  ^[0m");
    }

    #[test]
    fn moves_and_modes_are_not_in_it() {
        check("\x1b[?1049h\x1b[?25l\x1b]2;t\x07\x1b[2;3Hx", "|  x");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn text_fed_to_a_new_screen_gives_the_same_cells(output in output()) {
            let screen = screen(&output);
            let mut again = Screen::new(SMALL);
            again.feed(ansi(&screen).replace('\n', "\r\n").as_bytes());
            prop_assert_eq!(screen.styled().rows, again.styled().rows);
        }
    }
}

mod vector {
    use roxmltree::{Document, Node};

    use super::*;

    /// The text of an SVG's elements, from the top left to the bottom right, without blanks.
    fn letters(svg: &str) -> String {
        let document = Document::parse(svg).unwrap();
        let text = |node: Node<'_, '_>| match node.tag_name().name() {
            "text" => node.text().map(str::to_owned),
            _ => node.attribute("aria-label").map(str::to_owned),
        };
        let letters: String = document.descendants().filter_map(text).collect();
        letters.replace(' ', "")
    }

    #[track_caller]
    fn check(output: &str, expect: &str) {
        assert_eq!(letters(&svg(&screen(output))), expect, "{output:?}");
    }

    fn count(output: &str, part: &str) -> usize {
        svg(&screen(output)).matches(part).count()
    }

    #[test]
    fn every_character_is_there_once() {
        check("a b\x1b[31mc\x1b[1md\r\n┌─┐█░x", "abcd┌─┐█░x");
        check("日本🦀e\u{301}한", "日本🦀e\u{301}한");
    }

    #[test]
    fn hidden_text_is_not_there() {
        check("a\x1b[8msecret\x1b[mb", "ab");
    }

    #[test]
    fn what_xml_needs_escaped_is_escaped() {
        check("<&>\"'", "<&>\"'");
        check("\u{ffff}", "\u{fffd}");
        let svg = svg(&screen("\x1b]2;<&>\x07"));
        assert!(svg.contains("<title>&lt;&amp;&gt;</title>"));
    }

    #[test]
    fn alike_neighbours_are_drawn_at_once() {
        assert_eq!(count("\x1b[?25labc def", "<text "), 1);
        assert_eq!(count("\x1b[?25la\x1b[31mb", "<text "), 2);
        assert_eq!(count("\x1b[?25l\x1b[41m      ", "<path "), 1);
        assert_eq!(count("\x1b[?25l\x1b[4mabc", "<path "), 1);
    }

    #[test]
    fn words_keep_their_columns() {
        let svg = svg(&screen("\x1b[?25l ab c\r\n日x"));
        assert!(svg.contains(r#"<text x="10" textLength="40""#));
        assert!(svg.contains(r#"<text x="10" text-anchor="middle""#));
        assert!(svg.contains(r#"<text x="20" textLength="10""#));
    }

    #[test]
    fn a_font_is_embedded_only_if_it_is_used() {
        let fonts = |output: &str| count(output, "@font-face");
        assert_eq!([fonts(""), fonts("a"), fonts("a\x1b[1mb"), fonts("a日")], [0, 1, 2, 2]);
        assert!(svg(&screen("hello")).len() < 6000);
    }

    #[test]
    fn the_cursor_is_drawn_when_it_is_shown() {
        let block = "M20 0L30 0L30 20L20 20Z";
        assert_eq!([count("ab", block), count("ab\x1b[?25l", block)], [1, 0]);
        assert_eq!(count("ab\x1b[6 q", "M20 0L22 0L22 20L20 20Z"), 1);
        assert_eq!(count("ab\x1b[4 q", "M20 18L30 18L30 20L20 20Z"), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn everything_that_can_be_seen_is_in_it(output in output()) {
            let screen = screen(&output);
            let cells = screen.styled().rows.concat();
            let shown = cells.iter().filter(|cell| !cell.look.hidden);
            let mut expect: Vec<char> = shown.flat_map(|cell| [&[cell.c], &cell.marks[..]].concat()).collect();
            expect.retain(|c| *c != ' ');
            let mut letters: Vec<char> = letters(&svg(&screen)).chars().collect();
            letters.sort_unstable();
            expect.sort_unstable();
            prop_assert_eq!(letters, expect);
        }
    }
}

mod pixels {
    use super::*;

    /// A decoded PNG.
    struct Pixels {
        width: usize,
        height: usize,
        pixels: Vec<Rgb>,
    }

    impl Pixels {
        fn of(output: &str) -> Self {
            Self::read(&png(&screen(output), 1))
        }

        fn read(file: &[u8]) -> Self {
            let mut decoder = ::png::Decoder::new(std::io::Cursor::new(file));
            decoder.set_transformations(::png::Transformations::EXPAND);
            let mut reader = decoder.read_info().unwrap();
            let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
            let info = reader.next_frame(&mut bytes).unwrap();
            let pixels = bytes.as_chunks::<3>().0.iter().map(|&[r, g, b]| Rgb(r, g, b)).collect();
            Self { width: info.width as usize, height: info.height as usize, pixels }
        }

        /// The pixels of a cell.
        fn cell(&self, row: usize, col: usize) -> Vec<Rgb> {
            let place = |y: usize| (row * CELL.1 + y) * self.width + col * CELL.0;
            (0..CELL.1).flat_map(|y| &self.pixels[place(y)..place(y) + CELL.0]).copied().collect()
        }

        /// How many pixels of a cell differ from its first one.
        fn ink(&self, row: usize, col: usize) -> usize {
            let cell = self.cell(row, col);
            cell.iter().filter(|pixel| **pixel != cell[0]).count()
        }
    }

    /// The colour that fills a cell.
    #[track_caller]
    fn check(output: &str, (row, col): (usize, usize), expect: Rgb) {
        let cell = Pixels::of(output).cell(row, col);
        assert!(cell.iter().all(|pixel| *pixel == expect), "{output:?}: {:?}", cell[0]);
    }

    #[test]
    fn a_cell_is_ten_by_twenty_times_the_scale() {
        for (scale, expect) in [(0, (100, 60)), (1, (100, 60)), (3, (300, 180)), (9, (400, 240))] {
            let Pixels { width, height, .. } = Pixels::read(&png(&screen(""), scale));
            assert_eq!((width, height), expect);
        }
    }

    #[test]
    fn backgrounds_fill_their_cells() {
        check("a\x1b[48;2;255;0;0m ", (0, 1), Rgb(255, 0, 0));
        check("\r\n\x1b[7;38;2;1;2;3m  ", (1, 1), Rgb(1, 2, 3));
        check("█", (0, 0), Rgb(0xd4, 0xd7, 0xdd));
    }

    #[test]
    fn hidden_text_is_not_there() {
        check("\x1b[8;48;2;1;1;1mX", (0, 0), Rgb(1, 1, 1));
    }

    #[test]
    fn the_cursor_is_where_it_is() {
        let text = Rgb(0xd4, 0xd7, 0xdd);
        check("\x1b[2;3H", (1, 2), text);
        check("\x1b[2;3H\x1b[?25l", (1, 2), Rgb(0x14, 0x16, 0x1b));
        check("\x1b]12;#ff0000\x07", (0, 0), Rgb(255, 0, 0));
        assert_eq!(Pixels::of("\x1b[6 q").cell(0, 0)[..3], [text, text, Rgb(0x14, 0x16, 0x1b)]);
        assert_eq!(Pixels::of("\x1b[4 q").ink(0, 0), 20);
    }

    #[test]
    fn bold_has_more_ink_and_italic_other_ink() {
        let pixels = Pixels::of("H\x1b[1mH\x1b[0;3mH");
        let sum =
            |col: usize| -> u32 { pixels.cell(0, col).iter().map(|it| u32::from(it.0)).sum() };
        assert!(sum(0) * 11 / 10 < sum(1));
        assert_ne!(pixels.cell(0, 0), pixels.cell(0, 2));
    }

    #[test]
    fn wide_characters_take_two_cells() {
        for output in ["日", "🦀", "한"] {
            let pixels = Pixels::of(output);
            assert!(10 < pixels.ink(0, 0) && 10 < pixels.ink(0, 1), "{output}");
        }
    }

    #[test]
    fn emoji_have_their_own_colours() {
        let is_red = |Rgb(r, g, b): &Rgb| *r > 150 && *g < 100 && *b < 100;
        assert!(Pixels::of("\x1b[34m🦀").cell(0, 0).iter().any(is_red));
    }

    #[test]
    fn marks_are_drawn_over_their_letter() {
        assert!(Pixels::of("e").ink(0, 0) < Pixels::of("e\u{301}").ink(0, 0));
        assert_eq!(Pixels::of("e\u{200d}\u{fe0f}").ink(0, 0), Pixels::of("e").ink(0, 0));
    }

    #[test]
    fn lines_under_and_through_fill_the_width() {
        for (look, expect) in [("4", 10), ("4:2", 20), ("9", 10)] {
            assert_eq!(Pixels::of(&format!("\x1b[{look}m ")).ink(0, 0), expect, "{look}");
        }
    }

    #[test]
    fn what_no_face_has_is_a_box() {
        assert_eq!(Pixels::of("\u{e700}").cell(0, 0), Pixels::of("\u{e701}").cell(0, 0));
        assert!(10 < Pixels::of("\u{e700}").ink(0, 0));
    }
}

fn output() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => select(PIECES.to_vec()).prop_map(str::to_owned),
        2 => select(LOOKS.to_vec()).prop_map(|look| format!("\x1b[{look}m")),
        1 => (1..4u8, 1..11u8).prop_map(|(row, col)| format!("\x1b[{row};{col}H")),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

const PIECES: [&str; 18] = [
    "a",
    "bc d",
    "<&>",
    "日本",
    "🦀",
    "e\u{301}",
    "한",
    "┌─┐",
    "█░",
    "⠋",
    "☰",
    "\t",
    "\r\n",
    "\x1b[K",
    "\x1b[X",
    "\x1b[P",
    "\x1b[2@",
    " ",
];

const LOOKS: [&str; 12] = [
    "",
    "1;31",
    "2;3",
    "4",
    "4:3;58;5;9",
    "7;92;103",
    "38;5;200",
    "48;5;17",
    "38;2;1;2;3",
    "8",
    "9",
    "4:2;58:2::4:5:6",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn noise_does_no_harm(
        cols in 1..30u16,
        rows in 1..8u16,
        noise in proptest::collection::vec(any::<u8>(), 0..300),
        text in any::<String>(),
        output in output(),
    ) {
        let mut screen = Screen::new(Size { cols, rows });
        screen.feed(&[&noise, text.as_bytes(), output.as_bytes()].concat());
        let (text, file, svg) = (ansi(&screen), png(&screen, 1), svg(&screen));
        prop_assert!(rows.max(1) as usize == text.split('\n').count() && !file.is_empty());
        prop_assert!(roxmltree::Document::parse(&svg).is_ok(), "{}", svg);
    }
}
