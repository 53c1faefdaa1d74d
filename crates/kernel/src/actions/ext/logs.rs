//! `ext:logs`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::extensions::{LogRequest, LogText};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ExtLogs;

impl Action for ExtLogs {
    const NAME: &'static str = "ext:logs";
    const DOC: &'static str = "Read the log of an extension: what it writes to standard error.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Question;
    type Params = LogRequest;
    type Answer = LogText;

    fn access(_: &LogRequest) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, params: LogRequest) -> Result<LogText, Refusal> {
        let host = context.kernel.extension_host()?;
        host.logs(params).await
    }
}
