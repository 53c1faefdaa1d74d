//! `ext:info`

use paned_model::{Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::extensions::ExtensionInfo;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtInfo;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The extension.
    name: String,
}

impl Action for ExtInfo {
    const NAME: &'static str = "ext:info";
    const DOC: &'static str = "Show an extension: whether it runs, what it may do, what it offers.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = Params;
    type Answer = ExtensionInfo;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: Params) -> Result<ExtensionInfo, Refusal> {
        let host = context.kernel.extension_host()?;
        host.info(params.name).await
    }
}
