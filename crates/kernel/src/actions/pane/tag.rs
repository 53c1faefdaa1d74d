//! `pane:tag`

use std::sync::Arc;

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::actions::support::meta::check_tags;
use crate::actions::support::param_rules::Tag;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneTag;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Tags to add.
    #[serde(default)]
    #[schemars(with = "Vec<Tag>")]
    add: Vec<String>,
    /// Tags to remove, before the others are added.
    #[serde(default)]
    remove: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PaneTagOutput {
    /// The pane.
    id: PaneId,
    /// Its tags.
    tags: Vec<String>,
    /// Whether they have changed.
    changed: bool,
}

impl Action for PaneTag {
    const NAME: &'static str = "pane:tag";
    const DOC: &'static str = "Remove and add tags of a pane in one step.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = PaneTagOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneTagOutput, Refusal> {
        let Params { pane_id, add, remove } = params;
        if add.iter().any(String::is_empty) {
            return Err(Refusal::invalid("a tag of `add` is empty"));
        }
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&pane_id)?;
        let mut state = pane.lock();
        let before = state.record.tags.clone();
        let mut tags = before.clone();
        tags.retain(|tag| !remove.contains(tag));
        for tag in add {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        check_tags(&tags, kernel.limits().meta)?;
        let changed = tags != before;
        if changed {
            state.record.tags = tags.clone();
            let ticket = kernel.journal().record(Vec::new(), vec![state.record.put()]);
            let kernel = kernel.clone();
            let pane = Arc::clone(&pane);
            let after = tags.clone();
            context.undo.add(ticket, move || {
                let mut state = pane.lock();
                if state.record.tags == after {
                    state.record.tags = before;
                }
                kernel.journal().record(Vec::new(), vec![state.record.put()]);
            });
        }
        Ok(PaneTagOutput { id: pane_id, tags, changed })
    }
}
