//! `pty_wait`

use paned_model::{PaneInfo, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::ToolAnswer;
use super::replies::LineReply;
use super::text::{TextBlock, numbered};
use super::{McpTool, ToolCall, ToolEffect, replies};

/// How long to wait when the model does not say: many clients give up after a minute.
const DEFAULT_SECONDS: u64 = 45;
const DAY_SECONDS: u64 = 86_400;
/// How many of the last lines are shown.
const TAIL_LINES: usize = 20;

pub(super) struct PtyWait;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    id: String,
    /// Until a new line matches this regex
    pattern: Option<String>,
    /// Regexes of failure that end the wait early
    #[serde(default)]
    stop: Vec<String>,
    #[serde(default)]
    ignore_case: bool,
    /// Until nothing is printed for this time
    quiet_seconds: Option<f64>,
    /// Until this local TCP port accepts connections
    port: Option<u16>,
    /// Default 45
    timeout_seconds: Option<f64>,
    /// Cursor from which output counts; default: the last input
    since: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WaitReply {
    met: Option<String>,
    timed_out: bool,
    evidence: Vec<LineReply>,
    tail: Vec<LineReply>,
    next: Option<u64>,
    pane: Option<PaneInfo>,
    #[serde(default)]
    why: Vec<String>,
}

impl McpTool for PtyWait {
    const NAME: &'static str = "pty_wait";
    const DOC: &'static str = "Wait for a session instead of sleeping or polling: until its program \
        exits, or what you name happens first. Returns the reason and the last lines. After a \
        time-out call it again.";
    const EFFECT: ToolEffect = ToolEffect::Looks;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        let timeout = seconds("timeoutSeconds", args.timeout_seconds)?;
        let timeout = timeout.unwrap_or(DEFAULT_SECONDS * 1000);
        let quiet = seconds("quietSeconds", args.quiet_seconds)?;
        let params = json!({
            "pattern": args.pattern,
            "stop": args.stop,
            "ignoreCase": args.ignore_case,
            "quietMs": quiet,
            "port": args.port,
            "exit": true,
            "timeoutMs": timeout,
            "since": args.since,
        });
        let waited: WaitReply = call.act_on(&args.id, "pane:wait", params).await?;
        let pane = match &waited.pane {
            Some(pane) => pane.clone(),
            None => call.act_on(&args.id, "pane:get", json!({})).await?,
        };
        Ok(answer(&waited, &pane, timeout))
    }
}

/// A number of seconds in milliseconds.
fn seconds(name: &str, given: Option<f64>) -> Result<Option<u64>, Refusal> {
    let Some(seconds) = given else { return Ok(None) };
    if !(0.0 < seconds && seconds <= DAY_SECONDS as f64) {
        let sentence = format!("`{name}` must be more than 0 and at most {DAY_SECONDS}");
        return Err(Refusal::invalid(sentence));
    }
    Ok(Some(((seconds * 1000.0).ceil() as u64).max(1)))
}

/// What ended the wait, in a few words.
fn reason(waited: &WaitReply) -> &str {
    match waited.met.as_deref() {
        Some("stop") => "stop pattern",
        Some(met) => met,
        None if waited.timed_out => "none",
        None => "exit",
    }
}

fn answer(waited: &WaitReply, pane: &PaneInfo, timeout_ms: u64) -> ToolAnswer {
    let tag = if waited.timed_out { "pty_wait_timeout" } else { "pty_waited" };
    let mut block = TextBlock::new(tag);
    replies::head(&mut block, pane);
    block.field("Status", replies::status(pane));
    if let Some(exit) = replies::exit(pane) {
        block.field("Exit", exit);
    }
    block.field("Met", reason(waited));
    for line in &waited.evidence {
        block.line(format!("Match: {}", numbered(line)));
    }
    block.line(format!("Output Lines: {}", pane.lines));
    let shown = &waited.tail[waited.tail.len().saturating_sub(TAIL_LINES)..];
    if !shown.is_empty() {
        block.line("Tail:");
        shown.iter().for_each(|line| block.line(numbered(line)));
    }
    if let Some(next) = waited.next {
        block.line(format!("Cursor: {next}"));
    }
    let mut text = block.finish();
    if waited.timed_out {
        text.push_str(&advice(waited, timeout_ms));
    }
    let facts = json!({
        "id": pane.id,
        "met": reason(waited),
        "timedOut": waited.timed_out,
        "status": replies::status(pane),
        "exitCode": pane.exit_code,
        "exitSignal": pane.exit_signal,
        "match": waited.evidence.first().map(numbered),
        "lines": pane.lines,
        "tail": shown.iter().map(numbered).collect::<Vec<_>>(),
        "cursor": waited.next,
        "why": (!waited.why.is_empty()).then_some(&waited.why),
    });
    let facts = facts.as_object().cloned().unwrap_or_default();
    let facts = facts.into_iter().filter(|(_, value)| !value.is_null());
    ToolAnswer::new(text, Value::from_iter(facts))
}

/// What to do after a time-out.
fn advice(waited: &WaitReply, timeout_ms: u64) -> String {
    let seconds = timeout_ms as f64 / 1000.0;
    let why: String = waited.why.iter().map(|why| format!("\n{why}")).collect();
    format!(
        "\nNot met within {seconds} s; the program still runs. Call pty_wait again, or look with \
         pty_read or pty_screen.{why}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_more_than_none_and_at_most_a_day() {
        assert_eq!(seconds("x", None), Ok(None));
        assert_eq!(seconds("x", Some(0.0001)), Ok(Some(1)));
        assert_eq!(seconds("x", Some(45.0)), Ok(Some(45_000)));
        for wrong in [0.0, -1.0, 86_401.0, f64::NAN, f64::INFINITY] {
            assert!(seconds("x", Some(wrong)).is_err(), "{wrong}");
        }
    }
}
