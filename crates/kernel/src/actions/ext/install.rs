//! `ext:install`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::extensions::{ExtensionInfo, InstallRequest};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtInstall;

impl Action for ExtInstall {
    const NAME: &'static str = "ext:install";
    const DOC: &'static str = "Install an extension from a git repository or a local folder, and \
                              start it.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    type Params = InstallRequest;
    type Answer = ExtensionInfo;

    fn access(_: &InstallRequest) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: InstallRequest) -> Result<ExtensionInfo, Refusal> {
        let host = context.kernel.extension_host()?;
        host.install(params).await
    }
}
