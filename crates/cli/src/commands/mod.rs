//! The commands, one file each: what it takes, and what it does.

pub(crate) mod action;
pub(crate) mod activate;
pub(crate) mod agent;
pub(crate) mod agentmux;
pub(crate) mod attach;
pub(crate) mod close;
pub(crate) mod completions;
mod cutter;
pub(crate) mod doctor;
pub(crate) mod emit;
mod ending;
pub(crate) mod events;
mod follow;
pub(crate) mod get;
pub(crate) mod keys;
pub(crate) mod kill;
pub(crate) mod layout;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod ls;
pub(crate) mod new;
mod past;
pub(crate) mod paste;
mod printed;
mod printer;
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
mod span;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod version;
pub(crate) mod wait;
mod window;
mod words;
pub(crate) mod write;

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{Code, Refusal};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::args::Command;
use crate::context::Context;
use crate::serve;

/// Runs a command.
///
/// # Errors
/// With the refusal to show; its code is the exit code.
pub(crate) fn run(context: &Context, command: Command) -> Result<ExitCode> {
    match command {
        Command::Serve(args) => serve::run(context, &args),
        Command::Server(command) => server::run(context, command),
        Command::Agentmux(args) => agentmux::run(context, args),
        Command::New(args) => new::run(context, args),
        Command::Ls(args) => ls::run(context, args),
        Command::Get(args) => get::run(context, &args),
        Command::Attach(args) => attach::run(context, &args),
        Command::Run(args) => run::run(context, args),
        Command::Read(args) => read::run(context, &args),
        Command::Logs(args) => logs::run(context, &args),
        Command::Tail(args) => tail::run(context, &args),
        Command::Search(args) => search::run(context, &args),
        Command::Screen(args) => screen::run(context, &args),
        Command::Wait(args) => wait::run(context, &args),
        Command::Write(args) => write::run(context, args),
        Command::Send(args) => send::run(context, &args),
        Command::Keys(args) => keys::run(context, &args),
        Command::Paste(args) => paste::run(context, args),
        Command::Agent(command) => agent::run(context, command),
        Command::Activate(args) => activate::run(context, &args),
        Command::Rename(args) => rename::run(context, &args),
        Command::Session(command) => session::run(context, command),
        Command::Layout(command) => layout::run(context, command),
        Command::Resize(args) => resize::run(context, &args),
        Command::Kill(args) => kill::run(context, &args),
        Command::Close(args) => close::run(context, &args),
        Command::Rm(args) => rm::run(context, &args),
        Command::Events(args) => events::run(context, &args),
        Command::Action(args) => action::run(context, args),
        Command::Emit(args) => emit::run(context, args),
        Command::List(_) => list::run(context),
        Command::Token(command) => token::run(context, command),
        Command::Doctor(_) => doctor::run(context),
        Command::Completions(args) => completions::run(&args),
        Command::Version(_) => version::run(context),
    }
}

/// Parameters with these fields, those that are `null` left out.
fn params<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let said = fields.into_iter().filter(|(_, value)| !value.is_null());
    said.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

/// Reads an answer as the type it has.
fn read<T: DeserializeOwned>(answer: Value) -> Result<T> {
    serde_json::from_value(answer).map_err(|error| {
        let sentence = format!(
            "the server's answer is not understood ({error}); `paned doctor` compares versions"
        );
        Refusal::internal(sentence).into()
    })
}

/// Passes on what the server warns of.
fn warn(context: &Context, answer: &Value) -> Result<()> {
    let warning = answer.get("warning").and_then(Value::as_str);
    Ok(warning.map_or(Ok(()), |warning| context.out.aside(format!("paned: {warning}")))?)
}

/// Whether it did not work because no server was there.
fn is_unavailable(error: &anyhow::Error) -> bool {
    error.downcast_ref::<Refusal>().is_some_and(|refusal| refusal.code == Code::Unavailable)
}

/// Does it for each pane, goes on after a refusal, and ends with the first refusal's code.
fn for_each(
    context: &Context,
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

fn refused(context: &Context, error: anyhow::Error) -> Result<ExitCode> {
    let refusal: Refusal = error.downcast()?;
    context.out.refuse(&refusal)?;
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
