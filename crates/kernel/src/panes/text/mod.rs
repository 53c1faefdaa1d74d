//! Output as lines: where they begin, pages of them, the last line, lines that callers wait for.

pub(crate) mod last_line;
pub(crate) mod line_watch;
pub(crate) mod lines;
pub(crate) mod moments;
pub(crate) mod output_tail;
pub(in crate::panes) mod page;
pub(crate) mod printed;
pub(crate) mod reading;
