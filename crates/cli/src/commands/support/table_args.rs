//! The flags of every command that prints a table.

use clap::ValueEnum;

use crate::out::{Out, TableWidth};

/// How wide a table is.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct TableArgs {
    /// Show every column, and cut none to fit the terminal
    #[arg(long)]
    wide: bool,
    /// `-o wide` is the same as --wide
    #[arg(short, long, value_name = "FORMAT", conflicts_with = "wide")]
    output: Option<TableFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// Every column, uncut
    Wide,
}

impl TableArgs {
    /// The width of a table on this output.
    pub(crate) fn width(self, out: Out) -> TableWidth {
        match self.wide || self.output == Some(TableFormat::Wide) {
            true => TableWidth::Wide,
            false => out.table_width(),
        }
    }
}
