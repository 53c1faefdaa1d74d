//! The commands, by noun: the arguments of each, and what it does.
//!
//! Arguments serialize to the parameters of the action that they are for, so that each is listed
//! once; flags that only concern the output are skipped.

pub(crate) mod action;
pub(crate) mod adopt;
pub(crate) mod agent;
pub(crate) mod agentmux;
pub(crate) mod approvals;
pub(crate) mod attach;
pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod ext;
pub(crate) mod get;
pub(crate) mod hooks;
pub(crate) mod input;
pub(crate) mod layout;
pub(crate) mod logs;
pub(crate) mod ls;
pub(crate) mod mcp;
mod mcp_install;
pub(crate) mod meta;
pub(crate) mod new;
pub(crate) mod notify;
pub(crate) mod pane;
pub(crate) mod permit;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod restart;
pub(crate) mod run;
pub(crate) mod screen;
pub(crate) mod search;
pub(crate) mod server;
pub(crate) mod service;
pub(crate) mod session;
pub(crate) mod support;
pub(crate) mod token;
pub(crate) mod up;
pub(crate) mod version;
pub(crate) mod wait;
pub(crate) mod web;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, Refusal};

use crate::args::CliCommand;
use crate::context::CliContext;
use crate::serve;
use support::exit_status::exit_code;

pub(crate) use server::ensure_running;

/// Runs a command.
///
/// # Errors
/// With the refusal to show; its code is the exit code.
pub(crate) fn run(context: &CliContext, command: CliCommand) -> Result<ExitCode> {
    match command {
        CliCommand::Serve(args) => serve::run(context, &args),
        CliCommand::Web(args) => web::run(context, &args),
        CliCommand::Server(command) => server::run(context, command),
        CliCommand::Agentmux(args) => agentmux::run(context, args),
        CliCommand::New(args) => new::run(context, args),
        CliCommand::Ls(args) => ls::ls(context, &args),
        CliCommand::Get(args) => get::get(context, &args),
        CliCommand::Attach(args) => attach::run(context, &args),
        CliCommand::Run(args) => run::run(context, args),
        CliCommand::Read(args) => read::run(context, &args),
        CliCommand::Logs(args) => logs::logs(context, args),
        CliCommand::Tail(args) => logs::tail(context, args),
        CliCommand::Search(args) => search::run(context, args),
        CliCommand::Screen(args) => screen::run(context, args),
        CliCommand::Wait(args) => wait::run(context, args),
        CliCommand::Write(args) => input::write(context, &args),
        CliCommand::Send(args) => input::send(context, &args),
        CliCommand::Keys(args) => input::keys(context, &args),
        CliCommand::Paste(args) => input::paste(context, &args),
        CliCommand::Agent(command) => agent::run(context, command),
        CliCommand::Hooks(command) => hooks::run(context, &command),
        CliCommand::Mcp(args) => mcp::run(context, &args),
        CliCommand::Activate(args) => pane::activate(context, &args),
        CliCommand::Rename(args) => pane::rename(context, &args),
        CliCommand::Session(command) => session::run(context, command),
        CliCommand::Layout(command) => layout::run(context, &command),
        CliCommand::Resize(args) => pane::resize(context, &args),
        CliCommand::Up(args) => up::up(context, &args),
        CliCommand::Down(args) => up::down(context, &args),
        CliCommand::Restart(args) => restart::run(context, &args),
        CliCommand::Kill(args) => pane::kill(context, &args),
        CliCommand::Close(args) => pane::close(context, &args),
        CliCommand::Rm(args) => pane::rm(context, &args),
        CliCommand::Prune(args) => pane::prune(context, &args),
        CliCommand::Adopt(args) => adopt::adopt(context, &args),
        CliCommand::Notify(command) => notify::run(context, &command),
        CliCommand::Tmux(command) => adopt::tmux(context, &command),
        CliCommand::Meta(args) => meta::meta(context, &args),
        CliCommand::Tag(args) => meta::tag(context, &args),
        CliCommand::Record(args) => record::run(context, &args),
        CliCommand::Events(args) => events::run(context, &args),
        CliCommand::Approvals(args) => approvals::run(context, &args),
        CliCommand::Audit(args) => audit::run(context, &args),
        CliCommand::Action(args) => action::run(context, args),
        CliCommand::Emit(args) => action::emit(context, args),
        CliCommand::List(args) => action::list(context, &args),
        CliCommand::Permit(command) => permit::run(context, &command),
        CliCommand::Token(command) => token::run(context, &command),
        CliCommand::Ext(command) => ext::run(context, &command),
        CliCommand::Doctor(_) => doctor::run(context),
        CliCommand::Service(command) => service::run(context, &command),
        CliCommand::Config(command) => config::run(context, &command),
        CliCommand::Completions(command) => completions::run(context, &command),
        CliCommand::Version(_) => version::run(context),
    }
}

/// Whether the error is that no server could be reached.
fn is_unavailable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == Code::Unavailable)
}

/// Calls `act` for each pane, goes on after a refusal, and returns the first exit code that is not
/// 0.
fn for_each(
    context: &CliContext,
    panes: &[String],
    mut act: impl FnMut(&str) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let mut exit = ExitCode::SUCCESS;
    for pane in panes {
        let code = match act(pane) {
            Ok(code) => code,
            Err(error) => refused(context, error)?,
        };
        if exit == ExitCode::SUCCESS {
            exit = code;
        }
    }
    Ok(exit)
}

fn refused(context: &CliContext, error: anyhow::Error) -> Result<ExitCode> {
    let refusal: Refusal = error.downcast()?;
    context.out.refusal(&refusal)?;
    Ok(exit_code(Some(refusal.code)))
}
