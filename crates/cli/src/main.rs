//! The `paned` binary: builds the house, and talks to it.
//!
//! `paned serve` builds and runs a server; every other command asks a running one, over its unix socket.
//! Each command is one file under `commands`, printing goes through `out`, and nothing here decides what the
//! kernel decides.
#![forbid(unsafe_code)]

mod args;
mod client;
mod commands;
mod config;
mod context;
mod machine;
mod out;
mod param_flags;
mod serve;
mod settings;
mod state_folder;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use paned_model::{Code, Refusal};

use crate::args::Cli;
use crate::context::CliContext;
use crate::out::Out;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    // Before anything else has threads or memory: keepers are forks of this process.
    match args.next() {
        Some(command) if command == "fork-server" => {
            return fork_server(args.nth(1).and_then(|files| files.to_str()?.parse().ok()));
        }
        Some(command) if command == "pipe-recorder" => return pipe_recorder(args.next()),
        _ => {}
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => return usage_error(&error),
    };
    let out = Out::new(cli.global.json);
    let context = CliContext { out, global: cli.global };
    commands::run(&context, cli.command).unwrap_or_else(|error| fail(out, &error))
}

/// `paned fork_server --files N`: what the server starts to get its keepers from.
fn fork_server(files: Option<u64>) -> ExitCode {
    match paned_keeper::fork_server::run(files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// `paned pipe_recorder SOCKET`: what tmux starts to write down what an adopted pane prints.
fn pipe_recorder(socket: Option<OsString>) -> ExitCode {
    match socket.map(|socket| paned_keeper::pipe_recorder::run(Path::new(&socket))) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) | None => ExitCode::FAILURE,
    }
}

/// Says what was wrong with the command line. Words of it may stand in the message, so it is cleaned.
fn usage_error(error: &clap::Error) -> ExitCode {
    let out = Out::new(std::env::args_os().any(|arg| arg == "--json"));
    let message = error.render().to_string();
    let message = message.trim_end().strip_prefix("error: ").unwrap_or(message.trim_end());
    let (sentence, rest) = message.split_once('\n').unwrap_or((message, ""));
    let refusal = Refusal::invalid(sentence);
    let _ = out.refusal(&refusal);
    let _ = rest.lines().try_for_each(|line| out.note(line));
    ExitCode::from(refusal.code.exit())
}

/// Says why it did not work, and turns that into an exit code.
fn fail(out: Out, error: &anyhow::Error) -> ExitCode {
    // Whoever read our output has seen enough, as in `paned ls | head -1`.
    if out::is_closed(error) {
        return ExitCode::SUCCESS;
    }
    let refusal = match error.downcast_ref::<Refusal>() {
        Some(refusal) => refusal.clone(),
        None => Refusal::new(Code::Internal, format!("{error:#}")),
    };
    let _ = out.refusal(&refusal);
    ExitCode::from(refusal.code.exit())
}
