//! Splits a stream of bytes into lines, each as a person would read it. Pure.

use paned_term::lines::{self, Charsets};

/// A line that is longer than this is returned in pieces.
const LONGEST: usize = 1 << 20;

/// Splits a stream into lines. How reads split the bytes never matters.
#[derive(Debug)]
pub(in crate::commands) struct LineSplitter {
    /// The line that has not ended.
    open: Vec<u8>,
    /// A longer line is returned in pieces.
    longest: usize,
    /// The character sets at the start of the line.
    sets: Charsets,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self { open: Vec::new(), longest: LONGEST, sets: Charsets::default() }
    }
}

impl LineSplitter {
    /// A splitter without a limit on the length of lines, for a stream that ends.
    pub(in crate::commands) fn unlimited() -> Self {
        Self { longest: usize::MAX, ..Self::default() }
    }

    /// Takes bytes, and returns the lines that they complete.
    pub(in crate::commands) fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut whole = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.open.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.longest <= self.open.len() {
                whole.extend(self.finish());
            }
        }
        whole
    }

    /// Ends the open line, and returns it, if there is one.
    pub(in crate::commands) fn finish(&mut self) -> Option<String> {
        let open = std::mem::take(&mut self.open);
        let line = open.strip_suffix(b"\n").unwrap_or(&open);
        // The cursor may move over blanks, so the text may be longer than the bytes.
        let most = LONGEST.max(line.len());
        let sets = self.sets;
        self.sets = sets.after(line);
        (!open.is_empty()).then(|| lines::clean_with_charsets(sets, line, most).text.into_owned())
    }
}

/// Where the last `count` lines start; one that has not ended counts.
pub(in crate::commands) fn last_lines(bytes: &[u8], count: usize) -> usize {
    let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut ends = ended.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match count {
        0 => bytes.len(),
        count => ends.nth(count - 1).map_or(0, |(at, _)| at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_the_bytes_differently_changes_nothing() {
        let bytes = "one\r\n\x1b[31mtwo\x1b[0m\r\n\r\n10%\r99%\r\nthrée\x1b(0\r\nlqk\x1b(B\r\n$ "
            .as_bytes();
        for size in 1..=bytes.len() {
            let mut cutter = LineSplitter::default();
            let mut lines: Vec<_> =
                bytes.chunks(size).flat_map(|piece| cutter.feed(piece)).collect();
            lines.extend(cutter.finish());
            assert_eq!(lines, ["one", "two", "", "99%", "thrée", "┌─┐", "$ "], "pieces of {size}");
            assert_eq!(cutter.finish(), None);
        }
    }

    #[test]
    fn a_line_without_an_end_comes_in_pieces_and_is_not_kept() {
        let mut cutter = LineSplitter::default();
        let piece = vec![b'x'; LONGEST / 2];
        assert!(cutter.feed(&piece).is_empty());
        assert_eq!(cutter.feed(&piece).len(), 1);
        assert_eq!(cutter.finish(), None);
        let mut cutter = LineSplitter::unlimited();
        assert!((0..3).all(|_| cutter.feed(&piece).is_empty()));
        assert_eq!(cutter.finish().map(|line| line.len()), Some(3 * piece.len()));
    }

    #[track_caller]
    fn check_last(text: &str, count: usize, expect: &str) {
        assert_eq!(&text[last_lines(text.as_bytes(), count)..], expect);
    }

    #[test]
    fn the_last_lines_are_counted_from_the_end() {
        check_last("a\nb\nc\n", 2, "b\nc\n");
        check_last("a\nb\nc", 2, "b\nc");
        check_last("a\nb\n", 0, "");
        check_last("a\nb\n", 9, "a\nb\n");
        check_last("\n\n", 1, "\n");
        check_last("", 3, "");
    }
}
