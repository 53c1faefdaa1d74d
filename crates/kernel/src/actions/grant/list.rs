//! `grant:list`

use paned_model::{Grant, Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::NoParams;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct GrantList;

impl Action for GrantList {
    const NAME: &'static str = "grant:list";
    const DOC: &'static str = "List the active tokens by id and label. The tokens themselves are \
                              never shown.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Question;
    type Params = NoParams;
    type Answer = Vec<Grant>;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<Vec<Grant>, Refusal> {
        let grants = context.kernel.grants().list();
        Ok(grants.iter().map(|grant| Grant::clone(grant)).collect())
    }
}
