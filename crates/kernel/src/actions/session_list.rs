//! `session:list`

use paned_model::{Refusal, Scope};

use super::Nothing;
use crate::registry::{Action, Context, Kind};
use crate::stage::{Ask, SessionInfo};
use crate::touches::Touches;

pub(super) struct SessionList;

impl Action for SessionList {
    const NAME: &'static str = "session:list";
    const DOC: &'static str = "Show every session in tmux, with the socket to attach by.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Nothing;
    type Answer = Vec<SessionInfo>;

    fn touches(_: &Nothing) -> Touches {
        Touches::reached()
    }

    async fn run(context: Context, _: Nothing) -> Result<Vec<SessionInfo>, Refusal> {
        if context.kernel.setup().stage.is_none() {
            return Ok(Vec::new());
        }
        let Context { kernel, caller, .. } = &context;
        let mut sessions = kernel.stages().own(kernel, Ask::Sessions).await?;
        if !caller.reaches_all() {
            for session in &mut sessions {
                session.panes.retain(|pane| kernel.reaches(pane, caller));
            }
            sessions.retain(|session| !session.panes.is_empty());
        }
        Ok(sessions)
    }
}
