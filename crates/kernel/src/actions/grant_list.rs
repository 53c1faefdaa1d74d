//! `grant:list`

use paned_model::{Grant, Refusal, Scope};

use super::Nothing;
use crate::registry::{Action, Context, Kind};
use crate::touches::Touches;

pub(super) struct GrantList;

impl Action for GrantList {
    const NAME: &'static str = "grant:list";
    const DOC: &'static str = "Show every grant that holds, without its token.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: Kind = Kind::Question;
    type Params = Nothing;
    type Answer = Vec<Grant>;

    fn touches(_: &Nothing) -> Touches {
        Touches::all_panes()
    }

    async fn run(context: Context, _: Nothing) -> Result<Vec<Grant>, Refusal> {
        let grants = context.kernel.grants().list();
        Ok(grants.iter().map(|grant| Grant::clone(grant)).collect())
    }
}
