//! The table: for a terminal, for a README, for a program.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::figure::{Figure, Quantity, Thresholds};

/// How the table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Markdown,
    Json,
}

const HEAD: [&str; 8] = ["row", "what", "limit", "ours", "figure", "must", "target", "verdict"];
/// Columns of words; those of numbers are aligned at the right.
const WORDS: [bool; 8] = [true, true, false, false, false, false, false, true];

/// Prints the table to standard output.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn print(figures: &[Figure], format: Format) -> io::Result<()> {
    io::stdout().lock().write_all(render(figures, format).as_bytes())
}

fn render(figures: &[Figure], format: Format) -> String {
    match format {
        Format::Text => text(figures),
        Format::Markdown => markdown(figures),
        Format::Json => format!("{}\n", Value::from_iter(figures.iter().map(object))),
    }
}

fn cells(figure: &Figure) -> [String; 8] {
    let (must, target) = figure.threshold_texts().unwrap_or_default();
    [
        figure.row.to_owned(),
        figure.what.clone(),
        figure.limit.map(|limit| limit.to_string()).unwrap_or_default(),
        figure.ours.to_string(),
        figure.figure.to_string(),
        must,
        target,
        figure.verdict().to_string(),
    ]
}

fn text(figures: &[Figure]) -> String {
    let rows: Vec<_> =
        [HEAD.map(str::to_owned)].into_iter().chain(figures.iter().map(cells)).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    rows.iter().map(|row| line(row, &widths)).collect()
}

fn line(row: &[String; 8], widths: &[usize; 8]) -> String {
    let cell = |column: usize| {
        let text = &row[column];
        let width = widths[column];
        if WORDS[column] { format!("{text:<width$}") } else { format!("{text:>width$}") }
    };
    let line = (0..row.len()).map(cell).collect::<Vec<_>>().join("  ");
    format!("{}\n", line.trim_end())
}

fn markdown(figures: &[Figure]) -> String {
    let line = |cells: [String; 8]| format!("| {} |\n", cells.join(" | "));
    let rule = WORDS.map(|words| if words { "---" } else { "--:" }.to_owned());
    let head = [line(HEAD.map(str::to_owned)), line(rule)];
    head.into_iter().chain(figures.iter().map(|figure| line(cells(figure)))).collect()
}

fn object(figure: &Figure) -> Value {
    let (must, target) = match figure.thresholds {
        Thresholds::None => (None, None),
        Thresholds::AtLeast { must, target } | Thresholds::AtMost { must, target } => {
            (Some(must), Some(target))
        }
    };
    json!({
        "row": figure.row,
        "what": figure.what,
        "limit": figure.limit.map(quantity),
        "ours": quantity(figure.ours),
        "figure": quantity(figure.figure),
        "must": must,
        "target": target,
        "verdict": figure.verdict().to_string(),
    })
}

fn quantity(quantity: Quantity) -> Value {
    json!({ "value": quantity.value, "shown": quantity.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Unit;

    fn figures() -> Vec<Figure> {
        let rate = |value| Quantity::new(value, Unit::MegabytesPerSecond);
        let ratio = Figure::ratio("a flood", rate(100.0), rate(85.0)).at_least(0.4, 0.8);
        vec![ratio.of("D1"), Figure::plain("fork server", Quantity::mib(1 << 20)).of("D20")]
    }

    #[test]
    fn columns_stand_under_their_heads() {
        let expect = "\
row  what            limit     ours   figure     must   target  verdict
D1   a flood      100 MB/s  85 MB/s     0.85  >= 0.40  >= 0.80  target
D20  fork server            1.0 MiB  1.0 MiB                    -
";
        assert_eq!(render(&figures(), Format::Text), expect);
    }

    #[test]
    fn a_readme_gets_a_table_of_its_own() {
        let markdown = render(&figures(), Format::Markdown);
        let mut lines = markdown.lines();
        let head = "| row | what | limit | ours | figure | must | target | verdict |";
        assert_eq!(lines.next(), Some(head));
        assert_eq!(lines.nth(1).map(|line| line.matches('|').count()), Some(9));
    }

    #[test]
    fn a_program_gets_numbers() {
        let json: Value = serde_json::from_str(&render(&figures(), Format::Json)).unwrap();
        assert_eq!(json[0]["figure"]["value"], 0.85);
        assert_eq!(json[1]["must"], Value::Null);
    }
}
