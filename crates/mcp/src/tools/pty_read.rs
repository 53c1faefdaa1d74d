//! `pty_read`

use paned_model::{PaneInfo, Refusal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::ToolAnswer;
use super::replies::{LineReply, ReadReply};
use super::text::{TextBlock, count, numbered};
use super::{McpTool, ToolCall, ToolEffect, replies};

const LINES: usize = 500;
/// The most characters of one answer: about ten thousand tokens.
const MAX_CHARS: usize = 40_000;
/// How many matches are counted.
const MAX_COUNTED: usize = 10_000;

pub(super) struct PtyRead;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    id: String,
    /// Lines to skip; negative: only the last N
    offset: Option<i64>,
    /// Default 500
    limit: Option<usize>,
    /// Only lines that match this regex
    pattern: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    /// Only output after the cursor of an earlier answer
    since: Option<u64>,
}

impl McpTool for PtyRead {
    const NAME: &'static str = "pty_read";
    const DOC: &'static str = "Read a session's output as numbered lines, without escape sequences. \
        Cheapest: offset -50 for the end, pattern \"error|warn\" for a long log, since=<cursor> for \
        what is new.";
    const EFFECT: ToolEffect = ToolEffect::Looks;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        if args.since.is_some() && args.offset.is_some() {
            return Err(Refusal::invalid("pass `offset` or `since`, not both"));
        }
        let pane: PaneInfo = call.act_on(&args.id, "pane:get", json!({})).await?;
        let limit = args.limit.unwrap_or(LINES).min(MAX_COUNTED);
        let tail = args.offset.filter(|offset| *offset < 0).map(i64::unsigned_abs);
        let offset = args.offset.and_then(|offset| u64::try_from(offset).ok());
        let params = |limit: usize| {
            json!({
                "offset": offset,
                "tail": tail,
                "since": args.since,
                "limit": tail.map_or(limit, |tail| limit.min(usize::try_from(tail).unwrap_or(limit))),
                "pattern": args.pattern,
                "ignoreCase": args.ignore_case,
            })
        };
        let mut read: ReadReply = call.act_on(&args.id, "pane:read", params(limit)).await?;
        let is_from_end = tail.is_some();
        let cut = fit(&mut read.lines, is_from_end);
        let matches = match &args.pattern {
            Some(_) if read.truncated || cut => {
                let all: ReadReply =
                    call.act_on(&args.id, "pane:read", params(MAX_COUNTED)).await?;
                Some(all.lines.len())
            }
            Some(_) => Some(read.lines.len()),
            None => None,
        };
        Ok(OutputPage { pane, read, pattern: args.pattern, matches, cut, is_from_end }.answer())
    }
}

/// Leaves out lines that would make the answer too long. Returns whether there were any.
fn fit(lines: &mut Vec<LineReply>, is_from_end: bool) -> bool {
    let mut chars = 0;
    let mut fits = |line: &LineReply| {
        chars += line.text.len() + 8;
        chars <= MAX_CHARS
    };
    let before = lines.len();
    if is_from_end {
        let kept = lines.iter().rev().take_while(|line| fits(line)).count();
        lines.drain(..before - kept);
    } else {
        let kept = lines.iter().take_while(|line| fits(line)).count();
        lines.truncate(kept);
    }
    lines.len() < before
}

/// A part of a session's output.
struct OutputPage {
    pane: PaneInfo,
    read: ReadReply,
    pattern: Option<String>,
    /// How many lines match.
    matches: Option<usize>,
    /// Whether lines were left out to keep the answer short.
    cut: bool,
    is_from_end: bool,
}

impl OutputPage {
    fn answer(self) -> ToolAnswer {
        let status = replies::status(&self.pane);
        let id = self.pane.id.as_str();
        let mut attributes = vec![("id", id), ("status", status)];
        attributes.extend(self.pattern.as_deref().map(|pattern| ("pattern", pattern)));
        let mut block = TextBlock::with_attributes("pty_output", &attributes);
        let lines: Vec<String> = self.read.lines.iter().map(numbered).collect();
        let summary = self.summary();
        lines.iter().for_each(|line| block.line(line));
        if !lines.is_empty() {
            block.line("");
        }
        block.line(&summary);
        let facts = json!({
            "id": id,
            "status": status,
            "lines": lines,
            "totalLines": self.read.total,
            "matches": self.matches,
            "nextOffset": self.next_offset(),
            "cursor": self.cursor(),
            "exitCode": self.pane.exit_code,
        });
        let facts = facts.as_object().cloned().unwrap_or_default();
        let facts = facts.into_iter().filter(|(_, value)| !value.is_null());
        ToolAnswer::new(block.finish(), Value::from_iter(facts))
    }

    /// Where the next page begins, if there is one.
    fn next_offset(&self) -> Option<u64> {
        let last = self.read.lines.last()?.n;
        let is_page = !self.is_from_end && (self.cut || self.read.truncated);
        is_page.then_some(last + 1)
    }

    /// Where new output begins. After a page there is no cursor: the next page comes first.
    fn cursor(&self) -> Option<u64> {
        self.next_offset().is_none().then_some(self.read.next)
    }

    /// What there is besides the lines shown, in one line.
    fn summary(&self) -> String {
        let total = self.read.total;
        let shown = self.read.lines.len();
        let lost = match self.read.dropped {
            Some(dropped) if 0 < dropped => format!(" Lines 1-{dropped} are no longer kept."),
            _ => String::new(),
        };
        let cursor = self.cursor().map(|cursor| format!(" cursor={cursor}")).unwrap_or_default();
        match (&self.pattern, self.matches, self.next_offset()) {
            (Some(pattern), Some(0), _) => {
                format!(
                    "No lines matched the pattern '{pattern}'.\nTotal lines: {total}{cursor}{lost}"
                )
            }
            (Some(_), Some(matches), Some(next)) => format!(
                "({shown} of {matches} matches shown. Use offset={next} to see more.){lost}"
            ),
            (Some(_), Some(matches), None) if matches != shown => {
                format!("(Last {shown} of {matches} matches.{cursor}){lost}")
            }
            (Some(_), _, None) => {
                let matches = count(shown, "match", "matches");
                format!("({matches} from {total} total lines.{cursor}){lost}")
            }
            (_, _, Some(next)) => format!(
                "(More lines follow, {total} in total. Use offset={next} to read beyond line {next}.){lost}"
            ),
            (None, _, None) if total == 0 => {
                format!("(No output available - buffer is empty)\nTotal lines: 0{cursor}")
            }
            (None, _, None) if shown == 0 => {
                format!("(No new lines - total {total}.{cursor}){lost}")
            }
            (None, _, None) => format!("(End of buffer - total {total} lines.{cursor}){lost}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: u64, len: usize) -> Vec<LineReply> {
        (0..count).map(|n| LineReply { n, text: "x".repeat(len), cut: false }).collect()
    }

    #[test]
    fn an_answer_that_would_be_too_long_keeps_the_end_that_was_asked_for() {
        let mut short = lines(100, 10);
        assert!(!fit(&mut short, false));
        assert_eq!(short.len(), 100);
        let mut from_start = lines(100, 992);
        assert!(fit(&mut from_start, false));
        assert_eq!((from_start.len(), from_start[0].n), (40, 0));
        let mut from_end = lines(100, 992);
        assert!(fit(&mut from_end, true));
        assert_eq!((from_end.len(), from_end[0].n), (40, 60));
    }
}
