//! Input on its way to the pty: queue, guard, key names, line length, echo, size.

pub(crate) mod echo;
pub(crate) mod guarded;
pub(crate) mod input_queue;
pub(crate) mod key_filter;
pub(crate) mod line_length;
pub(crate) mod size_lease;
pub mod tty_guard;
