//! The end of a pane's output as lists show it: its last line that has any text, and when that was
//! printed. Read from the last few kilobytes of the tape, so a pane without a screen gets none.

use std::io;

use paned_backend::Output;
use paned_model::Time;
use paned_term::lines;

/// How far back the last line is looked for.
const WINDOW: u64 = 4 << 10;
/// The most characters of the line.
const MAX_CHARS: usize = 200;

/// The end of a pane's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputTail {
    /// The last line with text. None if there is none near the end, or the program draws the whole
    /// screen: the end of such output is not a line that a user sees.
    pub(crate) last_line: Option<String>,
    /// When the last byte was printed.
    pub(crate) printed_at: Option<Time>,
}

impl OutputTail {
    /// The end of the output up to an offset. What cannot be read is left out.
    pub(crate) fn read(output: &dyn Output, end: u64, draws_screen: bool) -> Self {
        let Some(last) = end.checked_sub(1) else { return Self::default() };
        let time = output.time(last).ok().and_then(Result::ok);
        let last_line = match draws_screen {
            true => None,
            false => last_line(output, end).ok().flatten(),
        };
        Self { last_line, printed_at: time.map(|found| found.time) }
    }
}

fn last_line(output: &dyn Output, end: u64) -> io::Result<Option<String>> {
    let from = output.last_seen().0.max(end.saturating_sub(WINDOW));
    let mut bytes = vec![0; usize::try_from(end.saturating_sub(from)).unwrap_or(0)];
    let Ok(read) = output.read(from, &mut bytes)? else { return Ok(None) };
    Ok(last_text(&bytes[..read], from == 0))
}

/// The last line with text in the end of some output.
fn last_text(bytes: &[u8], is_whole: bool) -> Option<String> {
    let mut rest = bytes;
    loop {
        let begin = memchr::memrchr(b'\n', rest).map(|newline| newline + 1);
        let line = &rest[begin.unwrap_or(0)..];
        let is_cut = begin.is_none() && !is_whole;
        let text = shown(if is_cut { after_cut(line) } else { line });
        if !text.is_empty() {
            return Some(text);
        }
        rest = &rest[..begin?.saturating_sub(1)];
    }
}

/// The rest of a line that may begin inside a character or an escape sequence: from the next
/// carriage return, escape or blank on.
fn after_cut(line: &[u8]) -> &[u8] {
    let begin = line.iter().position(|byte| matches!(byte, b'\r' | 0x1b | b' '));
    begin.map_or(line, |begin| &line[begin..])
}

/// A line as a list shows it, on one row and without what changes the direction of other text.
fn shown(raw: &[u8]) -> String {
    let line = lines::clean(raw, WINDOW as usize);
    let is_shown = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    line.text.trim().chars().filter(is_shown).take(MAX_CHARS).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, expect: Option<&str>) {
        assert_eq!(last_text(printed.as_bytes(), true).as_deref(), expect, "{printed:?}");
    }

    #[test]
    fn the_last_line_with_text_counts() {
        check("", None);
        check("\r\n \r\n", None);
        check("one\r\ntwo\r\n\r\n", Some("two"));
        check("one\r\n$ ", Some("$"));
        check("one\r\n\x1b[0m\x1b[K\r\n", Some("one"));
    }

    #[test]
    fn it_is_what_a_user_reads() {
        check("10 %\r20 %\r30 %", Some("30 %"));
        check("\x1b[31mred\x1b[0m text\x07", Some("red text"));
        check("a\u{202e}b\u{2066}c", Some("abc"));
        check("<b>&amp;</b>", Some("<b>&amp;</b>"));
        check(&"x".repeat(1000), Some(&"x".repeat(MAX_CHARS)));
    }

    #[test]
    fn a_cut_sequence_is_not_shown() {
        assert_eq!(last_text(b"8;5;1m\x1b[0mtext", false).as_deref(), Some("text"));
        assert_eq!(last_text(b"\xa9\xff word", false).as_deref(), Some("word"));
    }
}
