//! The runtime with real programs in Python, over a kernel without panes.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

mod calls;
mod events;
mod failures;
mod test_runtime;
mod vetoes;
