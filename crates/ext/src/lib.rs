//! Extensions: programs that add actions, follow events and veto actions, each in a process of its
//! own.
//!
//! [`Manifest`] is what the folder of an extension declares, [`ExtensionRunner`] starts and stops
//! the programs, and the manager puts folders in place and answers the kernel's `ext:*` actions.
#![forbid(unsafe_code)]

mod files;
pub mod manifest;
mod names;
mod runner;

pub use manifest::{Manifest, Program};
pub use names::check_name;
pub use runner::{ExtensionRunner, ExtensionSetup, RunState};
