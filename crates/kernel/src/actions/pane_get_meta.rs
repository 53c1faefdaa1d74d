//! `pane:get-meta`

use paned_model::{Meta, PaneId, Refusal, Scope};
use schemars::JsonSchema;
use serde::Serialize;

use super::OnPane;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct PaneGetMeta;

#[derive(Serialize, JsonSchema)]
pub(super) struct Found {
    /// The pane.
    id: PaneId,
    /// Its meta.
    meta: Meta,
}

impl Action for PaneGetMeta {
    const NAME: &'static str = "pane:get-meta";
    const DOC: &'static str = "Show a pane's meta.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = OnPane;
    type Answer = Found;

    fn touches(params: &OnPane) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, OnPane { pane_id }: OnPane) -> Result<Found, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        let meta = pane.lock().meta().clone();
        Ok(Found { id: pane_id, meta })
    }
}
