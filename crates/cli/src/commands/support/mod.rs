//! What several commands share: arguments, output, durations, exit codes, the terminal.

pub(in crate::commands) mod action_args;
pub(in crate::commands) mod duration;
pub(in crate::commands) mod exit_status;
pub(in crate::commands) mod follow;
pub(in crate::commands) mod history;
pub(in crate::commands) mod line_splitter;
pub(in crate::commands) mod output;
pub(in crate::commands) mod output_writer;
pub(in crate::commands) mod tty;
