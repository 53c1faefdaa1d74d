//! The command line.

use std::path::PathBuf;

use clap::Parser;

use crate::error::Error;
use crate::plan::Plan;
use crate::rows::{self, Row};
use crate::table::Format;

/// Measure paned, as ratios to a limit found in the same run.
///
/// Exits with 1 when a must is missed, and with 2 when a row could not be measured.
#[derive(Parser)]
#[command(name = "paned-bench", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Only these rows, as in `D1,D17`
    #[arg(long, value_name = "ROWS", value_delimiter = ',', value_parser = rows::find)]
    only: Vec<&'static Row>,
    /// How many times each side is measured, in turn [default: 5, with --quick 3]
    #[arg(long, value_name = "N")]
    rounds: Option<std::num::NonZeroUsize>,
    /// Measure less of everything: to see that it runs, not to quote it
    #[arg(long)]
    quick: bool,
    /// Measure rivals, too; `make bench ARGS=--rivals` installs them
    #[arg(long)]
    rivals: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Print a table for a README
    #[arg(long)]
    markdown: bool,
    /// The paned to measure [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    paned: Option<PathBuf>,
}

impl Args {
    /// What to measure, and how much of it.
    pub(crate) fn plan(&self) -> Result<Plan, Error> {
        let rounds = self.rounds.map_or(if self.quick { 3 } else { 5 }, Into::into);
        let mut plan = Plan::new(self.paned.clone(), rounds, self.quick)?;
        plan.rivals = self.rivals;
        Ok(plan)
    }

    pub(crate) fn rows(&self) -> Vec<&'static Row> {
        let wanted =
            |row: &&Row| self.only.is_empty() || self.only.iter().any(|only| only.name == row.name);
        rows::ALL.iter().filter(wanted).collect()
    }

    pub(crate) fn format(&self) -> Format {
        match (self.json, self.markdown) {
            (true, _) => Format::Json,
            (false, true) => Format::Markdown,
            (false, false) => Format::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn rows_are_picked_by_name_and_an_unknown_one_is_refused() {
        let args = Args::parse_from(["paned-bench", "--only", "D17,d1"]);
        let names: Vec<_> = args.rows().iter().map(|row| row.name).collect();
        assert_eq!(names, ["D1", "D17"]);
        assert!(Args::try_parse_from(["paned-bench", "--only", "D99"]).is_err());
    }
}
