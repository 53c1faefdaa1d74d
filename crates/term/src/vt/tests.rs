//! Output in, tokens out, however it is cut.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const DIALECTS: [VtDialect; 2] = [VtDialect::Screen, VtDialect::AnyTerminal];

/// A token's kind, what it is without skipped bytes, and its bytes. Runs of one kind are joined, as
/// their cuts are those of the input.
type OwnedToken = (String, Vec<u8>, Vec<u8>);

fn tokens(dialect: VtDialect, pieces: &[&[u8]]) -> Vec<OwnedToken> {
    let mut tokenizer = VtTokenizer::new(dialect);
    let mut found: Vec<OwnedToken> = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        while let Some(token) = tokenizer.next(&mut rest) {
            let (kind, plain, raw) = owned(token);
            let joins = matches!(kind.as_str(), "text" | "body" | "overlong");
            match found.last_mut().filter(|last| joins && last.0 == kind) {
                Some(last) => last.2.extend(raw),
                None => found.push((kind, plain, raw)),
            }
        }
    }
    found
}

fn owned(token: VtToken<'_>) -> OwnedToken {
    let (kind, plain) = match token {
        VtToken::Text(_) => ("text".into(), &[][..]),
        VtToken::Escape(sequence) => ("escape".into(), sequence.plain),
        VtToken::Csi(csi) => ("csi".into(), csi.sequence().plain),
        VtToken::Incomplete(sequence) => ("incomplete".into(), sequence.plain),
        VtToken::Overlong(_) => ("overlong".into(), &[][..]),
        VtToken::StringStart(kind, _) => (format!("{kind:?}"), &[][..]),
        VtToken::StringBody(_) => ("body".into(), &[][..]),
        VtToken::StringEnd(end) => (format!("{end:?}"), &[][..]),
    };
    (kind, plain.to_vec(), token.raw().to_vec())
}

/// The tokens of some output as words: kind and bytes, the plain ones for sequences.
#[track_caller]
fn check(dialect: VtDialect, output: &[u8], expect: &[(&str, &[u8])]) {
    let found = tokens(dialect, &[output]);
    let found: Vec<(&str, &[u8])> = found
        .iter()
        .map(|(kind, plain, raw)| {
            let is_sequence = matches!(kind.as_str(), "escape" | "csi" | "incomplete");
            (kind.as_str(), if is_sequence { &plain[..] } else { &raw[..] })
        })
        .collect();
    assert_eq!(found, expect, "{:?}", output.escape_ascii().to_string());
}

#[test]
fn text_sequences_and_strings_are_told_apart() {
    for dialect in DIALECTS {
        check(
            dialect,
            b"a\r\n\x1b[1;31mb\x1b(0\x1b7",
            &[
                ("text", b"a\r\n"),
                ("csi", b"\x1b[1;31m"),
                ("text", b"b"),
                ("escape", b"\x1b(0"),
                ("escape", b"\x1b7"),
            ],
        );
        check(
            dialect,
            b"\x1b]0;t\x07\x1bPq\x07#\x1b\\\x1b_G\x18\x1bXs\x1b[m",
            &[
                ("Osc", b"\x1b]"),
                ("body", b"0;t"),
                ("Bel", b"\x07"),
                ("Dcs", b"\x1bP"),
                ("body", b"q\x07#"),
                ("St", b"\x1b\\"),
                ("Apc", b"\x1b_"),
                ("body", b"G"),
                ("Can", b"\x18"),
                ("Sos", b"\x1bX"),
                ("body", b"s"),
                ("Cut", b""),
                ("csi", b"\x1b[m"),
            ],
        );
    }
}

#[test]
fn a_sequence_is_cut_off_cancelled_or_goes_on_after_controls() {
    for dialect in DIALECTS {
        check(
            dialect,
            b"\x1b[3\x1b\x1b[m",
            &[("incomplete", b"\x1b[3"), ("incomplete", b"\x1b"), ("csi", b"\x1b[m")],
        );
        check(
            dialect,
            b"\x1b[3\x18x\x1b(\x1ay",
            &[
                ("incomplete", b"\x1b[3\x18"),
                ("text", b"x"),
                ("incomplete", b"\x1b(\x1a"),
                ("text", b"y"),
            ],
        );
        check(
            dialect,
            b"\x1b\x07[\x006\x7f\xff\r\nn\x1b\0c",
            &[("csi", b"\x1b[6n"), ("escape", b"\x1bc")],
        );
    }
    let mut bytes = &b"\x1b[\x073\r\x7fn"[..];
    let mut tokenizer = VtTokenizer::default();
    let Some(VtToken::Csi(csi)) = tokenizer.next(&mut bytes) else { panic!("no sequence") };
    assert_eq!(csi.sequence().controls().collect::<Vec<_>>(), b"\x07\r");
}

#[test]
fn what_terminals_differ_in_is_a_matter_of_the_dialect() {
    let c1 = "a\u{9b}6nÂ«\u{9d}52\u{9c}\x07\u{85}".as_bytes();
    check(VtDialect::Screen, c1, &[("text", c1)]);
    check(
        VtDialect::AnyTerminal,
        c1,
        &[
            ("text", b"a"),
            ("csi", b"\x1b[6n"),
            ("text", "Â«".as_bytes()),
            ("Osc", b"\xc2\x9d"),
            ("body", b"52\xc2\x9c"),
            ("Bel", b"\x07"),
            ("escape", b"\x1bE"),
        ],
    );
    let title = b"\x1bkt\x1b\\";
    check(VtDialect::Screen, title, &[("Title", b"\x1bk"), ("body", b"t"), ("St", b"\x1b\\")]);
    check(
        VtDialect::AnyTerminal,
        title,
        &[("escape", b"\x1bk"), ("text", b"t"), ("escape", b"\x1b\\")],
    );
    check(
        VtDialect::AnyTerminal,
        b"\x1bPt\0mux;\x1b\x1b[6n\x1b\\",
        &[("Dcs", b"\x1bP"), ("body", b"t\0mux;\x1b\x1b[6n"), ("St", b"\x1b\\")],
    );
    check(
        VtDialect::AnyTerminal,
        b"\x1bPtmux\x1b\x1b[6n",
        &[
            ("Dcs", b"\x1bP"),
            ("body", b"tmux"),
            ("Cut", b""),
            ("incomplete", b"\x1b"),
            ("csi", b"\x1b[6n"),
        ],
    );
}

#[test]
fn a_sequence_that_is_too_long_is_no_text_either() {
    let long = [b"a\x1b[", &b"0".repeat(5000)[..], b"21tb"].concat();
    for dialect in DIALECTS {
        check(dialect, &long, &[("text", b"a"), ("overlong", &long[1..5006]), ("text", b"b")]);
        let longest = [b"\x1b[", &b"0".repeat(MAX_SEQUENCE - 3)[..], b"m"].concat();
        check(dialect, &longest, &[("csi", &longest)]);
        let late = [b"\x1b", &b"\0".repeat(5000)[..], b"]52"].concat();
        let expect: [(&str, &[u8]); 3] =
            [("overlong", &late[..5001]), ("Osc", b"]"), ("body", b"52")];
        check(dialect, &late, &expect);
        let bells = [b"\x1b[", &b"\x07".repeat(5000)[..], b"6n"].concat();
        check(dialect, &bells, &[("overlong", &bells[..5003]), ("csi", b"\x1b[6n")]);
    }
}

#[track_caller]
fn check_csi(sequence: &str, prefix: u8, numbers: &[Option<u32>], intermediate: u8, last: u8) {
    let mut bytes = sequence.as_bytes();
    let mut tokenizer = VtTokenizer::default();
    let Some(VtToken::Csi(csi)) = tokenizer.next(&mut bytes) else { panic!("no sequence") };
    assert!(csi.is(prefix, intermediate, last), "{csi:?}");
    assert_eq!(csi.numbers().collect::<Vec<_>>(), numbers);
    assert!(csi.is_well_formed());
}

#[test]
fn the_fields_of_a_control_sequence_are_parsed() {
    check_csi("\x1b[m", 0, &[None], 0, b'm');
    check_csi("\x1b[?25;1049h", b'?', &[Some(25), Some(1049)], 0, b'h');
    check_csi("\x1b[;4:3 q", 0, &[None, Some(4)], b' ', b'q');
    check_csi("\x1b[>99999999999\x07$\x00p", b'>', &[Some(u32::MAX)], b'$', b'p');
    for odd in ["\x1b[1?m", "\x1b[ !p", "\x1b[ 1q"] {
        let mut bytes = odd.as_bytes();
        let mut tokenizer = VtTokenizer::default();
        let Some(VtToken::Csi(csi)) = tokenizer.next(&mut bytes) else { panic!("no sequence") };
        assert!(!csi.is_well_formed(), "{odd:?}");
    }
}

#[test]
fn a_string_is_kept_without_what_terminals_skip() {
    let mut buffer = StringBuffer::default();
    buffer.start(StringKind::Osc);
    assert_eq!(buffer.push(b"5\x012;\x7f\xc2"), b"");
    assert_eq!(buffer.push("\u{9c}é\u{9b}".as_bytes().strip_prefix(b"\xc2").unwrap()), b"");
    assert_eq!(buffer.whole_string(), Some((StringKind::Osc, "52;é".as_bytes())));
    assert_eq!(buffer.push(&[b'x'; 5000]).len(), 5000 - (MAX_SEQUENCE - 5));
    assert!(buffer.is_overlong() && buffer.whole_string().is_none());
    buffer.start(StringKind::Dcs);
    assert_eq!(buffer.push(&[b'x'; MAX_SEQUENCE]), b"");
    assert!(!buffer.is_overlong());
}

/// Output made of what the grammar tells apart, and noise.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let part = select(vec![
        &b"text"[..],
        "日é«".as_bytes(),
        b"\x1b",
        b"\x1b[",
        b"\x1b]",
        b"\x1bPtmux;",
        b"\x1bk",
        b"\x1b(",
        b"\x1b\\",
        b"\x1b\x1b",
        b"\xc2",
        b"\x9b",
        b"\xc2\x9d",
        b"\xc2\x9c",
        b"1;2",
        b"?",
        b"m",
        b" ",
        b"\x07",
        b"\0",
        b"\x18",
        b"\x1a",
        b"\x7f",
        b"\x1b[31m",
    ]);
    let part = prop_oneof![
        12 => part.prop_map(<[u8]>::to_vec),
        2 => proptest::collection::vec(any::<u8>(), 0..6),
        1 => (0..9000_usize, select(b"0\0x".to_vec())).prop_map(|(count, byte)| vec![byte; count]),
    ];
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn the_tokens_are_the_input_however_it_is_cut(
        output in output(),
        cuts in proptest::collection::vec(0..100_000_usize, 0..9),
        dialect in select(DIALECTS.to_vec()),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (output.len() + 1)).collect();
        cuts.extend([0, output.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &output[cut[0]..cut[1]]).collect();
        let whole = tokens(dialect, &[&output]);
        prop_assert_eq!(&tokens(dialect, &pieces), &whole);
        let single: Vec<&[u8]> = output.chunks(1).collect();
        prop_assert_eq!(&tokens(dialect, &single), &whole);
        let mut tokenizer = VtTokenizer::new(dialect);
        let mut rest = &output[..];
        let mut raw = Vec::new();
        while let Some(token) = tokenizer.next(&mut rest) {
            raw.extend_from_slice(token.raw());
        }
        prop_assert!(tokenizer.held() <= MAX_SEQUENCE);
        raw.extend_from_slice(&output[output.len() - tokenizer.held()..]);
        prop_assert_eq!(raw, output);
    }

    #[test]
    fn the_tokenizer_and_the_states_of_single_bytes_agree(output in output()) {
        let mut tokenizer = VtTokenizer::new(VtDialect::AnyTerminal);
        let mut state = VtState::Ground;
        // Without what only some terminals know.
        for byte in output.into_iter().filter(|byte| byte.is_ascii() && *byte != b';') {
            let mut rest = &[byte][..];
            while tokenizer.next(&mut rest).is_some() {}
            state = state.after(byte);
            prop_assert_eq!(tokenizer.state(), state);
        }
    }
}
