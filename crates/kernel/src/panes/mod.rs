//! Panes: the table, each pane's own task, and how they are started and found again.

mod above;
pub(crate) mod adopt;
pub(crate) mod end;
mod gist;
pub(crate) mod known;
pub(crate) mod launch;
pub(crate) mod lens;
pub(crate) mod listed;
pub(crate) mod lookout;
mod needs;
pub(crate) mod notice;
pub(crate) mod origin;
pub(crate) mod pane;
pub(crate) mod pattern;
mod patterns;
mod picked;
pub(crate) mod reading;
pub(crate) mod record;
pub(crate) mod search;
mod sets;
pub(crate) mod shown;
pub(crate) mod table;
pub(crate) mod tail;
pub(crate) mod task;
pub(crate) mod text;
pub(crate) mod throttle;
pub(crate) mod typists;

pub(crate) use above::{above, drawn};
pub(crate) use pane::{Pane, unreadable};
pub(crate) use patterns::Patterns;
pub(crate) use record::Record;
pub(crate) use table::Table;
