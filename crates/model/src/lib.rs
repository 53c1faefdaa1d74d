//! The types that all crates share: ids, panes, events, codes, grants and the frames between server
//! and keeper.
//!
//! Pure: values in, values out. Nothing here knows a runtime, a file, a socket, a process or a
//! clock.
#![forbid(unsafe_code)]

pub mod agent;
pub mod approval;
pub mod code;
pub mod event;
pub mod frame;
pub mod grant;
pub mod id;
pub mod near;
pub mod pane;
pub mod parse_error;
pub mod restart;
pub mod terminal;
pub mod time;

pub use agent::{AgentInfo, AgentState, BlockKind, Delivery, Dialog, DialogOption, StateSource};
pub use approval::{
    ApprovalAnswer, ApprovalId, ApprovalInfo, ApprovalKind, ApprovalOption, ApprovalStatus,
};
pub use code::{Code, Refusal, machine_limit};
pub use event::{Event, EventFilter};
pub use grant::{Grant, GrantId, PaneSet, Scope};
pub use id::{EventId, Instance, Offset, PaneId, PaneRef};
pub use pane::{
    BackendKind, Exit, Guarantee, Meta, PaneInfo, PaneStatus, PaneView, Size, TmuxOrigin, ViewState,
};
pub use restart::{BadRestartPolicy, PaneRestartInfo, PaneRestartPolicy};
pub use terminal::{LineModes, TerminalState};
pub use time::Time;
