//! `paned agent send`: sends an agent a prompt, and reports the outcome.

use std::process::ExitCode;

use anyhow::Result;
use paned_model::{AgentInfo, AgentState, Code, Delivery};
use serde::{Deserialize, Serialize};

use super::question;
use super::state::show_answer;
use crate::commands::input::or_standard_input;
use crate::commands::support::duration::millis;
use crate::commands::support::exit_status::exit_code;
use crate::context::CliContext;
use crate::out::{Out, StyledLine, TextStyle, in_commands_about};

/// Send an agent a prompt and report whether it was accepted
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned agent send fix-42 'run the tests and fix what fails'
  git diff | paned agent send reviewer            standard input
  paned agent send fix-42 'and now?' --wait       print the answer
  paned agent send fix-42 'stop' --when-busy send
  paned agent send nightly 'go' --key 2026-11-16  deliver it only once

Exit codes: 0 submitted, or queued or held for delivery as soon as possible; 8 (conflict) refused; 9 (busy) drafted: typed into the input box but not submitted, or `--wait` ended at a question of the agent; 10 (gone) `--wait`: the program exited before the turn was over; 12 (timeout) unknown: it was typed, but the outcome cannot be determined, or `--wait` timed out.")]
pub(crate) struct Args {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The prompt; `-` or nothing reads standard input
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// What to do while it is busy: queue, refuse or send
    #[arg(long, value_name = "WHAT", value_parser = ["queue", "refuse", "send"])]
    when_busy: Option<String>,
    /// Deliver a message with this key only once, even if it is sent again
    #[arg(long, value_name = "KEY")]
    #[serde(rename = "idempotencyKey")]
    key: Option<String>,
    /// Wait for the answer and print it, or the question it asks first
    #[arg(short, long)]
    #[serde(skip)]
    wait: bool,
    /// Do not wait until it is delivered
    #[arg(long, conflicts_with = "wait")]
    #[serde(skip)]
    no_wait: bool,
    /// What both of them mean to the action.
    #[arg(skip)]
    #[serde(rename = "wait")]
    wait_for: Option<&'static str>,
    /// Send the answer to the agent in whose pane this runs
    #[arg(long)]
    notify: bool,
    /// Time limit; a number alone is seconds
    #[arg(long, value_name = "TIME", value_parser = millis)]
    #[serde(rename = "timeoutMs")]
    timeout: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgentSendReply {
    outcome: Delivery,
    #[serde(default)]
    evidence: Vec<String>,
    agent: AgentInfo,
    #[serde(default)]
    position: Option<usize>,
    #[serde(default)]
    answer: Option<String>,
    #[serde(default)]
    answer_source: Option<String>,
    #[serde(default)]
    timed_out: bool,
}

impl AgentSendReply {
    /// Why the turn that was waited for is not over as it should be.
    fn unfinished(&self) -> Option<Code> {
        let is_under_way =
            matches!(self.outcome, Delivery::Submitted | Delivery::Queued | Delivery::Held);
        match self.agent.state {
            _ if !is_under_way => None,
            _ if self.is_blocked() => Some(Code::Busy),
            AgentState::Exited => Some(Code::Gone),
            _ if self.timed_out || self.outcome != Delivery::Submitted => Some(Code::Timeout),
            _ => None,
        }
    }

    /// Whether the turn waits for the user to answer a question.
    fn is_blocked(&self) -> bool {
        let is_over = self.answer.is_some() || self.timed_out;
        self.outcome == Delivery::Submitted && !is_over && self.agent.state == AgentState::Blocked
    }
}

pub(super) fn run(context: &CliContext, mut args: Args) -> Result<ExitCode> {
    args.text = Some(or_standard_input(args.text)?);
    args.wait_for = match (args.wait, args.no_wait) {
        (true, _) => Some("done"),
        (_, true) => Some("none"),
        _ => None,
    };
    let show = |sent: &AgentSendReply| show(context.out, &args, sent);
    let sent = context.show_and_return("agent:message", &args, show)?;
    let unfinished = sent.unfinished().filter(|_| args.wait);
    Ok(exit_code(unfinished.or_else(|| undelivered(sent.outcome))))
}

fn show(out: Out, args: &Args, sent: &AgentSendReply) -> Result<()> {
    show_outcome(out, &args.pane, sent)?;
    if args.wait && sent.outcome == Delivery::Submitted {
        show_turn(out, &args.pane, sent)?;
    } else if args.wait && sent.timed_out {
        out.note("paned: the message was not delivered in time")?;
    }
    Ok(())
}

fn show_outcome(out: Out, pane: &str, sent: &AgentSendReply) -> Result<()> {
    let position = sent.position.map_or_else(String::new, |number| format!(" (position {number})"));
    let style = match sent.outcome {
        Delivery::Submitted => TextStyle::Good,
        Delivery::Queued | Delivery::Held => TextStyle::Plain,
        Delivery::Drafted | Delivery::Unknown => TextStyle::Warn,
        Delivery::Refused => TextStyle::Bad,
    };
    out.note(StyledLine::new(style, sent.outcome.as_str()).then(TextStyle::Plain, &position))?;
    if sent.outcome != Delivery::Submitted {
        sent.evidence
            .iter()
            .try_for_each(|line| out.note(format!("  {}", in_commands_about(line, Some(pane)))))?;
        question(&sent.agent).iter().try_for_each(|line| out.note(line.as_str()))?;
    }
    Ok(())
}

/// Prints the answer, or that there is none: an earlier answer is never shown instead.
fn show_turn(out: Out, pane: &str, sent: &AgentSendReply) -> Result<()> {
    if sent.is_blocked() {
        out.note("it is waiting for an answer:")?;
        question(&sent.agent).iter().try_for_each(|line| out.note(line.as_str()))?;
        let next = format!(
            "paned: answer with `paned agent answer {pane} OPTION`, then `paned agent wait {pane}`"
        );
        return Ok(out.note(next)?);
    }
    let Some(answer) = &sent.answer else {
        let why = match sent.timed_out {
            _ if sent.agent.state == AgentState::Exited => {
                "its program exited before its turn was over"
            }
            true => "timed out before its turn was over",
            false => "no answer to this prompt was found",
        };
        return Ok(out.note(format!("paned: {why}"))?);
    };
    show_answer(out, answer, sent.answer_source.as_deref().unwrap_or_default())
}

/// What went wrong with the delivery.
fn undelivered(outcome: Delivery) -> Option<Code> {
    match outcome {
        Delivery::Submitted | Delivery::Queued | Delivery::Held => None,
        Delivery::Refused => Some(Code::Conflict),
        Delivery::Drafted => Some(Code::Busy),
        Delivery::Unknown => Some(Code::Timeout),
    }
}
