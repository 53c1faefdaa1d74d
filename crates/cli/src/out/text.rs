//! A line to print: pieces of escaped text, each with a style.

use super::{clean, width};

/// How a piece looks where there is colour. It carries no meaning of its own: without colour
/// nothing is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Warn,
    /// One of six colours that tell names apart.
    Accent(u8),
    /// The part of a line that matches.
    Match,
}

impl TextStyle {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Strong => "\x1b[1m",
            Self::Faint => "\x1b[2m",
            Self::Good => "\x1b[32m",
            Self::Bad => "\x1b[31m",
            Self::Warn => "\x1b[33m",
            Self::Accent(0) => "\x1b[36m",
            Self::Accent(1) => "\x1b[33m",
            Self::Accent(2) => "\x1b[32m",
            Self::Accent(3) => "\x1b[35m",
            Self::Accent(4) => "\x1b[34m",
            Self::Accent(_) => "\x1b[96m",
            Self::Match => "\x1b[1;31m",
        }
    }
}

/// One line. Everything put into it is escaped, so that printing it is always safe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StyledLine(Vec<(TextStyle, String)>);

impl StyledLine {
    /// A line that begins with this.
    pub(crate) fn new(style: TextStyle, text: &str) -> Self {
        Self(vec![(style, clean::line(text).into_owned())])
    }

    /// The line with this at its end.
    #[must_use]
    pub(crate) fn then(mut self, style: TextStyle, text: &str) -> Self {
        self.0.push((style, clean::line(text).into_owned()));
        self
    }

    /// The line with another at its end.
    #[must_use]
    pub(crate) fn with(mut self, end: Self) -> Self {
        self.0.extend(end.0);
        self
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| width::of(text)).sum()
    }

    /// The line in at most this many columns; `…` stands in place of what was cut off.
    #[must_use]
    pub(crate) fn cut(self, most: usize) -> Self {
        if self.width() <= most {
            return self;
        }
        let mut room = most;
        let mut pieces = Vec::new();
        for (style, text) in self.0 {
            let taken = width::of(&text);
            // The last piece that is shown ends with the ellipsis, so one column stays free for it.
            if taken < room {
                room -= taken;
                pieces.push((style, text));
                continue;
            }
            pieces.push((style, width::shorten(&text, room)));
            break;
        }
        Self(pieces)
    }

    /// The line as it is printed.
    pub(crate) fn render(&self, colour: bool) -> String {
        let piece = |(style, text): &(TextStyle, String)| match style {
            TextStyle::Plain => text.clone(),
            _ if !colour || text.is_empty() => text.clone(),
            style => format!("{}{text}\x1b[0m", style.code()),
        };
        self.0.iter().map(piece).collect()
    }
}

impl From<&str> for StyledLine {
    fn from(text: &str) -> Self {
        Self::new(TextStyle::Plain, text)
    }
}

impl From<String> for StyledLine {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_surrounds_clean_text_and_can_be_left_out() {
        let text = StyledLine::new(TextStyle::Bad, "no\x1b[0m").then(TextStyle::Plain, " pane");
        assert_eq!(text.render(true), "\x1b[31mno\\x1b[0m\x1b[0m pane");
        assert_eq!(text.render(false), "no\\x1b[0m pane");
        assert_eq!(text.width(), "no\\x1b[0m pane".len());
    }

    #[test]
    fn a_line_is_cut_across_its_pieces() {
        let line = || StyledLine::new(TextStyle::Good, "running").then(TextStyle::Faint, " 3m");
        let cut = |most| line().cut(most).render(false);
        assert_eq!(
            [10, 9, 8, 7, 3].map(cut),
            ["running 3m", "running…", "running…", "runnin…", "ru…"]
        );
    }
}
