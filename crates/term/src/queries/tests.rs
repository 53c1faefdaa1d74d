//! Output in, what the user's terminal receives out, however the bytes are cut.

use super::*;

#[track_caller]
fn check(printed: &str, responder: QueryResponder, shown: &str) {
    for size in 1..=printed.len().min(40) {
        let mut filter = QueryFilter::default();
        let pieces = printed.as_bytes().chunks(size);
        let left: Vec<u8> = pieces.flat_map(|piece| filter.filter(piece, responder)).collect();
        assert_eq!(String::from_utf8_lossy(&left), shown, "{printed:?} in pieces of {size}");
    }
}

/// Queries about the terminal itself.
const QUESTIONS: &[&str] = &[
    "\x1b[c",
    "\x1b[0c",
    "\x1b[>c",
    "\x1b[=c",
    "\x1bZ",
    "\x1b[>q",
    "\x1b[>0q",
    "\x1b[5n",
    "\x1b[6n",
    "\x1b[?6n",
    "\x1b[?15n",
    "\x1b[?996n",
    "\x1b[x",
    "\x1b[1x",
    "\x1b[11t",
    "\x1b[13t",
    "\x1b[13;2t",
    "\x1b[14t",
    "\x1b[15t",
    "\x1b[16t",
    "\x1b[18t",
    "\x1b[19t",
    "\x1b[4$p",
    "\x1b[?2026$p",
    "\x1b[?u",
    "\x1b[1$w",
    "\x1b[2$w",
    "\x1b[1$u",
    "\x1b[&u",
    "\x1b[?4m",
    "\x1b[?1;1;0S",
    "\x1b[#R",
    "\x1b[#|",
    "\x1b[\"v",
    "\x1b['|",
    "\x1bP$qm\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1bP+Q\x1b\\",
    "\x1b]4;1;?\x07",
    "\x1b]4;1;red;2;?\x07",
    "\x1b]10;?\x1b\\",
    "\x1b]11;?\x07",
    "\x1b]12;?\x07",
    "\x1b]010;?\x07",
    "\x1b]50;?\x07",
    "\x1b]60\x07",
    "\x1b]22;?__current__\x1b\\",
    "\x1b]21;foreground=?\x07",
    "\x1b]99;i=1:p=?;\x1b\\",
    "\x1b]7770;?\x07",
    "\x1b]7501;?\x1b\\",
    "\x1b]7501;?\x07",
    "\x1b]1337;ReportCellSize\x07",
    "\x1b]1337;RequestCapabilities\x07",
    "\x1b]11;?\x1b[m",
    "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
];
/// Queries that a program must never make, and sequences that would do as much.
const NEVER: &[&str] = &[
    "\x05",
    "\x1b[20t",
    "\x1b[21t",
    "\x1b[021t",
    "\x1b[1;1;1;1;1;1*y",
    "\x1b[5i",
    "\x1b[1*z",
    "\x1b]52;c;?\x07",
    "\x1b]52;c;aGVsbG8=\x07",
    "\x1b]052;;?\x1b\\",
    "\x1b]4294967348;c;aGVsbG8=\x07",
    "\x1b]8589934644;c;aGVsbG8=\x07",
    "\x1b] 52;c;aGVsbG8=\x07",
    "\x1b]+52;c;aGVsbG8=\x07",
    "\x1b]5522;type=read\x1b\\",
    "\x1b]5113;ac=send\x1b\\",
    "\x1b]1337;RequestUpload=format=tgz\x07",
    "\x1b]1337;ReportVariable=cGF0aA==\x07",
    "\x1b]1337;CopyToClipboard=\x07",
    "\x1b]1337;Copy=:aGVsbG8=\x07",
    "\x1bP@kitty-cmd{}\x1b\\",
    "\x1bP1000p\x1b\\",
    "\x1bPtmux;\x1b\x1b[6n\x1b\\",
];

#[test]
fn questions_are_taken_out_where_somebody_else_answers() {
    for question in QUESTIONS {
        let left = if question.ends_with("\x1b[m") { "ab\x1b[m" } else { "ab" };
        check(&format!("ab{question}"), QueryResponder::Elsewhere, left);
        check(&format!("ab{question}"), QueryResponder::Terminal, &format!("ab{question}"));
    }
    check("a\x1b[cb\x1b[6nc\x1b[>c\x1b[5nd", QueryResponder::Elsewhere, "abcd");
    check("\x1b[18t\x1b[1;1H", QueryResponder::Elsewhere, "\x1b[1;1H");
}

#[test]
fn what_is_none_of_a_programs_business_is_never_asked() {
    for question in NEVER {
        for responder in [QueryResponder::Elsewhere, QueryResponder::Terminal] {
            check(&format!("a{question}b"), responder, "ab");
        }
    }
    let long = format!("a\x1b]52;c;{}\x07b", "A".repeat(10_000));
    check(&long, QueryResponder::Terminal, "ab");
}

#[test]
fn a_question_is_known_however_it_is_written() {
    check("a\x1b[\x076n", QueryResponder::Elsewhere, "a\x07");
    check("a\x1b[\x056nb\x1b]7;t\x05\x07", QueryResponder::Elsewhere, "ab\x1b]7;t\x07");
    check("a\u{9b}6nb\u{9d}52;c;?\x07c\u{9a}", QueryResponder::Elsewhere, "abc");
    check("a\x1b[3\x1b[6nb\x1b]7;x\x1b[6nc", QueryResponder::Elsewhere, "a\x1b[3b\x1b]7;xc");
    let long = format!("a\x1b]4;{}1;?\x07b", "1;red;".repeat(1000));
    check(&long, QueryResponder::Elsewhere, "ab");
}

#[test]
fn a_picture_is_shown_and_says_nothing_of_it() {
    let answered = "\x1b_Ga=T,i=3,q=1,f=100;AAAA\x1b\\";
    check(answered, QueryResponder::Elsewhere, "\x1b_Gq=2,a=T,i=3,f=100;AAAA\x1b\\");
    check(answered, QueryResponder::Terminal, answered);
    let rest = "A".repeat(10_000);
    let long = format!("\x1b_Ga=T,i=3;{rest}\x1b\\end");
    check(&long, QueryResponder::Elsewhere, &format!("\x1b_Gq=2,a=T,i=3;{rest}\x1b\\end"));
}

#[test]
fn everything_else_stays() {
    let long = format!("\x1b]1337;File=inline=1:{}\x07end", "A".repeat(10_000));
    for text in [
        "plain ünïcödé « » \r\n\x07",
        "\x1b[31mred\x1b[0m\x1b[2J\x1b[?1049h\x1b[>1u\x1b[<1u\x1b[4 q\x1b[>4;2m\x1b[?1h\x1b[1;5r",
        "\x1b]7;file;?\x07\x1b]8;;http://x?a=?\x1b\\link\x1b]8;;\x1b\\\x1b]777;what?\x07\x1b]9;done;?\x07",
        "\x1bPq#0;2;0;0;0\x1b\\\x1b(B\x1b7\x1b8\x1bc\x1b[s\x1b[u\x1b[!p",
        "\x1b[3\x1b[4m\x1b[\x18x\x1b]7;cut\x1b[5mz\x1b]11;#400000\x07\x1b]4;1;red\x07\x1b]7;file://h/x\x07",
        "\x1b]7501;state=blocked:kind=permission:app=x:msg=UnVuPw==\x1b\\",
        "\x1b]133;A\x07\x1b]1337;SetMark\x07\x1b[2S\x1b[3T\x1b[1\"q\x1b[5W\x1b[?1c",
        &long,
    ] {
        check(text, QueryResponder::Elsewhere, text);
        check(text, QueryResponder::Terminal, text);
    }
}

#[test]
fn the_persons_title_is_saved_before_the_first_of_a_program_and_comes_back() {
    let saved = "a\x1b[22;0t\x1b]2;one;?\x07b\x1b]0;two\x1b\\";
    check("a\x1b]2;one;?\x07b\x1b]0;two\x1b\\", QueryResponder::Elsewhere, saved);
    // An empty title means that the program has no title of its own.
    check("\x1b]2;\x07a", QueryResponder::Elsewhere, "a");
    let back = "\x1b[22;0t\x1b]2;one\x07\x1b[23;0tz";
    check("\x1b]2;one\x07\x1b]2;\x1b\\z", QueryResponder::Elsewhere, back);
}

#[test]
fn a_program_has_a_stack_of_titles_of_its_own() {
    let vim = "\x1b[22;2t\x1b]2;vim\x07\x1b[23;2t\x1b[23;2tz";
    check(vim, QueryResponder::Elsewhere, "\x1b[22;0t\x1b]2;vim\x07\x1b[23;0tz");
    let shell = "\x1b]2;sh\x07\x1b[22t\x1b]2;vim\x07\x1b[23t";
    let shown = "\x1b[22;0t\x1b]2;sh\x07\x1b]2;vim\x07\x1b]2;sh\x07";
    check(shell, QueryResponder::Elsewhere, shown);
}

#[test]
fn a_keyboard_is_never_locked() {
    check("a\x1b[2hb\x1b[4h", QueryResponder::Elsewhere, "ab\x1b[4h");
    check("a\x1b[?2lb\x1b[?25l", QueryResponder::Terminal, "ab\x1b[?25l");
}

#[test]
fn what_terminals_may_read_otherwise_never_passes() {
    let long = format!("a\x1b[{}21tb", "0".repeat(5000));
    check(&long, QueryResponder::Terminal, "ab");
    check("a\x1bé[21tb", QueryResponder::Terminal, "ab");
    check("a\x1b[3\u{9b}21tb", QueryResponder::Terminal, "a\x1b[321tb");
    let tmux = format!("a\x1bPtmux;{}\x1b\x1b]52;c;?\x07\x1b\\b", "x".repeat(5000));
    check(&tmux, QueryResponder::Terminal, "ab");
}

/// What passes of a sequence with control characters at a position in it, without the controls.
fn left_with(sequence: &str, at: usize, controls: &str) -> String {
    let printed = format!("{}{controls}{}", &sequence[..at], &sequence[at..]);
    let left = QueryFilter::default().filter(printed.as_bytes(), QueryResponder::Elsewhere);
    let left = String::from_utf8_lossy(&left).into_owned();
    left.chars().filter(|c| !c.is_control()).collect()
}

#[test]
fn controls_inside_a_sequence_never_make_it_pass() {
    let ends = |byte: &u8| matches!(byte, 0x07 | 0x18 | 0x1a | 0x1b);
    let one = (0..0x20).chain([0x7f]).filter(|byte| !ends(byte)).map(char::from);
    let controls: Vec<String> = one.chain(['\u{80}', '\u{9c}']).map(String::from).collect();
    for sequence in QUESTIONS.iter().chain(NEVER).filter(|sequence| 1 < sequence.len()) {
        let is_string = matches!(sequence.as_bytes()[1], b']' | b'P' | b'_' | b'^' | b'X');
        for (at, control) in
            (1..sequence.len()).flat_map(|at| controls.iter().map(move |it| (at, it)))
        {
            // Outside of strings the 8-bit ones end a sequence, in terminals too.
            let is_inside = is_string && 1 < at && !sequence[1..at].contains('\x1b');
            if 1 < control.len() && !is_inside {
                continue;
            }
            let without = left_with(sequence, 0, "");
            for controls in [control.clone(), control.repeat(5000)] {
                let left = left_with(sequence, at, &controls);
                // If a terminator is cut in two, its second half is text.
                let left = left.trim_matches('\\');
                assert_eq!(left, without, "{sequence:?} with {control:?} at {at}");
            }
        }
    }
}
