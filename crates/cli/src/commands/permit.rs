//! `paned permit`: what the permission rules say about a command.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::support::params::from_here;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle};

const TEST: &str = "\
Examples:
  paned permit test -- git push --force
  paned permit test --as agent -- npm test
  paned permit test --as agent -- sh -c 'ls | xargs rm'

Nothing is run. The exit code is 0 if the command is allowed, and 7 if it is denied or a person \
would be asked first. The rules are in the section `permissions` of config.toml; \
`paned config show` prints them.";

/// Explain the permission rules
#[derive(Subcommand, Serialize)]
#[serde(untagged)]
pub(crate) enum PermitSubcommand {
    /// Show whether a command is allowed, and why
    #[command(after_help = TEST)]
    Test(TestArgs),
}

#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestArgs {
    /// The working directory [default: this one]
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "from_here")]
    cwd: Option<PathBuf>,
    /// As whom the command would be started [default: as you are now]
    #[arg(long = "as", value_name = "WHO")]
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    spawner: Option<SpawnerName>,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    argv: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum SpawnerName {
    /// You, outside of agents
    Cli,
    /// A program in an agent's pane
    Agent,
    /// Another token, or an extension
    Token,
    /// A client of the opencode-pty listener
    Opencode,
}

#[derive(Deserialize)]
struct PermissionTestReply {
    decision: String,
    #[serde(rename = "as")]
    spawner: String,
    reason: String,
    steps: Vec<PermissionStepReply>,
}

#[derive(Deserialize)]
struct PermissionStepReply {
    command: String,
    #[serde(default)]
    via: Vec<String>,
    decision: String,
    rule: Option<String>,
    reason: String,
}

/// The exit code of what is not allowed: that of the code `denied`.
const DENIED: u8 = 7;

pub(crate) fn run(context: &CliContext, command: &PermitSubcommand) -> Result<ExitCode> {
    let PermitSubcommand::Test(args) = command;
    let answer: Value = context.call("permission:test", args)?;
    let reply: PermissionTestReply = serde_json::from_value(answer.clone())?;
    match context.out.is_json() {
        true => context.out.value(&answer)?,
        false => show(context.out, &reply)?,
    }
    let is_allowed = reply.decision == "allow";
    Ok(if is_allowed { ExitCode::SUCCESS } else { ExitCode::from(DENIED) })
}

fn show(out: Out, reply: &PermissionTestReply) -> Result<()> {
    let verdict = StyledLine::default()
        .then(style(&reply.decision), &reply.decision)
        .then(TextStyle::Plain, &format!(" as {}: {}", reply.spawner, reply.reason));
    out.line(verdict)?;
    for step in &reply.steps {
        let mut line = StyledLine::default()
            .then(TextStyle::Plain, "  ")
            .then(style(&step.decision), &format!("{:5}", step.decision))
            .then(TextStyle::Plain, &format!("  {}", step.command));
        if !step.via.is_empty() {
            line = line.then(TextStyle::Faint, &format!("  in {}", step.via.join(" > ")));
        }
        out.line(line)?;
        let rule = step.rule.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
        let why = format!("         {}{rule}", step.reason);
        out.line(StyledLine::default().then(TextStyle::Faint, &why))?;
    }
    Ok(())
}

fn style(decision: &str) -> TextStyle {
    match decision {
        "allow" => TextStyle::Good,
        "deny" => TextStyle::Bad,
        _ => TextStyle::Warn,
    }
}
