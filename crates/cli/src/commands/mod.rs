//! The commands, one file each: its arguments, and what it does.

pub(crate) mod action;
pub(crate) mod activate;
pub(crate) mod agent;
pub(crate) mod agentmux;
pub(crate) mod attach;
pub(crate) mod close;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod emit;
pub(crate) mod events;
pub(crate) mod get;
pub(crate) mod keys;
pub(crate) mod kill;
pub(crate) mod layout;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod ls;
pub(crate) mod new;
pub(crate) mod paste;
pub(crate) mod read;
pub(crate) mod rename;
pub(crate) mod resize;
pub(crate) mod rm;
pub(crate) mod run;
pub(crate) mod screen;
pub(crate) mod search;
pub(crate) mod send;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod support;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod version;
pub(crate) mod wait;
pub(crate) mod write;

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, Refusal};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::args::CliCommand;
use crate::context::CliContext;
use crate::serve;

/// Runs a command.
///
/// # Errors
/// With the refusal to show; its code is the exit code.
pub(crate) fn run(context: &CliContext, command: CliCommand) -> Result<ExitCode> {
    match command {
        CliCommand::Serve(args) => serve::run(context, &args),
        CliCommand::Server(command) => server::run(context, command),
        CliCommand::Agentmux(args) => agentmux::run(context, args),
        CliCommand::New(args) => new::run(context, args),
        CliCommand::Ls(args) => ls::run(context, args),
        CliCommand::Get(args) => get::run(context, &args),
        CliCommand::Attach(args) => attach::run(context, &args),
        CliCommand::Run(args) => run::run(context, args),
        CliCommand::Read(args) => read::run(context, &args),
        CliCommand::Logs(args) => logs::run(context, &args),
        CliCommand::Tail(args) => tail::run(context, &args),
        CliCommand::Search(args) => search::run(context, &args),
        CliCommand::Screen(args) => screen::run(context, &args),
        CliCommand::Wait(args) => wait::run(context, &args),
        CliCommand::Write(args) => write::run(context, args),
        CliCommand::Send(args) => send::run(context, &args),
        CliCommand::Keys(args) => keys::run(context, &args),
        CliCommand::Paste(args) => paste::run(context, args),
        CliCommand::Agent(command) => agent::run(context, command),
        CliCommand::Activate(args) => activate::run(context, &args),
        CliCommand::Rename(args) => rename::run(context, &args),
        CliCommand::Session(command) => session::run(context, command),
        CliCommand::Layout(command) => layout::run(context, command),
        CliCommand::Resize(args) => resize::run(context, &args),
        CliCommand::Kill(args) => kill::run(context, &args),
        CliCommand::Close(args) => close::run(context, &args),
        CliCommand::Rm(args) => rm::run(context, &args),
        CliCommand::Events(args) => events::run(context, &args),
        CliCommand::Action(args) => action::run(context, args),
        CliCommand::Emit(args) => emit::run(context, args),
        CliCommand::List(_) => list::run(context),
        CliCommand::Token(command) => token::run(context, command),
        CliCommand::Doctor(_) => doctor::run(context),
        CliCommand::Completions(args) => completions::run(&args),
        CliCommand::Version(_) => version::run(context),
    }
}

/// Parameters with these fields, those that are `null` left out.
fn params<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let given = fields.into_iter().filter(|(_, value)| !value.is_null());
    given.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

/// Deserializes an answer.
fn read<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|error| {
        let sentence = format!(
            "the server's answer is not understood ({error}); `paned doctor` compares versions"
        );
        Refusal::internal(sentence).into()
    })
}

/// Prints the server's warning, if the answer has one.
fn warn(context: &CliContext, answer: &Value) -> Result<()> {
    let warning = answer.get("warning").and_then(Value::as_str);
    Ok(warning.map_or(Ok(()), |warning| context.out.note(format!("paned: {warning}")))?)
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
    Ok(ExitCode::from(refusal.code.exit()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_not_said_is_not_sent() {
        let sent = params([("id", json!("a")), ("cwd", Value::Null), ("persist", json!(false))]);
        assert_eq!(sent, json!({ "id": "a", "persist": false }));
    }
}
