//! A terminal in memory: what a program's output means, cheaply ([`OutputScanner`]) or wholly ([`Screen`]).
//!
//! Pure: bytes in, values out. Nothing here knows a runtime, a file, a socket, a process or a clock.

#![forbid(unsafe_code)]

mod colours;
pub mod keys;
pub mod lines;
pub mod paste;
pub mod queries;
pub mod render;
pub mod reset;
pub mod scanner;
pub mod screen;
pub mod sequences;
mod title;

pub use scanner::{OutputScanner, ScanEvent};
pub use screen::{Screen, ScreenView};
