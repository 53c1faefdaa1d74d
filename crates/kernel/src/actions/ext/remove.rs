//! `ext:remove`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::extensions::{ExtensionRemoval, RemoveRequest};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtRemove;

impl Action for ExtRemove {
    const NAME: &'static str = "ext:remove";
    const DOC: &'static str = "Stop an extension and delete it.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    type Params = RemoveRequest;
    type Answer = ExtensionRemoval;

    fn access(_: &RemoveRequest) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(
        context: ActionContext,
        params: RemoveRequest,
    ) -> Result<ExtensionRemoval, Refusal> {
        let host = context.kernel.extension_host()?;
        host.remove(params).await
    }
}
