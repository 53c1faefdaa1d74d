//! Lines of an output that is kept in memory, with marks as on a tape.

use paned_model::frame::ExitRecord;
use paned_model::{Size, Time};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

pub(in crate::panes) const BLOCK: u64 = 4096;

/// What was printed, of which the oldest blocks are gone.
#[derive(Debug)]
pub(in crate::panes) struct MemoryOutput {
    pub(in crate::panes) bytes: Vec<u8>,
    pub(in crate::panes) first: u64,
}

impl MemoryOutput {
    /// So many blocks are gone.
    pub(in crate::panes) fn new(bytes: impl Into<Vec<u8>>, gone: u64) -> Self {
        let bytes = bytes.into();
        let first = (gone * BLOCK).min(bytes.len() as u64 / BLOCK * BLOCK);
        Self { bytes, first }
    }

    fn ends_before(&self, offset: u64) -> u64 {
        memchr_iter(b'\n', &self.bytes[..offset as usize]).count() as u64
    }
}

impl Output for MemoryOutput {
    fn first(&self) -> u64 {
        self.first
    }

    fn end(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn lines(&self) -> u64 {
        self.ends_before(self.end())
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
        if offset < self.first {
            return Ok(Err(OutputGap { first: self.first }));
        }
        let rest = &self.bytes[offset as usize..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(Ok(read))
    }

    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>> {
        let offset = offset / BLOCK * BLOCK;
        if offset < self.first {
            return Ok(Err(OutputGap { first: self.first }));
        }
        // The mark of a block that is not begun is arbitrary.
        let begun = offset < self.end() || offset == 0;
        let lines = if begun { self.ends_before(offset) } else { 123_456 };
        Ok(Ok(LineMark { offset, lines, time: Time(0) }))
    }
}

/// What was printed, of which a part in the middle or at the end cannot be read: the file is cut.
#[derive(Debug)]
pub(in crate::panes) struct OutputWithHole {
    pub(in crate::panes) printed: MemoryOutput,
    pub(in crate::panes) hole: std::ops::Range<u64>,
}

impl Output for OutputWithHole {
    fn first(&self) -> u64 {
        self.printed.first()
    }

    fn end(&self) -> u64 {
        self.printed.end()
    }

    fn lines(&self) -> u64 {
        self.printed.lines()
    }

    fn taken(&self) -> u64 {
        self.printed.taken()
    }

    fn size(&self) -> Size {
        self.printed.size()
    }

    fn ending(&self) -> Option<ExitRecord> {
        None
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<Result<usize, OutputGap>> {
        if self.hole.contains(&offset) {
            return Ok(Err(OutputGap { first: self.hole.end }));
        }
        let most = if offset < self.hole.start { self.hole.start - offset } else { u64::MAX };
        let most = buffer.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        self.printed.read(offset, &mut buffer[..most])
    }

    fn line_mark(&self, offset: u64) -> io::Result<Result<LineMark, OutputGap>> {
        self.printed.line_mark(offset)
    }
}

#[test]
fn what_a_cut_file_has_lost_is_skipped() {
    let bytes: String = (0..30_000).map(|n| format!("{n:07}\n")).collect();
    let end = bytes.len() as u64;
    let long = "x".repeat(200_000);
    for bytes in [bytes, long] {
        for hole in
            [0..end, 0..8 * BLOCK, 5..2 * BLOCK, 1003..BLOCK, 100_000..25 * BLOCK, 9001..end]
        {
            let hole = hole.start..hole.end.min(bytes.len() as u64);
            let output = OutputWithHole {
                printed: MemoryOutput::new(bytes.as_bytes(), 0),
                hole: hole.clone(),
            };
            let (text, mut at) = (OutputText::new(&output), 0);
            text.each_until(text.first().unwrap(), output.end(), |raw| {
                assert!(at <= raw.offset && raw.offset < raw.next, "{hole:?}: {raw:?} after {at}");
                assert!(!hole.contains(&raw.offset) && !hole.contains(&(raw.next - 1)), "{hole:?}");
                at = raw.next;
                ControlFlow::Continue(())
            })
            .unwrap();
            let expect = if hole.end < output.end() { output.end() } else { hole.start };
            assert_eq!(at, expect, "{hole:?}");
        }
    }
}

/// All lines up to an end, as text; `…` stands for one that is cut, `|` for one without its end.
fn texts(output: &MemoryOutput, end: u64) -> Vec<String> {
    let (text, mut found) = (OutputText::new(output), Vec::new());
    text.each_until(text.first().unwrap(), end, |raw| {
        let line = raw.clean(usize::MAX);
        let (cut, open) = (if line.cut { "…" } else { "" }, if raw.has_newline { "" } else { "|" });
        found.push(format!("{}{cut}{open}", line.text));
        ControlFlow::Continue(())
    })
    .unwrap();
    found
}

#[track_caller]
fn check(raw: &[u8], expect: &[&str]) {
    let output = MemoryOutput::new(raw, 0);
    assert_eq!(texts(&output, output.end()), expect);
}

#[test]
fn a_progress_bar_of_any_length_reads_as_it_ends() {
    let bar: String = (0..20_000).map(|n| format!("\r{n} of 20000 done")).collect();
    check(format!("{bar}\r\nnext\n").as_bytes(), &["19999 of 20000 done", "next"]);
    check(bar.as_bytes(), &["19999 of 20000 done|"]);
}

#[test]
fn many_colours_are_no_text() {
    check(format!("{}red\nnext", "\x1b[31m".repeat(30_000)).as_bytes(), &["red", "next|"]);
}

#[test]
fn what_is_too_long_is_cut_and_said_to_be() {
    let dots = ".".repeat(MAX_DRAWN_CHARS - 5);
    check(format!("{dots}READY\n").as_bytes(), &[&format!("{dots}READY")]);
    check(format!("{dots}\x1b[1mREADY").as_bytes(), &[&format!("{dots}READY|")]);
    check(format!("{dots}READY!\nx\n").as_bytes(), &[&format!("{dots}READY…"), "x"]);
    let long = "日".repeat(MAX_DRAWN_CHARS);
    check(format!("{long}本\nx\n").as_bytes(), &[&format!("{long}…"), "x"]);
}

#[test]
fn a_line_is_found_by_any_offset_in_it() {
    let long = "x".repeat(3 * PIECE);
    let output = MemoryOutput::new(format!("a\nbc\n{long}\nd\n"), 0);
    let text = OutputText::new(&output);
    let end = output.end();
    for (offset, expect) in [
        (0, (0, 0)),
        (1, (0, 0)),
        (2, (2, 1)),
        (4, (2, 1)),
        (5, (5, 2)),
        (end - 3, (5, 2)),
        (end - 2, (end - 2, 3)),
        (end, (end, 4)),
        (end + 9, (end, 4)),
    ] {
        let place = text.line_at(offset).unwrap();
        assert_eq!(
            (place.offset, place.n, place.truncated_start),
            (expect.0, expect.1, false),
            "{offset}"
        );
    }
}

#[test]
fn the_first_line_that_is_kept_may_lack_its_beginning() {
    let output = MemoryOutput::new(format!("a\n{}\nb\n", "x".repeat(9000)), 1);
    let text = OutputText::new(&output);
    let truncated = LineStart { offset: BLOCK, n: 1, truncated_start: true };
    for offset in [0, BLOCK, BLOCK + 1, 9002] {
        assert_eq!(text.line_at(offset).unwrap(), truncated, "{offset}");
    }
    assert_eq!(text.line_at(9003).unwrap(), LineStart::new(9003, 2));
    assert_eq!(text.line(0).unwrap(), truncated);
}

#[test]
fn an_output_that_ends_with_a_block_is_counted_right() {
    let output = MemoryOutput::new("x\n".repeat(2 * BLOCK as usize), 1);
    let text = OutputText::new(&output);
    assert_eq!(text.total_until(output.end()).unwrap(), 2 * BLOCK);
    let expect = LineStart::new(output.end(), 2 * BLOCK);
    assert_eq!(text.line_at(output.end()).unwrap(), expect);
}

/// Lines short and long, of which some are drawn.
fn any_output() -> impl Strategy<Value = Vec<u8>> {
    let part = select(vec!["a", "日", "\x1b[31m", "\r", "\x08", "\n", "\n", "\r\n"]);
    let part = (part, select(vec![1, 1, 1, 1, 1, 1, 1000, 30_000]));
    let part = part.prop_map(|(part, times)| part.repeat(times).into_bytes());
    prop::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn lines_are_what_they_are_in_one_piece(raw in any_output(), gone in 0_u64..20, end in 0_usize..1000) {
        let output = MemoryOutput::new(raw, gone);
        let end = output.end() - (output.end() - output.first).min(end as u64);
        let kept = &output.bytes[output.first as usize..end as usize];
        let count = lines::split(kept).count();
        let expect: Vec<_> = lines::split(kept)
            .enumerate()
            .map(|(at, raw)| {
                let line = lines::clean(raw, MAX_DRAWN_CHARS);
                let open = at + 1 == count && !kept.ends_with(b"\n");
                let (cut, open) = (if line.cut { "…" } else { "" }, if open { "|" } else { "" });
                format!("{}{cut}{open}", line.text)
            })
            .collect();
        prop_assert!(texts(&output, end) == expect);
        let total = OutputText::new(&output).total_until(end).unwrap();
        prop_assert_eq!(total, output.ends_before(output.first) + count as u64);
    }

    #[test]
    fn every_offset_is_in_the_line_that_begins_last(raw in any_output(), gone in 0_u64..20, at: u64) {
        let output = MemoryOutput::new(raw, gone);
        let at = output.first + at % (output.end() - output.first + 1);
        let kept = &output.bytes[output.first as usize..at as usize];
        let begin = memchr::memrchr(b'\n', kept).map_or(0, |end| end + 1) as u64 + output.first;
        let expect = LineStart {
            offset: begin,
            n: output.ends_before(at),
            truncated_start: begin == output.first && 0 < begin,
        };
        let text = OutputText::new(&output);
        prop_assert_eq!(text.line_at(at).unwrap(), expect);
        prop_assert_eq!(text.line(expect.n).unwrap(), expect);
    }
}
