//! `paned approvals`: requests and agents' questions that wait for a person.

mod follow;
mod show;

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use paned_model::{ApprovalInfo, ApprovalStatus};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::support::table_args::TableArgs;
use crate::context::CliContext;

const LIST: &str = "\
Examples:
  paned approvals                        what waits for you
  paned approvals show 4x7k2m9q          the whole request
  paned approvals answer 4x7k2m9q allow
  paned approvals follow                 asks you about each as it comes

A request waits here if a permission rule says `ask`, or if `approvals.actions` in config.toml lists \
its action. The questions of agents are listed, too.";

const ANSWER: &str = "\
Examples:
  paned approvals answer 4x7k2m9q allow
  paned approvals answer 4x7k2m9q allow-pane
  paned approvals answer 4x7k2m9q deny --reason 'use the staging database'
  paned approvals answer 9d2c5v1n 2      an option of an agent's question

An answer is for one request and is used once; `allow-pane` also covers later requests of that pane, \
until its program ends. It cannot come from the pane or token that asked.";

const LIST_ONLY: &str = "\
Examples:
  paned approvals list
  paned approvals list --all             also those that have ended";

const SHOW: &str = "\
Examples:
  paned approvals show 4x7k2m9q";

const FORGET: &str = "\
Examples:
  paned approvals forget 4x7k2m9q        later requests ask again";

const FOLLOW: &str = "\
Examples:
  paned approvals follow                 on a terminal, asks you about each
  paned approvals follow --json          a line for each, for a program";

/// List, answer and follow approvals
#[derive(clap::Args)]
#[command(after_help = LIST, args_conflicts_with_subcommands = true)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    command: Option<ApprovalsSubcommand>,
    #[command(flatten)]
    list: ApprovalListArgs,
}

#[derive(Subcommand)]
enum ApprovalsSubcommand {
    /// List what waits for an answer
    #[command(visible_alias = "ls", after_help = LIST_ONLY)]
    List(ApprovalListArgs),
    /// Show an approval with everything that is known of the request
    #[command(after_help = SHOW)]
    Show {
        /// Its id, as in `paned approvals`
        id: String,
    },
    /// Answer an approval
    #[command(after_help = ANSWER)]
    Answer(ApprovalAnswerArgs),
    /// Print approvals as they are asked for; on a terminal, answer them one by one
    #[command(after_help = FOLLOW)]
    Follow,
    /// Delete an answer that holds for a pane
    #[command(after_help = FORGET)]
    Forget {
        /// The id of the approval that was answered with `allow-pane`
        id: String,
    },
}

/// Which approvals to list.
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
struct ApprovalListArgs {
    /// Only those that this pane asks for
    #[arg(long, value_name = "PANE")]
    #[serde(rename = "paneId")]
    pane: Option<String>,
    /// Include the last ones that have ended
    #[arg(short, long)]
    #[serde(rename = "ended")]
    all: bool,
    #[command(flatten)]
    #[serde(skip)]
    table: TableArgs,
}

/// An answer.
#[derive(clap::Args, Serialize)]
struct ApprovalAnswerArgs {
    /// The approval's id, as in `paned approvals`
    id: String,
    /// allow, allow-pane or deny; for an agent's question also an option, by number or text
    #[serde(serialize_with = "number_or_text")]
    answer: String,
    /// Why it is denied; the caller gets this
    #[arg(long, value_name = "TEXT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// What `approval:list` answers.
#[derive(Deserialize)]
struct ApprovalListReply {
    approvals: Vec<ApprovalInfo>,
    remembered: Vec<RememberedReply>,
}

/// An answer that holds for a pane.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RememberedReply {
    id: String,
    pane_id: String,
    covers: String,
    by: String,
}

/// What `approval:answer` answers.
#[derive(Deserialize)]
struct ApprovalAnswerReply {
    approval: ApprovalInfo,
}

pub(crate) fn run(context: &CliContext, args: &ApprovalsArgs) -> Result<ExitCode> {
    match &args.command {
        None => list(context, &args.list),
        Some(ApprovalsSubcommand::List(args)) => list(context, args),
        Some(ApprovalsSubcommand::Show { id }) => {
            context.show("approval:get", &json!({ "id": id }), |approval| {
                show::approval(context.out, &approval)
            })
        }
        Some(ApprovalsSubcommand::Answer(args)) => {
            context.show("approval:answer", args, |reply: ApprovalAnswerReply| {
                context.out.line(outcome(&reply.approval))
            })
        }
        Some(ApprovalsSubcommand::Follow) => follow::run(context),
        Some(ApprovalsSubcommand::Forget { id }) => {
            let sentence = format!("{id} forgotten: the pane's next request asks again");
            context.confirm("approval:forget", &json!({ "id": id }), sentence)
        }
    }
}

fn list(context: &CliContext, args: &ApprovalListArgs) -> Result<ExitCode> {
    context.show("approval:list", args, |reply: ApprovalListReply| {
        show::list(context.out, args.table.width(context.out), &reply)
    })
}

/// What an answer has brought about.
fn outcome(approval: &ApprovalInfo) -> String {
    let id = &approval.id;
    match approval.status {
        ApprovalStatus::Used => match approval.action {
            Some(_) => format!("{id} allowed; {} continues", approval.caller),
            None => format!("{id} answered"),
        },
        ApprovalStatus::Allowed => {
            let until = approval.expires_at.map(|at| format!(" until {at}")).unwrap_or_default();
            format!(
                "{id} allowed, but {} no longer waits: it can send the same request again, \
                once,{until}",
                approval.caller
            )
        }
        ApprovalStatus::Denied => format!("{id} denied"),
        ApprovalStatus::Open => {
            format!("{id}: the keys were pressed, but the question is still there")
        }
        ApprovalStatus::Expired | ApprovalStatus::Withdrawn => format!("{id} {}", approval.status),
    }
}

fn number_or_text<S: serde::Serializer>(answer: &str, to: S) -> Result<S::Ok, S::Error> {
    match answer.parse::<usize>() {
        Ok(number) => to.serialize_u64(number as u64),
        Err(_) => to.serialize_str(answer),
    }
}
