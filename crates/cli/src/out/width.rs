//! How many columns a text takes on a terminal, and cutting it to a number of columns. Pure.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Stands in place of what was cut off.
pub(crate) const ELLIPSIS: char = '…';
/// Asks for the coloured form of the character before it, which takes two columns.
const EMOJI_FORM: char = '\u{fe0f}';

/// The columns that a text takes. Terminals differ about joined emoji; this is the most that any of
/// them takes, so that a line is never wider than the terminal.
pub(crate) fn of(text: &str) -> usize {
    Columns::default().through(text).map(|(_, columns)| columns).last().unwrap_or(0)
}

/// The text in at most this many columns; `…` stands in place of what was cut off.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    // Most text is ASCII and fits.
    if text.len() <= most && text.is_ascii() || of(text) <= most {
        return Cow::Borrowed(text);
    }
    Cow::Owned(shorten(text, most))
}

/// As much of the text as fits into this many columns with a `…` behind it.
pub(super) fn shorten(text: &str, most: usize) -> String {
    let Some(room) = most.checked_sub(1) else { return String::new() };
    let fitting = Columns::default().through(text).take_while(|(_, columns)| *columns <= room);
    let end = fitting.last().map_or(0, |(end, _)| end);
    format!("{}{ELLIPSIS}", text[..end].trim_end())
}

/// The words of a text in lines of at most this many columns; a longer word has a line of its own.
pub(super) fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if of(line) + 1 + of(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Counts the columns of a text from its start.
#[derive(Default)]
struct Columns {
    total: usize,
    /// The width of the last character that has one.
    last: usize,
}

impl Columns {
    /// The end of each character, and the columns up to there.
    fn through(mut self, text: &str) -> impl Iterator<Item = (usize, usize)> {
        text.char_indices().map(move |(at, c)| {
            self.add(c);
            (at + c.len_utf8(), self.total)
        })
    }

    fn add(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        if c == EMOJI_FORM && self.last == 1 {
            self.total += 1;
            self.last = 2;
        }
        if 0 < width {
            self.total += width;
            self.last = width;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[track_caller]
    fn check(text: &str, most: usize, expect: &str) {
        assert_eq!(cut(text, most), expect, "{text:?} in {most}");
    }

    #[test]
    fn what_fits_is_not_cut_and_the_rest_ends_with_an_ellipsis() {
        check("cargo", 5, "cargo");
        check("cargo test", 6, "cargo…");
        check("cargo test", 7, "cargo…");
        check("cargo", 1, "…");
        check("cargo", 0, "");
    }

    #[test]
    fn a_wide_character_takes_two_columns_and_is_never_halved() {
        assert_eq!(["漢字", "🦀", "e\u{301}", "❤\u{fe0f}"].map(of), [4, 2, 1, 2]);
        check("漢字漢字", 8, "漢字漢字");
        check("漢字漢字", 6, "漢字…");
        check("漢字漢字", 7, "漢字漢…");
        check("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…");
    }

    #[test]
    fn words_are_wrapped_whole() {
        assert_eq!(wrap("one two  three 漢字", 8), ["one two", "three", "漢字"]);
        assert_eq!(wrap("", 8), Vec::<String>::new());
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a",
            " ",
            "-",
            "漢",
            "🦀",
            "é",
            "\u{301}",
            "👩\u{200d}💻",
            "❤\u{fe0f}",
            "🇩🇪",
            "ｶﾞ",
        ]);
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_cut_text_is_never_wider_than_asked(text in any_text(), most in 0_usize..40) {
            let cut = cut(&text, most);
            prop_assert!(of(&cut) <= most, "{cut:?}");
            prop_assert!(UnicodeWidthStr::width(cut.as_ref()) <= most, "{cut:?}");
            prop_assert!(of(&text) > most || cut == text);
        }
    }
}
