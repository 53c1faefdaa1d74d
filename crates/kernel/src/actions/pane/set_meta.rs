//! `pane:set-meta`

use paned_model::{PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::access::AccessRequest;
use crate::actions::support::meta;
use crate::actions::support::meta::MetaChangeOutput;
use crate::actions::support::param_rules::MetaKey;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneSetMeta;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// The entry's key.
    #[schemars(with = "MetaKey")]
    key: String,
    /// Its new value.
    value: Value,
}

impl Action for PaneSetMeta {
    const NAME: &'static str = "pane:set-meta";
    const DOC: &'static str = "Set one entry of a pane's meta.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = MetaChangeOutput;

    fn access(params: &Params) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(context: ActionContext, params: Params) -> Result<MetaChangeOutput, Refusal> {
        meta::edit(&context, &params.pane_id, |meta| {
            meta.insert(params.key, params.value);
        })
    }
}
