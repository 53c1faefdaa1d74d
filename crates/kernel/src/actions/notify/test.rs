//! `notify:test`

use paned_model::{Refusal, Scope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::AccessRequest;
use crate::notifications::NotifyTestResult;
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct NotifyTest;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::actions) struct Params {
    /// The rule; defaults to all.
    #[serde(default)]
    rule: Option<String>,
}

impl Action for NotifyTest {
    const NAME: &'static str = "notify:test";
    const DOC: &'static str = "Send a test notification through the channels of one or every rule.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    type Params = Params;
    type Answer = Vec<NotifyTestResult>;

    fn access(_: &Params) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: Params) -> Result<Vec<NotifyTestResult>, Refusal> {
        let notifier = context.kernel.notifier()?;
        notifier.test(params.rule).await
    }
}
