//! `pane:list`

use paned_model::{Meta, PaneInfo, Refusal, Scope, Status};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::registry::{Action, Context, Kind};

pub(super) struct PaneList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Only panes with this tag.
    tag: Option<String>,
    /// Only panes in this status.
    status: Option<Status>,
    /// Only panes whose meta holds all of this.
    #[serde(default)]
    meta: Meta,
}

impl Action for PaneList {
    const NAME: &'static str = "pane:list";
    const DOC: &'static str = "Show all panes, or those that match, oldest first.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Params;
    type Answer = Vec<PaneInfo>;

    async fn run(context: Context, params: Params) -> Result<Vec<PaneInfo>, Refusal> {
        let Context { kernel, caller } = context;
        let panes = kernel.panes().list();
        let reached = panes.iter().filter(|pane| kernel.may_reach(&pane.id, &caller).is_ok());
        Ok(reached.map(|pane| pane.info()).filter(|pane| params.picks(pane)).collect())
    }
}

impl Params {
    fn picks(&self, pane: &PaneInfo) -> bool {
        self.tag.as_ref().is_none_or(|tag| pane.tags.contains(tag))
            && self.status.is_none_or(|status| pane.status == status)
            && self.meta.iter().all(|(key, value)| pane.meta.get(key) == Some(value))
    }
}
