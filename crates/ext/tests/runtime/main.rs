//! The runtime with real programs in Python, over a kernel without panes.

mod calls;
mod events;
mod failures;
mod test_runtime;
mod vetoes;
