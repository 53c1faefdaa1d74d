//! A terminal in memory: interprets a program's output, either cheaply ([`OutputScanner`]) or
//! completely ([`Screen`]).
//!
//! Pure: bytes in, values out. Nothing here uses a runtime, a file, a socket, a process or a clock.

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
pub mod screen_switch;
mod title;
pub mod vt;

pub use scanner::{OutputScanner, ScanEvent};
pub use screen::{Screen, ScreenView};
