//! Searching in place finds what cleaning each line finds.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use paned_backend::{LineMark, OutputGap, OutputTime};
use paned_model::Size;
use paned_model::frame::ExitRecord;
use proptest::prelude::*;
use proptest::sample::select;
use regex_automata::Input;
use regex_automata::meta::Regex;

use super::super::pattern::pattern;
use super::*;
use crate::panes::text::reading;

/// What was printed, with marks at every so many bytes, as on a tape.
#[derive(Debug)]
struct MarkedOutput {
    bytes: Vec<u8>,
    first: AtomicU64,
    block: u64,
    /// How much each read drops.
    drops: u64,
    /// How many reads there were.
    reads: AtomicU64,
}

impl MarkedOutput {
    fn new(bytes: &[u8], first: u64, block: u64) -> Self {
        let first = (first / block * block).min(bytes.len() as u64 / block * block);
        let (first, reads) = (AtomicU64::new(first), AtomicU64::new(0));
        Self { bytes: bytes.to_vec(), first, block, drops: 0, reads }
    }

    fn gap(&self, offset: u64) -> Option<OutputGap> {
        let first = self.first();
        (offset < first).then_some(OutputGap { first })
    }
}

impl Output for MarkedOutput {
    fn first(&self) -> u64 {
        self.first.load(Ordering::Relaxed)
    }

    fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn lines(&self) -> u64 {
        memchr_iter(b'\n', &self.bytes).count() as u64
    }

    fn taken(&self) -> u64 {
        self.end()
    }

    fn size(&self) -> Size {
        Size::default()
    }

    fn ending(&self) -> Option<ExitRecord> {
        None
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let end = self.end() / self.block * self.block;
        self.first.store((self.first() + self.drops).min(end), Ordering::Relaxed);
        if let Some(gap) = self.gap(offset) {
            return Ok(Err(gap));
        }
        let rest = &self.bytes[offset as usize..];
        let wanted = rest.len().min(buffer.len());
        buffer[..wanted].copy_from_slice(&rest[..wanted]);
        Ok(Ok(wanted))
    }

    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>> {
        let offset = offset / self.block * self.block;
        let lines = memchr_iter(b'\n', &self.bytes[..offset as usize]).count() as u64;
        let mark = LineMark { offset, lines, time: Time(offset) };
        Ok(self.gap(offset).map_or(Ok(mark), Err))
    }

    fn time(&self, offset: u64) -> io::Result<Result<OutputTime, OutputGap>> {
        let stamp = OutputTime { time: time(offset), until: (offset / MARKED + 1) * MARKED };
        Ok(self.gap(offset).map_or(Ok(stamp), Err))
    }
}

/// How much is printed before the time is noted again.
const MARKED: u64 = 7;

fn time(offset: u64) -> Time {
    Time(offset / MARKED)
}

fn find(
    output: &MarkedOutput,
    text: &str,
    known: &SearchIndex,
    sizes: SearchSizes,
    count: usize,
) -> Vec<LineHit> {
    // What can match no line is refused, and is to be found nowhere.
    let Ok(pattern) = &pattern("pattern", text, false) else { return Vec::new() };
    let search = OutputSearch { output, pattern, index: known, sizes, count };
    let mut trail = search.begin(output.end());
    search.go_on(&mut trail, &mut Vec::new(), || true).unwrap();
    trail.hits
}

/// Whether a pattern matches the beginning of a line, with what follows it in sight.
fn is_match(regex: &Regex, line: &lines::TextLine<'_>, whole: usize) -> bool {
    let text = format!("{}{}", line.text, if line.cut { " " } else { "" });
    let end = text.char_indices().nth(whole).map_or(line.text.len(), |(end, _)| end);
    regex.is_match(Input::new(&text).range(..end))
}

/// The newest hits, found by cleaning every line from the oldest on.
fn find_slowly(
    output: &MarkedOutput,
    regex: &Regex,
    sizes: SearchSizes,
    count: usize,
) -> Vec<LineHit> {
    let (mut offset, mut hits) = (output.first() as usize, Vec::new());
    let before = memchr_iter(b'\n', &output.bytes[..offset]).count() as u64;
    for (n, line) in (before..).zip(lines::split(&output.bytes[offset..])) {
        let charsets = charsets::at(output, offset as u64, sizes.block as u64).unwrap();
        let line_read = lines::clean_with_charsets(charsets, line, sizes.whole + 1);
        if is_match(regex, &line_read, sizes.whole) {
            let lines::TextLine { text, cut } = line_read.cut_at(sizes.shown);
            let last = (offset + line.len()).saturating_sub(1).max(offset);
            let (text, time) = (text.into_owned(), time(last as u64));
            hits.push(LineHit { n, offset: offset as u64, time, text, cut });
        }
        offset += line.len() + 1;
    }
    hits.reverse();
    hits.truncate(count);
    hits
}

/// Lines: mostly plain ones, and such as are not.
fn any_output() -> impl Strategy<Value = Vec<u8>> {
    let plain = select(vec![
        "a", "b", "ab c", " ", "A1", "_", "x=1;", "kiss", "KISS", "\r\n", "\r\n", "\n",
    ]);
    let other = select(vec![
        &b"\x1b[1m"[..],
        b"\x1b[K",
        b"\r",
        b"\r\r\n",
        b"\x08",
        b"\t",
        b"\x7f",
        b"\xff",
        b"\xc3",
        "é".as_bytes(),
        "日".as_bytes(),
        "\u{212a}i\u{17f}s".as_bytes(),
        "\u{301}".as_bytes(),
        "\u{85}".as_bytes(),
        b"0123456789abcdefghijklmnopqrstuvwxyz",
        b"\x0e",
        b"\x0f",
        b"\x1b(0",
        b"\x1b(0",
        b"\x1b(B",
        b"\x1b)0",
    ]);
    let plain = plain.prop_map(|part| part.as_bytes().to_vec()).boxed();
    let other = other.prop_map(<[u8]>::to_vec).boxed();
    let some = move |odds: u32| {
        let part = prop_oneof![20 => plain.clone(), odds => other.clone()];
        prop::collection::vec(part, 0..200).prop_map(|parts| parts.concat())
    };
    prop_oneof![some(0), some(1), some(10)]
}

/// Patterns, among them all that could tell a line among others from a line by itself.
fn any_pattern() -> impl Strategy<Value = String> {
    let leaf = select(vec![
        "a",
        "b",
        "1",
        " ",
        ".",
        r"\s",
        r"\S",
        r"\w",
        r"\W",
        r"\d",
        "[^a]",
        "[^ab1]",
        "(?s:.)",
        r"\n",
        r"\r",
        r"[\r\nb]",
        "(?-u:[a-c])",
        "^",
        "$",
        r"\A",
        r"\z",
        "(?m:^)",
        "(?m:$)",
        "(?mR:$)",
        r"\b",
        r"\B",
        r"\b{start}",
        r"\b{end-half}",
        "é",
        "日",
        "▒",
        "│=1",
        "(?i:A)",
        "x=1",
        "ab c",
        "kiss",
        "(?i:KISS)",
        "(?i:x=1|b c)",
        "[kK]is",
        "",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => (inner, select(vec!["*", "+", "?", "{2}", "*?"]))
                .prop_map(|(inner, times)| format!("({inner}){times}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn in_place_is_found_what_is_found_line_by_line(
        output in any_output(),
        text in any_pattern(),
        first in 0_u64..300,
        (part, block) in select(vec![(16, 16), (32, 8), (64, 16), (64, 64), (4096, 16)]),
        (beyond, whole) in select(vec![(40, 10), (24, 30), (8, 1000), (200, 60), (64, 1000)]),
        count in select(vec![1, 3, 1000]),
    ) {
        let sizes = SearchSizes { part, beyond, block: 8, whole, shown: 12, summaries: usize::MAX };
        let output = MarkedOutput::new(&output, first, block);
        let regex = Regex::new(&text).unwrap();
        let expect = find_slowly(&output, &regex, sizes, count);
        let known = SearchIndex::default();
        // And again, when it is known what is plain, and once more, when it is known what is there.
        for time in 1..=3 {
            prop_assert_eq!(&find(&output, &text, &known, sizes, count), &expect, "time {}", time);
        }
    }

    #[test]
    fn what_is_printed_later_is_found_like_the_rest(
        output in any_output(),
        more in any_output(),
        text in any_pattern(),
    ) {
        let (sizes, known) = (SearchSizes { part: 16, beyond: 40, block: 8, whole: 10, shown: 8, summaries: usize::MAX }, SearchIndex::default());
        find(&MarkedOutput::new(&output, 0, 16), &text, &known, sizes, 1000);
        find(&MarkedOutput::new(&output, 0, 16), "kiss", &known, sizes, 1000);
        let output = MarkedOutput::new(&[output, more].concat(), 0, 16);
        let expect = find_slowly(&output, &Regex::new(&text).unwrap(), sizes, 1000);
        prop_assert_eq!(find(&output, &text, &known, sizes, 1000), expect);
    }

    #[test]
    fn what_one_search_found_out_is_right_for_another(
        output in any_output(),
        texts in prop::collection::vec(any_pattern(), 1..6),
        firsts in prop::collection::vec(0_u64..200, 6),
    ) {
        let (sizes, known) = (SearchSizes { part: 32, beyond: 40, block: 8, whole: 20, shown: 8, summaries: usize::MAX }, SearchIndex::default());
        for (text, first) in texts.iter().zip(firsts) {
            let regex = Regex::new(text).unwrap();
            let output = MarkedOutput::new(&output, first, 16);
            let expect = find_slowly(&output, &regex, sizes, 1000);
            prop_assert_eq!(find(&output, text, &known, sizes, 1000), expect);
        }
    }

    #[test]
    fn what_is_dropped_meanwhile_does_no_harm(
        mut output in any_output(),
        text in any_pattern(),
        drops in select(vec![16, 32, 64]),
    ) {
        let (sizes, known) = (SearchSizes { part: 32, beyond: 40, block: 8, whole: 10, shown: 8, summaries: usize::MAX }, SearchIndex::default());
        // What was chosen in what is dropped is not known any more.
        output.retain(|byte| !matches!(byte, 0x0e | 0x1b));
        let all = MarkedOutput::new(&output, 0, 16);
        let output = MarkedOutput { drops, ..MarkedOutput::new(&output, 0, 16) };
        let all = find_slowly(&all, &Regex::new(&text).unwrap(), sizes, 1000);
        let found = find(&output, &text, &known, sizes, 1000);
        let is_known = |hit: &&LineHit| all.contains(hit);
        // Of a line that lost its beginning, a part is found, as everywhere.
        let odd = found.iter().filter(|hit| !is_known(hit)).count();
        prop_assert!(odd <= 1, "{found:?} of {all:?}");
        prop_assert!(found.is_sorted_by(|a, b| b.offset < a.offset));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// With the default sizes, against the lines that [`reading`] returns.
    #[test]
    fn large_outputs_are_searched_like_small_ones(
        kinds in prop::collection::vec((0_usize..7, 1_usize..2000), 1..9),
        text in select(vec![
            "a", "^$", "^x+$", "xb$", r"\d ?$", "é", "zzz", r"^\s*a", r"x{1999}y", r"^\w .*line",
            "(?i)LINE 1", "plain|né", "xxy", "x$", r"x\b", r"xx\z",
        ]),
        first in 0_u64..100_000,
    ) {
        let line = |(kind, size): &(usize, usize)| match kind {
            0 => b"a plain line 1\r\n".repeat(*size),
            1 => [b"x".repeat(*size), b"b\r\n".to_vec()].concat(),
            2 => b"\x1b[1ma\x1b[m line\r\n".repeat(*size / 8),
            // Some are longer than what patterns look at.
            3 => [b"x".repeat(*size * 140), b"a\n".to_vec()].concat(),
            4 => "né\r\n".repeat(*size).into_bytes(),
            5 => b"\r\n".repeat(*size),
            _ => [b"x".repeat(1990 + *size % 20), b"y\n".to_vec()].concat(),
        };
        let output: Vec<u8> = kinds.iter().flat_map(line).collect();
        let output = MarkedOutput::new(&output, first, 4096);
        let regex = Regex::new(text).unwrap();
        let (lines, mut slowly) = (OutputText::new(&output), Vec::new());
        lines.each_until(lines.first().unwrap(), output.end(), |raw| {
            let line = reading::clean_line(raw);
            let matches = is_match(&regex, &line, MAX_MATCHED_CHARS);
            let shown = line.cut_at(MAX_SHOWN_CHARS);
            slowly.extend(matches.then(|| (raw.n, shown.text.into_owned(), shown.cut)));
            ControlFlow::Continue(())
        }).unwrap();
        slowly.reverse();
        let known = SearchIndex::default();
        for _ in 1..=3 {
            let found = find(&output, text, &known, SearchSizes::DEFAULT, usize::MAX);
            let found: Vec<_> = found.into_iter().map(|hit| (hit.n, hit.text, hit.cut)).collect();
            prop_assert_eq!(&found, &slowly);
        }
    }
}

/// Lines, and a search of them in parts of ten lines.
fn counted(
    output: &MarkedOutput,
    text: &str,
    known: &SearchIndex,
    parts: usize,
) -> (SearchProgress, usize) {
    let pattern = &pattern("pattern", text, false).unwrap();
    let sizes =
        SearchSizes { part: 90, beyond: 30, block: 10, whole: 30, shown: 8, summaries: usize::MAX };
    let search = OutputSearch { output, pattern, index: known, sizes, count: usize::MAX };
    let (mut trail, mut asked) = (search.begin(output.end()), 0);
    let goes_on = || {
        asked += 1;
        asked <= parts
    };
    search.go_on(&mut trail, &mut Vec::new(), goes_on).unwrap();
    (trail, output.reads.swap(0, Ordering::Relaxed) as usize)
}

#[test]
fn it_pauses_when_it_is_told_to_and_goes_on_from_there() {
    let output = MarkedOutput::new(&b"kiss 1\r\n".repeat(1000), 0, 16);
    let known = SearchIndex::default();
    let (trail, _) = counted(&output, "1", &known, 2);
    assert!((1..=30).contains(&trail.hits.len()), "{}", trail.hits.len());
    assert_eq!(trail.hits[0].n, 999);
    let (whole, _) = counted(&output, "1", &known, usize::MAX);
    assert_eq!(whole.hits.len(), 1000);
    assert_eq!(trail.hits, whole.hits[..trail.hits.len()]);
}

/// Wherever the output ended when the parts were summed up: what goes on there is not missed.
#[test]
fn what_was_not_complete_is_not_believed_to_be() {
    let lines =
        ["a\n", "kiss\n", "0123456789abcdef\n", "kiss kiss kiss\n", "\n", "b\n", "a kiss\n"];
    // Parts begin everywhere in them: 49 and 16 have nothing in common.
    let output = lines.concat().repeat(16).into_bytes();
    let sizes =
        SearchSizes { part: 16, beyond: 40, block: 8, whole: 30, shown: 8, summaries: usize::MAX };
    let regex = Regex::new("kiss").unwrap();
    let whole = MarkedOutput::new(&output, 0, 16);
    let expect = find_slowly(&whole, &regex, sizes, 1000);
    for end in 0..output.len() {
        let known = SearchIndex::default();
        for _ in 1..=2 {
            find(&MarkedOutput::new(&output[..end], 0, 16), "hugs", &known, sizes, 1000);
        }
        assert_eq!(find(&whole, "kiss", &known, sizes, 1000), expect, "after {end}");
    }
}

#[test]
fn a_pause_loses_nothing() {
    let output = MarkedOutput::new(&b"kiss 1\r\n\x1b[1mkiss\x1b[m\r\n".repeat(100), 0, 16);
    let (pattern, known) = (pattern("pattern", "kiss", false).unwrap(), SearchIndex::default());
    let sizes =
        SearchSizes { part: 32, beyond: 40, block: 8, whole: 30, shown: 8, summaries: usize::MAX };
    let search =
        OutputSearch { output: &output, pattern: &pattern, index: &known, sizes, count: 150 };
    let (mut trail, mut pauses) = (search.begin(output.end()), 0);
    while trail.left.is_some() {
        let mut is_first = true;
        search.go_on(&mut trail, &mut Vec::new(), || std::mem::take(&mut is_first)).unwrap();
        pauses += 1;
    }
    assert!(10 < pauses);
    assert_eq!(trail.hits, find(&output, "kiss", &SearchIndex::default(), sizes, 150));
}

#[test]
fn what_is_known_not_to_be_there_is_not_read_again() {
    for line in [&b"kiss 1\r\n"[..], b"\x1b[1mkiss\x1b[m 1\r\n", "kiß kiss\r\n".as_bytes()] {
        let output = MarkedOutput::new(&line.repeat(1000), 0, 16);
        let known = SearchIndex::default();
        for text in ["hugs", "(?i)HUGS|frown", r"^\w+ .*hugs$"] {
            counted(&output, text, &known, usize::MAX);
        }
        // The last part is not complete, and the one before it is not known to be.
        let (trail, reads) = counted(&output, "HUGS", &known, usize::MAX);
        assert!(trail.hits.is_empty() && reads <= 2, "{reads}");
        let (trail, reads) = counted(&output, "kiss", &known, usize::MAX);
        assert!(trail.hits.len() == 1000 && 80 < reads, "{reads}");
    }
}

#[test]
fn one_search_sums_up_some_parts_and_the_next_one_more() {
    let output = MarkedOutput::new(&b"kiss 1\r\n".repeat(1000), 0, 16);
    let sizes = SearchSizes { part: 80, beyond: 40, block: 8, whole: 30, shown: 8, summaries: 30 };
    let known = SearchIndex::default();
    let reads = |_| {
        let before = output.reads.load(Ordering::Relaxed);
        find(&output, "hugs", &known, sizes, 1000);
        output.reads.load(Ordering::Relaxed) - before
    };
    let reads: Vec<_> = (0..6).map(reads).collect();
    // The last part is never complete.
    assert_eq!(reads, [100, 100, 70, 40, 10, 1]);
}
