//! The one place that prints.
//!
//! Standard output carries answers: lines for people, or with `--json` one JSON document per line
//! and nothing else. Standard error carries errors and progress. Colour goes to terminals only, and
//! not when `NO_COLOR` is set.

mod clean;
mod phrases;
pub(crate) mod progress;
mod table;
mod text;
pub(crate) mod units;

use std::io::{self, IsTerminal, Write};

use paned_model::Refusal;
use serde::Serialize;
use serde_json::Value;

pub(crate) use phrases::{in_commands, in_commands_about};
pub(crate) use table::TextTable;
pub(crate) use text::{StyledLine, TextStyle};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    json: bool,
    /// Whether standard output is a terminal, which would interpret what programs print.
    is_terminal: bool,
    colour: bool,
    /// Colour on standard error.
    stderr_colour: bool,
}

impl Out {
    /// For programs (`json`) or for people.
    pub(crate) fn new(json: bool) -> Self {
        let wanted = wants_colour();
        let is_terminal = io::stdout().is_terminal();
        Self {
            json,
            is_terminal,
            colour: wanted && is_terminal,
            stderr_colour: wanted && io::stderr().is_terminal(),
        }
    }

    /// The same with JSON output.
    #[must_use]
    pub(crate) fn with_json(self) -> Self {
        Self { json: true, ..self }
    }

    /// Whether answers are printed as JSON.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Whether the answer goes to a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        self.is_terminal
    }

    /// Prints a line of a program's output: escaped for a terminal, unchanged otherwise.
    pub(crate) fn program_line(self, text: &str) -> io::Result<()> {
        let text = if self.is_terminal { clean::line(text) } else { text.into() };
        writeln!(io::stdout().lock(), "{text}")
    }

    /// The same for many lines, in one write.
    pub(crate) fn program_lines<'a>(self, lines: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text += &if self.is_terminal { clean::line(line) } else { line.into() };
            text.push('\n');
        }
        self.bytes(text.as_bytes())
    }

    /// Prints a rendered screen, with escape sequences of our own: its text is escaped for a
    /// terminal.
    pub(crate) fn ansi(self, text: &str) -> io::Result<()> {
        let text = if self.is_terminal { clean::ansi(text) } else { text.into() };
        self.bytes(text.as_bytes())
    }

    /// Prints bytes unchanged, and flushes.
    pub(crate) fn bytes(self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Prints a line of the answer.
    pub(crate) fn line(self, text: impl Into<StyledLine>) -> io::Result<()> {
        writeln!(io::stdout().lock(), "{}", text.into().render(self.colour))
    }

    /// Prints a table.
    pub(crate) fn table(self, table: &TextTable) -> io::Result<()> {
        let mut out = io::stdout().lock();
        table.lines(self.colour).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// The lines of a table, for a caller that draws them itself.
    pub(crate) fn lines(self, table: &TextTable) -> Vec<String> {
        table.lines(self.colour)
    }

    /// Prints names with their values, one per line.
    pub(crate) fn fields(self, fields: &[(&str, StyledLine)]) -> io::Result<()> {
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        fields.iter().try_for_each(|(name, value)| {
            let name =
                StyledLine::new(TextStyle::Faint, &format!("{name:width$}")).render(self.colour);
            writeln!(io::stdout().lock(), "{name}  {}", value.render(self.colour))
        })
    }

    /// Prints an answer as one line of JSON.
    pub(crate) fn json(self, answer: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(answer)?;
        writeln!(io::stdout().lock(), "{}", clean::json(&text))
    }

    /// Prints an answer that has no format of its own: JSON, over several lines for people.
    pub(crate) fn value(self, answer: &Value) -> io::Result<()> {
        if self.json {
            return self.json(answer);
        }
        let text = serde_json::to_string_pretty(answer)?;
        writeln!(io::stdout().lock(), "{}", clean::json(&text))
    }

    /// Prints a message on standard error, which is not part of the answer.
    pub(crate) fn note(self, text: impl Into<StyledLine>) -> io::Result<()> {
        writeln!(io::stderr().lock(), "{}", text.into().render(self.stderr_colour))
    }

    /// Prints a refusal: the sentence on standard error, and with `--json` the refusal as the
    /// answer.
    pub(crate) fn refusal(self, refusal: &Refusal) -> io::Result<()> {
        let sentence = StyledLine::new(TextStyle::Bad, "paned: ")
            .then(TextStyle::Plain, &in_commands(&refusal.sentence));
        self.note(sentence)?;
        if self.json { self.json(refusal) } else { Ok(()) }
    }
}

/// Whether the error is that the reader of our output has closed it.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(closed)
}

/// <https://no-color.org>: set and not empty means no colour.
fn wants_colour() -> bool {
    let disabled = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !disabled && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
