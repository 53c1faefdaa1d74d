//! `server:stop`

use paned_model::{Refusal, Scope};

use crate::ServerCommand;
use crate::access::AccessRequest;
use crate::actions::{EmptyOutput, NoParams};
use crate::registry::{Action, ActionContext, ActionKind};

pub(in crate::actions) struct ServerStop;

impl Action for ServerStop {
    const NAME: &'static str = "server:stop";
    const DOC: &'static str = "Stop the server. Panes keep running, and the next server recovers \
                              them.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: ActionKind = ActionKind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = NoParams;
    type Answer = EmptyOutput;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::all_panes()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<EmptyOutput, Refusal> {
        context.kernel.send_command(ServerCommand::Stop);
        Ok(EmptyOutput {})
    }
}
