//! Looking at what grows is looking at all of it each time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use paned_model::Size;
use paned_model::frame::Ending;
use paned_substrate::{Gap, Mark};
use paned_term::lines::Charsets;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::pattern::pattern;
use super::super::tail::Shared;
use super::super::text::tests::Printed;
use super::*;

/// An output that grows.
#[derive(Debug)]
struct Growing {
    printed: Mutex<Printed>,
    /// How many bytes somebody has read.
    read: AtomicU64,
}

impl Growing {
    fn new(bytes: &[u8]) -> Arc<Self> {
        let printed = Mutex::new(Printed::new(bytes, 0));
        Arc::new(Self { printed, read: AtomicU64::new(0) })
    }

    fn print(&self, bytes: &[u8]) {
        self.printed.lock().unwrap().bytes.extend_from_slice(bytes);
    }

    fn text(&self) -> Vec<u8> {
        self.printed.lock().unwrap().bytes.clone()
    }
}

impl Output for Growing {
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

    fn ending(&self) -> Option<Ending> {
        None
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, Gap>> {
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.printed.lock().unwrap().read(offset, buffer)
    }

    fn mark(&self, offset: u64) -> io::Result<Result<Mark, Gap>> {
        self.printed.lock().unwrap().mark(offset)
    }
}

fn wanted(text: &str, stop: Option<&str>) -> Wanted {
    let read = |text| Arc::new(pattern("pattern", text, false).unwrap());
    Wanted { pattern: Some(read(text)), stop: stop.map(read) }
}

fn look_out(output: &Arc<Growing>, tail: &Shared, text: &str, cursor: u64) -> Lookout {
    Lookout::new(output.clone(), tail.get(), wanted(text, None), cursor).unwrap()
}

fn look(lookout: &mut Lookout) -> Option<Sighting> {
    look_when(lookout, false)
}

/// Looks at all there is, of an output that is over or not.
fn look_when(lookout: &mut Lookout, is_over: bool) -> Option<Sighting> {
    loop {
        match lookout.look(is_over).unwrap() {
            Look::Seen(sighting) => return Some(sighting),
            Look::More => {}
            Look::Nothing => return None,
        }
    }
}

/// What can be read of an output that goes on.
fn settled(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - lines::unfinished(bytes)]
}

/// What somebody sees who looks at all there is.
fn look_slowly(bytes: &[u8], wanted: &Wanted, cursor: usize) -> Option<Sighting> {
    let mut start = 0;
    for (n, raw) in (0..).zip(lines::split(bytes)) {
        let end = start + raw.len();
        let (is_open, is_before) =
            (end == bytes.len(), end < cursor || cursor == bytes.len() && end == cursor);
        let continued = start < cursor;
        let sets = Charsets::default().after(&bytes[..start]);
        let before = &bytes[start..cursor.clamp(start, end)];
        let before = lines::clean_in(sets, before, usize::MAX).text;
        let line = lines::clean_in(sets, raw, usize::MAX);
        let is_new = !continued || before != line.text || {
            let mut drawing = Drawing::in_sets(sets, usize::MAX >> 4);
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
            && let Some(sign) = wanted.judge(&line)
        {
            let shown = reading::Line { continued, open: is_open, ..reading::Line::of(n, line) };
            let next = (end + usize::from(!is_open)) as u64;
            return Some(Sighting { sign, line: shown, next });
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
        let (output, tail) = (Growing::new(&before), Shared::default());
        let wanted = wanted(pattern, stop);
        let cursor = before.len().saturating_sub(back).min(settled(&before).len());
        let mut lookout =
            Lookout::new(output.clone(), tail.get(), wanted.clone(), cursor as u64).unwrap();
        // Somebody else reads along, and further.
        let mut other = look_out(&output, &tail, "nothing like this", cursor as u64);
        for piece in std::iter::once(Vec::new()).chain(after) {
            output.print(&piece);
            look(&mut other);
            let text = output.text();
            let expect = look_slowly(settled(&text), &wanted, cursor);
            let seen = look(&mut lookout);
            prop_assert_eq!(&seen, &expect);
            let end = settled(&text).len() as u64;
            prop_assert_eq!(lookout.at(), expect.as_ref().map_or(end, |seen| seen.next));
            if seen.is_some() {
                return Ok(());
            }
        }
        let seen = look_when(&mut lookout, true);
        prop_assert_eq!(seen, look_slowly(&output.text(), &wanted, cursor));
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
        let (output, tail) = (Growing::new(before.as_bytes()), Shared::default());
        for looks_between in [false, true] {
            let output = Growing::new(&output.text());
            let mut lookout = look_out(&output, &tail, wanted, before.len() as u64);
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
    let (output, tail) = (Growing::new(b"caf"), Shared::default());
    let mut whole = look_out(&output, &tail, "caf.$", 3);
    let mut broken = look_out(&output, &tail, "\u{fffd}", 3);
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
    let (output, tail) = (Growing::new(b""), Shared::default());
    let mut lookout = look_out(&output, &tail, "\u{fffd}|😀", 0);
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
    let (output, tail) = (Growing::new(b"start\n"), Shared::default());
    let mut lookouts: Vec<Lookout> =
        (0..WAITING).map(|_| look_out(&output, &tail, "^100% done$", 6)).collect();
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
    let (output, tail) = (Growing::new(b"x"), Shared::default());
    let mut lookouts: Vec<Lookout> =
        (0..3).map(|_| look_out(&output, &tail, "^x+ready$", 1)).collect();
    output.print(&b"x".repeat(50_000));
    assert!(lookouts.iter_mut().all(|lookout| look(lookout).is_none()));
    output.print(b"xready\nnext line");
    for lookout in &mut lookouts {
        let seen = look(lookout).unwrap();
        assert_eq!((seen.line.n, seen.line.cut, seen.next), (0, true, 50_008));
    }
    // Longer than what is read in one go, and the others have gone on to the next line already.
    let mut lookouts: Vec<Lookout> =
        (0..3).map(|_| look_out(&output, &tail, "^next.*ready$", output.end())).collect();
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
    let tail = Shared::default();
    let first = tail.get();
    assert!(Arc::ptr_eq(&first, &tail.get()));
    let weak = Arc::downgrade(&first);
    drop(first);
    assert_eq!(weak.strong_count(), 0);
}

#[test]
fn what_the_ring_dropped_is_passed_over() {
    let (output, tail) = (Growing::new(b"start\n"), Shared::default());
    let mut lookout = look_out(&output, &tail, "ready", 6);
    output.print(&b"a line\n".repeat(2000));
    output.print(b"ready\n");
    output.printed.lock().unwrap().first = 4096;
    assert_eq!(look(&mut lookout).unwrap().line.n, 2001);
}
