//! `paned notify`: the rules for notifications, and a test of them.

use std::io;
use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_kernel::notifications::{NotifyRuleInfo, NotifyTestResult};
use serde_json::json;

use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, TextTable};

const LIST: &str = "\
Examples:
  paned notify list";

const TEST: &str = "\
Examples:
  paned notify test              every rule
  paned notify test needs-me     one rule

The exit code is 0 only if every channel has delivered.";

/// Notifications when a pane or an agent needs you
#[derive(Subcommand)]
pub(crate) enum NotifySubcommand {
    /// List the rules of config.toml and what is wrong with them
    #[command(visible_alias = "ls", after_help = LIST)]
    List,
    /// Send a test notification
    #[command(after_help = TEST)]
    Test {
        /// The rule [default: all]
        rule: Option<String>,
    },
}

pub(crate) fn run(context: &CliContext, command: &NotifySubcommand) -> Result<ExitCode> {
    match command {
        NotifySubcommand::List => {
            context.show("notify:list", &json!({}), |rules: Vec<_>| list(context.out, &rules))
        }
        NotifySubcommand::Test { rule } => {
            let params = json!({ "rule": rule });
            let results: Vec<NotifyTestResult> =
                context.show_and_return("notify:test", &params, |results: &Vec<_>| {
                    show_results(context.out, results)
                })?;
            match results.iter().any(|result| result.error.is_some()) {
                true => Ok(ExitCode::FAILURE),
                false => Ok(ExitCode::SUCCESS),
            }
        }
    }
}

fn list(out: Out, rules: &[NotifyRuleInfo]) -> io::Result<()> {
    if rules.is_empty() {
        return out.note(
            "no rules; add a section such as [notify.needs-me] to config.toml (docs/notifications.md)",
        );
    }
    let table = TextTable::new(&["RULE", "ON", "TO", "PROBLEM"], rules, |rule| {
        [
            StyledLine::new(TextStyle::Strong, &rule.name),
            rule.on.join(",").into(),
            rule.to.join(",").into(),
            StyledLine::new(TextStyle::Bad, &rule.problems.join("; ")),
        ]
    });
    out.table(&table)
}

/// Prints one line for each channel.
fn show_results(out: Out, results: &[NotifyTestResult]) -> io::Result<()> {
    for NotifyTestResult { rule, channel, error } in results {
        match error {
            None => out.line(format!("{rule}: {channel}: sent"))?,
            Some(error) => out.line(format!("{rule}: {channel}: failed: {error}"))?,
        }
    }
    Ok(())
}
