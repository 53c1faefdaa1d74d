//! `ext:list`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::NoParams;
use crate::extensions::ExtensionInfo;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtList;

impl Action for ExtList {
    const NAME: &'static str = "ext:list";
    const DOC: &'static str = "List the extensions in the extensions folder, and whether they run.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = NoParams;
    type Answer = Vec<ExtensionInfo>;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<Vec<ExtensionInfo>, Refusal> {
        let host = context.kernel.extension_host()?;
        host.list().await
    }
}
