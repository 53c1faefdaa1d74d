//! Splits a stream of bytes into lines, each as a person would read it. Pure.

use paned_term::lines::{self, Charsets, TextColours};

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
    /// The colours at the start of the line, where colours are kept.
    colours: Option<TextColours>,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self { open: Vec::new(), longest: LONGEST, sets: Charsets::default(), colours: None }
    }
}

impl LineSplitter {
    /// A splitter without a limit on the length of lines, for a stream that ends.
    pub(in crate::commands) fn unlimited() -> Self {
        Self { longest: usize::MAX, ..Self::default() }
    }

    /// The same, with lines in the colours they were printed in.
    pub(in crate::commands) fn coloured(self) -> Self {
        Self { colours: Some(TextColours::default()), ..self }
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
        if open.is_empty() {
            return None;
        }
        let Some(colours) = self.colours else {
            return Some(lines::clean_with_charsets(sets, line, most).text.into_owned());
        };
        let (text, after) = lines::clean_with_colours(sets, colours, line, most);
        self.colours = Some(after);
        Some(text)
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

    #[test]
    fn colours_are_kept_across_lines_where_they_are_wanted() {
        let mut splitter = LineSplitter::default().coloured();
        let lines = splitter.feed(b"\x1b[31mone\r\ntwo\x1b[0m\n\x1b]0;t\x07three\n");
        assert_eq!(lines, ["\x1b[0;31mone\x1b[0m", "\x1b[0;31mtwo\x1b[0m", "three"]);
    }
}
