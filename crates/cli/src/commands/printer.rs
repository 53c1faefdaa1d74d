//! Showing what a pane prints as it comes: its bytes, or its lines.

use std::borrow::Cow;

use anyhow::Result;
use serde_json::{Value, json};

use super::cutter::Cutter;
use super::printed::{Line, MISSING};
use crate::out::{Out, units};

/// How a pane's output is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Not at all.
    Silent,
    /// Byte for byte.
    Raw,
    /// Line by line, each when it has ended.
    Lines,
    /// The same behind the pane's name: `web: text`.
    Named(String),
    /// The same behind its number: `12:text`.
    Numbered,
    /// The same as JSON with the pane's name.
    Json(String),
    /// The same as JSON with its number.
    NumberedJson,
}

/// Shows one pane's output. A line of which a part is missing says so.
pub(super) struct Printer {
    out: Out,
    form: Form,
    cutter: Cutter,
    /// The number of the next line.
    n: u64,
    /// Whether the beginning of the next line is missing.
    is_torn: bool,
    /// Whether the last of the bytes, where they are shown, was no line end.
    is_open: bool,
}

impl Printer {
    pub(super) fn new(out: Out, form: Form) -> Self {
        let cutter = Cutter::default();
        Self { out, form, cutter, n: 0, is_torn: false, is_open: false }
    }

    /// One for output that ends, which shows even the longest line whole.
    pub(super) fn whole(out: Out, form: Form) -> Self {
        Self { cutter: Cutter::whole(), ..Self::new(out, form) }
    }

    /// Whether lines are shown with their numbers.
    pub(super) fn is_numbered(&self) -> bool {
        matches!(self.form, Form::Numbered | Form::NumberedJson)
    }

    /// It printed this.
    ///
    /// # Errors
    /// When whoever reads our output has gone.
    pub(super) fn print(&mut self, bytes: &[u8]) -> Result<()> {
        match self.form {
            Form::Silent => Ok(()),
            Form::Raw => {
                self.is_open = bytes.last().map_or(self.is_open, |last| *last != b'\n');
                Ok(self.out.bytes(bytes)?)
            }
            Form::Lines | Form::Named(_) | Form::Numbered | Form::Json(_) | Form::NumberedJson => {
                let lines = self.cutter.feed(bytes);
                let lines: Vec<Line> = lines.into_iter().map(|text| self.number(text)).collect();
                self.show(&lines)
            }
        }
    }

    /// The next line may lack its beginning.
    pub(super) fn tear(&mut self) {
        self.is_torn = true;
    }

    /// The next line has this number.
    pub(super) fn go_on_at(&mut self, n: u64) {
        self.n = n;
    }

    /// So many bytes were lost on the way.
    ///
    /// # Errors
    /// As [`Printer::print`].
    pub(super) fn missed(&mut self, bytes: u64) -> Result<()> {
        self.rest(|line| line.cut = true)?;
        self.tear();
        if std::mem::take(&mut self.is_open) {
            self.out.bytes(b"\r\n")?;
        }
        let lost = units::bytes(bytes);
        Ok(self.out.aside(format!("paned: {lost} in between are no longer kept"))?)
    }

    /// Nothing follows.
    ///
    /// # Errors
    /// As [`Printer::print`].
    pub(super) fn finish(&mut self) -> Result<()> {
        self.rest(|line| line.open = true)
    }

    /// Puts a terminal back that a program has left in disorder.
    ///
    /// # Errors
    /// As [`Printer::print`].
    pub(super) fn last(&self, bytes: &[u8]) -> Result<()> {
        Ok(self.out.bytes(bytes)?)
    }

    /// Shows the line that has not ended, if there is one.
    fn rest(&mut self, tell: impl FnOnce(&mut Line)) -> Result<()> {
        let Some(text) = self.cutter.finish() else { return Ok(()) };
        let mut line = self.number(text);
        tell(&mut line);
        self.show(&[line])
    }

    fn number(&mut self, text: String) -> Line {
        let beheaded = std::mem::take(&mut self.is_torn);
        self.n += 1;
        Line { n: self.n - 1, text, beheaded, ..Line::default() }
    }

    /// All at once: what comes fast is not to wait for a write for each line.
    fn show(&self, lines: &[Line]) -> Result<()> {
        match &self.form {
            Form::Json(pane) => {
                lines.iter().try_for_each(|line| Ok(self.out.json(&named_json(pane, line))?))
            }
            Form::NumberedJson => lines.iter().try_for_each(|line| Ok(self.out.json(line)?)),
            Form::Silent | Form::Raw | Form::Lines | Form::Named(_) | Form::Numbered => {
                let texts: Vec<_> = lines.iter().map(|line| text(&self.form, line)).collect();
                Ok(self.out.programs(texts.iter().map(AsRef::as_ref))?)
            }
        }
    }
}

/// A line as people see it.
fn text<'a>(form: &Form, line: &'a Line) -> Cow<'a, str> {
    let text = match form {
        Form::Named(pane) => format!("{pane}: {}", line.marked()).into(),
        Form::Numbered => line.numbered().into(),
        Form::Silent | Form::Raw | Form::Lines | Form::Json(_) | Form::NumberedJson => {
            line.marked()
        }
    };
    if line.cut { format!("{text}{MISSING}").into() } else { text }
}

/// A line as programs see it, among those of other panes.
fn named_json(pane: &str, line: &Line) -> Value {
    let mut shown = json!({ "paneId": pane, "text": line.text });
    for (name, holds) in [("beheaded", line.beheaded), ("cut", line.cut)] {
        if holds {
            shown[name] = true.into();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line { n: 7, text: text.to_owned(), ..Line::default() }
    }

    #[track_caller]
    fn check(form: &Form, line: &Line, expect: &str) {
        assert_eq!(text(form, line), expect);
    }

    #[test]
    fn one_pane_of_many_stands_before_its_lines() {
        check(&Form::Lines, &line("up"), "up");
        check(&Form::Named("web".into()), &line("up"), "web: up");
        check(&Form::Numbered, &line("up"), "7:up");
        assert_eq!(named_json("web", &line("up")), json!({ "paneId": "web", "text": "up" }));
    }

    #[test]
    fn a_line_of_which_a_part_is_missing_says_so() {
        let (head, end) = (Line { cut: true, ..line("up") }, Line { beheaded: true, ..line("up") });
        check(&Form::Lines, &head, "up…");
        check(&Form::Lines, &end, "…up");
        check(&Form::Named("web".into()), &end, "web: …up");
        check(&Form::Numbered, &end, "7:…up");
        let shown = json!({ "paneId": "web", "text": "up", "cut": true });
        assert_eq!(named_json("web", &head), shown);
    }
}
