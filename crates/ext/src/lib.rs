//! Extensions: programs that add actions, follow events and veto actions, each in a process of its
//! own.
//!
//! [`Manifest`] is what the folder of an extension declares, [`ExtensionRunner`] starts and stops
//! the programs, and the manager puts folders in place and answers the kernel's `ext:*` actions.
#![forbid(unsafe_code)]

pub mod manifest;
mod runner;

pub use manifest::Manifest;
pub use runner::{ExtensionRunner, ExtensionSetup, RunState};
