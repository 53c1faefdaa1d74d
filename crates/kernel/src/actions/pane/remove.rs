//! `pane:remove`

use std::sync::Arc;
use std::time::Duration;

use paned_model::{Code, Refusal, Scope};
use tokio::time::timeout;

use crate::Kernel;
use crate::access::AccessRequest;
use crate::actions::{EmptyOutput, PaneIdParams};
use crate::panes::Pane;
use crate::panes::close::forget;
use crate::registry::{Action, ActionContext, ActionKind};

/// How long a keeper may take to finish after its program: more than one without other processes
/// needs.
const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

pub(in crate::actions) struct PaneRemove;

impl Action for PaneRemove {
    const NAME: &'static str = "pane:remove";
    const DOC: &'static str = "Delete a finished pane and its output.";
    const SCOPE: Scope = Scope::Kill;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = PaneIdParams;
    type Answer = EmptyOutput;

    fn access(params: &PaneIdParams) -> AccessRequest {
        AccessRequest::pane(&params.pane_id)
    }

    async fn run(
        context: ActionContext,
        PaneIdParams { pane_id }: PaneIdParams,
    ) -> Result<EmptyOutput, Refusal> {
        let pane = context.kernel.panes().get(&pane_id)?;
        remove(&context.kernel, &pane).await?;
        Ok(EmptyOutput {})
    }
}

/// Deletes a pane that has ended.
pub(super) async fn remove(kernel: &Kernel, pane: &Arc<Pane>) -> Result<(), Refusal> {
    if pane.lock().status().is_live() {
        let sentence =
            format!("pane `{}` is still running; stop and delete it with `pane:close`", pane.id);
        return Err(Refusal::new(Code::Conflict, sentence));
    }
    check_finished(pane).await?;
    forget(kernel, pane).await
}

/// Refuses while the keeper of an exited pane is alive: it keeps running for processes that the
/// program left behind, and without the pane nothing could end them.
async fn check_finished(pane: &Pane) -> Result<(), Refusal> {
    if pane.is_adopted() {
        return Ok(());
    }
    let commands = match pane.sender() {
        Ok(commands) => commands,
        Err(refusal) if refusal.code == Code::Gone => return Ok(()),
        Err(refusal) => return Err(refusal),
    };
    let has_keeper = || pane.output().is_some_and(|output| output.has_live_keeper());
    if !has_keeper() || timeout(FINISH_TIMEOUT, commands.closed()).await.is_ok() {
        return Ok(());
    }
    let sentence = format!(
        "the program in pane `{}` has exited, but processes that it started are still running; \
        stop them with `pane:kill` or `pane:close`",
        pane.id
    );
    Err(Refusal::new(Code::Conflict, sentence))
}
