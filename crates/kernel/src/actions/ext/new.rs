//! `ext:new`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::extensions::{CreateRequest, StarterFiles};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtNew;

impl Action for ExtNew {
    const NAME: &'static str = "ext:new";
    const DOC: &'static str = "Write a new extension to start from, with a test.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    type Params = CreateRequest;
    type Answer = StarterFiles;

    fn access(_: &CreateRequest) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: CreateRequest) -> Result<StarterFiles, Refusal> {
        let host = context.kernel.extension_host()?;
        host.create(params).await
    }
}
