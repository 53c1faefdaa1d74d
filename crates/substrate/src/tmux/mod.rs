//! tmux, spoken to over one control-mode connection: a stage to show panes on, and a place to find them.

pub mod decode;
mod ids;
pub mod notice;

pub use ids::{SessionId, TmuxPane, WindowId};
pub use notice::Notice;
