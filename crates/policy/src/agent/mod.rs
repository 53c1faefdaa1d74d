//! What an agent is doing: a [`Profile`] describes what one program's screens and signals mean, a
//! [`ScreenSnapshot`] is its screen at one moment, and the [`Engine`] combines everything that is
//! known into a judgement. The delivery of messages reads the result as an [`Observation`].
//!
//! Time is an argument, and deadlines are returned. The same engine judges live panes and
//! recordings.

mod composer_memory;
mod dialog;
mod engine;
mod explain;
mod facts;
mod findings;
mod generic;
mod judge;
mod keystrokes;
mod limit;
mod observation;
mod osc_reader;
pub mod profile;
mod regions;
mod replay;
mod rest_modes;
mod screen_snapshot;
mod status;

pub(crate) use dialog::without_checkbox;
pub(crate) use facts::REDRAW_TIMEOUT;

pub use composer_memory::{ComposerSign, MAX_SIGNS, SignShape};
pub use engine::{Engine, EngineInput, EvidenceItem, HookReport};
pub use observation::Observation;
pub use profile::{
    LaunchOptions, Permissions, Profile, ProfileError, ProfileLibrary, ProfilePattern,
};
pub use replay::{Sample, replay, replay_with_learned};
pub use screen_snapshot::{Composer, ScreenSnapshot};
