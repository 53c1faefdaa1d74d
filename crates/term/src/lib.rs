//! A terminal in memory: what a program's output means, cheaply ([`Signals`]) or wholly ([`Screen`]).
//!
//! Pure: bytes in, values out. Nothing here knows a runtime, a file, a socket, a process or a clock.

#![forbid(unsafe_code)]

pub mod afterwards;
mod colours;
pub mod keys;
pub mod lines;
pub mod paste;
pub mod questions;
pub mod render;
pub mod screen;
pub mod sequences;
pub mod signals;
mod title;

pub use screen::{Screen, View};
pub use signals::{Signal, Signals};
