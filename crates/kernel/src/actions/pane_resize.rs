//! `pane:resize`

use paned_model::{PaneId, Refusal, Scope, Size};
use paned_substrate::Command;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::panes::pane::gone;
use crate::registry::{Action, Context, Kind};

pub(super) struct PaneResize;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Its new size.
    size: Size,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Resized {
    /// The pane.
    id: PaneId,
    /// Its size now.
    size: Size,
    /// Whether that differs from before.
    changed: bool,
}

impl Action for PaneResize {
    const NAME: &'static str = "pane:resize";
    const DOC: &'static str = "Set the size of a pane's terminal.";
    const SCOPE: Scope = Scope::Input;
    const KIND: Kind = Kind::Change;
    type Params = Params;
    type Answer = Resized;

    fn pane(params: &Params) -> Option<&PaneId> {
        Some(&params.pane_id)
    }

    async fn run(context: Context, params: Params) -> Result<Resized, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let size = params.size.check().map_err(Refusal::invalid)?;
        let status = pane.lock().status();
        if !status.is_live() {
            return Err(gone(&pane.id, status));
        }
        let (reply, answer) = oneshot::channel();
        let sent = pane.commands()?.send(Command::Resize(size, reply)).await;
        if sent.is_err() || !matches!(answer.await, Ok(Ok(()))) {
            return Err(gone(&pane.id, pane.lock().status()));
        }
        let changed = pane.resized(&context.kernel, size);
        Ok(Resized { id: params.pane_id, size, changed })
    }
}
