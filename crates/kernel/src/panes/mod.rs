//! Panes: the table, each pane's own task, and how they are started and recovered.

pub(crate) mod activity;
pub(crate) mod adopted_from;
pub(crate) mod agent_record;
pub(crate) mod close;
pub(crate) mod environment;
pub(crate) mod exit;
pub(crate) mod exit_notice;
pub(crate) mod launch_record;
pub(crate) mod list_cache;
pub(crate) mod observer;
pub(crate) mod pane;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod restart;
pub(crate) mod screen;
pub(crate) mod search;
pub(crate) mod table;
pub(crate) mod task;
pub(crate) mod text;
pub(crate) mod throttle;
pub(crate) mod typing_activity;
pub(crate) mod view_spec;

pub(crate) use observer::{PaneChange, PaneObserver, TypedInput};
pub(crate) use pane::{Pane, unreadable};
pub(crate) use record::PaneRecord;
pub(crate) use screen::scrollback::{
    screen_with_scrollback, scrollback, scrollback_at, scrollback_dump,
};
pub(crate) use search::pattern_cache::PatternCache;
pub(crate) use table::PaneTable;
