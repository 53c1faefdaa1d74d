//! Extensions: programs that add actions, follow events and veto actions, each in a process of its
//! own.
//!
//! [`Manifest`] is what the folder of an extension declares, [`ExtensionRunner`] starts and stops
//! the programs as [`ExtensionRuntime`] does, and [`ExtensionManager`] puts folders in place and
//! answers the kernel's `ext:*` actions.
#![forbid(unsafe_code)]

mod files;
mod install;
mod log_reader;
mod manager;
pub mod manifest;
mod names;
mod paths;
mod private_dir;
mod rpc;
mod runner;
mod runtime;
mod scan;
mod starter;
mod user_settings;

pub use manager::ExtensionManager;
pub use manifest::{Manifest, Program};
pub use names::check_name;
pub use paths::ExtensionPaths;
pub use runner::{ExtensionRunner, ExtensionSetup, RunState};
pub use runtime::{ExtensionRuntime, NodeChoice, RuntimeSetup};
