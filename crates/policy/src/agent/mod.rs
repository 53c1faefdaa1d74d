//! What an agent is doing: a [`Profile`] says what one program's screens and signals mean, a [`Look`] is its
//! screen at one moment, and the [`Engine`] fuses everything that is known into a [`Judgement`].
//!
//! Time is an argument; deadlines come out. The same engine judges live panes and recordings.

mod anatomy;
mod dialog;
mod engine;
mod explain;
mod facts;
mod generic;
mod judge;
mod learned;
mod limit;
mod look;
mod osc;
pub mod profile;
mod replay;
mod sight;
mod status;
mod typed;

pub(crate) use dialog::unticked;
pub(crate) use facts::REDRAW;

pub use engine::{Change, Engine, Judgement, Observation, Reason, Report};
pub use learned::{ComposerSign, MAX_SIGNS, SignShape};
pub use look::{Composer, Look};
pub use profile::{Library, Mistake, Pattern, Permissions, Profile, Wanted};
pub use replay::{Sample, replay, replay_knowing};
