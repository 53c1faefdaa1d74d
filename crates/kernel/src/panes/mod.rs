//! Panes: the table, each pane's own task, and how they are started and recovered.

pub(crate) mod adopted_from;
pub(crate) mod blocks;
mod charsets;
pub(crate) mod exit;
pub(crate) mod exit_notice;
pub(crate) mod last_line;
pub(crate) mod line_watch;
pub(crate) mod list_cache;
mod literals;
pub(crate) mod live_screen;
mod page;
pub(crate) mod pane;
pub(crate) mod pattern;
mod pattern_cache;
pub(crate) mod reading;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod screen_cache;
mod scrollback;
pub(crate) mod search;
pub(crate) mod spawn_check;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod text;
pub(crate) mod throttle;
mod trigram;
pub(crate) mod typing_activity;

pub(crate) use pane::{Pane, unreadable};
pub(crate) use pattern_cache::PatternCache;
pub(crate) use record::PaneRecord;
pub(crate) use scrollback::{screen_with_scrollback, scrollback};
pub(crate) use table::PaneTable;
