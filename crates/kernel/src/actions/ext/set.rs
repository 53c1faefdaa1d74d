//! `ext:set`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::extensions::{ExtensionInfo, SetRequest};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtSet;

impl Action for ExtSet {
    const NAME: &'static str = "ext:set";
    const DOC: &'static str =
        "Change what an extension may do, or turn it on or off; then restart it.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    type Params = SetRequest;
    type Answer = ExtensionInfo;

    fn access(_: &SetRequest) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: SetRequest) -> Result<ExtensionInfo, Refusal> {
        let host = context.kernel.extension_host()?;
        host.set(params).await
    }
}
