//! The runtime of extensions: processes, their connections to the kernel, and their supervision.

mod actions;
mod calls;
mod delivery;
mod failures;
mod hook;
mod life;
mod log_file;
mod node;
mod place;
mod process;
mod shared;
mod supervisor;
mod watch;
mod window;

mod extensions;

pub use extensions::{ExtensionRuntime, RuntimeSetup};
pub use node::NodeChoice;
