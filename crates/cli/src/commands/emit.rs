//! `paned emit`: records an event of the caller's own.

use std::process::ExitCode;

use anyhow::Result;
use hyper::Method;
use paned_model::Refusal;

use super::support::action_args::ActionArgs;
use super::support::action_args::ActionInput;
use super::support::action_args::body;
use crate::client::{self, escape};
use crate::context::CliContext;
use crate::param_flags;

const EXAMPLES: &str = "\
Examples:
  paned emit build:finished --ok --seconds 12 --artifact a.tar --artifact b.tar
  paned emit build:finished --body '{\"ok\":true}'

A value is JSON where it reads as JSON and text otherwise; a flag without a value is true, \
a repeated one makes an array, and names stay as they are written. They cannot be combined with --body.";

/// Record an event of your own
#[derive(clap::Args)]
#[command(
    after_help = EXAMPLES,
    override_usage = "paned emit EVENT [--KEY VALUE]...\n       paned emit EVENT --body JSON|-"
)]
pub(crate) struct Args {
    /// What happened, as in build:finished
    event: String,
    /// The payload, each key as a flag and a value; or --body and JSON, `-` for standard input
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PAYLOAD")]
    words: Vec<String>,
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    let words = ActionArgs::new(args.words)?;
    let out = if words.json { context.out.with_json() } else { context.out };
    let payload = match words.input {
        ActionInput::Help => {
            return Err(Refusal::invalid("`paned emit --help` shows what it takes").into());
        }
        ActionInput::Body(text) => body(&text)?,
        ActionInput::Flags(words) => param_flags::parse_untyped(&words)?.into(),
    };
    let client = context.client()?;
    let path = format!("/emit/{}", escape(&args.event));
    let answer = client::block_on(client.request(Method::POST, &path, Some(&payload)))??;
    if out.is_json() {
        out.json(&answer)?;
    } else {
        let id = answer.get("id").map(ToString::to_string).unwrap_or_default();
        out.line(format!("#{id} {}", args.event))?;
    }
    Ok(ExitCode::SUCCESS)
}
