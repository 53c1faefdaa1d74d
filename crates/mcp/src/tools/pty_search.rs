//! `pty_search`

use paned_model::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::answer::ToolAnswer;
use super::replies::LineReply;
use super::text::{TextBlock, count, numbered};
use super::{McpTool, ToolCall, ToolEffect};

const HITS: usize = 20;

pub(super) struct PtySearch;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Args {
    /// Regex
    pattern: String,
    /// Default: all sessions
    ids: Option<Vec<String>>,
    #[serde(default)]
    ignore_case: bool,
    /// Default 20
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchReply {
    hits: Vec<SearchHit>,
    panes: usize,
    truncated: bool,
    timed_out: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SearchHit {
    pane_id: String,
    #[serde(flatten)]
    line: LineReply,
}

impl McpTool for PtySearch {
    const NAME: &'static str = "pty_search";
    const DOC: &'static str =
        "Search the output of many sessions, running or ended, newest match first.";
    const EFFECT: ToolEffect = ToolEffect::Looks;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        let params = json!({
            "pattern": args.pattern,
            "panes": args.ids,
            "ignoreCase": args.ignore_case,
            "limit": args.limit.unwrap_or(HITS),
        });
        let found: SearchReply = call.act("pane:search", params).await?;
        let mut block =
            TextBlock::with_attributes("pty_search", &[("pattern", args.pattern.as_str())]);
        let lines: Vec<String> = found
            .hits
            .iter()
            .map(|hit| format!("[{}] {}", hit.pane_id, numbered(&hit.line)))
            .collect();
        lines.iter().for_each(|line| block.line(line));
        let matches = count(found.hits.len(), "match", "matches");
        let sessions = count(found.panes, "session", "sessions");
        let more = match (found.truncated, found.timed_out) {
            (_, true) => "; the search took too long, name some ids",
            (true, false) => "; older ones left out, raise limit",
            (false, false) => "",
        };
        block.line(format!("({matches} in {sessions}{more})"));
        let facts = json!({
            "matches": lines,
            "sessions": found.panes,
            "truncated": found.truncated,
            "timedOut": found.timed_out,
        });
        Ok(ToolAnswer::new(block.finish(), facts))
    }
}
