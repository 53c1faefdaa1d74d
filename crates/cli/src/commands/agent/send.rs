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
use crate::out::{Out, StyledLine, TextStyle};

/// Hand an agent a prompt, and say what became of it
#[derive(clap::Args, Serialize)]
#[serde(rename_all = "camelCase")]
#[command(after_help = "\
Examples:
  paned agent send fix-42 'run the tests and fix what fails'
  git diff | paned agent send reviewer             a long text from standard input
  paned agent send fix-42 'and now?' --wait        until it has answered, and print the answer
  paned agent send fix-42 'stop' --when-busy send
  paned agent send nightly 'go' --key 2026-11-16   the same key hands it over once

Exit codes: 0 submitted, or queued or held and handed over as soon as possible; 8 (conflict) refused; \
9 (busy) drafted: it stands in the composer, or \
`--wait` ended at a question of the agent; 10 (gone) `--wait`: its program ended before the turn did; \
12 (timeout) unknown: it was typed, and what became of it cannot be told, or \
`--wait`: time ran out before the turn was over.")]
pub(crate) struct Args {
    /// The agent's pane
    #[serde(rename = "paneId")]
    pane: String,
    /// The prompt; standard input when left out or `-`
    #[arg(allow_hyphen_values = true)]
    text: Option<String>,
    /// What to do while it works: queue, refuse or send
    #[arg(long, value_name = "WHAT", value_parser = ["queue", "refuse", "send"])]
    when_busy: Option<String>,
    /// Hand over a message with this key once, however often it is sent
    #[arg(long, value_name = "KEY")]
    #[serde(rename = "idempotencyKey")]
    key: Option<String>,
    /// Wait until it has answered, and print the answer, or the question it asks first
    #[arg(short, long)]
    #[serde(skip)]
    wait: bool,
    /// Do not even wait until it was handed over
    #[arg(long, conflicts_with = "wait")]
    #[serde(skip)]
    no_wait: bool,
    /// What both of them mean to the action.
    #[arg(skip)]
    #[serde(rename = "wait")]
    wait_for: Option<&'static str>,
    /// Have the answer sent to the pane that this is typed in, when that is an agent's
    #[arg(long)]
    notify: bool,
    /// How long to wait; a number alone is seconds
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
    show_outcome(out, sent)?;
    if args.wait && sent.outcome == Delivery::Submitted {
        show_turn(out, &args.pane, sent)?;
    } else if args.wait && sent.timed_out {
        out.note("paned: it was not handed over in time")?;
    }
    Ok(())
}

fn show_outcome(out: Out, sent: &AgentSendReply) -> Result<()> {
    let position = sent.position.map_or_else(String::new, |number| format!(" at place {number}"));
    let style = match sent.outcome {
        Delivery::Submitted => TextStyle::Good,
        Delivery::Queued | Delivery::Held => TextStyle::Plain,
        Delivery::Drafted | Delivery::Unknown => TextStyle::Warn,
        Delivery::Refused => TextStyle::Bad,
    };
    out.note(StyledLine::new(style, sent.outcome.as_str()).then(TextStyle::Plain, &position))?;
    if sent.outcome != Delivery::Submitted {
        sent.evidence.iter().try_for_each(|line| out.note(format!("  {line}")))?;
        question(&sent.agent).iter().try_for_each(|line| out.note(line.as_str()))?;
    }
    Ok(())
}

/// Prints the answer, or that there is none: an earlier answer is never shown instead.
fn show_turn(out: Out, pane: &str, sent: &AgentSendReply) -> Result<()> {
    if sent.is_blocked() {
        out.note("it asks, and nobody answers:")?;
        question(&sent.agent).iter().try_for_each(|line| out.note(line.as_str()))?;
        let next = format!(
            "paned: answer with `paned agent answer {pane} OPTION`, then `paned agent wait {pane}`"
        );
        return Ok(out.note(next)?);
    }
    let Some(answer) = &sent.answer else {
        let why = match sent.timed_out {
            _ if sent.agent.state == AgentState::Exited => {
                "its program ended before its turn was over"
            }
            true => "its turn was not over in time",
            false => "no answer of this turn was found",
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
