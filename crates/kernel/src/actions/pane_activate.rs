//! `pane:activate`

use paned_model::{Refusal, Scope};

use super::{Empty, OnPane};
use crate::registry::{Action, Context, Kind};
use crate::stage::Ask;
use crate::touches::Touches;

pub(super) struct PaneActivate;

impl Action for PaneActivate {
    const NAME: &'static str = "pane:activate";
    const DOC: &'static str = "Give a pane the focus in tmux, where it is shown.";
    const SCOPE: Scope = Scope::Input;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = OnPane;
    type Answer = Empty;

    fn touches(params: &OnPane) -> Touches {
        Touches::pane(&params.pane_id)
    }

    async fn run(context: Context, OnPane { pane_id }: OnPane) -> Result<Empty, Refusal> {
        let kernel = &context.kernel;
        let pane = kernel.panes().get(&pane_id)?;
        let spot = pane.lock().record.wish.as_ref().map(|wish| wish.spot.clone());
        let spot = spot.ok_or_else(|| {
            let sentence =
                format!("the pane `{pane_id}` is not shown in tmux; `layout:place` puts it there");
            Refusal::not_found(sentence)
        })?;
        kernel.stages().at(kernel, &spot, |answer| Ask::Activate(pane_id, answer)).await?;
        Ok(Empty {})
    }
}
