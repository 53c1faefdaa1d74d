//! Output in, events out, however the bytes are cut.

use proptest::prelude::*;

use super::*;

fn read(scanner: &mut OutputScanner, bytes: &[u8]) -> Vec<ScanEvent> {
    let mut found = Vec::new();
    scanner.feed(bytes, |event| found.push(event));
    found
}

/// Scans the output whole and byte by byte; events are written `b` (bell), `q` (query) and
/// `<title>`.
#[track_caller]
fn check(output: &str, expect: &str) {
    let whole = read(&mut OutputScanner::new(), output.as_bytes());
    let mut scanner = OutputScanner::new();
    let cut: Vec<_> = output.bytes().flat_map(|byte| read(&mut scanner, &[byte])).collect();
    assert_eq!(whole, cut);
    let words: String = whole.into_iter().map(word).collect();
    assert_eq!(words, expect, "{output:?}");
}

fn word(event: ScanEvent) -> String {
    match event {
        ScanEvent::Title(title) => format!("<{title}>"),
        ScanEvent::Bell => "b".into(),
        ScanEvent::Query => "q".into(),
    }
}

/// The preamble after this output, with `^` for ESC.
#[track_caller]
fn check_modes(output: &str, expect: &str) {
    let mut scanner = OutputScanner::new();
    scanner.feed(output.as_bytes(), |_| ());
    let preamble = String::from_utf8(scanner.preamble()).unwrap();
    assert_eq!(preamble.replace('\x1b', "^"), expect, "{output:?}");
}

#[test]
fn a_bell_rings_in_text_and_ends_a_title() {
    check("a\x07b\x07", "bb");
    check("\x1b]0;name\x07\x07", "<name>b");
}

#[test]
fn titles_end_with_bel_or_st_and_lose_controls() {
    check("\x1b]2;né\x01 x\x1b\\", "<né x>");
    check("\x1b]0;\x07", "<>");
    check("\x1b]1;icon\x07\x1b]22;x\x07\x1b]20;x\x07", "");
}

#[test]
fn a_long_title_is_cut_and_an_endless_one_given_up() {
    check(&format!("\x1b]2;{}\x07", "x".repeat(300)), &format!("<{}>", "x".repeat(256)));
    check(&format!("\x1b]2;{}\x07\x07", "x".repeat(5000)), "b");
}

#[test]
fn cancelled_and_interrupted_sequences_say_nothing() {
    check("\x1b]2;no\x18\x07\x1b]2;no\x1a\x07", "bb");
    check("\x1b]2;no\x1b[c\x07", "qb");
    check("\x1b[5\x1b[6n\x1b[5\x18n", "q");
}

#[test]
fn controls_inside_a_sequence_act_and_do_not_end_it() {
    check("\x1b[\x076n\x1b\x07[5\x00n", "bqbq");
    check("\x1b[3\x07\x18\x1b]\x010;x\x07", "b<x>");
    check_setup("\x1b)0\x1b[\x0e1m", "^)0^[1m\x0e");
}

#[test]
fn other_strings_are_skipped_with_their_bells() {
    check("\x1bP1;2q\x07\x1b\\\x1b_a\x07\x1b\\\x1b^\x07\x1b\\\x1bX\x07\x1b\\.\x07", "b");
    check(&format!("\x1bPq{}\x1b\\\x07", "\x07".repeat(9000)), "b");
    check("\x1bktitle\x07\x1b\\\x07", "b");
}

#[test]
fn questions_are_found() {
    for query in
        ["[c", "[0c", "[>c", "[>q", "[>0q", "[5n", "[6n", "[?6n", "[?996n", "[?2026$p", "[4$p"]
    {
        check(&format!("\x1b{query}"), "q");
    }
    for query in [
        "[?u",
        "]4;1;?\x07",
        "]10;?\x1b\\",
        "]11;?\x07",
        "]7501;?\x1b\\",
        "P$qm\x1b\\",
        "P+q544e\x1b\\",
        "Z",
    ] {
        check(&format!("\x1b{query}"), "q");
    }
}

#[test]
fn answers_and_orders_are_no_questions() {
    for other in
        ["[?6c", "[0n", "[1;1R", "[4q", "[ q", "[u", "[>1u", "[!p", "]11;#fff\x07", "]52;c;?\x07"]
    {
        check(&format!("\x1b{other}"), "");
    }
}

#[test]
fn the_preamble_tells_what_is_switched() {
    check_modes("\x1b[?1049;25l\x1b[?2004;1;2026h", "^[?25l^[?2004h^[?1h");
    check_modes("\x1b[?1h\x1b[?1049h\x1b=\x1b[4h", "^[?1049h^[?1h^[4h^=");
    check_modes("\x1b[?5h\x1b[!p", "^[?5h");
    check_modes("\x1b[?7l\x1b[?7h\x1b=\x1b>\x1b[4h\x1b[4l", "");
}

/// The setup for a fresh terminal after this output, with `^` for ESC.
#[track_caller]
fn check_setup(output: &str, expect: &str) {
    let mut scanner = OutputScanner::new();
    scanner.feed(output.as_bytes(), |_| ());
    let setup = String::from_utf8(scanner.setup()).unwrap();
    assert_eq!(setup.replace('\x1b', "^"), expect, "{output:?}");
    let mut again = OutputScanner::new();
    again.feed(setup.as_bytes(), |_| ());
    assert_eq!(again.setup(), scanner.setup(), "{output:?}");
}

#[test]
fn the_setup_tells_title_region_shape_and_look() {
    check_setup("\x1b]0;My Title\x07", "^]2;My Title^\\");
    check_setup("\x1b[5;10r\x1b[4 q\x1b[31m\x1b[?25l", "^[?25l^[5;10r^[4 q^[31m");
    check_setup("\x1b[5;10r\x1b[r\x1b[4 q\x1b[0 q\x1b[31m\x1b[0m", "");
    check_setup("\x1b[5;10r\x1b[9;3r", "^[5;10r");
    check_setup("\x1b)0\x0elqqk", "^)0\x0e");
    check_setup("\x1b(0lqqk\x1b(B", "");
    check_setup("\x1b]2;a\x07\x1b[22;0t\x1b]2;b\x07", "^]2;a^\\^[22t^]2;b^\\");
    check_setup("\x1b]2;a\x07\x1b[22;0t\x1b]2;b\x07\x1b[23;0t", "^]2;a^\\");
    check("\x1b]2;a\x07\x1b[22t\x1b]2;b\x07\x1b[23t\x1b[23t", "<a><b><a>");
    check_setup("\x1b]2;a\x07\x1b[31m\x1b[2;3r\x1b(0\x1bc", "");
}

#[test]
fn looks_add_up_until_they_are_taken_off() {
    check_setup("\x1b[1m\x1b[38;5;9m\x1b[4:3m\x1b[48;2;1;2;3m", "^[1;4:3;38;5;9;48;2;1;2;3m");
    check_setup("\x1b[1;2;3;4;7;9m\x1b[22;23;24;27m", "^[9m");
    check_setup("\x1b[31;0;32m", "^[32m");
    check_setup("\x1b[31m\x1b[0;4m", "^[4m");
    check_setup("\x1b[58:2::1:2:3;91m\x1b[39m", "^[58;2;1;2;3m");
    check_setup("\x1b[38:2:1:2:3;48:5:7;4:0m", "^[38;2;1;2;3;48;5;7m");
    check_setup("\x1b[38;5;1;1m\x1b[21;5m", "^[1;5;4:2;38;5;1m");
    check_setup("\x1b[>4;2m\x1b[?4m", "");
    let many: String = (0..500).map(|n| format!("\x1b[38;5;{}m\x1b[1m", n % 256)).collect();
    check_setup(&many, "^[1;38;5;243m");
}

#[test]
fn each_screen_has_a_look_of_its_own() {
    check_setup("\x1b[31m\x1b[?1049h", "^[?1049h^[31m");
    check_setup("\x1b[31m\x1b[?1049h\x1b[0;1m\x1b[?1049l", "^[31m");
    check_setup("\x1b[31m\x1b7\x1b[0m\x1b8", "^[31m");
}

#[test]
fn a_size_makes_all_rows_scroll() {
    let mut scanner = OutputScanner::new();
    scanner.feed(b"\x1b[5;10r\x1b[31m", |_| ());
    scanner.resized();
    assert_eq!(scanner.setup(), b"\x1b[31m");
}

#[test]
fn updates_are_counted_while_they_last() {
    let mut scanner = OutputScanner::new();
    let mut after = |output: &str| {
        scanner.feed(output.as_bytes(), |_| ());
        scanner.open_update()
    };
    assert_eq!(after("text"), None);
    assert_eq!(after("\x1b[?2026h"), Some(1));
    assert_eq!(after("\x1b[?2026htext"), Some(1), "a part of the first");
    assert_eq!(after("\x1b[?2026l\x1b[?25;2026h"), Some(2));
    assert_eq!(after("\x1b[?2026l"), None);
    assert_eq!(after("\x1b[?2026h"), Some(3));
    scanner.abandon_update();
    assert_eq!(scanner.open_update(), None);
    scanner.feed(b"\x1b[?2026h", |_| ());
    assert_eq!(scanner.open_update(), Some(4), "the one before was given up");
}

#[test]
fn the_last_mouse_mode_wins() {
    check_modes("\x1b[?1003h\x1b[?1000h\x1b[?1005h\x1b[?1006h", "^[?1000h^[?1006h");
    check_modes("\x1b[?47h\x1b[?1049l", "");
}

#[test]
fn keyboard_modes_belong_to_their_screen() {
    check_modes("\x1b[>1u\x1b[?1049h\x1b[>5u\x1b[=2;2u", "^[>1u^[?1049h^[>7u");
    check_modes("\x1b[>1u\x1b[>3u\x1b[<u", "^[>1u");
}

#[test]
fn resets_reset() {
    check_modes("\x1b[?1h\x1b[?2004h\x1b=\x1bc", "");
    check_modes("\x1b[?1;25l\x1b[?1;2004h\x1b=\x1b[4h\x1b[!p", "^[?2004h");
}

#[test]
fn a_string_that_is_skipped_goes_on_being_skipped_elsewhere() {
    check_modes(&format!("\x1bPq{}", "x".repeat(5000)), "^X");
    check_modes(&format!("\x1b]52;{}", "x".repeat(5000)), "^]99999;");
}

/// Output made of pieces that matter, pieces that nearly do, and noise.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => proptest::sample::select(PIECES.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => proptest::collection::vec(any::<u8>(), 0..6),
        1 => (0..6000usize).prop_map(|count| vec![b'x'; count]),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

const PIECES: [&str; 26] = [
    "text",
    "\x07",
    "\x1b",
    "\x1b[",
    "\x1b]",
    "\x1b]0;",
    "\x1b]2;t\x07",
    "\x1b\\",
    "\x1bP",
    "\x1bP$q",
    "\x1bX",
    "\x18",
    "\x1a",
    "?",
    ">",
    "6n",
    "1049",
    ";",
    "h",
    "l",
    "c",
    "u",
    "\x1b[?1h",
    "\x1b[?1049h",
    "\x1b[31m",
    "é",
];

proptest! {
    #[test]
    fn cutting_differently_changes_nothing(
        output in output(),
        cuts in proptest::collection::vec(1..50usize, 1..9),
    ) {
        let mut whole = OutputScanner::new();
        let expect = read(&mut whole, &output);
        let (mut scanner, mut found, mut rest) = (OutputScanner::new(), Vec::new(), &output[..]);
        for cut in cuts.iter().cycle() {
            let (head, tail) = rest.split_at(rest.len().min(*cut));
            found.extend(read(&mut scanner, head));
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(found, expect);
        prop_assert_eq!(scanner.preamble(), whole.preamble());
        prop_assert_eq!(scanner.setup(), whole.setup());
        prop_assert_eq!(scanner.pending(), whole.pending());
    }

    #[test]
    fn a_fresh_reader_goes_on_from_the_pending_bytes(before in output(), after in output()) {
        let mut scanner = OutputScanner::new();
        scanner.feed(&before, |_| ());
        prop_assert!(scanner.pending() <= MAX_SEQUENCE);
        let mut fresh = OutputScanner::new();
        prop_assert_eq!(read(&mut fresh, &scanner.preamble()), []);
        let mut set_up = OutputScanner::new();
        set_up.feed(&scanner.setup(), |_| ());
        prop_assert_eq!(set_up.setup(), scanner.setup());
        prop_assert_eq!(read(&mut fresh, &before[before.len() - scanner.pending()..]), []);
        prop_assert_eq!(read(&mut fresh, &after), read(&mut scanner, &after));
    }
}
