//! The one place that prints.
//!
//! Standard output carries answers: lines for people, or with `--json` one JSON document per line and
//! nothing else. Standard error carries what went wrong and what is going on. Colour goes to terminals only,
//! and not when `NO_COLOR` is set.

mod clean;
mod table;
mod text;
pub(crate) mod units;

use std::io::{self, IsTerminal, Write};

use paned_model::Refusal;
use serde::Serialize;
use serde_json::Value;

pub(crate) use table::TextTable;
pub(crate) use text::{StyledLine, TextStyle};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    json: bool,
    /// Whether a person reads the answer in a terminal, which would obey what programs print.
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

    /// The same for programs.
    #[must_use]
    pub(crate) fn with_json(self) -> Self {
        Self { json: true, ..self }
    }

    /// Whether a program reads the answer.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Whether the answer goes to a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        self.is_terminal
    }

    /// Prints a line that a program wrote: made safe for a terminal, and as it is elsewhere.
    pub(crate) fn program_line(self, text: &str) -> io::Result<()> {
        let text = if self.is_terminal { clean::line(text) } else { text.into() };
        writeln!(io::stdout().lock(), "{text}")
    }

    /// The same for many lines, in one go.
    pub(crate) fn program_lines<'a>(self, lines: impl Iterator<Item = &'a str>) -> io::Result<()> {
        let mut text = String::new();
        for line in lines {
            text += &if self.is_terminal { clean::line(line) } else { line.into() };
            text.push('\n');
        }
        self.bytes(text.as_bytes())
    }

    /// Prints a picture made of text and of escape sequences of our own: the text is made safe for a terminal.
    pub(crate) fn ansi(self, text: &str) -> io::Result<()> {
        let text = if self.is_terminal { clean::ansi(text) } else { text.into() };
        self.bytes(text.as_bytes())
    }

    /// Prints bytes as they are, and at once.
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

    /// The lines of a table, for whoever draws them.
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

    /// Prints an answer that has no form of its own: JSON, over several lines for people.
    pub(crate) fn value(self, answer: &Value) -> io::Result<()> {
        if self.json {
            return self.json(answer);
        }
        let text = serde_json::to_string_pretty(answer)?;
        writeln!(io::stdout().lock(), "{}", clean::json(&text))
    }

    /// Says something that is no part of the answer.
    pub(crate) fn note(self, text: impl Into<StyledLine>) -> io::Result<()> {
        writeln!(io::stderr().lock(), "{}", text.into().render(self.stderr_colour))
    }

    /// Says why it did not work: the sentence on standard error, and for programs the refusal as the
    /// answer.
    pub(crate) fn refusal(self, refusal: &Refusal) -> io::Result<()> {
        let sentence =
            StyledLine::new(TextStyle::Bad, "paned: ").then(TextStyle::Plain, &refusal.sentence);
        self.note(sentence)?;
        if self.json { self.json(refusal) } else { Ok(()) }
    }
}

/// Whether it did not work because whoever read our output has gone.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(closed)
}

/// <https://no-color.org>: set and not empty means none.
fn wants_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
