//! `session:list`

use paned_model::{Refusal, Scope};

use crate::access::AccessRequest;
use crate::actions::NoParams;
use crate::registry::{Action, ActionContext, ActionKind};
use crate::tmux_view::{SessionInfo, ViewRequest};

pub(in crate::actions) struct SessionList;

impl Action for SessionList {
    const NAME: &'static str = "session:list";
    const DOC: &'static str = "List the tmux sessions, with the socket to attach to.";
    const SCOPE: Scope = Scope::Read;
    const KIND: ActionKind = ActionKind::Question;
    type Params = NoParams;
    type Answer = Vec<SessionInfo>;

    fn access(_: &NoParams) -> AccessRequest {
        AccessRequest::reachable()
    }

    async fn run(context: ActionContext, _: NoParams) -> Result<Vec<SessionInfo>, Refusal> {
        let ActionContext { kernel, caller, .. } = &context;
        let mut sessions = kernel.tmux_views().ask_own(kernel, ViewRequest::Sessions).await?;
        if !caller.reaches_all() {
            for session in &mut sessions {
                session.panes.retain(|pane| kernel.reaches(pane, caller));
            }
            sessions.retain(|session| !session.panes.is_empty());
        }
        Ok(sessions)
    }
}
