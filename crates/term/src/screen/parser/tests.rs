//! Compares the fast path with the parser alone: the same bytes must give the same screen, down to
//! its invisible state.

use alacritty_terminal::grid::{Cursor, Dimensions};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::Cell;
use paned_model::Size;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::tests::{self, size};
use super::super::{Screen, incomplete_suffix, rows, screen_titles};
use super::*;

/// The observable state of a screen, whatever drew it.
#[derive(Debug, PartialEq)]
struct ObservedScreen {
    cells: Vec<Vec<Cell>>,
    cursors: [Cursor<Cell>; 2],
    mode: TermMode,
    handler: String,
    replies: Vec<u8>,
}

fn observe(handler: &mut TermHandler) -> ObservedScreen {
    let replies = handler.take_replies();
    let grid = handler.term.grid();
    let rows = 0..grid.screen_lines();
    ObservedScreen {
        cells: rows.map(|row| rows::cells(grid, row).to_vec()).collect(),
        cursors: [grid.cursor.clone(), grid.saved_cursor.clone()],
        mode: *handler.term.mode(),
        handler: format!(
            "{:?} {:?} {:?} {:?} {:?} {:?}",
            handler.title,
            handler.titles,
            handler.region,
            handler.charset,
            handler.tabs,
            handler.pushed
        ),
        replies,
    }
}

/// Lets the parser buffer a synchronized update itself.
#[derive(Default)]
struct HoldingTimeout(bool);

impl Timeout for HoldingTimeout {
    fn set_timeout(&mut self, _: Duration) {
        self.0 = true;
    }

    fn clear_timeout(&mut self) {
        self.0 = false;
    }

    fn pending_timeout(&self) -> bool {
        self.0
    }
}

/// A screen and the parser alone, side by side.
struct ScreenAndParser {
    screen: Screen,
    parser: Processor<HoldingTimeout>,
    parsed: TermHandler,
    escaped: bool,
}

impl ScreenAndParser {
    fn new(size: Size) -> Self {
        let parsed = TermHandler::new(size, 0);
        Self { screen: Screen::new(size), parser: Processor::new(), parsed, escaped: false }
    }

    /// Feeds both: the screen in pieces, the parser at once.
    fn feed(&mut self, output: &[u8], cuts: &mut impl Iterator<Item = usize>) {
        let mut output = output;
        while 0 < incomplete_suffix(output) {
            output = &output[..output.len() - incomplete_suffix(output)];
        }
        let mut rest = output;
        while let Some((head, tail)) = rest.split_at_checked(rest.len().min(cuts.next().unwrap())) {
            self.screen.feed(head);
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        let output = screen_titles::hide_titles(output.into(), &mut self.escaped);
        // If an update begins in the same piece in which another ends, the parser reads it outside
        // of its grammar: what comes between the two is cut off there.
        let mut rest = &output[..];
        while let Some(at) = memmem::find(rest, END) {
            let (head, tail) = rest.split_at(at + END.len());
            self.parser.advance(&mut self.parsed, head);
            rest = tail;
        }
        self.parser.advance(&mut self.parsed, rest);
    }

    fn resize(&mut self, size: Size) {
        self.settle();
        self.screen.resize(size);
        self.parsed.resize(size);
    }

    fn settle(&mut self) {
        self.screen.flush_update();
        self.parser.stop_sync(&mut self.parsed);
    }

    #[track_caller]
    fn check(&mut self) {
        assert_eq!(self.screen.is_update_held(), self.parser.sync_timeout().0);
        assert_eq!(observe(&mut self.screen.handler), observe(&mut self.parsed));
    }
}

/// Runs longer than a row, and what prevents printing them at once.
fn runs() -> impl Strategy<Value = String> {
    let long = "[ -~]{1,40}";
    let odd =
        select(vec!["─┐", "日", "e\u{301}", "\u{7f}", "\u{85}", "\u{9b}", "\t", "\r\n", "\x07"]);
    let other = "[─-╿é-ÿ日\u{300}-\u{303}\u{80}-\u{9f}]{1,30}";
    prop_oneof![4 => long, 1 => other, 1 => odd.prop_map(str::to_owned), 2 => tests::text()]
}

/// SGR sequences of all kinds, known and unknown, complete and truncated.
fn looks() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        6 => 0..110u32,
        2 => select(vec![0, 38, 48, 58, 2, 5]),
        1 => select(vec![255, 256, 65_535, 65_536, 99_999]),
    ];
    let number = prop_oneof![9 => number.prop_map(|n| n.to_string()), 1 => Just(String::new())];
    let mark = prop_oneof![8 => Just(";"), 1 => Just(":")];
    let part = (number, mark).prop_map(|(number, mark)| format!("{number}{mark}"));
    let params = prop_oneof![9 => vec(part.clone(), 0..7), 1 => vec(part, 14..40)];
    params.prop_map(|parts| {
        let params = parts.concat();
        format!("\x1b[{}m", params.get(..params.len().saturating_sub(1)).unwrap_or_default())
    })
}

/// Anything that looks like a control sequence, with bytes that do not belong there.
fn sequences() -> impl Strategy<Value = String> {
    let body = "[0-9;:?>! \n\r\u{7f}\u{18}\u{1b}]{0,4}";
    let last = select("ABCDEFGHIJKLMPSTXZ@bdefgm`hlrsu".chars().collect::<Vec<_>>());
    let number = select(vec!["", "0", "1", "2", "3", "5", "99", "70000", ";", "2;3", "0;0", "3;"]);
    let common = select("ABCDGHJKXd".chars().collect::<Vec<_>>());
    let last = prop_oneof![2 => common, 1 => last];
    prop_oneof![
        6 => (number, last.clone()).prop_map(|(number, last)| format!("\x1b[{number}{last}")),
        2 => (body, last).prop_map(|(body, last)| format!("\x1b[{body}{last}")),
        6 => tests::sequence(),
        2 => Just("\x1b[3b".to_owned()),
        2 => select(vec!["\x1b[?2026h", "\x1b[?2026l", "\x1b[?2026;25l"]).prop_map(str::to_owned),
    ]
}

/// Strings and other multi-byte sequences, each with an end of some kind and text after it.
fn strings() -> impl Strategy<Value = String> {
    let begin = select(vec![
        "\x1b]2;", "\x1b]8;;", "\x1bP", "\x1bP1$q", "\x1bP;+", "\x1bX", "\x1b^", "\x1b_", "\x1bk",
        "\x1b ", "\x1b(", "\x1b#",
    ]);
    let end = select(vec!["", "\x07", "\x1b\\", "\x18", "\x1a", "\u{9c}", "\x1b"]);
    (begin, "[a-c0;é\n]{0,3}", end, "[a-d8=]{0,3}")
        .prop_map(|(begin, body, end, text)| format!("{begin}{body}{end}{text}"))
}

/// Sequences that do not end, and strings with everything in them.
fn broken() -> impl Strategy<Value = Vec<u8>> {
    let begun = select(vec![
        "\x1b",
        "\x1b[",
        "\x1b[3",
        "\x1b[38;5;",
        "\x1b[?",
        "\x1b]",
        "\x1b]2;ti",
        "\x1bP",
        "\x1bP1$q",
        "\x1bX",
        "\x1b_",
        "\x1b(",
        "\x1b#",
        "\x07",
        "\x18",
        "\x1a",
        "\x1b\\",
        "\x1b[6n",
    ]);
    let noise = vec(prop_oneof![any::<u8>(), 0x80..=0xffu8, Just(0x9c), Just(0x1b)], 1..6);
    prop_oneof![begun.prop_map(|text| text.as_bytes().to_vec()), noise]
}

fn output() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |text: String| text.into_bytes();
    vec(
        prop_oneof![
            5 => runs().prop_map(bytes),
            3 => looks().prop_map(bytes),
            4 => sequences().prop_map(bytes),
            1 => strings().prop_map(bytes),
            1 => broken(),
        ],
        0..30,
    )
    .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_read_is_drawn_as_the_parser_draws_it(
        size in size(),
        before in output(),
        other in size(),
        after in output(),
        cuts in vec(prop_oneof![1..20usize, Just(usize::MAX)], 1..6),
    ) {
        let (mut both, mut cuts) = (ScreenAndParser::new(size), cuts.into_iter().cycle());
        both.feed(&before, &mut cuts);
        both.check();
        // A row records how much of it is used; that shows only after a resize.
        both.resize(other);
        both.check();
        both.feed(&after, &mut cuts);
        both.check();
        both.settle();
        both.feed(b"\x18ok\x1b[2b", &mut cuts);
        both.check();
    }
}

#[test]
fn a_string_between_two_updates_ends_where_the_second_begins() {
    for cut in [1, 7, usize::MAX] {
        let mut both = ScreenAndParser::new(Size { cols: 10, rows: 2 });
        let output = b"\x1b[?2026ha\x1b[?2026l\x1b]2;8\x1b[?2026hb";
        both.feed(output, &mut [cut].into_iter().cycle());
        both.check();
        assert!(both.screen.is_update_held());
        assert_eq!(both.screen.handler.title, "8");
    }
}

#[test]
fn all_parameters_count_however_many_they_are() {
    for many in [15, 16, 17, 31, 32, 33] {
        let mut both = ScreenAndParser::new(Size { cols: 10, rows: 4 });
        let output = format!("a\x1b[{}31mb\x1b[{}3Hc", "1;".repeat(many), "2;".repeat(many));
        both.feed(output.as_bytes(), &mut [usize::MAX].into_iter().cycle());
        both.check();
    }
}

#[test]
fn no_run_is_too_long() {
    for run in ["─", "é日", "a"] {
        let mut both = ScreenAndParser::new(Size { cols: 7, rows: 3 });
        both.feed(run.repeat(1001).as_bytes(), &mut [usize::MAX].into_iter().cycle());
        both.check();
    }
}

/// Every branch of the fast path, so that one that is never taken is noticed.
#[test]
fn what_is_common_never_reaches_the_parser() {
    let common = "ab ~\r\n日│é\x1b[m\x1b[1;2;3;4;7;9;22;23;24;27;29;39;49m\
        \x1b[31;97;42;101m\x1b[38;5;9;48;2;1;2;3m\
        \x1b[2;3H\x1b[2K\x1b[K\x1b[J\x1b[A\x1b[2B\x1b[C\x1b[3D\x1b[G\x1b[4X\x1b[d";
    let (mut reader, mut handler) =
        (ScreenParser::default(), TermHandler::new(Size { cols: 10, rows: 4 }, 0));
    let mut rest = common.as_bytes();
    while !rest.is_empty() {
        let drawn = reader.draw(&mut handler, rest);
        assert_ne!(drawn, 0, "{:?}", String::from_utf8_lossy(rest));
        rest = &rest[drawn..];
    }
}

#[test]
fn bytes_that_mean_nothing_are_no_change() {
    for output in [&b"\xa0"[..], b"\xa0\x80", b"\xa0\x80\x80", b"\xa0\xc2\x80", b"\x80\xa0"] {
        let (mut whole, mut cut) = (Screen::new(Size::default()), Screen::new(Size::default()));
        whole.feed(output);
        output.iter().for_each(|byte| cut.feed(&[*byte]));
        assert_eq!(whole.revision(), cut.revision(), "{output:?}");
        let shown = output.iter().position(|byte| *byte == 0xa0).unwrap() as u64 + 1;
        assert_eq!(whole.revision(), shown, "{output:?}");
    }
}
