//! The laws of reading: however often one asks, with a cursor, nothing is lost and nothing is
//! garbled.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;

use super::super::lines::tests::BLOCK;
use super::super::lines::tests::MemoryOutput;
use super::super::lines::tests::OutputWithHole;
use super::*;
use crate::panes::search::pattern::pattern;

fn ask(start: ReadStart) -> ReadRequest {
    ReadRequest { start, limit: 1000, pattern: None, before: 0, after: 0 }
}

/// Reads from an output that goes on.
fn read(output: &dyn Output, ask: &ReadRequest) -> io::Result<LinesRead> {
    super::read(output, OutputText::new(output).end(false)?, ask)
}

/// An ask with a pattern and its context.
fn matching(start: ReadStart, text: &str, before: usize, after: usize) -> ReadRequest {
    let pattern = Some(pattern("pattern", text, false).unwrap());
    ReadRequest { pattern: pattern.map(Into::into), before, after, ..ask(start) }
}

/// Lines as `n:text`, with `+` for one that is continued, `|` for one that is open, `^` for one
/// without its beginning, and `-` in place of `:` for context.
fn shown(read: &LinesRead) -> Vec<String> {
    let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
    let show = |line: &OutputLine| {
        let colon = if line.matches == Some(false) { "-" } else { ":" };
        let (head, more) = (mark(line.truncated_start, "^"), mark(line.continued, "+"));
        format!("{}{colon}{head}{more}{}{}", line.n, line.text, mark(line.open, "|"))
    };
    read.lines.iter().map(show).collect()
}

/// What is read after some bytes, by the cursor of what was read before them.
#[track_caller]
fn check(before: &[u8], more: &[u8], expect: &[&str]) {
    let first = MemoryOutput::new(before, 0);
    let next = read(&first, &ask(ReadStart::Line(0))).unwrap().next.0;
    assert_eq!(next, (before.len() - lines::incomplete_suffix(before)) as u64);
    let output = MemoryOutput::new([before, more].concat(), 0);
    let read = read(&output, &ask(ReadStart::Since(next))).unwrap();
    assert_eq!(shown(&read), expect);
    assert_eq!((read.next.0, read.truncated, read.gap), (output.end(), false, None));
}

#[test]
fn a_line_that_goes_on_is_given_whole() {
    check(b"caf\xc3", b"\xa9\n", &["0:+café"]);
    check(b"\x1b[3", b"1mred\n", &["0:+red"]);
    check(b"abcd", b"\x08\x08XY\n", &["0:+abXY"]);
    check(b"error: dis", b"k full\nnext", &["0:+error: disk full", "1:next|"]);
    check(b"10%\r", b"20%", &["0:+20%|"]);
    check(b"a\nb", b"c", &["1:+bc|"]);
}

#[test]
fn half_a_character_waits_for_the_rest() {
    let shown_of = |bytes: &[u8], since: u64| {
        let read = read(&MemoryOutput::new(bytes, 0), &ask(ReadStart::Since(since))).unwrap();
        (shown(&read).concat(), read.total, read.next.0)
    };
    let line = |text: &str, total, next| (text.to_owned(), total, next);
    assert_eq!(shown_of(b"caf\xc3", 0), line("0:caf|", 1, 3));
    assert_eq!(shown_of(b"caf\xc3", 3), line("", 1, 3));
    // The cursor of a client that counts bytes.
    assert_eq!(shown_of(b"caf\xc3", 4), line("", 1, 4));
    assert_eq!(shown_of(b"caf\xc3\xa9", 4), line("0:+café|", 1, 5));
    assert_eq!(shown_of(b"\xf0\x9f\x98", 0), line("", 0, 0));
    assert_eq!(shown_of(b"\xf0\x9f\x98\x80", 0), line("0:😀|", 1, 4));
    // It never becomes whole.
    assert_eq!(shown_of(b"caf\xc3x", 3), line("0:+caf\u{fffd}x|", 1, 5));
    assert_eq!(shown_of(b"caf\xc3\r\n", 3), line("0:+caf\u{fffd}", 1, 6));
    assert_eq!(shown_of(b"caf\xff", 0), line("0:caf\u{fffd}|", 1, 4));
    let output = MemoryOutput::new(&b"caf\xc3"[..], 0);
    let over = super::read(&output, output.end(), &ask(ReadStart::Since(3))).unwrap();
    assert_eq!((shown(&over).concat(), over.next.0), ("0:+caf\u{fffd}|".to_owned(), 4));
    let over = super::read(&output, output.end(), &ask(ReadStart::Since(4))).unwrap();
    assert_eq!((shown(&over).concat(), over.next.0), (String::new(), 4));
}

#[test]
fn a_box_is_drawn_as_on_a_screen_wherever_one_begins() {
    let drawn = "\x1b(0lqk\r\nx\x1b(Ba\x1b(0x\r\nmqj\x1b(B\r\nend";
    check(drawn.as_bytes(), b"", &[]);
    let output = MemoryOutput::new(drawn, 0);
    for (start, expect) in [
        (ReadStart::Line(0), &["0:┌─┐", "1:│a│", "2:└─┘", "3:end|"][..]),
        (ReadStart::Line(2), &["2:└─┘", "3:end|"]),
        (ReadStart::Tail(2), &["2:└─┘", "3:end|"]),
        (ReadStart::Since(12), &["1:+│a│", "2:└─┘", "3:end|"]),
    ] {
        assert_eq!(shown(&read(&output, &ask(start)).unwrap()), expect, "{start:?}");
    }
    let found = read(&output, &matching(ReadStart::Line(0), "^└─+┘$", 1, 0)).unwrap();
    assert_eq!(shown(&found), ["1-│a│", "2:└─┘"]);
    // Longer than what is read in one go.
    let long = format!("\x1b(0\n{}\nx", "\x1b[31mq".repeat(20_000));
    let read =
        read(&MemoryOutput::new(long, 0), &matching(ReadStart::Line(0), "^─+$", 0, 0)).unwrap();
    assert_eq!(read.lines[0].n, 1);
}

#[test]
fn the_end_of_a_line_is_no_line() {
    check(b"line\r", b"\n", &[]);
    check(b"line", b"\r\n", &[]);
    check(b"line", b"\r", &[]);
    check(b"line", b"\r\r\nnext\r\n", &["1:next"]);
    check(b"line", b"\n\n", &["1:"]);
    check(b"line\n", b"\n", &["1:"]);
    check(b"line\n", b"", &[]);
    check(b"", b"\r\n", &["0:"]);
}

#[test]
fn a_pattern_matches_a_line_that_goes_on_as_a_whole() {
    let output = MemoryOutput::new("a\nerror: disk full\nb\n", 0);
    let ask = matching(ReadStart::Since(12), "disk", 1, 1);
    assert_eq!(shown(&read(&output, &ask).unwrap()), ["0-a", "1:+error: disk full", "2-b"]);
    // It matched before, and nothing of it is new.
    let ask = matching(ReadStart::Since(18), "disk", 1, 1);
    assert_eq!(shown(&read(&output, &ask).unwrap()), ["2-b"]);
}

#[test]
fn what_is_beyond_what_is_shown_is_matched_all_the_same() {
    let output = MemoryOutput::new(format!("{}READY\n", ".".repeat(80_000)), 0);
    let read = read(&output, &matching(ReadStart::Line(0), "READY$", 0, 0)).unwrap();
    let line = &read.lines[0];
    assert!(line.cut && line.text == ".".repeat(MAX_SHOWN_CHARS), "{}", line.text.len());
}

#[test]
fn a_tail_is_the_newest_of_what_fits() {
    let line = |n: usize| format!("{n} {}\n", "x".repeat(1900));
    let output = MemoryOutput::new((0..2000).map(line).collect::<String>(), 0);
    for mut ask in [ask(ReadStart::Tail(1500)), matching(ReadStart::Tail(1500), "x", 1, 0)] {
        ask.limit = 5000;
        let read = read(&output, &ask).unwrap();
        let (first, last) = (read.lines[0].n, read.lines.last().unwrap().n);
        assert!(last == 1999 && 1400 < first && first < 1500, "{first} to {last}");
        assert!(read.truncated && read.next.0 == output.end());
    }
}

#[test]
fn a_limit_that_cuts_a_tail_is_said() {
    let output = MemoryOutput::new("a\n".repeat(20), 0);
    for (tail, limit, (count, truncated)) in [
        (5, 5, (5, false)),
        (20, 5, (5, true)),
        (99, 20, (20, false)),
        (99, 19, (19, true)),
        (0, 5, (0, false)),
    ] {
        for ask in [ask(ReadStart::Tail(tail)), matching(ReadStart::Tail(tail), "a", 0, 2)] {
            let read = read(&output, &ReadRequest { limit, ..ask }).unwrap();
            assert_eq!((read.lines.len(), read.truncated), (count, truncated), "{tail} {limit}");
            assert_eq!(read.next.0, output.end());
        }
    }
}

/// A program that prints while it is read, a line with every reading.
#[derive(Debug)]
struct FloodingOutput(MemoryOutput, std::sync::atomic::AtomicU64);

impl Output for FloodingOutput {
    fn first(&self) -> u64 {
        0
    }
    fn end(&self) -> u64 {
        self.1.load(std::sync::atomic::Ordering::Relaxed)
    }
    fn lines(&self) -> u64 {
        self.end() / 2
    }
    fn taken(&self) -> u64 {
        0
    }
    fn size(&self) -> paned_model::Size {
        paned_model::Size::default()
    }
    fn ending(&self) -> Option<paned_model::frame::ExitRecord> {
        None
    }
    fn read(
        &self,
        offset: u64,
        buffer: &mut [u8],
    ) -> io::Result<Result<usize, paned_backend::OutputGap>> {
        self.1.fetch_add(200, std::sync::atomic::Ordering::Relaxed);
        let wanted = buffer.len().min((self.end() - offset) as usize);
        self.0.read(offset, &mut buffer[..wanted])
    }
    fn line_mark(
        &self,
        offset: u64,
    ) -> io::Result<Result<paned_backend::LineMark, paned_backend::OutputGap>> {
        self.0.line_mark(offset)
    }
}

#[test]
fn a_tail_of_what_is_being_printed_is_as_long_as_asked() {
    let output = FloodingOutput(MemoryOutput::new("a\n".repeat(50_000), 0), 20_000.into());
    for ask in [ask(ReadStart::Tail(5)), matching(ReadStart::Tail(5), "a", 0, 0)] {
        let before = output.end();
        let read = read(&output, &ask).unwrap();
        assert_eq!(read.lines.len(), 5);
        assert_eq!((read.next.0, read.lines[4].n + 1), (before, before / 2));
    }
}

#[test]
fn who_goes_on_from_each_answer_is_told_once_what_a_cut_file_has_lost() {
    let printed = || MemoryOutput::new("0123456\n".repeat(4000), 0);
    let end = printed().end();
    for hole in [0..end, 0..BLOCK, 100..BLOCK, 803..2 * BLOCK, 20_003..end] {
        let output = OutputWithHole { printed: printed(), hole: hole.clone() };
        let (mut since, mut gaps) = (0, Vec::new());
        for _ in 0..20 {
            let part = read(&output, &ask(ReadStart::Since(since))).unwrap();
            gaps.extend(part.gap.map(|gap| gap.from.0..gap.to.0));
            assert!(since < part.next.0 || since == end, "{hole:?}: stays at {since}");
            assert_eq!(part.total, 4000);
            since = part.next.0;
        }
        assert_eq!((since, gaps), (end, vec![hole.clone()]));
        for ask in [
            ask(ReadStart::Tail(5)),
            matching(ReadStart::Tail(5), "0", 1, 1),
            ask(ReadStart::Line(3990)),
        ] {
            let tail = read(&output, &ask).unwrap();
            assert!(tail.lines.is_sorted_by_key(|line| line.n), "{hole:?}: {:?}", tail.lines);
        }
    }
}

#[test]
fn what_fell_off_is_a_number() {
    let output = MemoryOutput::new("0123456\n".repeat(2000), 1);
    let lost = |to: u64| LostRange::between(100, to);
    let fallen = read(&output, &ask(ReadStart::Since(100))).unwrap();
    assert_eq!((fallen.gap, fallen.dropped), (lost(BLOCK), BLOCK / 8));
    assert_eq!(shown(&fallen)[..2], ["512:^0123456", "513:0123456"]);
    let kept = read(&output, &ask(ReadStart::Since(BLOCK + 3))).unwrap();
    assert_eq!((kept.gap, &shown(&kept)[0][..]), (None, "512:^+0123456"));
    let first = read(&output, &ask(ReadStart::Line(0))).unwrap();
    assert_eq!((first.gap, &shown(&first)[0][..]), (None, "512:^0123456"));
    let context = read(&output, &matching(ReadStart::Since(100), "0", 2, 2)).unwrap();
    assert_eq!(context.gap, lost(BLOCK));
}

#[test]
fn a_match_that_is_forgotten_is_still_context() {
    let output = MemoryOutput::new("a\nhit\nhit\nb\n", 0);
    let last = |before, after| {
        shown(&read(&output, &matching(ReadStart::Tail(1), "hit", before, after)).unwrap())
    };
    assert_eq!(last(1, 1), ["1-hit", "2:hit", "3-b"]);
    assert_eq!(last(2, 0), ["0-a", "1-hit", "2:hit"]);
    assert_eq!(last(0, 0), ["2:hit"]);
}

/// Output of few different lines, with what a terminal resolves.
fn any_output() -> impl Strategy<Value = Vec<u8>> {
    let part = select(vec![
        &b"a"[..],
        b"b",
        "é".as_bytes(),
        b"\n",
        b"\n",
        b"\r\n",
        b"\r\n",
        b"\r",
        b"\x08",
        b"\x1b[31m",
        b"\x1b[K",
        b"\x1b]0;t\x07",
        "日".as_bytes(),
        b"\xf0\x9f",
        b"\xff",
        b"\x1b(0",
        b"\x1b(B",
    ]);
    prop::collection::vec(part, 0..80).prop_map(|parts| parts.concat())
}

/// Lines that match `x`, and others.
fn any_lines() -> impl Strategy<Value = String> {
    let line = select(vec!["x\n", "a\r\n", "b\n", "\n"]);
    prop::collection::vec(line, 0..60).prop_map(|lines| lines.concat())
}

/// What is asked for: the matches of which nothing is left out, and what is around them.
fn expected(output: &str, count: usize, before: usize, after: usize) -> Vec<String> {
    let lines: Vec<_> = output.lines().collect();
    let hits = (0..lines.len()).filter(|&n| lines[n] == "x");
    let skipped = hits.clone().count().saturating_sub(count);
    let hits: Vec<_> = hits.skip(skipped).collect();
    let is_near = |n: usize, hit: usize| n <= hit + after && hit <= n + before;
    let near = (0..lines.len()).filter(|&n| hits.iter().any(|&hit| is_near(n, hit)));
    near.map(|n| format!("{n}{}{}", if hits.contains(&n) { ":" } else { "-" }, lines[n])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whoever_reads_on_has_what_whoever_reads_once_has(
        bytes in any_output(),
        cuts in prop::collection::vec(0_usize..200, 0..8),
        limit in 1_usize..4,
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let (mut next, mut known, mut new) = (0, BTreeMap::new(), Vec::new());
        for cut in cuts {
            let output = MemoryOutput::new(&bytes[..cut], 0);
            loop {
                let page = read(&output, &ReadRequest { limit, ..ask(ReadStart::Since(next)) }).unwrap();
                prop_assert!(page.lines.len() <= limit && page.gap.is_none());
                new.extend(page.lines.iter().filter(|line| !line.continued).map(|line| line.n));
                known.extend(page.lines.into_iter().map(|line| (line.n, line.text)));
                next = page.next.0;
                if !page.truncated {
                    break;
                }
            }
            prop_assert_eq!(next, (cut - lines::incomplete_suffix(&bytes[..cut])) as u64);
        }
        // When it is over, what was waited for is shown as it is.
        let (output, asked) = (MemoryOutput::new(&bytes[..], 0), ask(ReadStart::Since(next)));
        let page = super::read(&output, output.end(), &asked).unwrap();
        prop_assert_eq!(page.next.0, output.end());
        new.extend(page.lines.iter().filter(|line| !line.continued).map(|line| line.n));
        known.extend(page.lines.into_iter().map(|line| (line.n, line.text)));
        let all = super::read(&output, output.end(), &ask(ReadStart::Line(0))).unwrap();
        let all: BTreeMap<_, _> = all.lines.into_iter().map(|line| (line.n, line.text)).collect();
        prop_assert!(new.is_sorted_by(|a, b| a < b), "{:?}", new);
        prop_assert_eq!(known, all);
    }

    #[test]
    fn pages_joined_are_what_one_page_is(
        output in any_lines(),
        (before, after) in (0_usize..4, 0_usize..4),
        limit in 1_usize..4,
        tail in 0_usize..5,
    ) {
        let printed = MemoryOutput::new(output.as_bytes(), 0);
        let all = expected(&output, usize::MAX, before, after);
        prop_assert_eq!(&shown(&read(&printed, &matching(ReadStart::Line(0), "x", before, after)).unwrap()), &all);
        let (mut pages, mut next) = (Vec::new(), 0);
        loop {
            let ask = ReadRequest { limit, ..matching(ReadStart::Since(next), "x", before, after) };
            let page = read(&printed, &ask).unwrap();
            pages.extend(shown(&page));
            next = page.next.0;
            if !page.truncated {
                break;
            }
        }
        prop_assert_eq!(pages, all);
        let last = read(&printed, &matching(ReadStart::Tail(tail), "x", before, after)).unwrap();
        prop_assert_eq!(shown(&last), expected(&output, tail, before, after));
    }

    #[test]
    fn whoever_follows_a_pattern_misses_no_match_and_no_context(
        bytes in any_output(),
        cuts in prop::collection::vec(0_usize..200, 0..8),
        (before, after) in (0_usize..3, 0_usize..3),
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let (mut next, mut known) = (0, BTreeMap::new());
        for cut in cuts {
            let page = read(&MemoryOutput::new(&bytes[..cut], 0), &matching(ReadStart::Since(next), "aa|é", before, after));
            let page = page.unwrap();
            known.extend(page.lines.into_iter().map(|line| (line.n, line.text)));
            next = page.next.0;
        }
        let all = read(&MemoryOutput::new(bytes, 0), &matching(ReadStart::Line(0), "aa|é", before, after)).unwrap();
        for line in all.lines {
            prop_assert_eq!(known.get(&line.n), Some(&line.text), "line {}", line.n);
        }
    }
}
