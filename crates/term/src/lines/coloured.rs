//! A line as a user would read it, in the colours it was printed in.
//!
//! Only colours and attributes of text (SGR) pass, written anew: nothing of the program's own
//! sequences is copied. The text is always that of [`clean`](super::clean_with_charsets); where
//! this simpler drawing finds another, the line is shown without colours.

use unicode_width::UnicodeWidthChar;

use super::tokens::{self, Erase, LineToken, back_by_tabs};
use super::{Charsets, clean_with_charsets, max_cols, without_returns};
use crate::vt::{Csi, ESC, VtToken, VtTokenizer};

/// The colours and attributes of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextColours {
    /// A bit for each attribute, by its SGR number.
    attributes: u16,
    foreground: Option<Colour>,
    background: Option<Colour>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    /// One of sixteen, by its SGR number.
    Named(u8),
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// Bold, faint, italic, underlined, blinking, inverse, struck out: attributes that hide nothing.
const ATTRIBUTES: [u32; 7] = [1, 2, 3, 4, 5, 7, 9];

/// A cell of the line. A wide character is followed by an empty cell.
#[derive(Clone, Default)]
struct ColouredCell {
    text: String,
    colours: TextColours,
}

/// A line with its colours, for one that begins in these character sets and colours. Returns the
/// line and the colours at its end.
#[must_use]
pub fn clean_with_colours(
    sets: Charsets,
    colours: TextColours,
    raw: &[u8],
    max_chars: usize,
) -> (String, TextColours) {
    let clean = clean_with_charsets(sets, raw, max_chars);
    let raw = without_returns(raw);
    if colours == TextColours::default() && !raw.contains(&ESC) {
        return (clean.text.into_owned(), colours);
    }
    let mut line = ColouredLine { colours, ..ColouredLine::default() };
    let is_drawn = line.draw(sets, raw).is_some();
    let after = colours.after(raw);
    let is_same = is_drawn && line.cells.iter().map(|cell| cell.text.as_str()).eq_text(&clean.text);
    let text = if is_same { line.render() } else { clean.text.into_owned() };
    (text, after)
}

/// Compares texts in pieces with a whole one.
trait EqText<'a>: Iterator<Item = &'a str> + Sized {
    fn eq_text(self, whole: &str) -> bool {
        let mut rest = Some(whole);
        for piece in self {
            rest = rest.and_then(|rest| rest.strip_prefix(piece));
        }
        rest == Some("")
    }
}

impl<'a, I: Iterator<Item = &'a str>> EqText<'a> for I {}

#[derive(Default)]
struct ColouredLine {
    cells: Vec<ColouredCell>,
    col: usize,
    saved: usize,
    colours: TextColours,
}

impl ColouredLine {
    /// Draws the line; `None` if only a row of cells can tell what it looks like.
    fn draw(&mut self, sets: Charsets, raw: &[u8]) -> Option<()> {
        let mut done = 0;
        for (token, end) in tokens::tokens(sets, raw) {
            let start = match token {
                LineToken::Print(text) => end - text.len(),
                _ => end,
            };
            self.colours = self.colours.after(&raw[done..start]);
            done = end;
            self.take(token, end)?;
        }
        Some(())
    }

    fn take(&mut self, token: LineToken<'_>, read: usize) -> Option<()> {
        match token {
            LineToken::Print(text) => return self.print(text, read),
            LineToken::Tabs(count) => self.col = (self.col / 8 + count) * 8,
            LineToken::BackTabs(count) => self.col = back_by_tabs(self.col, count),
            LineToken::Left(cols) => self.col = self.col.saturating_sub(cols),
            LineToken::Right(cols) => self.col += cols,
            LineToken::Column(col) => self.col = col,
            LineToken::Save => self.saved = self.col,
            LineToken::Restore => self.col = self.saved,
            LineToken::Erase(Erase::Right) => self.cells.truncate(self.col),
            LineToken::Erase(Erase::All) => self.cells.clear(),
            LineToken::Clear(col) => {
                self.cells.clear();
                self.col = col;
            }
            LineToken::Erase(Erase::Left | Erase::Cells(_))
            | LineToken::Delete(_)
            | LineToken::Insert(_)
            | LineToken::PrintLineDrawing(_)
            | LineToken::Repeat(_)
            | LineToken::RepeatLineDrawing(_)
            | LineToken::Home
            | LineToken::OtherRow(_) => return None,
        }
        Some(())
    }

    fn print(&mut self, text: &[u8], read: usize) -> Option<()> {
        if max_cols(read) < self.col {
            return None;
        }
        for c in str::from_utf8(text).ok()?.chars() {
            let width = c.width()?;
            if width == 0 {
                self.col.checked_sub(1).and_then(|at| self.cells.get_mut(at))?.text.push(c);
                continue;
            }
            let end = self.col + width;
            if self.cells.len() < end {
                let blank = ColouredCell { text: " ".to_owned(), ..ColouredCell::default() };
                self.cells.resize(end, blank);
            }
            self.cells[self.col] = ColouredCell { text: c.to_string(), colours: self.colours };
            self.cells[self.col + 1..end].fill(ColouredCell::default());
            self.col = end;
        }
        Some(())
    }

    fn render(&self) -> String {
        let mut text = String::new();
        let mut now = TextColours::default();
        for cell in self.cells.iter().filter(|cell| !cell.text.is_empty()) {
            if cell.colours != now {
                now = cell.colours;
                text += &now.sequence();
            }
            text += &cell.text;
        }
        if now != TextColours::default() {
            text += "\x1b[0m";
        }
        text
    }
}

impl TextColours {
    /// The colours after these bytes.
    fn after(mut self, bytes: &[u8]) -> Self {
        if !bytes.contains(&ESC) {
            return self;
        }
        let mut tokenizer = VtTokenizer::default();
        let mut rest = bytes;
        while let Some(token) = tokenizer.next(&mut rest) {
            match token {
                VtToken::Csi(csi) if csi.is(0, 0, b'm') => self.apply(csi),
                VtToken::Escape(sequence) if sequence.raw == [ESC, b'c'] => self = Self::default(),
                _ => {}
            }
        }
        self
    }

    /// Applies a sequence of attributes. Parts with colons count as one parameter.
    fn apply(&mut self, csi: Csi<'_>) {
        let body = csi.body();
        let params = body.split(|byte| *byte == b';').map(sub_params);
        let mut params = params.collect::<Vec<_>>().into_iter();
        while let Some(param) = params.next() {
            match param.as_slice() {
                [number @ (38 | 48), rest @ ..] if !rest.is_empty() => {
                    self.set(*number, extended(rest));
                }
                [number @ (38 | 48)] => {
                    let kind = params.next().and_then(|param| param.first().copied());
                    let count = match kind {
                        Some(5) => 1,
                        Some(2) => 3,
                        _ => return,
                    };
                    let values = params.by_ref().take(count).filter_map(|it| it.first().copied());
                    let values: Vec<u32> = kind.into_iter().chain(values).collect();
                    self.set(*number, extended(&values));
                }
                [4, 0] => self.attributes &= !(1 << 4),
                [number, ..] => self.simple(*number),
                [] => {}
            }
        }
    }

    fn simple(&mut self, number: u32) {
        let without = |attributes: u16, numbers: &[u16]| {
            numbers.iter().fold(attributes, |all, number| all & !(1 << number))
        };
        match number {
            0 => *self = Self::default(),
            number if ATTRIBUTES.contains(&number) => self.attributes |= 1 << number,
            21 => self.attributes |= 1 << 4,
            22 => self.attributes = without(self.attributes, &[1, 2]),
            23 => self.attributes = without(self.attributes, &[3]),
            24 => self.attributes = without(self.attributes, &[4]),
            25 => self.attributes = without(self.attributes, &[5]),
            27 => self.attributes = without(self.attributes, &[7]),
            29 => self.attributes = without(self.attributes, &[9]),
            30..=37 | 90..=97 => self.foreground = u8::try_from(number).ok().map(Colour::Named),
            40..=47 | 100..=107 => self.background = u8::try_from(number).ok().map(Colour::Named),
            39 => self.foreground = None,
            49 => self.background = None,
            _ => {}
        }
    }

    fn set(&mut self, number: u32, colour: Option<Colour>) {
        match number {
            38 => self.foreground = colour.or(self.foreground),
            _ => self.background = colour.or(self.background),
        }
    }

    /// The sequence that sets exactly these.
    fn sequence(self) -> String {
        let mut numbers = vec!["0".to_owned()];
        let set = ATTRIBUTES.iter().filter(|number| self.attributes & (1 << **number) != 0);
        numbers.extend(set.map(ToString::to_string));
        numbers.extend(self.foreground.map(|colour| colour.params(38)));
        numbers.extend(self.background.map(|colour| colour.params(48)));
        format!("\x1b[{}m", numbers.join(";"))
    }
}

impl Colour {
    fn params(self, number: u8) -> String {
        match self {
            Self::Named(named) => named.to_string(),
            Self::Indexed(index) => format!("{number};5;{index}"),
            Self::Rgb(red, green, blue) => format!("{number};2;{red};{green};{blue}"),
        }
    }
}

/// A parameter and its parts: `4:3` has two. A part without digits is 0.
fn sub_params(param: &[u8]) -> Vec<u32> {
    let number = |part: &[u8]| {
        let digits = str::from_utf8(part).unwrap_or_default();
        digits.parse().unwrap_or(0)
    };
    param.split(|byte| *byte == b':').map(number).collect()
}

/// The colour of `5;n` or `2;r;g;b`; with colons the colour space may stand before red.
fn extended(values: &[u32]) -> Option<Colour> {
    let byte = |value: &u32| u8::try_from(*value).ok();
    match values {
        [5, index, ..] => Some(Colour::Indexed(byte(index)?)),
        [2, red, green, blue] | [2, _, red, green, blue, ..] => {
            Some(Colour::Rgb(byte(red)?, byte(green)?, byte(blue)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn coloured(raw: &str) -> String {
        let (text, _) = clean_with_colours(
            Charsets::default(),
            TextColours::default(),
            raw.as_bytes(),
            usize::MAX,
        );
        text
    }

    #[track_caller]
    fn check(raw: &str, expect: &str) {
        assert_eq!(coloured(raw), expect, "{raw:?}");
    }

    #[test]
    fn colours_pass_and_everything_else_does_not() {
        check("\x1b[31mred\x1b[0m plain", "\x1b[0;31mred\x1b[0m plain");
        check("\x1b[1;38;5;9mx\x1b[22my", "\x1b[0;1;38;5;9mx\x1b[0;38;5;9my\x1b[0m");
        check("\x1b[38;2;1;2;3;48:2::4:5:6mx", "\x1b[0;38;2;1;2;3;48;2;4;5;6mx\x1b[0m");
        check("\x1b]0;owned\x07a\x1b[2J\x1b[31mb", " \x1b[0;31mb\x1b[0m");
        check("\x1b[8mhidden", "hidden");
        check("plain", "plain");
    }

    #[test]
    fn a_line_that_is_drawn_again_keeps_its_last_colours() {
        check("\x1b[33m10%\r\x1b[K\x1b[32mdone", "\x1b[0;32mdone\x1b[0m");
        check("abc\r\x1b[31mx", "\x1b[0;31mx\x1b[0mbc");
        check("\x1b[32m漢\x1b[0m字e\u{301}", "\x1b[0;32m漢\x1b[0m字e\u{301}");
    }

    #[test]
    fn colours_go_on_in_the_next_line() {
        let sets = Charsets::default();
        let (_, colours) =
            clean_with_colours(sets, TextColours::default(), b"\x1b[31mone", usize::MAX);
        let (text, colours) = clean_with_colours(sets, colours, b"two\x1b[m", usize::MAX);
        assert_eq!(text, "\x1b[0;31mtwo\x1b[0m");
        assert_eq!(colours, TextColours::default());
    }

    fn without_sgr(text: &str) -> String {
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\x1b') {
            plain += before;
            rest = after.split_once('m').map_or("", |(_, rest)| rest);
        }
        plain + rest
    }

    proptest! {
        #[test]
        fn the_text_is_that_of_the_clean_line(pieces in prop::collection::vec(prop::sample::select(vec![
            "a", "b c", "\t", "\r", "漢", "e\u{301}", "\u{8}", "\x1b[31m", "\x1b[0m", "\x1b[1;4;48;5;7m", "\x1b[K",
            "\x1b[3D", "\x1b[2C", "\x1b]0;t\x07", "\x1b[2J", "\x1b(0", "\x1b(B", "\x1b[3b", "\x1b[38;5m", "\x1b[5G",
        ]), 0..24)) {
            let raw = pieces.concat();
            let clean = clean_with_charsets(Charsets::default(), raw.as_bytes(), usize::MAX);
            prop_assert_eq!(without_sgr(&coloured(&raw)), clean.text.as_ref());
        }
    }
}
