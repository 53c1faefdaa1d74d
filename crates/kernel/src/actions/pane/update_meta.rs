//! `pane:update-meta`

use paned_model::{Meta, PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::actions::support::meta;
use crate::actions::support::meta::MetaChangeOutput;
use crate::actions::support::param_rules::MetaEntries;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneUpdateMeta;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Entries to set.
    #[serde(default)]
    #[schemars(with = "MetaEntries")]
    set: Meta,
    /// Entries to remove, before the others are set.
    #[serde(default)]
    delete_keys: Vec<String>,
}

impl Action for PaneUpdateMeta {
    const NAME: &'static str = "pane:update-meta";
    const DOC: &'static str = "Remove and set entries of a pane's meta in one step.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = MetaChangeOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<MetaChangeOutput, Refusal> {
        meta::edit(&context, &params.pane_id, |meta| {
            meta.retain(|key, _| !params.delete_keys.contains(key));
            meta.extend(params.set);
        })
    }
}
