//! `ext:reload`

use paned_model::{Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::extensions::ExtensionInfo;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtReload;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The extension; all of them when omitted.
    name: Option<String>,
}

impl Action for ExtReload {
    const NAME: &'static str = "ext:reload";
    const DOC: &'static str = "Read the folder of an extension again and restart it; all of them \
                              without a name.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = Vec<ExtensionInfo>;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: Params) -> Result<Vec<ExtensionInfo>, Refusal> {
        let host = context.kernel.extension_host()?;
        host.reload(params.name).await
    }
}
