//! Which part of a pane's output is shown: the last lines, or what was printed since a time.

use anyhow::Result;
use paned_model::Time;
use serde_json::json;

use super::output::PaneReadReply;
use crate::context::CliContext;

/// What is asked for. Both limits hold together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OutputSelection {
    /// The last lines only.
    pub(crate) lines: Option<u64>,
    /// What was printed at this time or later only.
    pub(crate) since: Option<Time>,
}

/// A range of a pane's output, by its offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputRange {
    pub(crate) start: u64,
    /// Where the output ended when it was asked for.
    pub(crate) end: u64,
    /// How many bytes are no longer kept.
    pub(crate) dropped: u64,
}

impl OutputSelection {
    /// Where it is in the output of a pane.
    ///
    /// # Errors
    /// When the server refuses.
    pub(crate) fn find(self, context: &CliContext, pane: &str) -> Result<OutputRange> {
        let mut request = json!({ "paneId": pane, "view": "raw", "limit": 0 });
        if let Some(time) = self.since {
            request["sinceTime"] = json!(time);
        }
        let answer: PaneReadReply = context.call("pane:read", &request)?;
        let dropped = answer.dropped.unwrap_or(0);
        let since = if self.since.is_some() { answer.next } else { dropped };
        let start = match self.lines {
            None => since,
            Some(lines) => last_lines(context, pane, lines)?.unwrap_or(dropped).max(since),
        };
        Ok(OutputRange { start, end: answer.total.max(start), dropped })
    }
}

/// The offset at which the last lines start, if the line before them is kept.
fn last_lines(context: &CliContext, pane: &str, count: u64) -> Result<Option<u64>> {
    let request = json!({ "paneId": pane, "tail": count, "limit": 0 });
    let answer: PaneReadReply = context.call("pane:read", &request)?;
    let Some(before) = answer.total.saturating_sub(count).checked_sub(1) else { return Ok(None) };
    let request = json!({ "paneId": pane, "offset": before, "limit": 1 });
    let answer: PaneReadReply = context.call("pane:read", &request)?;
    let is_kept = answer.lines.first().is_some_and(|line| line.n == before);
    Ok(is_kept.then_some(answer.next))
}
