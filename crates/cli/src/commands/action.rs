//! `paned list`, `action` and `emit`: whatever a server can do, by its name.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use hyper::Method;
use paned_model::Refusal;
use serde_json::Value;

use super::support::action_args::{self, ActionInput, body};
use super::support::params::from_here;
use super::support::table_args::TableArgs;
use crate::args::Cli;
use crate::client::{self, ActionInfoReply, ApiClient, escape};
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable};
use crate::param_flags;

/// List the API actions
#[derive(clap::Args, Default)]
#[command(after_help = "\
Examples:
  paned list                      columns cut to the terminal's width
  paned list --wide               nothing cut
  paned list --json | jq '.[].name'
  paned action pane:new --help    its parameters")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    table: TableArgs,
}

pub(crate) fn list(context: &CliContext, args: &ListArgs) -> Result<ExitCode> {
    let client = context.client()?;
    if context.out.is_json() {
        let answer = client::block_on(client.request(Method::GET, "/actions", None))??;
        context.out.json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let actions = client::block_on(client.actions())??;
    let table = TextTable::new(&["NAME", "SCOPE", "WHAT IT DOES"], actions, |action| {
        let name = StyledLine::new(TextStyle::Strong, &action.name);
        [name, action.scope.into(), action.doc.into()]
    });
    let table = table.dropping(&["SCOPE"]);
    context.out.table_in(&table, args.table.width(context.out))?;
    Ok(ExitCode::SUCCESS)
}

const ACTION: &str = "\
Examples:
  paned action                                        show all actions
  paned action pane:new --help                        show its parameters
  paned action pane:new --argv sleep --argv 60 --tags a --tags b
  paned action pane:close --pane-id web --force
  paned action pane:set-meta --body '{\"paneId\":\"web\",\"key\":\"n\",\"value\":1}'
  echo '{}' | paned action server:status --body -

Parameters are flags (`--pane-id` or `--paneId`) with the types of the action's schema; a repeated flag makes an array, and an object is JSON text. They cannot be combined with --body. Without `cwd`, a program starts in the current folder. Connection options (--socket, --url, …) come before the action's name.";

/// Run any API action by name
#[derive(clap::Args)]
#[command(
    after_help = ACTION,
    disable_help_flag = true,
    override_usage = "paned action [NAME] [--PARAMETER VALUE]...\n       paned action NAME --body JSON|-"
)]
pub(crate) struct Args {
    /// The action, as in pane:new [default: list all actions]
    name: Option<String>,
    /// Print help; with a name, what that action takes
    #[arg(short, long)]
    help: bool,
    /// Its parameters, each as a flag and a value; or --body and JSON, `-` for standard input
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PARAMETERS")]
    words: Vec<String>,
}

pub(crate) fn run(context: &CliContext, args: Args) -> Result<ExitCode> {
    let Some(name) = args.name else { return without_name(context, args.help) };
    let input = if args.help { ActionInput::Help } else { ActionInput::new(args.words)? };
    let client = context.client()?;
    client::block_on(act(context.out, &client, &name, input))??;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    /// Whether `--json` stands among the parameters.
    pub(crate) fn wants_json(&self) -> bool {
        action_args::wants_json(&self.words)
    }
}

impl EmitArgs {
    /// Whether `--json` stands in the payload's place.
    pub(crate) fn wants_json(&self) -> bool {
        action_args::wants_json(&self.words)
    }
}

fn without_name(context: &CliContext, help: bool) -> Result<ExitCode> {
    if !help {
        return list(context, &ListArgs::default());
    }
    let mut paned = Cli::whole_command();
    paned.build();
    let action = paned.find_subcommand_mut("action").context("there is no action command")?;
    action.print_help()?;
    Ok(ExitCode::SUCCESS)
}

async fn act(out: Out, client: &ApiClient, name: &str, input: ActionInput) -> Result<()> {
    let mut params = match input {
        ActionInput::Help => return help(out, &client.describe(name).await?),
        ActionInput::Body(text) => body(&text)?,
        // Without parameters the schema is not needed.
        ActionInput::Flags(words) if words.is_empty() => Value::Object(serde_json::Map::new()),
        ActionInput::Flags(words) => {
            param_flags::parse_typed(&words, &client.describe(name).await?.params)?.into()
        }
    };
    start_here(name, &mut params)?;
    Ok(out.value(&client.exact_action(name, &params).await?)?)
}

/// The actions that start a program, in the folder of the shell that calls them unless `cwd` says
/// otherwise: the server's own default is the user's home.
const STARTS_PROGRAM: [&str; 4] = ["agent:create", "pane:new", "session:start", "shell:run"];

fn start_here(name: &str, params: &mut Value) -> Result<()> {
    let Value::Object(fields) = params else { return Ok(()) };
    if STARTS_PROGRAM.contains(&name) && !fields.contains_key("cwd") {
        fields.insert("cwd".to_owned(), from_here(&None, serde_json::value::Serializer)?);
    }
    Ok(())
}

/// Prints the parameters of an action.
fn help(out: Out, action: &ActionInfoReply) -> Result<()> {
    if out.is_json() {
        return Ok(out.json(&action.params)?);
    }
    out.line(
        StyledLine::new(TextStyle::Strong, &action.name)
            .then(TextStyle::Plain, &format!(": {}", action.doc)),
    )?;
    out.line(format!("requires the scope {}", action.scope))?;
    let Some(fields) = action.params.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    if fields.is_empty() {
        return Ok(());
    }
    out.line("")?;
    let required = action.params.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|it| it == name));
    let params = fields.iter().map(|(name, field)| ParamHelp {
        flag: format!("--{}", param_flags::kebab(name)),
        takes: param_flags::describe(field, &action.params),
        is_required: is_required(name),
        meaning: field.get("description").and_then(Value::as_str).unwrap_or_default(),
    });
    params.into_iter().try_for_each(|param| param.print(out))
}

/// The columns before what a parameter means.
const INDENT: usize = 6;

/// A parameter of an action, as its help shows it.
struct ParamHelp<'a> {
    flag: String,
    takes: String,
    is_required: bool,
    meaning: &'a str,
}

impl ParamHelp<'_> {
    /// The flag on a line, its meaning below it.
    fn print(&self, out: Out) -> Result<()> {
        let needed = if self.is_required { " (required)" } else { "" };
        let takes = format!(" {}{needed}", self.takes);
        let flag = StyledLine::new(TextStyle::Strong, &format!("  {}", self.flag));
        out.line(flag.then(TextStyle::Plain, &takes))?;
        let meaning = self.meaning.replace('\n', " ");
        let lines = out.wrap(&meaning, INDENT);
        lines.iter().try_for_each(|line| Ok(out.line(format!("{:INDENT$}{line}", ""))?))
    }
}

const EMIT: &str = "\
Examples:
  paned emit build:finished --ok --seconds 12 --artifact a.tar --artifact b.tar
  paned emit build:finished --body '{\"ok\":true}'

A value is parsed as JSON if possible, and is text otherwise; a flag without a value is true, a repeated flag makes an array, and names are used unchanged. Flags cannot be combined with --body.";

/// Emit an event
#[derive(clap::Args)]
#[command(
    after_help = EMIT,
    override_usage = "paned emit EVENT [--KEY VALUE]...\n       paned emit EVENT --body JSON|-"
)]
pub(crate) struct EmitArgs {
    /// What happened, as in build:finished
    event: String,
    /// The payload, each key as a flag and a value; or --body and JSON, `-` for standard input
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PAYLOAD")]
    words: Vec<String>,
}

pub(crate) fn emit(context: &CliContext, args: EmitArgs) -> Result<ExitCode> {
    let out = context.out;
    let payload = match ActionInput::new(args.words)? {
        ActionInput::Help => {
            return Err(Refusal::invalid("see `paned emit --help`").into());
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
