//! The `paned` binary: the server, and its command-line client.
//!
//! `paned serve` assembles and runs a server; most other commands send requests to a running one,
//! over its unix socket or TCP. They are under `commands`, where their arguments serialize to the
//! parameters of actions. Printing goes through `out`, and nothing here decides what the kernel
//! decides.
#![forbid(unsafe_code)]

mod args;
mod client;
mod client_config;
mod commands;
mod complete;
mod config;
mod context;
mod generate;
mod help;
mod machine;
mod mcp_bridge;
mod out;
mod param_flags;
mod serve;
mod settings;
mod state_folder;
mod suggest;
mod web_page;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use paned_model::{Code, Refusal};

use crate::args::Cli;
use crate::context::CliContext;
use crate::out::{ColourChoice, Out};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    // First, while this process has no threads and little memory: keepers are forks of it.
    match args.next() {
        Some(command) if command == "fork-server" => {
            return fork_server(args.nth(1).and_then(|files| files.to_str()?.parse().ok()));
        }
        Some(command) if command == "pipe-recorder" => return pipe_recorder(args.next()),
        Some(command) if command == "complete" => return complete::run(args),
        Some(command) if command == "generate" => return generate::run(args),
        _ => {}
    }
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(_) if std::env::args_os().len() == 1 => return print_help(),
        Err(error) => return usage_error(&error),
    };
    let out = Out::new(cli.global.json || cli.command.wants_json(), cli.global.color);
    let context = CliContext::new(out, cli.global);
    commands::run(&context, cli.command).unwrap_or_else(|error| fail(out, &error))
}

/// `paned` alone prints the short help.
fn print_help() -> ExitCode {
    match help::command().print_help() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// `paned fork-server --files N`: the server starts it, and has it fork the keepers.
fn fork_server(files: Option<u64>) -> ExitCode {
    match paned_keeper::fork_server::run(files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// `paned pipe-recorder SOCKET`: tmux pipes the output of an adopted pane into it.
fn pipe_recorder(socket: Option<OsString>) -> ExitCode {
    match socket.map(|socket| paned_keeper::pipe_recorder::run(Path::new(&socket))) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(_)) | None => ExitCode::FAILURE,
    }
}

/// Prints what is wrong with the command line. The message may quote arguments, so it is escaped.
fn usage_error(error: &clap::Error) -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let out = Out::new(args.iter().any(|arg| arg == "--json"), ColourChoice::Auto);
    if let Some(sentence) = suggest::unknown_command(error, &args) {
        let refusal = Refusal::invalid(sentence);
        let _ = out.refusal(&refusal);
        return ExitCode::from(refusal.code.exit());
    }
    let message = error.render().to_string();
    let message = message.trim_end().strip_prefix("error: ").unwrap_or(message.trim_end());
    let (sentence, rest) = message.split_once('\n').unwrap_or((message, ""));
    let (sentence, rest) = join_list(sentence, rest);
    let refusal = Refusal::invalid(sentence);
    let _ = out.refusal(&refusal);
    let _ = rest.lines().try_for_each(|line| out.note(line));
    ExitCode::from(refusal.code.exit())
}

/// Appends the indented lines that follow a sentence which ends with a colon, such as the missing
/// arguments: the JSON of the error has the sentence only. Returns the other lines too.
fn join_list<'a>(sentence: &str, rest: &'a str) -> (String, &'a str) {
    if !sentence.ends_with(':') {
        return (sentence.to_owned(), rest);
    }
    let (list, rest) = rest.split_at(rest.find("\n\n").unwrap_or(rest.len()));
    let rest = rest.strip_prefix('\n').unwrap_or(rest);
    let items: Vec<&str> = list.lines().map(str::trim).collect();
    (format!("{sentence} {}", items.join(", ")), rest)
}

/// Prints the error, and maps it to an exit code.
fn fail(out: Out, error: &anyhow::Error) -> ExitCode {
    // The reader has closed the pipe, as in `paned ls | head -1`.
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
