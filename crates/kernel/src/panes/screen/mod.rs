//! The screen of a pane: computed from its tape, cached, and its scrollback.

pub(crate) mod live_screen;
pub(crate) mod screen_cache;
pub(in crate::panes) mod scrollback;
