//! Prints a pane's output as it arrives: its bytes, or its lines.

use std::borrow::Cow;

use anyhow::Result;
use paned_model::Time;
use serde_json::{Value, json};

use super::line_splitter::LineSplitter;
use super::output::{CliOutputLine, MISSING, TimedBytes};
use crate::out::{Clock, Out, StyledLine, TextStyle, units};

/// How a pane's output is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Not at all.
    Silent,
    /// Byte for byte.
    Raw,
    /// Line by line, each when it has ended.
    Lines(LineFormat),
    /// The same as JSON.
    Json(JsonFormat),
}

/// What stands before a line, and whether it keeps its colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineFormat {
    /// The pane's name.
    pub(crate) prefix: Option<StyledLine>,
    /// When it was printed, in this zone.
    pub(crate) clock: Option<Clock>,
    /// Its number: `12:text`.
    pub(crate) is_numbered: bool,
    /// Whether the program's colours are kept.
    pub(crate) has_colours: bool,
}

/// What a line has as JSON besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonFormat {
    pub(crate) pane: String,
    pub(crate) is_numbered: bool,
}

/// Prints one pane's output. A line of which a part is missing is marked.
pub(crate) struct OutputWriter {
    out: Out,
    format: OutputFormat,
    splitter: LineSplitter,
    /// The number of the next line.
    n: u64,
    /// When the next bytes were printed, where that is known.
    time: Option<Time>,
    /// Whether the start of the next line is missing.
    is_start_missing: bool,
    /// With raw output, whether the last byte was not a line end.
    is_open: bool,
}

impl OutputWriter {
    pub(crate) fn new(out: Out, format: OutputFormat) -> Self {
        Self::with_splitter(out, format, LineSplitter::default())
    }

    /// A writer for output that ends, which prints even the longest line in one piece.
    pub(crate) fn unlimited(out: Out, format: OutputFormat) -> Self {
        Self::with_splitter(out, format, LineSplitter::unlimited())
    }

    fn with_splitter(out: Out, format: OutputFormat, splitter: LineSplitter) -> Self {
        let has_colours = matches!(&format, OutputFormat::Lines(lines) if lines.has_colours);
        let splitter = if has_colours { splitter.coloured() } else { splitter };
        Self { out, format, splitter, n: 0, time: None, is_start_missing: false, is_open: false }
    }

    /// Whether lines are shown with their numbers.
    pub(crate) fn is_numbered(&self) -> bool {
        match &self.format {
            OutputFormat::Lines(lines) => lines.is_numbered,
            OutputFormat::Json(json) => json.is_numbered,
            OutputFormat::Silent | OutputFormat::Raw => false,
        }
    }

    /// Prints bytes of the pane, with the times at which they were printed.
    ///
    /// # Errors
    /// As [`OutputWriter::print`].
    pub(crate) fn print_timed(&mut self, printed: &TimedBytes) -> Result<()> {
        for (time, bytes) in printed.pieces() {
            self.time = time;
            self.print(bytes)?;
        }
        Ok(())
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
            OutputFormat::Lines(_) | OutputFormat::Json(_) => {
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
        Ok(self.out.note(format!("paned: {lost} in between are no longer retained"))?)
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
        let time = self.time;
        CliOutputLine { n: self.n - 1, text, truncated_start, time, ..CliOutputLine::default() }
    }

    /// Writes text at once: a write for each line would be too slow for fast output.
    fn show(&self, lines: &[CliOutputLine]) -> Result<()> {
        match &self.format {
            OutputFormat::Json(format) => {
                lines.iter().try_for_each(|line| Ok(self.out.json(&format.line(line))?))
            }
            OutputFormat::Lines(format) => {
                let mut text = String::new();
                for line in lines {
                    text += &format.line(line, self.out);
                    text.push('\n');
                }
                // The colours in it were written by us; its text has no control characters.
                Ok(self.out.ansi(&text)?)
            }
            OutputFormat::Silent | OutputFormat::Raw => Ok(()),
        }
    }
}

impl LineFormat {
    /// A line as people see it.
    fn line<'a>(&self, line: &'a CliOutputLine, out: Out) -> Cow<'a, str> {
        let text = match self.is_numbered {
            true => line.numbered().into(),
            false => line.with_missing_mark(),
        };
        let text: Cow<'_, str> = if line.cut { format!("{text}{MISSING}").into() } else { text };
        let time = self.clock.as_ref().zip(line.time);
        if self.prefix.is_none() && time.is_none() {
            return text;
        }
        let prefix = self.prefix.as_ref().map(|prefix| out.rendered(prefix)).unwrap_or_default();
        let time = time.map(|(clock, time)| {
            let time = format!("{} ", clock.stamp(time, out.is_terminal()));
            out.rendered(&StyledLine::new(TextStyle::Faint, &time))
        });
        format!("{prefix}{}{text}", time.unwrap_or_default()).into()
    }
}

impl JsonFormat {
    /// A line as programs see it.
    fn line(&self, line: &CliOutputLine) -> Value {
        let mut shown = json!({ "paneId": self.pane });
        if self.is_numbered {
            shown["n"] = line.n.into();
        }
        shown["text"] = line.text.as_str().into();
        if let Some(time) = line.time {
            shown["time"] = json!(time);
        }
        let marks =
            [("truncatedStart", line.truncated_start), ("cut", line.cut), ("open", line.open)];
        for (name, _) in marks.into_iter().filter(|(_, is_set)| *is_set) {
            shown[name] = true.into();
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::{ColourChoice, Prefixes};

    fn line(text: &str) -> CliOutputLine {
        CliOutputLine { n: 7, text: text.to_owned(), ..CliOutputLine::default() }
    }

    #[track_caller]
    fn check(format: &LineFormat, line: &CliOutputLine, expect: &str) {
        assert_eq!(format.line(line, Out::new(false, ColourChoice::Never)), expect);
    }

    fn named() -> LineFormat {
        LineFormat { prefix: Some(Prefixes::new(["web"]).of("web")), ..LineFormat::default() }
    }

    fn numbered() -> LineFormat {
        LineFormat { is_numbered: true, ..LineFormat::default() }
    }

    #[test]
    fn a_line_stands_behind_its_pane_and_its_number() {
        check(&LineFormat::default(), &line("up"), "up");
        check(&named(), &line("up"), "web | up");
        check(&numbered(), &line("up"), "7:up");
        let format = JsonFormat { pane: "web".to_owned(), is_numbered: true };
        assert_eq!(format.line(&line("up")), json!({ "paneId": "web", "n": 7, "text": "up" }));
    }

    #[test]
    fn a_line_of_which_a_part_is_missing_says_so() {
        let head = CliOutputLine { cut: true, ..line("up") };
        let end = CliOutputLine { truncated_start: true, ..line("up") };
        check(&LineFormat::default(), &head, "up…");
        check(&LineFormat::default(), &end, "…up");
        check(&named(), &end, "web | …up");
        check(&numbered(), &end, "7:…up");
        let format = JsonFormat { pane: "web".to_owned(), is_numbered: false };
        assert_eq!(format.line(&head), json!({ "paneId": "web", "text": "up", "cut": true }));
    }

    #[test]
    fn a_line_says_when_it_was_printed() {
        let clock = Clock::local();
        let format = LineFormat { clock: Some(clock.clone()), ..named() };
        let time = Time(1_795_032_191_250);
        let line = CliOutputLine { time: Some(time), ..line("up") };
        let stamp = clock.stamp(time, false);
        check(&format, &line, &format!("web | {stamp} up"));
    }
}
