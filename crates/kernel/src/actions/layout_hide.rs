//! `layout:hide`

use paned_model::{Refusal, Scope};

use super::{Empty, OnPane};
use crate::registry::{Action, Context, Kind};
use crate::stage::Ask;
use crate::touches::Touches;

pub(super) struct LayoutHide;

impl Action for LayoutHide {
    const NAME: &'static str = "layout:hide";
    const DOC: &'static str = "Show a pane in tmux no more; its program goes on.";
    const SCOPE: Scope = Scope::Spawn;
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
        let wish = pane.lock().record.wish.clone();
        let Some(wish) = wish else {
            let sentence = format!("the pane `{pane_id}` is not shown in tmux");
            return Err(Refusal::not_found(sentence));
        };
        let ask = |answer| Ask::Hide(pane_id, answer);
        kernel.stages().at(kernel, &wish.spot, ask).await?;
        pane.lock().record.wish = None;
        kernel.journal().record(Vec::new(), vec![pane.lock().record.put()]);
        Ok(Empty {})
    }
}
