//! `pane:resize`

use paned_backend::{PaneCommand, ResizeError, SizeRequest};
use paned_model::frame::RefusalReason;
use paned_model::{Code, PaneId, Refusal, Scope, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::AccessRequest;
use crate::panes::Pane;
use crate::panes::pane::{late, pane_gone};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct PaneResize;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The pane.
    pane_id: PaneId,
    /// Its new size.
    size: Size,
    /// Whether to take the size from the client that holds it.
    #[serde(default)]
    force: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::actions) struct PaneResizeOutput {
    /// The pane.
    id: PaneId,
    /// Its size now.
    size: Size,
    /// Whether the size changed.
    changed: bool,
}

impl Action for PaneResize {
    const NAME: &'static str = "pane:resize";
    const DOC: &'static str = "Set the size of a pane's terminal. A client with a persistent \
                              connection holds the size until it disconnects.";
    const SCOPE: Scope = Scope::Input;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = PaneResizeOutput;

    fn access(params: &Params) -> AccessRequest {
        // Counts as input: an agent could hide its own question by resizing its pane.
        AccessRequest::pane(&params.pane_id).typing()
    }

    async fn run(context: ActionContext, params: Params) -> Result<PaneResizeOutput, Refusal> {
        let pane = context.kernel.panes().get(&params.pane_id)?;
        let size = params.size.check().map_err(Refusal::invalid)?;
        let status = pane.lock().status();
        if !status.is_live() {
            return Err(pane_gone(&pane.id, status));
        }
        if pane.is_adopted() {
            let sentence =
                format!("pane `{}` is an adopted tmux pane, so only tmux can resize it", pane.id);
            return Err(Refusal::new(Code::Conflict, sentence));
        }
        let client = context.caller.client.as_deref();
        if let Some(client) = client {
            client.note_size_hold(&pane.id);
        }
        let holder = client.map(|client| client.name().to_owned());
        let request = SizeRequest { size, holder, force: params.force };
        match pane.ask(|reply| PaneCommand::Resize(request, reply)).await? {
            Some(Ok(())) => {}
            Some(Err(ResizeError { why: RefusalReason::Held, holder })) => {
                if let Some(client) = client {
                    client.forget_size_hold(&pane.id);
                }
                return Err(size_held(&pane, holder));
            }
            Some(Err(ResizeError { why: RefusalReason::TimedOut, .. })) => {
                return Err(late(&pane.id, "the resize request", false));
            }
            Some(Err(ResizeError { why: RefusalReason::Cancelled, .. })) => {
                return Err(late(&pane.id, "the resize request", true));
            }
            Some(Err(_)) | None => return Err(pane_gone(&pane.id, pane.lock().status())),
        }
        let changed = pane.set_size(&context.kernel, size);
        Ok(PaneResizeOutput { id: params.pane_id, size, changed })
    }
}

/// The keeper knows the holder of the size, and the tape the size, before the table does.
fn size_held(pane: &Pane, holder: Option<String>) -> Refusal {
    let id = &pane.id;
    let output = pane.output();
    let size = output.map_or_else(|| pane.lock().size, |output| output.size());
    let holder = holder.unwrap_or_else(|| "another client".to_owned());
    let sentence = format!(
        "the size of pane `{id}` is {size} and is held by {holder} until it disconnects; set \
        `force` to change it anyway",
    );
    Refusal::new(Code::Conflict, sentence)
}
