//! `pane:get`

use paned_model::{PaneInfo, Refusal, Scope};

use super::OnPane;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct PaneGet;

impl Action for PaneGet {
    const NAME: &'static str = "pane:get";
    const DOC: &'static str = "Show one pane.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = OnPane;
    type Answer = PaneInfo;

    fn touches(params: &OnPane) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, OnPane { pane_id }: OnPane) -> Result<PaneInfo, Refusal> {
        Ok(context.kernel.panes().get(&pane_id)?.info())
    }
}
