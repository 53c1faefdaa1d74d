//! Prints a pane's output as it arrives: its bytes, or its lines.

use std::borrow::Cow;

use anyhow::Result;
use serde_json::{Value, json};

use super::line_splitter::LineSplitter;
use super::output::{CliOutputLine, MISSING};
use crate::out::{Out, units};

/// How a pane's output is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
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

/// Prints one pane's output. A line of which a part is missing is marked.
pub(crate) struct OutputWriter {
    out: Out,
    format: OutputFormat,
    splitter: LineSplitter,
    /// The number of the next line.
    n: u64,
    /// Whether the start of the next line is missing.
    is_start_missing: bool,
    /// With raw output, whether the last byte was not a line end.
    is_open: bool,
}

impl OutputWriter {
    pub(crate) fn new(out: Out, format: OutputFormat) -> Self {
        let splitter = LineSplitter::default();
        Self { out, format, splitter, n: 0, is_start_missing: false, is_open: false }
    }

    /// A writer for output that ends, which prints even the longest line in one piece.
    pub(crate) fn unlimited(out: Out, format: OutputFormat) -> Self {
        Self { splitter: LineSplitter::unlimited(), ..Self::new(out, format) }
    }

    /// Whether lines are shown with their numbers.
    pub(crate) fn is_numbered(&self) -> bool {
        matches!(self.format, OutputFormat::Numbered | OutputFormat::NumberedJson)
    }

    /// Prints bytes of the pane.
    ///
    /// # Errors
    /// When the output cannot be written, as when its reader has closed it.
    pub(crate) fn print(&mut self, bytes: &[u8]) -> Result<()> {
        match self.format {
            OutputFormat::Silent => Ok(()),
            OutputFormat::Raw => {
                self.is_open = bytes.last().map_or(self.is_open, |last| *last != b'\n');
                Ok(self.out.bytes(bytes)?)
            }
            OutputFormat::Lines
            | OutputFormat::Named(_)
            | OutputFormat::Numbered
            | OutputFormat::Json(_)
            | OutputFormat::NumberedJson => {
                let lines = self.splitter.feed(bytes);
                let lines: Vec<CliOutputLine> =
                    lines.into_iter().map(|text| self.number(text)).collect();
                self.show(&lines)
            }
        }
    }

    /// The start of the next line may be missing.
    pub(crate) fn mark_start_missing(&mut self) {
        self.is_start_missing = true;
    }

    /// The next line has this number.
    pub(crate) fn set_line_number(&mut self, n: u64) {
        self.n = n;
    }

    /// Reports that this many bytes were lost.
    ///
    /// # Errors
    /// As [`OutputWriter::print`].
    pub(crate) fn missed(&mut self, bytes: u64) -> Result<()> {
        self.flush_open_line(|line| line.cut = true)?;
        self.mark_start_missing();
        if std::mem::take(&mut self.is_open) {
            self.out.bytes(b"\r\n")?;
        }
        let lost = units::bytes(bytes);
        Ok(self.out.note(format!("paned: {lost} in between are no longer kept"))?)
    }

    /// Prints the open line, if there is one: nothing follows.
    ///
    /// # Errors
    /// As [`OutputWriter::print`].
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.flush_open_line(|line| line.open = true)
    }

    /// Writes bytes that restore a terminal whose modes a program has changed.
    ///
    /// # Errors
    /// As [`OutputWriter::print`].
    pub(crate) fn restore_terminal(&self, bytes: &[u8]) -> Result<()> {
        Ok(self.out.bytes(bytes)?)
    }

    /// Shows the line that has not ended, if there is one.
    fn flush_open_line(&mut self, mark: impl FnOnce(&mut CliOutputLine)) -> Result<()> {
        let Some(text) = self.splitter.finish() else { return Ok(()) };
        let mut line = self.number(text);
        mark(&mut line);
        self.show(&[line])
    }

    fn number(&mut self, text: String) -> CliOutputLine {
        let truncated_start = std::mem::take(&mut self.is_start_missing);
        self.n += 1;
        CliOutputLine { n: self.n - 1, text, truncated_start, ..CliOutputLine::default() }
    }

    /// Writes text at once: a write for each line would be too slow for fast output.
    fn show(&self, lines: &[CliOutputLine]) -> Result<()> {
        match &self.format {
            OutputFormat::Json(pane) => {
                lines.iter().try_for_each(|line| Ok(self.out.json(&named_json(pane, line))?))
            }
            OutputFormat::NumberedJson => {
                lines.iter().try_for_each(|line| Ok(self.out.json(line)?))
            }
            OutputFormat::Silent
            | OutputFormat::Raw
            | OutputFormat::Lines
            | OutputFormat::Named(_)
            | OutputFormat::Numbered => {
                let texts: Vec<_> = lines.iter().map(|line| text(&self.format, line)).collect();
                Ok(self.out.program_lines(texts.iter().map(AsRef::as_ref))?)
            }
        }
    }
}

/// A line as people see it.
fn text<'a>(format: &OutputFormat, line: &'a CliOutputLine) -> Cow<'a, str> {
    let text = match format {
        OutputFormat::Named(pane) => format!("{pane}: {}", line.with_missing_mark()).into(),
        OutputFormat::Numbered => line.numbered().into(),
        OutputFormat::Silent
        | OutputFormat::Raw
        | OutputFormat::Lines
        | OutputFormat::Json(_)
        | OutputFormat::NumberedJson => line.with_missing_mark(),
    };
    if line.cut { format!("{text}{MISSING}").into() } else { text }
}

/// A line as programs see it, among those of other panes.
fn named_json(pane: &str, line: &CliOutputLine) -> Value {
    let mut shown = json!({ "paneId": pane, "text": line.text });
    for (name, is_set) in [("truncatedStart", line.truncated_start), ("cut", line.cut)] {
        if is_set {
            shown[name] = true.into();
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CliOutputLine {
        CliOutputLine { n: 7, text: text.to_owned(), ..CliOutputLine::default() }
    }

    #[track_caller]
    fn check(form: &OutputFormat, line: &CliOutputLine, expect: &str) {
        assert_eq!(text(form, line), expect);
    }

    #[test]
    fn one_pane_of_many_stands_before_its_lines() {
        check(&OutputFormat::Lines, &line("up"), "up");
        check(&OutputFormat::Named("web".into()), &line("up"), "web: up");
        check(&OutputFormat::Numbered, &line("up"), "7:up");
        assert_eq!(named_json("web", &line("up")), json!({ "paneId": "web", "text": "up" }));
    }

    #[test]
    fn a_line_of_which_a_part_is_missing_says_so() {
        let (head, end) = (
            CliOutputLine { cut: true, ..line("up") },
            CliOutputLine { truncated_start: true, ..line("up") },
        );
        check(&OutputFormat::Lines, &head, "up…");
        check(&OutputFormat::Lines, &end, "…up");
        check(&OutputFormat::Named("web".into()), &end, "web: …up");
        check(&OutputFormat::Numbered, &end, "7:…up");
        let shown = json!({ "paneId": "web", "text": "up", "cut": true });
        assert_eq!(named_json("web", &head), shown);
    }
}
