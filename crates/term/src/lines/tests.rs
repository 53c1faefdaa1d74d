//! Raw lines in, text out; and the property that a line reads as a very wide screen shows it.

use paned_model::Size;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::Screen;

/// The line as text, which cleaning again does not change.
#[track_caller]
fn check(raw: &str, expect: &str) {
    check_bytes(raw.as_bytes(), expect);
}

#[track_caller]
fn check_bytes(raw: &[u8], expect: &str) {
    let line = clean(raw, usize::MAX);
    assert_eq!(line.text, expect, "{:?}", raw.escape_ascii().to_string());
    assert!(!line.cut);
    assert_eq!(clean(expect.as_bytes(), usize::MAX), TextLine { text: expect.into(), cut: false });
}

/// The line cut at five characters, with `…` where it is cut.
#[track_caller]
fn check_cut(raw: &str, expect: &str) {
    let line = clean(raw.as_bytes(), 5);
    let end = if line.cut { "…" } else { "" };
    assert_eq!(format!("{}{end}", line.text), expect, "{raw:?}");
}

#[track_caller]
fn check_split(output: &str, expect: &[&str]) {
    let lines: Vec<_> =
        split(output.as_bytes()).map(|line| str::from_utf8(line).unwrap()).collect();
    assert_eq!(lines, expect);
}

#[test]
fn plain_text_is_not_copied() {
    for raw in ["", "plain text  ", "naïve 日本 e\u{301} \u{a0}", "ends with returns\r\r"] {
        let line = clean(raw.as_bytes(), usize::MAX);
        assert_eq!(line.text, raw.trim_end_matches('\r'));
        assert!(matches!(line.text, Cow::Borrowed(_)), "{raw:?}");
    }
}

#[test]
fn escape_sequences_go() {
    check("\x1b[1;38:5:3mred\x1b[0m and \x1b[4mmore\x1b[m", "red and more");
    check("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb");
    check("a\x1bPq#0;\x07x\x1b\\b\x1b_G\x1b\\c\x1bXs\x18d", "abcd");
    check("\x1bktitle\x1b\\a", "a");
    check("a\x1b(Bb\x1b=c\x1b[?25ld\x1b[>4;1me\x1b[2 qf", "abcdef");
    check("a\x1b[6nb", "ab");
}

#[test]
fn what_is_cut_off_goes_too() {
    check("a\x1b", "a");
    check("a\x1b[3", "a");
    check("a\x1b]0;title", "a");
    check("a\x1b[3\x1b[1mb\x1b\x1b[mc\x1b]x\x1b[md", "abcd");
}

#[test]
fn letters_are_lines_where_a_terminal_draws_them() {
    check("\x1b(0lqqqk\x1b(B box", "┌───┐ box");
    check("\x1b)0x\x0ex\x0fx", "x│x");
    check("\x0elqk", "lqk");
    check("\x1b(0\x0fx\x1b(B name", "│ name");
    check("\x1b(0mq\x1b[3bj\x1b(B", "└────┘");
    check("\x1b(0\x1b7\x1b(Bx\x1b8\x1b[Cx", "x│");
    check("\x1b(0q\x1bcq", "─q");
    check("\x1b(0q\x1b((Bq\x1b(Aq日é", "───日é");
    check("abc\r\x1b(0q\x1b(B", "─bc");
}

/// Two lines, of which the second begins in the character sets that the first has selected.
#[track_caller]
fn check_next(first: &str, second: &str, expect: &str) {
    let sets = Charsets::default().after(format!("{first}\r\n").as_bytes());
    assert_eq!(clean_with_charsets(sets, second.as_bytes(), 80).text, expect, "{first:?}");
}

#[test]
fn what_is_chosen_lasts_beyond_the_line() {
    check_next("\x1b(0lqk", "x x\x1b(Bx", "│ │x");
    check_next("\x1b)0 \x0elqk", "x\x0fx", "│x");
    check_next("\x1b(0lqk\x1b(B", "x x", "x x");
    check_next("\x1b)0", "x\x0ex", "x│");
    check_next("\x1b(0\nq\n\x1b]0;\x1b(B", "x x", "x x");
}

#[test]
fn controls_that_draw_nothing_go() {
    check("a\x07b\0c\x7fd\u{85}e\u{9b}f\x0eg", "abcdefg");
}

#[test]
fn a_progress_bar_shows_what_is_left() {
    check("10%\r 20%\r100%", "100%");
    check("10%\r 5", " 5%");
    check("downloading\r\x1b[Kdone\r", "done");
    check("downloading\r\x1b[2Kdone", "done");
    check("long prompt\x1b[1G\x1b[J$ ls", "$ ls");
    check("passwrod\x08\x08\x08ord", "password");
    check("a\x1b7bc\x1b8d\x1b[s12\x1b[u3", "ad32");
}

#[test]
fn moves_leave_blanks_and_tabs_go_to_eighths() {
    check("a\x1b[3Cb", "a   b");
    check("a\tb\t\tc", "a       b               c");
    check("abcdef\x1b[3Dx\x1b[Ky", "abcxy");
    check("abc\x1b[1G\x1b[99D\x1b[2Cx", "abx");
}

#[test]
fn what_stands_in_other_rows_stands_apart() {
    check("a\x1b[3;4Hb\x1b[2Ac\x0bd\x1bMe", "a b c d e");
    check("one \x1b[H\x1b[5Htwo", "one  two");
    check("one\x1b[2J\x1b[Htwo", "two");
    // The ways in which shells clear their screen.
    for clear in ["\x1b[H\x1b[2J", "\x1b[1;1H\x1b[2J\x1b[3J", "\x1b[H\x1b[J", "\x1b[H\x1b[m\x1b[0J"]
    {
        check(&format!(">>> old{clear}>>> "), ">>> ");
        check(&format!("a\x1b[2b{clear}>>> "), ">>> ");
    }
    check("one\x1b[5;3H\x1b[2Jtwo", "  two");
    check("one\x1b[5;1H\x1b[Jtwo", "one two");
    check("one\x1b[H\x1b[Ktwo", "one two");
    check("> \x1b[24;3Htyped", "> typed");
    check("\x1b[2J\x1b[H\x1b[5;5Htwo\x1b[1H", "two");
    check("abc\x08\x1b[Bd", "abcd");
    check("\x1b[2A\r\x1b[Kfoo", "foo");
    check("a\x1b[?5Hb\x1b[>1Ac", "abc");
}

#[test]
fn characters_are_repeated_and_tabs_counted() {
    check("x\x1b[3by", "xxxxy");
    check("日\x1b[b!", "日日!");
    check("\x1b[3bx", "x");
    check("a\x1b[2Ib\x1b[Zc\x1b[2Zd", "a       d       c");
    check("ab\x1b[9Zc", "cb");
}

#[test]
fn cells_are_erased_deleted_and_inserted() {
    check("abcdef\x1b[3G\x1b[1K", "   def");
    check("abcdef\x1b[2G\x1b[3X", "a   ef");
    check("abcdef\x1b[2G\x1b[2P", "adef");
    check("abcdef\x1b[2G\x1b[2@", "a  bcdef");
    check("abc\x1b[9@\x1b[9P\x1b[9X\x1b[9Cd", "abc         d");
}

#[test]
fn printed_blanks_stay_and_erased_ones_go() {
    check("\x1b[1mname:  \x1b[0m", "name:  ");
    check("name:  \x1b[2D\x1b[K", "name:");
    check("name:\x1b[5C", "name:");
    check("name:x\x08\x1b[X", "name:");
}

#[test]
fn wide_characters_and_marks_keep_their_columns() {
    check("日本語\rab", "ab本語");
    check("日本語\ra", "a 本語");
    check("日本語\x1b[2Gb", " b本語");
    check("e\u{301}x\x08y", "e\u{301}y");
    check("e\u{301}x\r\u{300}a", "ax");
    check("日\u{301}\u{302}x\x08y\u{303}", "日\u{301}\u{302}y\u{303}");
    check("\u{301}a", "a");
    check("e\u{301}o\u{302}\x1b[1D\x08\u{303}", "e\u{301}\u{303}o\u{302}");
}

#[test]
fn broken_characters_are_replaced() {
    check_bytes(b"a\xffb", "a\u{fffd}b");
    check_bytes(b"a\xe6\x97", "a\u{fffd}");
    check_bytes(b"\xe6\x97\x1b[1mb\xc3", "\u{fffd}b\u{fffd}");
    check_bytes(b"caf\xe9\rC", "Caf\u{fffd}");
}

#[test]
fn long_lines_are_cut_between_characters() {
    check_cut("12345", "12345");
    check_cut("123456", "12345…");
    check_cut("日本語日本", "日本語日本");
    check_cut("日本語日本語", "日本語日本…");
    check_cut("\x1b[1m123456", "12345…");
    check_cut("123456\r\x1b[Kabc", "abc");
    check_cut("\x1b[99Cx\r\x1b[Kabc", "abc");
    check_cut("\x1b[99Cx\rabc", "abc  …");
    check_cut("日本語日本語\r\x1b[99P", "");
}

#[test]
fn what_was_pushed_too_far_and_pulled_back_is_missed() {
    // Long enough that 5000 columns are kept when all of them are requested.
    let raw = format!("{}abc\r\x1b[5000@\x1b[5000P\x1b[3C\x1b[K", "\x1b[m".repeat(300));
    assert_eq!(clean(raw.as_bytes(), usize::MAX), TextLine { text: "abc".into(), cut: false });
    assert!(clean(raw.as_bytes(), 10).cut);
    // Nothing of it is left.
    check_cut(&format!("{raw}\x1b[2K\rxyz"), "xyz");
}

#[test]
fn a_line_costs_no_more_than_its_length_allows() {
    let long = "x".repeat(1 << 15);
    let attacks =
        ["\x1b[65535@", "\x1b[P", "\x1b[1K", "\x1b[65535Cx\r\x1b[K", "\x1b[999Cx", "\r\x1b[65535b"];
    for attack in attacks {
        let line = clean(format!("{long}\r{}", attack.repeat(1 << 13)).as_bytes(), usize::MAX)
            .text
            .into_owned();
        assert!(line.len() < 1 << 20, "{attack:?}");
    }
}

#[test]
fn output_is_split_at_line_feeds() {
    check_split("", &[]);
    check_split("a\nb", &["a", "b"]);
    check_split("a\r\n\nb\n", &["a\r", "", "b"]);
    check_split("\n", &[""]);
}

/// Lines of text, moves and edits within a thousand columns.
fn any_line() -> impl Strategy<Value = String> {
    let text =
        select(vec!["a", "bc ", "  ", "日", "本語", "e\u{301}", "\u{302}", "👩\u{200d}", "ß"]);
    let control = select(vec!["\r", "\x08", "\t", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[1;31m"]);
    let choice = select(vec!["\x0e", "\x0f", "\x1b(0", "\x1b(B", "\x1b)0", "\x1b)B"]);
    let edit = (1..9, select(vec!["C", "D", "G", "P", "@", "X", "I", "Z", "b"]));
    let edit = edit.prop_map(|(count, last)| format!("\x1b[{count}{last}"));
    let step = prop_oneof![3 => text.prop_map(str::to_owned), 1 => control.prop_map(str::to_owned), 1 => edit, 1 => choice.prop_map(str::to_owned)];
    prop::collection::vec(step, 0..60).prop_map(|steps| steps.concat())
}

/// Bytes of which many are made to be expensive, or to exceed what is kept.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let odd = select(vec![
        &b"\xc3"[..],
        b"\xa9",
        b"\xe6\x97",
        b"\xf0\x9f",
        b"\xff",
        b"\x1b",
        b"\x1b[",
        b"3",
        b";",
        b"?",
        b"m",
        b"\x1b]0;t",
        b"\x07",
        b"\x1b\\",
        b"\x1bPq",
        b"\x18",
        b"\x1b(",
        b"\x1b)0",
        b"0",
        b"lqk",
        b"\x0e",
        b"\x0f",
        b"\x1bc",
        b"\0",
        b"\x1b[65535G",
        b"\x1b[9999C",
        b"\x1b[2000@",
        b"\x1b[1K",
        b"\x1b[2K",
        b"\x1b7",
        b"\x1b8",
        b"\x1b[H",
        b"\x1b[J",
        b"\x1b[2J",
        b"\x1b[2;4H",
        b"\x1b[5A",
        b"\x1b[60000b",
        b"\x1b[3b",
        b"\x1b[Z",
    ]);
    let odd = odd.prop_map(<[u8]>::to_vec);
    let marks = (1_usize..3000).prop_map(|count| "\u{301}".repeat(count).into_bytes());
    let text = (1_usize..3000).prop_map(|count| "x日".repeat(count).into_bytes());
    let line = any_line().prop_map(String::into_bytes);
    let part = prop_oneof![20 => odd, 4 => line, 1 => marks, 2 => text];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

#[test]
fn pieces_are_cut_anywhere() {
    for raw in [
        "caf\u{e9} 日本語 👩",
        "\x1b[31mred\x1b[0m",
        "10%\r20%\x1b[K\r30%",
        "abcd\x08\x08XY",
        "\x1b]0;title\x1b\\a\x1b]0;b\x07c",
        "a\x1b(Bb\x1b[?25lc\x1b[12;3Dd",
        "\x1b(0lq\x1b(B\x1b)0\x0eqk\x0f\x0e\x1bcq",
    ] {
        let expect = clean(raw.as_bytes(), usize::MAX);
        for at in 0..=raw.len() {
            let (left, right) = raw.as_bytes().split_at(at);
            let mut incremental = IncrementalLine::new(usize::MAX);
            incremental.feed(left);
            assert_eq!(incremental.line(), clean(left, usize::MAX), "{raw:?} up to {at}");
            incremental.feed(right);
            assert_eq!(incremental.finish(), expect, "{raw:?} at {at}");
        }
    }
}

#[test]
fn however_long_a_line_is_its_drawing_stays_small() {
    let mut incremental = IncrementalLine::new(1 << 16);
    for number in 0..20_000 {
        incremental
            .feed(format!("\r{}e\u{301}\x1b[31m{number}%", "#".repeat(number % 90)).as_bytes());
    }
    let line = incremental.line();
    assert!(!line.cut && line.text.starts_with("###") && line.text.contains("19999%"), "{line:?}");
    incremental.feed(&b"x".repeat(1 << 18));
    let line = incremental.line();
    assert!(line.cut);
    assert_eq!(line.text.chars().count(), 1 << 16);
    incremental.feed(b"\r\x1b[KREADY");
    assert_eq!(incremental.finish(), TextLine { text: "READY".into(), cut: false });
}

#[test]
fn marks_are_kept_up_to_a_bound() {
    let mut incremental = IncrementalLine::new(10);
    for _ in 0..1000 {
        incremental.feed("e".as_bytes());
        incremental.feed("\u{301}".repeat(1000).as_bytes());
        incremental.feed(b"\r");
    }
    // Marks of an overwritten cell are freed soon.
    incremental.feed("o\u{302}x".as_bytes());
    assert_eq!(incremental.line(), TextLine { text: "o\u{302}x".into(), cut: false });
    incremental.feed("\u{301}".repeat(1 << 20).as_bytes());
    assert!(incremental.line().cut);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_drawing_reads_as_all_pieces_in_one(
        raw in any_bytes(),
        cuts in prop::collection::vec(0_usize..100_000, 0..6),
        max_chars in select(vec![0, 5, 40, 3000, 1 << 16, usize::MAX]),
        chosen in select(vec![&b""[..], b"\x1b(0", b"\x1b)0\x0e", b"\x1b)0"]),
    ) {
        let sets = Charsets::default().after(chosen);
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % (raw.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut incremental, mut from) = (IncrementalLine::with_charsets(sets, max_chars), 0);
        for cut in cuts {
            incremental.feed(&raw[from..cut]);
            prop_assert_eq!(incremental.line(), clean_with_charsets(sets, &raw[..cut], max_chars));
            from = cut;
        }
        incremental.feed(&raw[from..]);
        prop_assert_eq!(incremental.finish(), clean_with_charsets(sets, &raw, max_chars));
    }

    #[test]
    fn lines_begin_in_the_sets_that_those_before_them_leave(
        lines in prop::collection::vec(any_line(), 0..6),
        cut in 0_usize..6,
    ) {
        let (before, after) = lines.split_at(cut.min(lines.len()));
        let [before, after] = [before, after].map(|lines| lines.iter().map(|line| format!("{line}\n")).collect::<String>());
        let in_two = Charsets::default().after(before.as_bytes()).after(after.as_bytes());
        prop_assert_eq!(in_two, Charsets::default().after((before + &after).as_bytes()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_line_reads_as_a_wide_screen_shows_it(raw in any_line()) {
        let mut screen = Screen::new(Size { cols: 1000, rows: 3 });
        screen.feed(raw.as_bytes());
        let line = clean(raw.as_bytes(), usize::MAX);
        prop_assert_eq!(line.text.trim_end_matches(' '), &screen.view().rows[0]);
        prop_assert!(!line.cut);
    }

    #[test]
    fn cutting_keeps_the_beginning(raw in any_line(), max_chars in 0_usize..40) {
        let whole = clean(raw.as_bytes(), usize::MAX).text;
        let cut = clean(raw.as_bytes(), max_chars);
        let expect: String = whole.chars().take(max_chars).collect();
        prop_assert_eq!(cut.cut, expect.len() < whole.len());
        prop_assert_eq!(cut.text, expect);
    }

    #[test]
    fn noise_becomes_clean_text(raw: Vec<u8>, max_chars in 0_usize..40) {
        let line = clean(&raw, max_chars);
        prop_assert!(line.text.chars().count() <= max_chars);
        prop_assert!(!line.text.contains(char::is_control));
        prop_assert_eq!(clean(line.text.as_bytes(), max_chars).text, line.text.as_ref());
    }

    #[test]
    fn split_lines_joined_are_the_output(output in "[ab\n]{0,20}") {
        let lines: Vec<_> = split(output.as_bytes()).collect();
        let joined = lines.join(&b'\n');
        prop_assert_eq!(joined, output.strip_suffix('\n').unwrap_or(&output).as_bytes());
    }
}
