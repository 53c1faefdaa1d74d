//! `notify:list`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::NoParams;
use crate::notifications::NotifyRuleInfo;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct NotifyList;

impl Action for NotifyList {
    const NAME: &'static str = "notify:list";
    const DOC: &'static str = "List the rules for notifications, and what is wrong with them.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = NoParams;
    type Answer = Vec<NotifyRuleInfo>;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<Vec<NotifyRuleInfo>, Refusal> {
        // Without rules the list is empty; that is no error.
        Ok(context.kernel.notifier().map(|notifier| notifier.list()).unwrap_or_default())
    }
}
