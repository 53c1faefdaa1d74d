//! The tools: each is one file with its name, the text that teaches its use, its arguments and what
//! it does. The list that clients get is derived from them.

mod action_call;
mod action_list;
mod agent_message;
mod agent_spawn;
mod agent_state;
mod answer;
mod arguments;
mod call;
mod escapes;
mod pty_kill;
mod pty_list;
mod pty_read;
mod pty_screen;
mod pty_search;
mod pty_spawn;
mod pty_wait;
mod pty_write;
mod replies;
mod text;

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use paned_model::Refusal;
use rmcp::model::{CallToolResult, ErrorData, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::Tier;
use answer::ToolAnswer;
pub(crate) use call::ToolCall;
pub(crate) use replies::ScreenReply;

/// What a tool does to the world, for people who decide whether to allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolEffect {
    /// It changes nothing.
    Looks,
    /// It adds something.
    Adds,
    /// It may change or end what is there.
    Changes,
}

/// A tool.
trait McpTool: 'static {
    /// Its name.
    const NAME: &'static str;
    /// What it does and how to use it, for the model. Every word costs each client in every
    /// conversation.
    const DOC: &'static str;
    /// What it does to the world.
    const EFFECT: ToolEffect;
    /// Its arguments.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// Does it.
    fn run(
        call: ToolCall,
        args: Self::Args,
    ) -> impl Future<Output = Result<ToolAnswer, Refusal>> + Send;
}

/// A tool as the protocol sees it.
pub(crate) struct ToolEntry {
    name: &'static str,
    doc: &'static str,
    effect: ToolEffect,
    schema: fn() -> JsonObject,
    run: fn(ToolCall, JsonObject) -> BoxFuture<'static, Result<ToolAnswer, Refusal>>,
    /// The smallest tier that sees it.
    tier: Tier,
}

/// Every tool, in the order of the list.
static TOOLS: [ToolEntry; 13] = [
    ToolEntry::of::<pty_spawn::PtySpawn>(Tier::Standard),
    ToolEntry::of::<pty_wait::PtyWait>(Tier::ReadOnly),
    ToolEntry::of::<pty_read::PtyRead>(Tier::ReadOnly),
    ToolEntry::of::<pty_write::PtyWrite>(Tier::Standard),
    ToolEntry::of::<pty_screen::PtyScreen>(Tier::ReadOnly),
    ToolEntry::of::<pty_search::PtySearch>(Tier::ReadOnly),
    ToolEntry::of::<pty_list::PtyList>(Tier::ReadOnly),
    ToolEntry::of::<pty_kill::PtyKill>(Tier::Standard),
    ToolEntry::of::<agent_spawn::AgentSpawn>(Tier::Standard),
    ToolEntry::of::<agent_message::AgentMessage>(Tier::Standard),
    ToolEntry::of::<agent_state::AgentState>(Tier::ReadOnly),
    ToolEntry::of::<action_list::ActionList>(Tier::ReadOnly),
    ToolEntry::of::<action_call::ActionCall>(Tier::ReadOnly),
];

impl ToolEntry {
    const fn of<T: McpTool>(tier: Tier) -> Self {
        Self {
            name: T::NAME,
            doc: T::DOC,
            effect: T::EFFECT,
            schema: arguments::schema::<T::Args>,
            run: |call, args| {
                async move { T::run(call, arguments::parse(T::NAME, args)?).await }.boxed()
            },
            tier,
        }
    }

    /// The tool as it is listed.
    fn listed(&self) -> Tool {
        let hints = ToolAnnotations::new().read_only(self.effect == ToolEffect::Looks);
        let hints = match self.effect {
            ToolEffect::Looks => hints,
            ToolEffect::Adds => hints.destructive(false),
            ToolEffect::Changes => hints.destructive(true),
        };
        Tool::new(self.name, self.doc, Arc::new((self.schema)())).annotate(hints)
    }

    /// Calls it. A refusal is a result, so that the model reads it.
    pub(crate) async fn call(&self, call: ToolCall, args: JsonObject) -> CallToolResult {
        match (self.run)(call, args).await {
            Ok(answer) => answer.into(),
            Err(refusal) => answer::refused(&refusal),
        }
    }
}

fn seen(tier: Tier) -> impl Iterator<Item = &'static ToolEntry> {
    TOOLS.iter().filter(move |tool| tool.tier <= tier)
}

/// The tools that a client of this tier sees.
pub(crate) fn list(tier: Tier) -> Vec<Tool> {
    seen(tier).map(ToolEntry::listed).collect()
}

/// The same as JSON, as it is in the answer to `tools/list`.
#[must_use]
pub fn list_json(tier: Tier) -> serde_json::Value {
    serde_json::json!(list(tier))
}

/// The tool of this name, as it is listed.
pub(crate) fn get(name: &str) -> Option<Tool> {
    TOOLS.iter().find(|tool| tool.name == name).map(ToolEntry::listed)
}

/// The tool of this name, if the tier has it.
///
/// # Errors
/// If it has none, with those that it has.
pub(crate) fn find(name: &str, tier: Tier) -> Result<&'static ToolEntry, ErrorData> {
    seen(tier).find(|tool| tool.name == name).ok_or_else(|| {
        let names: Vec<_> = seen(tier).map(|tool| tool.name).collect();
        let hidden = TOOLS.iter().any(|tool| tool.name == name);
        let why = if hidden { format!("is not in the tier {tier}") } else { "is unknown".into() };
        let shown = name.escape_debug();
        let sentence = format!("the tool `{shown}` {why}; the tools are {}", names.join(", "));
        ErrorData::invalid_params(sentence, None)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_lists_its_tools_and_refuses_the_others_by_name() {
        assert!(list(Tier::ReadOnly).iter().all(|tool| tool.name != "pty_spawn"));
        assert_eq!(list(Tier::Standard).len(), TOOLS.len());
        let error = find("pty_spawn", Tier::ReadOnly).err().unwrap();
        assert!(error.message.contains("is not in the tier read-only"), "{}", error.message);
        let error = find("pty_spwan", Tier::Full).err().unwrap();
        assert!(error.message.contains("is unknown; the tools are pty_spawn"), "{}", error.message);
    }

    #[test]
    fn only_what_changes_nothing_is_in_the_smallest_tier() {
        // What `action_call` may do is limited by the tier itself.
        for tool in TOOLS.iter().filter(|tool| tool.name != "action_call") {
            assert_eq!(
                tool.tier == Tier::ReadOnly,
                tool.effect == ToolEffect::Looks,
                "{}",
                tool.name
            );
        }
    }

    #[test]
    fn the_list_of_tools_is_small() {
        // A token is about four characters of English or JSON.
        let tokens = list_json(Tier::Standard).to_string().len().div_ceil(4);
        assert!(tokens <= 2500, "{tokens} tokens");
    }

    #[test]
    fn the_docs_say_what_each_tool_costs() {
        let page = include_str!("../../../../docs/agents-as-users.md");
        for tool in &TOOLS {
            let start = format!("| `{}` | ", tool.name);
            let row = page.lines().find_map(|line| line.strip_prefix(&start));
            let stated = row.and_then(|row| row.split(' ').next()).unwrap_or_default();
            let stated: usize = stated.parse().unwrap_or_else(|_| panic!("no row for {start}"));
            let chars = serde_json::json!(tool.listed()).to_string().chars().count();
            let tokens = chars.div_ceil(4);
            assert!(stated.abs_diff(tokens) <= 2, "{}: {tokens}, not {stated}", tool.name);
            let is_marked = row.is_some_and(|row| row.ends_with("| r |"));
            assert_eq!(is_marked, tool.tier == Tier::ReadOnly, "{}", tool.name);
        }
    }
}
