//! Extensions on a real server: programs in Python that add actions, follow events and veto.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod actions;
mod crashes;
mod delivery;
mod install;
mod life;
mod node;
mod support;
mod vetoes;
