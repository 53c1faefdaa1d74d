//! `server:upgrade`

use paned_model::{Refusal, Scope};

use crate::ServerCommand;
use crate::access::AccessRequest;
use crate::actions::{EmptyOutput, NoParams};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ServerUpgrade;

impl Action for ServerUpgrade {
    const NAME: &'static str = "server:upgrade";
    const DOC: &'static str =
        "Re-exec the server from its binary on disk. Panes and connections are preserved.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    type Params = NoParams;
    type Answer = EmptyOutput;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<EmptyOutput, Refusal> {
        context.kernel.send_command(ServerCommand::Upgrade);
        Ok(EmptyOutput {})
    }
}
