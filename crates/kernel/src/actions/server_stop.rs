//! `server:stop`

use paned_model::{Refusal, Scope};

use super::{Empty, Nothing};
use crate::Wish;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct ServerStop;

impl Action for ServerStop {
    const NAME: &'static str = "server:stop";
    const DOC: &'static str = "Stop the server; panes live on and are found again.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Nothing;
    type Answer = Empty;

    fn touches(_: &Nothing) -> Touches {
        Touches::all_panes()
    }

    async fn run(context: Context, _: Nothing) -> Result<Empty, Refusal> {
        context.kernel.wish(Wish::Stop);
        Ok(Empty {})
    }
}
