//! Interpretation of printed bytes: the last lines, a screen, the modes for keys. Pure.

use paned_model::Size;
use paned_term::screen::view::ScreenModes;
use paned_term::{OutputScanner, Screen, lines, render};

use super::CaptureStyle;

/// The most characters of a line that are returned.
const LONGEST_LINE: usize = 1 << 16;

/// Whether some bytes are all of the output, or only its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputExtent {
    /// All of it, or all that is kept and starts at a line.
    Whole,
    /// The first line may be cut at its start.
    Tail,
}

/// The last lines of the output, without blank lines at the end; `None` if more bytes are needed to
/// know.
pub(super) fn last_lines(bytes: &[u8], extent: OutputExtent, count: usize) -> Option<Vec<String>> {
    let skipped = usize::from(extent == OutputExtent::Tail);
    let mut raw: Vec<&[u8]> = lines::split(bytes).skip(skipped).collect();
    let clean = |raw| lines::clean(raw, LONGEST_LINE).text.trim_end_matches(' ').to_owned();
    while raw.last().is_some_and(|raw| clean(raw).is_empty()) {
        raw.pop();
    }
    if raw.len() < count && extent == OutputExtent::Tail {
        return None;
    }
    Some(raw[raw.len().saturating_sub(count)..].iter().map(|raw| clean(raw)).collect())
}

/// The rows of a screen.
pub(super) fn rows(screen: &Screen, style: CaptureStyle) -> Vec<String> {
    match style {
        CaptureStyle::Plain => screen.view().rows,
        CaptureStyle::Coloured => render::ansi(screen).split('\n').map(str::to_owned).collect(),
    }
}

/// The modes of a terminal after the output that the scanner has read.
pub(super) fn modes(scanner: &OutputScanner) -> ScreenModes {
    let mut screen = Screen::new(Size::default());
    screen.feed(&scanner.preamble());
    screen.view().modes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, count: usize, expect: Option<&[&str]>) {
        let got = last_lines(printed.as_bytes(), OutputExtent::Tail, count);
        let expect = expect.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        assert_eq!(got, expect);
    }

    #[test]
    fn the_last_lines_are_those_with_text() {
        check("cut\na\nb\nc\n", 2, Some(&["b", "c"]));
        check("cut\na\n\n\x1b[1mb\x1b[m  \r\n$ ", 2, Some(&["b", "$"]));
        check("cut\na\n\nb\n  \n\n\x1b[K", 3, Some(&["a", "", "b"]));
    }

    #[test]
    fn too_few_bytes_are_no_answer() {
        check("a\nb\n", 2, None);
        check("a\nb\n\n", 2, None);
        let whole = last_lines(b"a\nb\n\n", OutputExtent::Whole, 5).unwrap();
        assert_eq!(whole, ["a", "b"]);
    }

    #[test]
    fn a_mode_outlives_what_was_printed_after_it() {
        let mut signals = OutputScanner::new();
        signals.feed(b"\x1b[?1hhello", |_| {});
        assert!(modes(&signals).application_cursor);
        assert!(!modes(&OutputScanner::new()).application_cursor);
    }
}
