//! The one place that prints.
//!
//! Standard output carries answers: lines for people, or with `--json` one JSON document per line
//! and nothing else. Standard error carries errors and progress. Colour goes to terminals unless
//! `--color` or a variable says otherwise.

mod clean;
mod clock;
mod colour;
mod phrases;
mod prefix;
pub(crate) mod progress;
mod table;
mod text;
pub(crate) mod units;
mod width;

use std::io::{self, IsTerminal, Write};

use paned_model::Refusal;
use serde::Serialize;
use serde_json::Value;

use crate::commands::support::tty;
use crate::settings::process_env;
pub(crate) use phrases::{in_commands, in_commands_about};

pub(crate) use clock::Clock;
pub(crate) use colour::ColourChoice;
pub(crate) use prefix::Prefixes;
pub(crate) use table::{TableWidth, TextTable};
pub(crate) use text::{StyledLine, TextStyle};

/// Wrapped text is no wider on a wide terminal, and no narrower on a narrow one.
const MAX_TEXT: usize = 100;
const MIN_TEXT: usize = 20;

/// How to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    json: bool,
    /// Whether standard output is a terminal, which would interpret what programs print.
    is_terminal: bool,
    colour: bool,
    /// Colour on standard error.
    stderr_colour: bool,
    stderr_is_terminal: bool,
}

impl Out {
    /// For programs (`json`) or for people.
    pub(crate) fn new(json: bool, colour: ColourChoice) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let stderr_is_terminal = io::stderr().is_terminal();
        Self {
            json,
            is_terminal,
            colour: colour.applies(is_terminal, &process_env),
            stderr_colour: colour.applies(stderr_is_terminal, &process_env),
            stderr_is_terminal,
        }
    }

    /// Whether answers are printed as JSON.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Whether the answer goes to a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        self.is_terminal
    }

    /// Whether notes go to a terminal, where a user reads them.
    pub(crate) fn has_reader(self) -> bool {
        self.stderr_is_terminal
    }

    /// Whether the answer is coloured.
    pub(crate) fn has_colour(self) -> bool {
        self.colour
    }

    /// How wide a table may be.
    pub(crate) fn table_width(self) -> TableWidth {
        let terminal = io::stdout();
        let columns = self.is_terminal.then(|| tty::size_of(&terminal)).flatten();
        columns.map_or(TableWidth::Full, |size| TableWidth::Fit(size.cols.into()))
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

    /// Prints a table, fitted to the terminal.
    pub(crate) fn table(self, table: &TextTable) -> io::Result<()> {
        self.table_in(table, self.table_width())
    }

    /// Prints a table of this width.
    pub(crate) fn table_in(self, table: &TextTable, width: TableWidth) -> io::Result<()> {
        let mut out = io::stdout().lock();
        table.lines(width, self.colour).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    /// The lines of a table, for a caller that draws them itself.
    pub(crate) fn lines(self, table: &TextTable, width: TableWidth) -> Vec<String> {
        table.lines(width, self.colour)
    }

    /// A line as it is printed, for a caller that prints it itself.
    pub(crate) fn rendered(self, line: &StyledLine) -> String {
        line.render(self.colour)
    }

    /// The lines of a text that fit beside this many columns of a terminal; one line elsewhere.
    pub(crate) fn wrap(self, text: &str, indent: usize) -> Vec<String> {
        match self.table_width() {
            TableWidth::Fit(columns) => {
                width::wrap(text, columns.min(MAX_TEXT).saturating_sub(indent).max(MIN_TEXT))
            }
            TableWidth::Full | TableWidth::Wide => vec![text.to_owned()],
        }
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
        if self.json {
            return self.json(refusal);
        }
        pattern_place(refusal).iter().try_for_each(|line| self.note(line.clone()))
    }
}

/// Where a pattern is wrong: the pattern, and a `^` below that place.
fn pattern_place(refusal: &Refusal) -> Vec<StyledLine> {
    let place = refusal.details.as_ref().and_then(|details| {
        let pattern = details.get("pattern")?.as_str()?;
        let at = usize::try_from(details.get("at")?.as_u64()?).ok()?;
        Some((pattern, at))
    });
    let Some((pattern, at)) = place else { return Vec::new() };
    let before: String = pattern.chars().take(at).collect();
    let column = StyledLine::from(before.as_str()).width();
    let caret = format!("  {}^", " ".repeat(column));
    vec![format!("  {pattern}").into(), StyledLine::new(TextStyle::Bad, &caret)]
}

/// Whether the error is that the reader of our output has closed it.
pub(crate) fn is_closed(error: &anyhow::Error) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(closed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_caret_stands_below_the_place_by_columns() {
        let refusal = Refusal::invalid("no").with_details(json!({ "pattern": "漢(x", "at": 1 }));
        let lines: Vec<_> = pattern_place(&refusal).iter().map(|line| line.render(false)).collect();
        assert_eq!(lines, ["  漢(x", "    ^"]);
        assert!(pattern_place(&Refusal::invalid("no")).is_empty());
    }
}
