//! Watching output as it grows finds what a scan of all of it finds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use paned_backend::{LineMark, OutputGap};
use paned_model::Size;
use paned_model::frame::ExitRecord;
use paned_term::lines::Charsets;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::last_line::SharedLastLine;
use super::super::lines::tests::MemoryOutput;
use super::*;
use crate::panes::search::pattern::pattern;

/// An output that grows.
#[derive(Debug)]
struct GrowingOutput {
    printed: Mutex<MemoryOutput>,
    /// How many bytes were read.
    read: AtomicU64,
}

impl GrowingOutput {
    fn new(bytes: &[u8]) -> Arc<Self> {
        let printed = Mutex::new(MemoryOutput::new(bytes, 0));
        Arc::new(Self { printed, read: AtomicU64::new(0) })
    }

    fn print(&self, bytes: &[u8]) {
        self.printed.lock().unwrap().bytes.extend_from_slice(bytes);
    }

    fn text(&self) -> Vec<u8> {
        self.printed.lock().unwrap().bytes.clone()
    }
}

impl Output for GrowingOutput {
    fn first(&self) -> u64 {
        self.printed.lock().unwrap().first
    }

    fn end(&self) -> u64 {
        self.printed.lock().unwrap().end()
    }

    fn lines(&self) -> u64 {
        self.printed.lock().unwrap().lines()
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
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.printed.lock().unwrap().read(offset, buffer)
    }

    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>> {
        self.printed.lock().unwrap().line_mark(offset)
    }
}

fn wanted(text: &str, stop: Option<&str>) -> WatchPatterns {
    let read = |text| Arc::new(pattern("pattern", text, false).unwrap());
    WatchPatterns { pattern: Some(read(text)), stop: stop.map(read) }
}

fn watch(output: &Arc<GrowingOutput>, tail: &SharedLastLine, text: &str, cursor: u64) -> LineWatch {
    LineWatch::new(output.clone(), tail.get(), wanted(text, None), cursor).unwrap()
}

fn look(lookout: &mut LineWatch) -> Option<LineMatch> {
    look_when(lookout, false)
}

/// Looks at all there is, of an output that is over or not.
fn look_when(lookout: &mut LineWatch, is_over: bool) -> Option<LineMatch> {
    loop {
        match lookout.look(is_over).unwrap() {
            WatchResult::Matched(sighting) => return Some(sighting),
            WatchResult::More => {}
            WatchResult::Nothing => return None,
        }
    }
}

/// What can be read of an output that goes on.
fn settled(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - lines::incomplete_suffix(bytes)]
}

/// The expected result, by a scan of all there is.
fn scan_slowly(bytes: &[u8], wanted: &WatchPatterns, cursor: usize) -> Option<LineMatch> {
    let mut start = 0;
    for (n, raw) in (0..).zip(lines::split(bytes)) {
        let end = start + raw.len();
        let (is_open, is_before) =
            (end == bytes.len(), end < cursor || cursor == bytes.len() && end == cursor);
        let continued = start < cursor;
        let sets = Charsets::default().after(&bytes[..start]);
        let before = &bytes[start..cursor.clamp(start, end)];
        let before = lines::clean_with_charsets(sets, before, usize::MAX).text;
        let line = lines::clean_with_charsets(sets, raw, usize::MAX);
        let is_new = !continued || before != line.text || {
            let mut drawing = IncrementalLine::with_charsets(sets, usize::MAX >> 4);
            drawing.feed(&bytes[start..cursor.clamp(start, end)]);
            let mut has_changed = false;
            for byte in &bytes[cursor.clamp(start, end)..end] {
                drawing.feed_watched(&[*byte], |drawing| {
                    has_changed |= !before.starts_with(&*drawing.line().text);
                });
            }
            has_changed
        };
        if !is_before
            && is_new
            && let Some(sign) = wanted.match_line(&line)
        {
            let shown = reading::OutputLine {
                continued,
                open: is_open,
                ..reading::OutputLine::of(n, line)
            };
            let next = (end + usize::from(!is_open)) as u64;
            return Some(LineMatch { matched: sign, line: shown, next });
        }
        start = end + 1;
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn what_is_seen_piece_by_piece_is_what_is_seen_in_one(
        before in any_output(),
        after in prop::collection::vec(any_output(), 1..8),
        pattern in select(vec!["ready", "^ready", "^$", "a", "b$", "é", "ready.", "^.*$", "\u{fffd}", "▒", "│$"]),
        stop in select(vec![None, Some("^ERR"), Some("x$")]),
        back in 0_usize..12,
    ) {
        let (output, tail) = (GrowingOutput::new(&before), SharedLastLine::default());
        let wanted = wanted(pattern, stop);
        let cursor = before.len().saturating_sub(back).min(settled(&before).len());
        let mut lookout =
            LineWatch::new(output.clone(), tail.get(), wanted.clone(), cursor as u64).unwrap();
        // Another watch reads along, and further.
        let mut other = watch(&output, &tail, "nothing like this", cursor as u64);
        for piece in std::iter::once(Vec::new()).chain(after) {
            output.print(&piece);
            look(&mut other);
            let text = output.text();
            let expect = scan_slowly(settled(&text), &wanted, cursor);
            let seen = look(&mut lookout);
            prop_assert_eq!(&seen, &expect);
            let end = settled(&text).len() as u64;
            prop_assert_eq!(lookout.at(), expect.as_ref().map_or(end, |seen| seen.next));
            if seen.is_some() {
                return Ok(());
            }
        }
        let seen = look_when(&mut lookout, true);
        prop_assert_eq!(seen, scan_slowly(&output.text(), &wanted, cursor));
    }
}

fn any_output() -> impl Strategy<Value = Vec<u8>> {
    let part = select(vec![
        &b"ready"[..],
        b"rea",
        b"dy",
        b"a",
        b"b",
        b"x",
        b"ERR",
        b"\n",
        b"\r\n",
        b"\r",
        b"\x1b[K",
        b"\x1b[",
        b"31m",
        b"\x08",
        b"\xc3",
        b"\xa9",
        b"\xf0\x9f",
        b"\x98",
        b"\x1b(0",
        b"\x1b)0\x0e",
        b"\x0f",
        b"\x1b(B",
        b" ",
    ]);
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

#[test]
fn what_changes_and_comes_back_is_new_and_what_is_written_anew_is_not() {
    let check = |before: &str, after: &[&str], wanted: &str, expect: bool| {
        let (output, tail) = (GrowingOutput::new(before.as_bytes()), SharedLastLine::default());
        for looks_between in [false, true] {
            let output = GrowingOutput::new(&output.text());
            let mut lookout = watch(&output, &tail, wanted, before.len() as u64);
            let mut seen = None;
            for piece in after {
                output.print(piece.as_bytes());
                if looks_between {
                    seen = seen.or(look(&mut lookout));
                }
            }
            seen = seen.or(look(&mut lookout));
            assert_eq!(
                seen.is_some(),
                expect,
                "{before:?} {after:?}, looked between: {looks_between}"
            );
        }
    };
    check("Ready", &["\r\x1b[KBusy", "\r\x1b[KReady"], "^Ready$", true);
    check("Ready", &["\r\x1b[KBusy", "\r\x1b[KReady\n"], "^Ready$", true);
    check("Ready", &["\r\x1b[K", "Ready"], "^Ready$", false);
    check("Ready", &["\r\x1b[KRea", "\rReady\n"], "^Ready$", false);
    check("|", &["\x08/", "\x08-", "\x08|"], r"^\|$", true);
    check("|", &["\x08|", "\x08|"], r"^\|$", false);
}

#[test]
fn half_a_character_is_neither_seen_nor_passed_over() {
    let (output, tail) = (GrowingOutput::new(b"caf"), SharedLastLine::default());
    let mut whole = watch(&output, &tail, "caf.$", 3);
    let mut broken = watch(&output, &tail, "\u{fffd}", 3);
    output.print(b"\xc3");
    for lookout in [&mut whole, &mut broken] {
        assert_eq!((look(lookout), lookout.at()), (None, 3));
    }
    output.print(b"\xa9");
    let seen = look(&mut whole).unwrap();
    assert_eq!((seen.line.text.as_str(), seen.next), ("café", 5));
    output.print(b"\xf0\x9f");
    assert_eq!((look(&mut broken), broken.at()), (None, 5));
    let seen = look_when(&mut broken, true).unwrap();
    assert_eq!((seen.line.text.as_str(), seen.next), ("café\u{fffd}", 7));
}

#[test]
fn half_a_character_at_the_end_of_a_piece_waits_too() {
    let (output, tail) = (GrowingOutput::new(b""), SharedLastLine::default());
    let mut lookout = watch(&output, &tail, "\u{fffd}|😀", 0);
    output.print(&b"x".repeat(PIECE - 1));
    for byte in "😀".bytes() {
        assert_eq!(look(&mut lookout), None);
        output.print(&[byte]);
    }
    assert_eq!(look(&mut lookout).unwrap().next, output.end());
}

#[test]
fn a_long_line_is_drawn_once_for_all_who_wait() {
    const WAITING: usize = 20;
    let (output, tail) = (GrowingOutput::new(b"start\n"), SharedLastLine::default());
    let mut lookouts: Vec<LineWatch> =
        (0..WAITING).map(|_| watch(&output, &tail, "^100% done$", 6)).collect();
    output.read.store(0, Ordering::Relaxed);
    let bar = b"\r10% \r20% \r30% ".repeat(70);
    for _ in 0..300 {
        output.print(&bar);
        assert!(lookouts.iter_mut().all(|lookout| look(lookout).is_none()));
    }
    output.print(b"\r100% done");
    for lookout in &mut lookouts {
        let seen = look(lookout).unwrap();
        assert_eq!((seen.line.text.as_str(), seen.next), ("100% done", output.end()));
    }
    let (read, printed) = (output.read.load(Ordering::Relaxed), output.end());
    assert!(read < (WAITING as u64 + 2) * printed, "{read} of {printed}");
}

#[test]
fn a_long_line_that_ends_is_seen_whole_by_all() {
    let (output, tail) = (GrowingOutput::new(b"x"), SharedLastLine::default());
    let mut lookouts: Vec<LineWatch> =
        (0..3).map(|_| watch(&output, &tail, "^x+ready$", 1)).collect();
    output.print(&b"x".repeat(50_000));
    assert!(lookouts.iter_mut().all(|lookout| look(lookout).is_none()));
    output.print(b"xready\nnext line");
    for lookout in &mut lookouts {
        let seen = look(lookout).unwrap();
        assert_eq!((seen.line.n, seen.line.cut, seen.next), (0, true, 50_008));
    }
    // Longer than what is read in one go, and the others have gone on to the next line already.
    let mut lookouts: Vec<LineWatch> =
        (0..3).map(|_| watch(&output, &tail, "^next.*ready$", output.end())).collect();
    output.print(&b"=".repeat(60_000));
    assert!(lookouts.iter_mut().all(|lookout| look(lookout).is_none()));
    output
        .print(&[&b"\rnext "[..], &b"\x1b[1m".repeat(30_000), b"ready\x1b[K\nand so on"].concat());
    for lookout in &mut lookouts {
        let seen = look(lookout).unwrap();
        assert_eq!((seen.line.n, seen.line.text.as_str()), (1, "next ready"));
        assert_eq!(seen.next, output.end() - 9);
    }
}

#[test]
fn the_drawing_goes_with_the_last_who_waits() {
    let tail = SharedLastLine::default();
    let first = tail.get();
    assert!(Arc::ptr_eq(&first, &tail.get()));
    let weak = Arc::downgrade(&first);
    drop(first);
    assert_eq!(weak.strong_count(), 0);
}

#[test]
fn what_the_ring_dropped_is_passed_over() {
    let (output, tail) = (GrowingOutput::new(b"start\n"), SharedLastLine::default());
    let mut lookout = watch(&output, &tail, "ready", 6);
    output.print(&b"a line\n".repeat(2000));
    output.print(b"ready\n");
    output.printed.lock().unwrap().first = 4096;
    assert_eq!(look(&mut lookout).unwrap().line.n, 2001);
}
