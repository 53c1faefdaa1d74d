//! `pane:get`

use paned_model::{PaneId, PaneInfo, Refusal, Scope};

use super::OnPane;
use crate::registry::{Action, Context, Kind};

pub(super) struct PaneGet;

impl Action for PaneGet {
    const NAME: &'static str = "pane:get";
    const DOC: &'static str = "Show one pane.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = OnPane;
    type Answer = PaneInfo;

    fn pane(params: &OnPane) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, OnPane { pane_id }: OnPane) -> Result<PaneInfo, Refusal> {
        Ok(context.kernel.panes().get(&pane_id)?.info())
    }
}
