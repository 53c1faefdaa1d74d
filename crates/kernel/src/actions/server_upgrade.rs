//! `server:upgrade`

use paned_model::{Refusal, Scope};

use super::{Empty, Nothing};
use crate::Wish;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct ServerUpgrade;

impl Action for ServerUpgrade {
    const NAME: &'static str = "server:upgrade";
    const DOC: &'static str =
        "Go on as the program that is now in the server's file; panes and connections live on.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: Kind = Kind::Change;
    type Params = Nothing;
    type Answer = Empty;

    fn touches(_: &Nothing) -> Touches {
        Touches::all_panes()
    }

    async fn run(context: Context, _: Nothing) -> Result<Empty, Refusal> {
        context.kernel.wish(Wish::Upgrade);
        Ok(Empty {})
    }
}
