//! `session:list`

use paned_model::{Refusal, Scope};

use super::Nothing;
use crate::registry::{Action, Context, Kind};
use crate::stage::{Ask, SessionInfo};

pub(super) struct SessionList;

impl Action for SessionList {
    const NAME: &'static str = "session:list";
    const DOC: &'static str = "Show every session in tmux, with the socket to attach by.";
    const SCOPE: Scope = Scope::Read;
    const KIND: Kind = Kind::Question;
    type Params = Nothing;
    type Answer = Vec<SessionInfo>;

    async fn run(context: Context, _: Nothing) -> Result<Vec<SessionInfo>, Refusal> {
        if context.kernel.setup().stage.is_none() {
            return Ok(Vec::new());
        }
        context.kernel.stages().own(&context.kernel, Ask::Sessions).await
    }
}
