//! `action_list`

use paned_model::{Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::ToolAnswer;
use super::text::TextBlock;
use super::{McpTool, ToolCall, ToolEffect};

pub(super) struct ActionList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only names or texts with this word
    filter: Option<String>,
    /// Show the parameters of this one
    name: Option<String>,
}

impl McpTool for ActionList {
    const NAME: &'static str = "action_list";
    const DOC: &'static str = "List everything else that can be done (keys, resize, layouts, restart, \
        metadata, extensions), or with name the JSON Schema of one action's params.";
    const EFFECT: ToolEffect = ToolEffect::Looks;
    type Args = Args;

    async fn run(call: ToolCall, args: Args) -> Result<ToolAnswer, Refusal> {
        let client = &call.client;
        if let Some(name) = args.name {
            let action = super::action_call::permitted(&call, &name)?;
            let (params, _) = action.schemas();
            let facts = json!({ "name": &*action.name, "doc": &*action.doc, "params": params });
            let mut block = TextBlock::with_attributes("action", &[("name", &name)]);
            block.line(&*action.doc);
            block.line(format!("Params: {params}"));
            return Ok(ToolAnswer::new(block.finish(), facts));
        }
        let registry = client.kernel.registry();
        let word = args.filter.unwrap_or_default().to_lowercase();
        let scopes = &client.caller.grant.scopes;
        // An administrator has every scope.
        let has = |scope| scopes.contains(&scope) || scopes.contains(&Scope::Admin);
        let permitted =
            registry.iter().filter(|action| client.tier.permits(action.scope) && has(action.scope));
        let found = permitted.filter(|action| {
            action.name.contains(&word) || action.doc.to_lowercase().contains(&word)
        });
        let mut block = TextBlock::new("actions");
        let mut facts = Vec::new();
        for action in found {
            block.line(format!("{}: {}", action.name, action.doc));
            facts.push(json!({ "name": &*action.name, "doc": &*action.doc }));
        }
        if facts.is_empty() {
            block.line(format!("No action has the word '{word}'; leave out filter for all."));
        }
        Ok(ToolAnswer::new(block.finish(), json!({ "actions": Value::from(facts) })))
    }
}
