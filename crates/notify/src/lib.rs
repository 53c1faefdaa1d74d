//! Tells a person what happens in panes: rules of the configuration over events and output,
//! delivered to the desktop, attached terminals, commands and webhooks.
//!
//! A client of the kernel like any other: it reads events from its own place in the journal, so
//! that nothing is missed while the server is down, and a slow channel holds up no other.
#![forbid(unsafe_code)]

mod channels;
mod line_watch;
mod notice;
mod place;
mod service;
mod task;

pub use channels::desktop::DesktopProgram;
pub use service::{NotifyService, NotifySetup};
