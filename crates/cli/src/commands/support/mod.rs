//! What several commands share: arguments, output, durations, exit codes, the terminal.

pub(crate) mod action_args;
pub(crate) mod duration;
pub(crate) mod env_file;
pub(crate) mod environment;
pub(crate) mod event_stream;
pub(crate) mod exit_status;
pub(crate) mod follow;
pub(crate) mod history;
pub(crate) mod line_splitter;
pub(crate) mod live_list;
pub(crate) mod output;
pub(crate) mod output_range;
pub(crate) mod output_writer;
pub(crate) mod params;
pub(crate) mod restart_note;
pub(crate) mod selection;
pub(crate) mod shell_words;
pub(crate) mod spawn_args;
pub(crate) mod table_args;
pub(crate) mod tty;
pub(crate) mod view_note;
pub(crate) mod wait_retry;
