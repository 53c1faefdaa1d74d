//! Search in a pane's output: patterns, and an index of what was read in vain.

pub(crate) mod blocks;
pub(in crate::panes) mod charsets;
pub(in crate::panes) mod literals;
pub(crate) mod pattern;
pub(in crate::panes) mod pattern_cache;
pub(crate) mod scan;
pub(in crate::panes) mod trigram;
