//! `grant:revoke`

use paned_model::{GrantId, Refusal, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::dispatch::draft;
use crate::grants::Token;
use crate::journal::Change;
use crate::registry::{Action, Context, Kind};
use crate::start::GRANT;
use crate::touches::Touches;

pub(super) struct GrantRevoke;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// The grant, as `grant:list` shows it. Its token does as well, and is in no event.
    id: GrantId,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Revoked {
    /// The grant that ended.
    id: GrantId,
}

impl Action for GrantRevoke {
    const NAME: &'static str = "grant:revoke";
    const DOC: &'static str = "End a grant; whoever came in by it is cut off within a second.";
    const SCOPE: Scope = Scope::Admin;
    const KIND: Kind = Kind::Change;
    const NEEDS_JOURNAL: bool = false;
    type Params = Params;
    type Answer = Revoked;

    fn touches(_: &Params) -> Touches {
        Touches::all_panes()
    }

    async fn run(context: Context, Params { id }: Params) -> Result<Revoked, Refusal> {
        let kernel = &context.kernel;
        let id = Token::grant_of(&id.0).unwrap_or(id);
        if kernel.grants().remove(&id).is_none() {
            return Err(Refusal::not_found(format!("no grant `{}`", id.0.escape_debug())));
        }
        kernel.forget_token(&id);
        let revoked = draft("grant:revoked", &json!({ "id": id }));
        let delete = Change::Delete { kind: GRANT, key: id.to_string() };
        kernel.journal().record(vec![revoked], vec![delete]);
        Ok(Revoked { id })
    }
}
