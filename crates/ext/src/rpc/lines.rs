//! Lines of bounded length from a stream. A longer line is skipped and reported.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A whole line.
    Whole(&'a [u8]),
    /// A line beyond the limit; this is how it begins.
    TooLong(&'a [u8]),
}

/// How much of a line that is too long is kept.
const SHOWN: usize = 200;
/// A buffer that grew beyond this is freed after its line.
const KEPT: usize = 256 << 10;

/// Reads lines of at most `max` bytes.
pub(crate) struct LineReader<R> {
    from: R,
    max: usize,
    line: Vec<u8>,
}

impl<R: AsyncBufRead + Unpin> LineReader<R> {
    /// A reader of this stream.
    pub(crate) fn new(from: R, max: usize) -> Self {
        Self { from, max, line: Vec::new() }
    }

    /// The next line; none at the end. The last line needs no line feed.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        if KEPT < self.line.capacity() {
            self.line.shrink_to(KEPT);
        }
        let mut is_too_long = false;
        let mut is_empty = true;
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                break;
            }
            is_empty = false;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let text = &piece[..end.unwrap_or(piece.len())];
            is_too_long |= self.max < self.line.len() + text.len();
            match is_too_long {
                true => self.line.truncate(SHOWN),
                false => self.line.extend_from_slice(text),
            }
            let used = end.map_or(piece.len(), |end| end + 1);
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        let line = match is_too_long {
            true => Line::TooLong(&self.line),
            false => Line::Whole(&self.line),
        };
        Ok((!is_empty).then_some(line))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    /// The lines of a text with a limit of 5 bytes, however it is cut.
    async fn check(text: &str, expect: &[(&str, bool)]) {
        for piece in 1..=text.len().max(1) {
            let from = BufReader::with_capacity(piece, text.as_bytes());
            let mut lines = LineReader::new(from, 5);
            for (line, is_whole) in expect {
                let expect = match is_whole {
                    true => Line::Whole(line.as_bytes()),
                    false => Line::TooLong(line.as_bytes()),
                };
                let got = lines.next().await.unwrap().unwrap();
                match (got, expect) {
                    (Line::TooLong(start), Line::TooLong(_)) => {
                        assert!(
                            text.as_bytes()
                                .windows(start.len().max(1))
                                .any(|at| at.starts_with(start))
                        );
                    }
                    (got, expect) => assert_eq!(got, expect),
                }
            }
            assert!(lines.next().await.unwrap().is_none());
        }
    }

    #[tokio::test]
    async fn lines_end_with_a_line_feed_or_with_the_stream() {
        check("", &[]).await;
        check("a\nbc\n", &[("a", true), ("bc", true)]).await;
        check("a\n\nb", &[("a", true), ("", true), ("b", true)]).await;
        check("12345\n", &[("12345", true)]).await;
    }

    #[tokio::test]
    async fn a_line_beyond_the_limit_is_skipped_and_the_next_is_read() {
        check("123456\nab\n", &[("", false), ("ab", true)]).await;
        check("ab\n1234567890", &[("ab", true), ("", false)]).await;
    }
}
